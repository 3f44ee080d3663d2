import Dispatch
import Glibc
import LectureHTTP
import LectureKit
import LectureModel

/// The server: its plays, and the rules of its requests.
final class LoopbackCore: HTTPHandler {
    private struct State {
        var plays: [ServedPlay] = []
        var rules: RequestRules?
        var server: HTTPServer?
        var isChecking = false
        var stopping: Task<Void, Never>?
    }

    let port: UInt16
    private let manager: LectureManager
    private let options: LoopbackOptions
    private let state = Guarded(State())

    init(_ manager: LectureManager, _ options: LoopbackOptions) throws(LectureError) {
        (self.manager, self.options) = (manager, options)
        var limits = HTTPServerOptions()
        limits.port = options.port
        let relay = Relay()
        let server = try HTTPServer(limits, handler: relay)
        port = server.port
        state.withLock { state in
            state.rules = RequestRules(port: server.port, origins: options.origins)
            state.server = server
        }
        relay.core.withLock { $0 = self }
        beat()
    }

    /// Passes requests on. The server has it before the core exists, as the port is a part of the rules.
    private final class Relay: HTTPHandler {
        let core = Guarded<LoopbackCore?>(nil)

        func handle(_ exchange: HTTPExchange) {
            guard let core = core.withLock(\.self) else { return exchange.disconnect() }
            core.handle(exchange)
        }
    }

    /// Answers a request. On the server's thread.
    func handle(_ exchange: HTTPExchange) {
        guard let rules = state.withLock(\.rules) else { return exchange.disconnect() }
        Answering(core: self, exchange: exchange).answer(by: rules)
    }

    // MARK: Plays

    func open(_ media: LoopbackMedia) async throws -> ServedPlay {
        let media = try await ServedMedia.open(media, manager, patience: options.patience)
        let play: ServedPlay
        do {
            try await media.checkRules()
            play = ServedPlay(media, whole: try await media.beginning(), idleLimit: options.idleLimit)
            try serve(play)
        } catch {
            try? await media.end()
            throw error
        }
        return play
    }

    /// Serves the bytes of a play that its owner counts, to this process only.
    func carry(_ play: Play) async throws -> ServedPlay {
        let media = ServedMedia.transport(play)
        let own = PeerProgram(process: getpid(), agent: LoopbackServer.ownAgent)
        let play = ServedPlay(media, whole: try await media.beginning(), idleLimit: nil, program: own)
        try serve(play)
        return play
    }

    private func serve(_ play: ServedPlay) throws(LectureError) {
        let isServed = state.withLock { state in
            guard state.stopping == nil else { return false }
            state.plays.removeAll(where: \.isOver)
            state.plays.append(play)
            return true
        }
        guard isServed else { throw LectureError(.closing) }
    }

    /// The play with this token.
    func play(_ token: String) -> ServedPlay? {
        let plays = state.withLock(\.plays)
        var found: ServedPlay?
        // Each is compared, so that the time does not depend on which one it is.
        for play in plays where PlayToken.isSame(play.token, token) { found = play }
        return found.flatMap { $0.isOver ? nil : $0 }
    }

    /// Checks the plays about once a second, as long as the server runs.
    private func beat() {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecture.loopback.heartbeat"))
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        // `nonisolated(unsafe)`: cancelling is safe from any thread, and the handler is the only place that does.
        nonisolated(unsafe) let source = timer
        timer.setEventHandler { [weak self] in
            guard let self, tick() else { return unsafe source.cancel() }
        }
        timer.activate()
    }

    /// Starts a check unless one is under way.
    ///
    /// - Returns: false once the server has stopped.
    private func tick() -> Bool {
        let plays: [ServedPlay]? = state.withLock { state in
            guard state.stopping == nil else { return nil }
            guard !state.isChecking else { return [] }
            state.isChecking = true
            return state.plays
        }
        guard let plays else { return false }
        guard !plays.isEmpty else {
            state.withLock { $0.isChecking = false }
            return true
        }
        Task {
            for play in plays where !play.isOver { await play.check() }
            state.withLock { state in
                state.isChecking = false
                state.plays.removeAll(where: \.isOver)
            }
        }
        return true
    }

    // MARK: The end

    func stop() async {
        let stopping = state.withLock { state in
            if let stopping = state.stopping { return stopping }
            let stopping = Task { await finish() }
            state.stopping = stopping
            return stopping
        }
        await stopping.value
    }

    private func finish() async {
        for play in state.withLock(\.plays) { await play.end(.closed) }
        // The server keeps the core, and the core the server, until here.
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        await server?.stop()
    }
}
