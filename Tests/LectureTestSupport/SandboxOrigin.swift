import Foundation

/// The lecture sandbox as a test's server: every fault of docs/sandbox.md.
///
/// It ends with its last reference, because its standard input closes then.
package final class SandboxOrigin: Sendable {
    /// One line of the request log.
    package struct Request: Decodable, Sendable {
        /// From 1, in the order of arrival.
        package let number: Int
        /// The connection's number, from 1.
        package let connection: Int
        /// `GET`, `HEAD` or `POST`.
        package let method: String
        /// Without the query.
        package let path: String
        /// As the client wrote it.
        package let target: String
        /// The `Range` field.
        package let range: String?
        /// The `If-Range` field.
        package let ifRange: String?
        /// The answer's status.
        package let status: Int
        /// Bytes of the body that were handed to the connection.
        package let bytes: Int
        /// Whether the answer is over.
        package let done: Bool

        private enum CodingKeys: String, CodingKey {
            case number, connection, method, path, target, range, status, bytes, done
            case ifRange = "if_range"
        }
    }

    private struct Ready: Decodable {
        let http: String
        let https: String?
        let caFile: String?
        let root: String
        let secretFile: String
        let drmCallback: String
        let drmKeyID: String
        let drmKeyFile: String
        let userKey: String

        private enum CodingKeys: String, CodingKey {
            case http, https, root
            case caFile = "ca_file"
            case secretFile = "secret_file"
            case drmCallback = "drm_callback"
            case drmKeyID = "drm_key_id"
            case drmKeyFile = "drm_key_file"
            case userKey = "user_key"
        }
    }

    /// `http://127.0.0.1:PORT`.
    package let http: String
    /// `https://localhost:PORT`; empty with `--no-https`.
    package let https: String
    /// What a client must trust for ``https``, PEM; empty with `--no-https`.
    package let authorityFile: String
    /// The secret of tokens and leases.
    package let secretFile: String
    /// The URL of the DRM callback.
    package let drmCallback: String
    /// The identifier of the DRM callback's key in descriptors.
    package let drmKeyID: String
    /// The raw secret of the DRM callback's answers.
    package let drmKeyFile: String
    /// The DRM callback's value of `X-KOLLUS-USERKEY`.
    package let userKey: String
    /// The directory of its files; after a licence was issued, a trust directory too.
    package var directory: String { root.path }
    private let process: ChildProcess
    private let root: TemporaryDirectory

    /// Starts the sandbox with the lectures of the repository.
    ///
    /// - Parameter arguments: more options, for instance `["--lease-seconds", "5"]`.
    /// - Returns: once it serves.
    /// - Throws: ``ChildProcess/Failure`` when it is not built or does not start.
    package static func start(_ arguments: [String] = []) async throws -> SandboxOrigin {
        let root = try TemporaryDirectory()
        let process = try ChildProcess(
            Places.builtProduct("lecture-sandbox"),
            [
                "serve", "--stdin-watch", "--root", root.path, "--course",
                Places.repository() + "/Tools/lecture-sandbox/Fixtures",
            ] + arguments, keepsInputOpen: true)
        let line = try await process.firstLine()
        let ready = try JSONDecoder().decode(Ready.self, from: Data(line.utf8))
        return SandboxOrigin(process, root, ready)
    }

    private init(_ process: ChildProcess, _ root: TemporaryDirectory, _ ready: Ready) {
        self.process = process
        self.root = root
        http = ready.http
        https = ready.https ?? ""
        authorityFile = ready.caFile ?? ""
        secretFile = ready.secretFile
        drmCallback = ready.drmCallback
        drmKeyID = ready.drmKeyID
        drmKeyFile = ready.drmKeyFile
        userKey = ready.userKey
    }

    /// Makes a path misbehave for every client.
    ///
    /// - Parameters:
    ///   - fault: as in a query; empty to remove it.
    ///   - path: the whole path, or a prefix with `*`.
    /// - Throws: ``ChildProcess/Failure`` when the fault is not understood.
    package func set(fault: String, on path: String) async throws {
        let body = try JSONEncoder().encode(["path": path, "fault": fault])
        try await control("/_control", String(decoding: body, as: UTF8.self))
    }

    /// Resets faults, counts and the log.
    ///
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func reset() async throws { try await control("/_reset", "") }

    /// The requests so far, without those for the sandbox's own pages.
    ///
    /// - Parameter path: only those for this path.
    /// - Returns: in the order of arrival.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone.
    package func requests(for path: String? = nil) async throws -> [Request] {
        let text = try await control("/_log")
        let all = try text.split(separator: "\n").map { try JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
        return all.filter { request in path.map { $0 == request.path } ?? true }
    }

    /// The SHA-256 of a lecture.
    ///
    /// - Parameters:
    ///   - path: for instance `/media/bytes-2M-7.mp4`.
    ///   - version: 1 for the one after `changed`.
    /// - Returns: 64 digits.
    /// - Throws: ``ChildProcess/Failure`` when there is no such lecture.
    package func sha256(of path: String, version: Int = 0) async throws -> String {
        let text = try await control("/digest\(path)?version=\(version)")
        return String(text.prefix(64))
    }

    /// A gateway link with a token.
    ///
    /// - Parameters:
    ///   - key: the media content key.
    ///   - seconds: how long the token is valid; negative for one that has expired.
    ///   - user: the learner.
    ///   - extras: whether its descriptor has pictures and texts.
    ///   - licensed: the name or the URL of the callback that its download needs, empty for the usual one; nil when it
    ///     needs none.
    ///   - lms: the names or the URLs of its channels; an empty one is `/lms`.
    ///   - query: further parameters, for instance `uservalue0=a`.
    /// - Returns: `…/si?jwt=…`.
    /// - Throws: ``ChildProcess/Failure`` when it cannot be made.
    package func link(
        key: String, expiresIn seconds: Int = 600, user: String = "learner", extras: Bool = false,
        licensed: String? = nil, lms: [String] = [], query: String = ""
    ) async throws -> String {
        let ending = try await ChildProcess.run(
            Places.builtProduct("lecture-sandbox"),
            [
                "token", "--key", key, "--secret-file", secretFile, "--base", http, "--expires-in", String(seconds),
                "--user", user,
            ])
        guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText) }
        var words = [ending.text.trimmingCharacters(in: .newlines)]
        if extras { words.append("extras") }
        if let licensed { words.append("licensed" + (licensed.isEmpty ? "" : "=" + Self.encoded(licensed))) }
        words += lms.map { "lms=" + Self.encoded($0) }
        if !query.isEmpty { words.append(query) }
        return words.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Ends the sandbox.
    package func stop() async { await process.terminate() }

    /// Requests one of the sandbox's own pages.
    ///
    /// - Parameters:
    ///   - path: below `http`.
    ///   - body: what to post; nil to get the page.
    /// - Returns: the page.
    /// - Throws: ``ChildProcess/Failure`` when the sandbox is gone or does not understand.
    @discardableResult
    func control(_ path: String, _ body: String? = nil) async throws -> String {
        guard let port = http.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw ChildProcess.Failure(description: "no port in \(http)")
        }
        // With HTTP/1.0 no answer comes in chunks.
        var lines = ["\(body == nil ? "GET" : "POST") \(path) HTTP/1.0", "Host: 127.0.0.1:\(port)"]
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        let answer = try await LocalHTTP.exchange(
            lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""), port: port)
        let text = String(decoding: answer.body, as: UTF8.self)
        guard 200..<300 ~= answer.status else {
            throw ChildProcess.Failure(description: "\(path): \(answer.status): \(text)")
        }
        return text
    }
}
