import Foundation

/// A receiver of webhooks in Python, as an operator would write it: `Tests/Fixtures/webhook-receiver`. It checks
/// signatures with Python's `hmac`, and has the bad habits that a test gives it. It ends with its last reference.
package final class WebhookReceiver: Sendable {
    /// One request.
    package struct Request: Decodable, Sendable {
        /// The `webhook-id`.
        package let id: String
        /// How many of its signatures are those of a secret of the receiver.
        package let signatures: Int
        /// The body.
        package let body: String
        /// Whether the receiver kept it.
        package let stored: Bool
        /// The media type.
        package let type: String

        /// The body as JSON.
        package var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
        /// The body's `type`.
        package var event: String { json["type"] as? String ?? "" }
        /// The `key` of the body's `data`.
        package var key: String { (json["data"] as? [String: Any])?["key"] as? String ?? "" }
    }

    /// The first secret.
    package static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Where it is.
    package let url: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// Starts a receiver.
    ///
    /// - Parameters:
    ///   - secrets: those that it knows.
    ///   - habit: its first habit, see the script.
    ///   - port: its port; nil for a free one.
    /// - Returns: once it listens.
    /// - Throws: ``ChildProcess/Failure``.
    package static func start(
        secrets: [String] = [secret], habit: String = "", port: Int? = nil
    ) async throws -> WebhookReceiver {
        let directory = try TemporaryDirectory()
        _ = try directory.write(habit, to: "habits")
        _ = try directory.write("", to: "log")
        let process = try ChildProcess(
            Places.command("python3"),
            [
                Places.repository() + "/Tests/Fixtures/webhook-receiver/receiver.py", secrets.joined(separator: ","),
                directory.file("log"), directory.file("habits"),
            ], environment: port.map { ["PORT": "\($0)"] } ?? [:], keepsInputOpen: true)
        let line = try await process.firstLine()
        return WebhookReceiver(process, directory, line.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private init(_ process: ChildProcess, _ directory: TemporaryDirectory, _ port: String) {
        (self.process, self.directory) = (process, directory)
        url = "http://127.0.0.1:\(port)/hook?token=not-printed"
    }

    /// Gives it another habit.
    package func set(_ habit: String) throws { _ = try directory.write(habit, to: "habits") }

    /// All requests, in the order of arrival.
    package func requests() throws -> [Request] {
        let text = try String(contentsOfFile: directory.file("log"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
    }

    /// The events that it took: each id once, in the order of arrival.
    package func events() throws -> [Request] {
        var ids: Set<String> = []
        return try requests().filter { $0.stored && ids.insert($0.id).inserted }
    }

    /// Waits until a condition is true of its requests; it is asked after each of them.
    ///
    /// - Parameter condition: of all requests.
    /// - Throws: ``ChildProcess/Failure`` when the receiver has ended.
    package func wait(until condition: @escaping @Sendable ([Request]) -> Bool) async throws {
        _ = try await process.wait(for: .output) { [self] _ in (try? requests()).map(condition) ?? false }
    }

    /// Ends it.
    package func stop() async { await process.terminate() }
}
