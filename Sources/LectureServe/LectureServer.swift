import Glibc
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
            try accessList(options.accessFile), key: try key(options.keyFile), isSecure: options.tls != nil,
            now: { clock.now() })
        let parts: [any SitePart] = [PageSite(manager, access)]
        var limits = HTTPServerOptions()
        (limits.address, limits.port) = (options.address, options.port)
        limits.mostConnections = options.mostConnections
        limits.requestSeconds = 20
        limits.bodyLimit = 1 << 20
        let http = try HTTPServer(limits)
        var rules = SiteRules(port: http.port)
        rules.isSecure = options.tls != nil
        rules.names = Set(options.names.map { $0.lowercased() })
        rules.isBehindProxy = options.isBehindProxy
        try http.serve(by: SiteHandler(rules, access, parts))
        return LectureServer(http, parts, url: "http\(rules.isSecure ? "s" : "")://\(options.address):\(http.port)")
    }

    private init(_ http: HTTPServer, _ parts: [any SitePart], url: String) {
        (self.http, self.parts, self.url) = (http, parts, url)
    }

    /// Ends all answers, and closes the port.
    public func stop() async { await http.stop() }

    /// Reads the access file.
    private static func accessList(_ path: String) throws(LectureError) -> AccessList {
        let bytes = try SecretFile.open(path, limit: 1 << 20).bytes()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.configuration, detail: path, cause: "it must have text in UTF-8")
        }
        return try AccessList(text)
    }

    /// Reads the key that signs, and makes it when it is missing.
    private static func key(_ path: String) throws(LectureError) -> SecretBytes {
        if unsafe access(path, F_OK) != 0, errno == ENOENT {
            let text = Array(Base64URL.text(try SecureRandom.bytes(keyLength)).utf8)
            let failure: LectureError? = unsafe text.withUnsafeBytes { bytes in
                do throws(LectureError) {
                    try unsafe SecretFile.create(bytes, at: path)
                    return nil
                } catch { return error }
            }
            if let failure { throw failure }
        }
        let text = try SecretFile.open(path, limit: 1 << 10).bytes().prefix { $0 > 0x20 }
        guard let bytes = Base64URL.bytes(text), bytes.count == keyLength else {
            throw LectureError(.configuration, detail: path, cause: "it must have 32 bytes as base64url")
        }
        return try SecretBytes(copying: bytes)
    }

    /// Bytes of the key.
    private static let keyLength = 32
}
