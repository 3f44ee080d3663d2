import Foundation

/// A learning record store that shares no code with the product: Ralph, in Python, installed by `Tools/lrs`.
///
/// It ends with its last reference at the latest.
package final class RalphServer: Sendable {
    /// Whether `Tools/lrs` has installed it; without access to PyPI it is missing.
    package static let isInstalled: Bool = {
        let places = (try? FileManager.default.contentsOfDirectory(atPath: installation)) ?? []
        return places.contains { FileManager.default.fileExists(atPath: "\(installation)/\($0)/complete") }
    }()
    private static let installation = Places.repository() + "/.build/lrs"

    /// The URL of statements without `/statements`: `http://127.0.0.1:PORT/xAPI`.
    package let url: String
    /// The required `Authorization` of its requests.
    package let authorization = "Basic dGVzdDpzZWNyZXQ="
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// Starts the server on a free port.
    ///
    /// - Returns: once it answers.
    /// - Throws: ``ChildProcess/Failure`` when it does not start.
    package static func start() async throws -> RalphServer {
        var last: any Error = ChildProcess.Failure(description: "the store was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<3 {
            do { return try await attempt() } catch { last = error }
        }
        throw last
    }

    private static func attempt() async throws -> RalphServer {
        let directory = try TemporaryDirectory()
        let port = try Places.freePort()
        let process = try ChildProcess(
            Places.repository() + "/Tools/lrs", ["serve", directory.file("lrs"), "\(port)"])
        try await process.wait(for: .errors) { $0.range(of: Data("running on".utf8)) != nil }
        return RalphServer(process, directory, port)
    }

    private init(_ process: ChildProcess, _ directory: TemporaryDirectory, _ port: Int) {
        (self.process, self.directory) = (process, directory)
        url = "http://127.0.0.1:\(port)/xAPI"
    }

    /// A statement, requested by its id over HTTP.
    ///
    /// - Parameter id: of the statement.
    /// - Returns: the statement; nil when the store has none of this id.
    /// - Throws: ``ChildProcess/Failure`` when the store is gone.
    package func statement(_ id: String) async throws -> [String: Any]? {
        let ending = try await ChildProcess.run(
            Places.command("curl"),
            [
                "--silent", "--show-error", "--fail-with-body", "-H", "Authorization: \(authorization)", "-H",
                "X-Experience-API-Version: 1.0.3", "\(url)/statements?statementId=\(id)",
            ])
        guard ending.status == 0 else { throw ChildProcess.Failure(description: ending.errorText + ending.text) }
        let answer = try JSONSerialization.jsonObject(with: ending.output) as? [String: Any]
        // A single statement must be returned by itself (xAPI 1.0.3, communication, 2.1.3); Ralph wraps it.
        return (answer?["statements"] as? [[String: Any]])?.first ?? (answer?["id"] == nil ? nil : answer)
    }

    /// All stored statements, read from its file.
    ///
    /// - Returns: statements in order of arrival.
    package func stored() throws -> [[String: Any]] {
        let file = directory.file("lrs/statements/fs_lrs.jsonl")
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        return try text.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// Ends the server.
    package func stop() async { await process.terminate() }
}
