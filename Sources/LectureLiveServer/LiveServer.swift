import Dispatch
import Glibc
import LectureCrypto
import LectureHTTP
import LectureModel

/// The control plane of live lectures: the member API, chat, event streams, and nginx for the media.
///
/// ```swift
/// var options = LiveOptions(stateDirectory: "/var/lib/lecture-live", credentials: credentials)
/// options.port = 8088
/// let server = try await LiveServer.start(options)
/// await server.stop()
/// ```
///
/// It has its own store, in a directory for its owner only; one server at a time has it. Whatever it acknowledged is on
/// the disk. A server that is killed takes nginx with it; the next one closes the broadcasts that were open.
public final class LiveServer: Sendable {
    /// The port for HTTP.
    public let port: UInt16
    /// The port for RTMP; nil without a media server.
    public let rtmpPort: UInt16?
    /// `http://ADDRESS:PORT`.
    public let url: String
    /// What is before a stream key in the address of a feed.
    public let ingestURL: String
    let service: LiveService
    private let http: HTTPServer
    let nginx: NginxServer?
    private let lock: StateLock

    /// The process of nginx; nil while there is none.
    package var mediaProcess: Int32? { nginx?.process }

    /// How many players nginx serves over RTMP.
    package func playerCount() async -> Int { await service.playerCount }

    /// How many connections have lost their right, and nginx has not dropped them yet.
    package func droppingCount() async -> Int { await service.droppingCount }

    private init(
        _ http: HTTPServer, _ service: LiveService, _ nginx: NginxServer?, _ lock: StateLock, url: String,
        rtmpPort: UInt16?
    ) {
        (self.http, self.service, self.nginx, self.lock, self.url) = (http, service, nginx, lock, url)
        (port, self.rtmpPort, ingestURL) = (http.port, rtmpPort, service.ingestURL)
    }

    /// Starts a server.
    ///
    /// - Parameter options: the options.
    /// - Returns: once it listens, and nginx does.
    /// - Throws: `LectureError`: `createDirectory`, `storeBusy` when another server has the store, the codes of a store
    ///   that is refused, `loopbackFailed` when a port is in use, `loopbackMissing`, `configuration` without nginx.
    public static func start(_ options: LiveOptions) async throws -> LiveServer {
        var options = options
        let directory = try StateLock.prepare(options.stateDirectory)
        options.stateDirectory = directory
        let lock = try StateLock(directory)
        var limits = HTTPServerOptions()
        (limits.address, limits.port, limits.bodyLimit) = (options.address, options.port, 64 << 10)
        (limits.mostConnections, limits.requestSeconds) = (options.mostConnections, 30)
        let http = try HTTPServer(limits)
        do {
            let url = "http://\(options.localAddress):\(http.port)"
            if options.rtmpPort == 0 { options.rtmpPort = try FreePort.find(options.address) }
            let secret = try LiveStore.secret()
            let ingest =
                options.ingestURL ?? "rtmp://\(LiveService.rtmpHost(options)):\(options.rtmpPort ?? 1935)/live"
            let service = try LiveService(
                options, base: options.publicURL ?? url, ingestURL: ingest, hookSecret: secret)
            var nginx: NginxServer?
            if let port = options.rtmpPort {
                let setup = NginxServer.Setup(
                    program: options.nginx, modules: options.nginxModules, directory: "\(directory)/run",
                    fragments: "\(directory)/hls",
                    recordings: options.archives.isOn ? "\(directory)/recordings" : nil, address: options.address,
                    port: port,
                    hooks: "\(url)/hooks/\(secret)", filesApplication: LiveService.filesApplication(secret),
                    fragmentMilliseconds: options.fragment.milliseconds)
                nginx = NginxServer(setup) { [weak service] in Task { await service?.mediaServerDied() } }
            }
            try http.serve(by: service)
            try await nginx?.start()
            await service.begin(nginx)
            return LiveServer(http, service, nginx, lock, url: url, rtmpPort: options.rtmpPort)
        } catch {
            await http.stop()
            throw error
        }
    }

    /// Ends all feeds and answers, and closes the ports and the store.
    public func stop() async {
        await service.end()
        await http.stop()
        lock.release()
    }
}

/// The directory of a server's state, for one server at a time.
final class StateLock: Sendable {
    private let descriptor: Guarded<Int32>

    /// Makes the directory and those in it, for its owner only.
    ///
    /// - Parameter path: the directory; its parent must exist.
    /// - Returns: its path without symbolic links.
    /// - Throws: `LectureError` with `createDirectory` or `storeExposed`.
    static func prepare(_ path: String) throws(LectureError) -> String {
        try make(path)
        guard let resolved = unsafe realpath(path, nil) else { throw failure(path) }
        defer { unsafe free(resolved) }
        let directory = unsafe String(cString: resolved)
        guard directory.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x24 }) else {
            throw LectureError(
                .createDirectory, detail: path, cause: "quotes, backslashes and dollars are not possible")
        }
        var facts = stat()
        guard unsafe stat(directory, &facts) == 0 else { throw failure(path) }
        guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
            throw LectureError(.storeExposed, detail: path, cause: "it must be its owner's only (mode 0700)")
        }
        for name in ["hls", "run", "recordings", "archive"] { try make("\(directory)/\(name)") }
        return directory
    }

    private static func make(_ path: String) throws(LectureError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    private static func failure(_ path: String) -> LectureError {
        LectureError(.createDirectory, detail: path, cause: unsafe String(cString: strerror(errno)))
    }

    /// Takes the lock.
    ///
    /// - Parameter directory: of the state.
    /// - Throws: `LectureError` with `storeBusy` when another server has it.
    init(_ directory: String) throws(LectureError) {
        let file = unsafe open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure(directory) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw LectureError(.storeBusy, detail: directory, cause: "another live server has it")
        }
        descriptor = Guarded(file)
    }

    deinit { release() }

    /// Gives it up.
    func release() {
        descriptor.withLock { file in
            // Unlocked first: a child process that is being started has the descriptor until it runs its program.
            if file >= 0 {
                flock(file, LOCK_UN)
                close(file)
            }
            file = -1
        }
    }
}

/// Ports that are free.
enum FreePort {
    /// A port that is free now, for a program that cannot choose one itself.
    ///
    /// - Parameter address: an IPv4 address of this machine.
    /// - Returns: the port.
    /// - Throws: `LectureError` with `loopbackFailed`.
    static func find(_ address: String) throws(LectureError) -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        _ = unsafe inet_pton(AF_INET, address, &place.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &place) { place in
            // Sound: an internet address is one kind of socket address, and its length is passed along.
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                unsafe bind(socket, place, length) == 0 && getsockname(socket, place, &length) == 0
            }
        }
        guard isBound else {
            throw LectureError(.loopbackFailed, detail: address, cause: unsafe String(cString: strerror(errno)))
        }
        return UInt16(bigEndian: place.sin_port)
    }
}
