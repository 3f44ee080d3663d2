import Foundation

/// A DRM callback in PHP, as a provider would write it: a second server that shares no code with the sandbox.
///
/// It answers a single item with an object, closes every connection, and labels everything HTML. It ends with
/// its last reference at the latest.
package final class PHPCallbackServer: Sendable {
    /// One requested item, as far as tests need it.
    package struct Item: Decodable, Sendable {
        /// 1, 2 or 3.
        package let kind: Int
        /// The media content key.
        package let mediaContentKey: String
        /// 1 in a renewal.
        package let resetReq: Int?
    }

    /// The callback's URL: `http://127.0.0.1:PORT/callback.php`.
    package let url: String
    /// The raw secret of its answers; only its owner may read it.
    package let keyFile: String
    /// The value of `X-Kollus-UserKey`.
    package let userKey: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - key: its secret.
    ///   - userKey: the account's custom key.
    ///   - decodesForm: whether it decodes the form of a request; a servlet of the vendor's samples does not.
    /// - Returns: once it listens.
    /// - Throws: ``ChildProcess/Failure`` when php is not installed or does not start.
    package static func start(
        key: String = "the security key of the academy, 2026", userKey: String = "academy", decodesForm: Bool = true
    ) async throws -> PHPCallbackServer {
        var last: any Error = ChildProcess.Failure(description: "php was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<5 {
            do { return try await attempt(key, userKey, decodesForm) } catch { last = error }
        }
        throw last
    }

    private static func attempt(
        _ key: String, _ userKey: String, _ decodesForm: Bool
    ) async throws -> PHPCallbackServer {
        let directory = try TemporaryDirectory()
        let keyFile = try directory.write(key, to: "security.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
        let port = try Places.freePort()
        let process = try ChildProcess(
            Places.command("php"),
            [
                "-S", "127.0.0.1:\(port)", "-d", "display_errors=0",
                Places.repository() + "/Tests/Fixtures/php-callback/router.php",
            ],
            environment: [
                "SECURITY_KEY_FILE": keyFile, "USER_KEY": userKey, "DATA_DIR": directory.path,
                "RAW_FORM": decodesForm ? "0" : "1",
            ])
        // php logs this once it listens.
        try await process.wait(for: .errors) { $0.range(of: Data("started".utf8)) != nil }
        return PHPCallbackServer(process, directory, port, keyFile, userKey)
    }

    private init(
        _ process: ChildProcess, _ directory: TemporaryDirectory, _ port: Int, _ keyFile: String, _ userKey: String
    ) {
        (self.process, self.directory, self.keyFile, self.userKey) = (process, directory, keyFile, userKey)
        url = "http://127.0.0.1:\(port)/callback.php"
    }

    /// Sets further fields of its answers.
    ///
    /// - Parameter fields: for media content keys, fields and their numbers.
    /// - Throws: the system's error.
    package func set(_ fields: [String: [String: Int]]) throws {
        try directory.write(String(decoding: try JSONEncoder().encode(fields), as: UTF8.self), to: "licences.json")
    }

    /// The requested items.
    ///
    /// - Returns: in order.
    /// - Throws: the system's error.
    package func items() throws -> [Item] {
        guard let text = try? String(contentsOfFile: directory.file("requests.jsonl"), encoding: .utf8) else {
            return []
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try text.split(separator: "\n").map { try decoder.decode(Item.self, from: Data($0.utf8)) }
    }

    /// Ends the server.
    package func stop() async { await process.terminate() }
}
