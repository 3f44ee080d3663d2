import CMicroHTTPDTypes
import Dispatch
import Glibc
import LectureKit
import LectureModel

/// The server: its socket, its plays, and libmicrohttpd's thread.
final class LoopbackCore: Sendable {
    @safe private struct State {
        var plays: [ServedPlay] = []
        var daemon: OpaquePointer?
        var isChecking = false
        var stopping: Task<Void, Never>?
    }

    /// Open connections; a play has at most ``ServedPlay/mostAnswers`` answers.
    private static let mostConnections: UInt32 = 64
    /// After how many seconds a connection without a request is closed.
    static let connectionTimeout: UInt32 = 30

    let rules: RequestRules
    let library: MicroHTTPLibrary
    private let manager: LectureManager
    private let options: LoopbackOptions
    private let state = Guarded(State())

    init(_ manager: LectureManager, _ options: LoopbackOptions, _ library: MicroHTTPLibrary) throws(LectureError) {
        (self.manager, self.options, self.library) = (manager, options, library)
        let listener = try Listener(port: options.port)
        rules = RequestRules(port: listener.port, origins: options.origins)
        // Retained until the daemon has stopped.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        var calls = unsafe cmhdt_callbacks(context: context, handler: requestArrived, completed: requestCompleted)
        guard
            let daemon = unsafe cmhdt_start(
                library.start, listener.socket, Self.mostConnections, Self.connectionTimeout, &calls)
        else {
            unsafe Unmanaged<LoopbackCore>.fromOpaque(context).release()
            close(listener.socket)
            throw LectureError(.loopbackFailed, cause: "libmicrohttpd cannot start")
        }
        state.withLock { unsafe $0.daemon = daemon }
        beat()
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
        // No connection is suspended now, and none will be: there is no play.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                let daemon = unsafe state.withLock { state in
                    defer { unsafe state.daemon = nil }
                    return unsafe state.daemon
                }
                if let daemon = unsafe daemon {
                    unsafe library.stop(daemon)
                    unsafe Unmanaged.passUnretained(self).release()
                }
                continuation.resume()
            }
        }
    }
}

/// The socket that a server listens on.
private struct Listener {
    let socket: Int32
    let port: UInt16

    /// How much the system buffers for a reader that is slow.
    private static let sendBuffer: Int32 = 1 << 17

    init(port: UInt16) throws(LectureError) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Self.failure(port) }
        var yes: Int32 = 1
        unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var buffer = Self.sendBuffer
        unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { address in
            // Sound: an internet address is one kind of socket address, and its length is passed along.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, length) == 0 && listen(socket, 64) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isListening else {
            let failure = Self.failure(port)
            close(socket)
            throw failure
        }
        (self.socket, self.port) = (socket, UInt16(bigEndian: address.sin_port))
    }

    private static func failure(_ port: UInt16) -> LectureError {
        let reason = unsafe String(cString: strerror(errno))
        return LectureError(.loopbackFailed, detail: "127.0.0.1:\(port)", cause: reason)
    }
}
