import Foundation
import LectureTestSupport

/// Sends the commands of one session (W3C WebDriver) to chromedriver, with curl.
struct WebDriver: Sendable {
    /// What a command has failed with.
    struct Failure: Error, CustomStringConvertible {
        /// The error code of the specification, such as `no such element`.
        let code: String
        let description: String
    }

    /// The address of the driver, or of a session.
    let url: String

    /// Sends a command.
    ///
    /// - Parameters:
    ///   - method: of HTTP.
    ///   - path: below the address.
    ///   - body: a JSON object; nil for none.
    ///   - limit: how many seconds the answer may take.
    /// - Returns: the member `value` of the answer.
    /// - Throws: ``Failure``, also when the driver cannot be reached.
    @discardableResult
    func send(_ method: String, _ path: String, _ body: [String: Any]? = nil, limit: Double = 120) async throws -> Any {
        var arguments = ["--silent", "--show-error", "--noproxy", "*", "--max-time", "\(limit)", "--request", method]
        // A script may be longer than an argument can be.
        let scratch = try TemporaryDirectory()
        if method == "POST" {
            let data = try JSONSerialization.data(withJSONObject: body ?? [:])
            arguments += ["--header", "Content-Type: application/json"]
            arguments += ["--data-binary", "@\(try scratch.write(Array(data), to: "body"))"]
        }
        let ending = try await ChildProcess.run(try Places.command("curl"), arguments + [url + path])
        guard ending.status == 0 else {
            throw Failure(code: "unreachable", description: "\(method) \(path): \(ending.errorText)")
        }
        let data = ending.output
        let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let value = answer?["value"]
        if let failure = value as? [String: Any], let code = failure["error"] as? String {
            throw Failure(code: code, description: "\(code): \(failure["message"] ?? "") (\(method) \(path))")
        }
        return value ?? NSNull()
    }
}
