package import Foundation
import Testing

/// Runs curl against a server of a test.
package enum Curl {
    /// A response.
    package struct Response: Sendable {
        /// The status; 0 without one.
        package let status: Int
        /// The fields by their names in lower case.
        package let head: [String: String]
        /// The bytes after the head.
        package let body: Data
        /// curl's own status; 0 for a whole answer.
        package let result: Int32

        /// The body as text.
        package var text: String { String(decoding: body, as: UTF8.self) }

        /// A text of a JSON object.
        ///
        /// - Parameter name: of the member.
        /// - Returns: its value.
        /// - Throws: when there is none.
        package func member(_ name: String) throws -> String {
            let object = try JSONSerialization.jsonObject(with: body) as? [String: Any]
            return try #require(object?[name] as? String, "\(text)")
        }
    }

    /// Words that every call begins with: head and body on standard output, and a limit of time.
    package static let options = ["-q", "-s", "-S", "-i", "--max-time", "60"]

    /// Starts a request.
    ///
    /// - Parameter words: further words.
    /// - Returns: the process; see ``response(_:)``.
    /// - Throws: when curl cannot be started.
    package static func start(_ words: String...) throws -> ChildProcess {
        try ChildProcess("/usr/bin/curl", options + words)
    }

    /// Reads what curl has printed.
    ///
    /// - Parameter ending: of a process that was started with ``options``.
    /// - Returns: the response.
    /// - Throws: when there is no head.
    package static func response(_ ending: ChildProcess.Ending) throws -> Response {
        let end = try #require(ending.output.range(of: Data("\r\n\r\n".utf8)), "\(ending.errorText)")
        let lines = String(decoding: ending.output[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var head: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            head[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
        }
        let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        return Response(status: status, head: head, body: Data(ending.output[end.upperBound...]), result: ending.status)
    }

    /// Sends a request and waits for the end of the answer.
    ///
    /// - Parameter words: further words.
    /// - Returns: the response.
    /// - Throws: as ``response(_:)``.
    package static func get(_ words: [String]) async throws -> Response {
        try response(try await ChildProcess.run("/usr/bin/curl", options + words))
    }

    /// Sends a request and waits for the end of the answer.
    package static func get(_ words: String...) async throws -> Response { try await get(words) }
}
