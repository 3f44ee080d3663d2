import LectureCrypto
import LectureFiles
import LectureFormats
import LectureHTTP
public import LectureKit
public import LectureModel

/// A server for a store: its page, its lectures in the classroom, other branch servers, and a JSON API.
///
/// ```swift
/// let server = try await LectureServer.start(manager, options)
/// print(server.url)
/// await server.stop()
/// ```
public final class LectureServer: Sendable {
    /// The address of the page, for instance `http://127.0.0.1:8080`.
    public let url: String
    /// The port.
    public var port: UInt16 { http.port }
    private let http: HTTPServer
    private let parts: [any SitePart]
    private let access: SiteAccess
    private let accessFile: String

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - manager: the store. It must stay open until the server has stopped.
    ///   - options: where it listens, and who may use it.
    /// - Returns: the server, which answers requests.
    /// - Throws: `LectureError`: `loopbackMissing` without libmicrohttpd, `loopbackFailed` when the port is in use,
    ///   `readFile`, `secretReadable` and `configuration` for its files, `createFile`, `cryptography`.
    public static func start(
        _ manager: LectureManager, _ options: ServeOptions
    ) async throws(LectureError) -> LectureServer {
        let clock = SystemTime.clock
        let access = try SiteAccess(
            try AccessFile.list(options.accessFile), key: try key(options.keyFile), isSecure: options.tls != nil,
            now: { clock.now() })
        let (watch, renewals) = (StoreWatch(manager), SiteRenewals(manager))
        let page = PageSite(manager, access, watch, renewals)
        var parts: [any SitePart] = [
            HealthPart(manager, version: options.version),
            APIPart(manager, watch, renewals, version: options.version),
            Classroom(manager, access, options.classroom, clock),
            page,
            watch,
        ]
        if let directory = options.deviceDirectory {
            parts.append(PeerPart(manager, device: DeviceHome(directory: directory)))
        }
        var limits = HTTPServerOptions()
        (limits.address, limits.port) = (options.address, options.port)
        limits.mostConnections = options.mostConnections
        limits.requestSeconds = 20
        limits.bodyLimit = 1 << 20
        limits.tls = try options.tls.map(identity)
        let http = try HTTPServer(limits)
        var rules = SiteRules(port: http.port)
        rules.isSecure = options.tls != nil
        rules.names = Set(options.names.map { $0.lowercased() })
        rules.isBehindProxy = options.isBehindProxy
        do throws(LectureError) { try http.serve(by: SiteHandler(rules, access, parts)) } catch {
            guard let files = options.tls else { throw error }
            throw LectureError(.configuration, detail: "\(files.certificate), \(files.key)", cause: error.cause)
        }
        await page.start()
        let url = "http\(rules.isSecure ? "s" : "")://\(options.address):\(http.port)"
        return LectureServer(http, parts, access, options.accessFile, url: url)
    }

    private init(
        _ http: HTTPServer, _ parts: [any SitePart], _ access: SiteAccess, _ accessFile: String, url: String
    ) {
        (self.http, self.parts, self.access, self.accessFile, self.url) = (http, parts, access, accessFile, url)
    }

    /// Reads the access file again. One that cannot be used changes nothing.
    ///
    /// - Returns: whether it is another list: it counts for all requests from now on, and sessions of tokens that it
    ///   does not have are over.
    /// - Throws: `LectureError` with `readFile`, `secretReadable` or `configuration`.
    public func reloadAccess() throws(LectureError) -> Bool { access.replace(try AccessFile.list(accessFile)) }

    /// Ends all answers and plays, and closes the port. What was watched is stored when this returns.
    public func stop() async {
        for part in parts { await part.stop() }
        await http.stop()
    }

    /// Reads the certificate and its key.
    private static func identity(_ files: ServeOptions.TLSFiles) throws(LectureError) -> HTTPServerOptions.TLSIdentity {
        let certificate = try SecretFile.open(files.certificate, limit: 1 << 20, .open).bytes()
        let key = try SecretFile.open(files.key, limit: 1 << 16).bytes()
        return HTTPServerOptions.TLSIdentity(certificate: certificate, key: key)
    }

    /// Reads the key that signs, and makes it when it is missing.
    private static func key(_ path: String) throws(LectureError) -> SecretBytes {
        let text = try SecretFile.line(path, limit: 1 << 10) { () throws(LectureError) in
            Base64URL.text(try SecureRandom.bytes(keyLength))
        }
        guard let bytes = Base64URL.bytes(text), bytes.count == keyLength else {
            throw LectureError(.configuration, detail: path, cause: "it must have 32 bytes as base64url")
        }
        return try SecretBytes(copying: bytes)
    }

    /// Bytes of the key.
    private static let keyLength = 32
}
