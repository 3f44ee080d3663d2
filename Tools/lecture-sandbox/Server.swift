import CMicroHTTPD
import Glibc
import SandboxSecurity

/// The two ports and their state.
@safe
final class Server {
    private let pacing: Pacing
    private let ports: [Port]
    private var daemons: [OpaquePointer] = unsafe []
    private let ownedRoot: String?
    /// One JSON line with the server's URLs and files.
    let readyLine: String

    /// Starts serving.
    ///
    /// - Parameter options: the options of the command line.
    /// - Throws: ``Problem`` when a file, a certificate or a port is not available.
    init(options: ServeOptions) throws {
        let root = try Self.root(options.root)
        ownedRoot = options.root == nil ? root : nil
        let secretFile = options.secretFile ?? "\(root)/secret"
        if options.secretFile == nil {
            try writeFile(Array(Text.hex(randomBytes(32)).utf8), to: secretFile)
        }
        pacing = try Pacing()
        let drmKeyFile = try Self.drmKeyFile(options, root)
        let drmKey = try readFile(drmKeyFile)
        let drm = DRMCallback(secret: drmKey, userKey: options.userKey)
        let play = PlayCallback(secret: drmKey, userKey: options.userKey)
        let site = try Site(
            options: options, secret: Secret(bytes: try readFile(secretFile)), root: root, drm: drm,
            play: play, pacing: pacing)
        let certificates = options.servesHTTPS ? try Certificates(madeIn: "\(root)/tls") : nil
        let connections = Locked(0)
        let plain = Port(site: site, scheme: "http", connections: connections)
        let secure = Port(site: site, scheme: "https", connections: connections)
        ports = [plain, secure]
        let limit = UInt32(options.connectionLimit)
        let http = try unsafe Self.start(plain, number: options.port, limit: limit, certificates: nil)
        unsafe daemons = [http.daemon]
        var members: [(String, JSON)] = [
            ("event", .string("ready")), ("http", .string("http://127.0.0.1:\(unsafe http.number)")),
            ("drm_callback", .string("http://127.0.0.1:\(unsafe http.number)\(DRMCallback.path)")),
            ("drm_key_id", .string(DRMCallback.keyID)), ("drm_key_file", .string(drmKeyFile)),
            ("user_key", .string(options.userKey)),
        ]
        if let certificates {
            let https = try unsafe Self.start(
                secure, number: options.httpsPort, limit: limit, certificates: certificates)
            unsafe daemons.append(https.daemon)
            members.append(("https", .string("https://localhost:\(unsafe https.number)")))
            members.append(("ca_file", .string(certificates.authorityFile)))
        }
        members += [
            ("root", .string(root)), ("secret_file", .string(secretFile)), ("pid", .integer(Int64(getpid()))),
        ]
        readyLine = JSON.object(members).text + "\n"
    }

    /// Ends every connection, waits for their threads, and removes the directory that was created for this run.
    func stop() {
        pacing.stop()
        while let daemon = unsafe daemons.popLast() { unsafe MHD_stop_daemon(daemon) }
        guard let ownedRoot else { return }
        for name in ["openssl.cnf", "ca.key", "ca.pem", "server.key", "server.pem"] {
            unsafe unlink("\(ownedRoot)/tls/\(name)")
        }
        unsafe rmdir("\(ownedRoot)/tls")
        unsafe unlink("\(ownedRoot)/secret")
        for name in Issuer.files { unsafe unlink("\(ownedRoot)/\(name)") }
        unsafe rmdir("\(ownedRoot)/issuer")
        unsafe rmdir(ownedRoot)
    }

    /// The secret of the DRM callback's answers: the given file, or a new one.
    ///
    /// Letters without a line end: real servers use the bytes of a text as the key, and every client reads the same.
    private static func drmKeyFile(_ options: ServeOptions, _ root: String) throws -> String {
        if let file = options.drmKeyFile { return file }
        let file = "\(root)/hs.key"
        try writeFile(Array(Text.hex(randomBytes(32)).utf8), to: file)
        return file
    }

    /// The directory for certificates and the secret: the given one, or a new one.
    private static func root(_ named: String?) throws -> String {
        if let named {
            guard unsafe mkdir(named, 0o700) == 0 || errno == EEXIST else {
                throw Problem.cannotCreate("cannot make \(named): \(systemMessage())")
            }
            return named
        }
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        let name = "\(parent)/lecture-sandbox-\(Text.hex(randomBytes(8)))"
        guard unsafe mkdir(name, 0o700) == 0 else {
            throw Problem.cannotCreate("cannot make \(name): \(systemMessage())")
        }
        return name
    }

    private static func start(
        _ port: Port, number: Int, limit: UInt32, certificates: Certificates?
    ) throws -> (daemon: OpaquePointer, number: UInt16) {
        // Unretained: the server keeps its ports until after the daemons have stopped.
        var calls = unsafe cmhd_callbacks(
            context: Unmanaged.passUnretained(port).toOpaque(), handler: requestArrived, uri: requestBegan,
            completed: requestCompleted, connection: connectionChanged)
        let certificate = try certificates.map { String(decoding: try readFile($0.certificateFile), as: UTF8.self) }
        let key = try certificates.map { String(decoding: try readFile($0.keyFile), as: UTF8.self) }
        guard let daemon = unsafe cmhd_start(UInt16(number), limit, &calls, certificate, key) else {
            throw Problem(status: 71, text: "cannot listen on port \(number) of 127.0.0.1: \(systemMessage())")
        }
        return unsafe (daemon, cmhd_port(daemon))
    }
}
