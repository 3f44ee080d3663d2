import Glibc
import LectureHTTP
import LectureKit
import LectureModel
import LectureServedMedia

/// The server: its plays, and the rules of its requests. The HTTP server keeps it until it has stopped.
final class LoopbackCore: HTTPHandler {
    private struct State {
        var plays: [ProgramPlay] = []
        var isChecking = false
        var stopping: Task<Void, Never>?
    }

    var port: UInt16 { server.port }
    private let server: HTTPServer
    private let rules: RequestRules
    private let manager: LectureManager
    private let options: LoopbackOptions
    private let state = Guarded(State())

    init(_ manager: LectureManager, _ options: LoopbackOptions) throws(LectureError) {
        (self.manager, self.options) = (manager, options)
        var limits = HTTPServerOptions()
        limits.port = options.port
        server = try HTTPServer(limits)
        rules = RequestRules(port: server.port, origins: options.origins)
        try server.serve(by: self)
    }

    /// Answers a request. On the server's thread.
    func handle(_ exchange: HTTPExchange) { Answering(core: self, exchange: exchange).answer(by: rules) }

    // MARK: Plays

    func open(_ media: LoopbackMedia) async throws -> ProgramPlay {
        let media = try await ServedMedia.open(media, manager, patience: options.patience)
        let play: ProgramPlay
        do {
            try await media.checkRules()
            play = ProgramPlay(media, whole: try await media.beginning(), idleLimit: options.idleLimit)
            try serve(play)
        } catch {
            try? await media.end()
            throw error
        }
        return play
    }

    /// Serves the bytes of a play that its owner counts, to this process only.
    func carry(_ play: Play) async throws -> ProgramPlay {
        let media = ServedMedia.transport(play)
        let own = PeerProgram(process: getpid(), agent: LoopbackServer.ownAgent)
        let play = ProgramPlay(media, whole: try await media.beginning(), idleLimit: nil, program: own)
        try serve(play)
        return play
    }

    private func serve(_ play: ProgramPlay) throws(LectureError) {
        let isServed = state.withLock { state in
            guard state.stopping == nil else { return false }
            state.plays.removeAll(where: \.served.isOver)
            state.plays.append(play)
            return true
        }
        guard isServed else { throw LectureError(.closing) }
    }

    /// The play with this token.
    func play(_ token: String) -> ProgramPlay? {
        let plays = state.withLock(\.plays)
        var found: ProgramPlay?
        // Each is compared, so that the time does not depend on which one it is.
        for play in plays where PlayToken.isSame(play.served.token, token) { found = play }
        return found.flatMap { $0.served.isOver ? nil : $0 }
    }

    /// Checks the plays, unless the last check is under way.
    func tick() {
        let plays: [ProgramPlay] = state.withLock { state in
            guard state.stopping == nil, !state.isChecking, !state.plays.isEmpty else { return [] }
            state.isChecking = true
            return state.plays
        }
        guard !plays.isEmpty else { return }
        Task {
            for play in plays where !play.served.isOver { await play.served.check() }
            state.withLock { state in
                state.isChecking = false
                state.plays.removeAll(where: \.served.isOver)
            }
        }
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
        for play in state.withLock(\.plays) { await play.served.end(.closed) }
        await server.stop()
    }
}
