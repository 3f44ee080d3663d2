import Foundation
import LectureTestSupport

/// One answer, as `curl` saw it.
struct Answer {
    /// 0 if curl accepted the answer, otherwise its exit code.
    let exitStatus: Int32
    let status: Int
    /// Lower-case names; the last answer's after redirects.
    let fields: [String: String]
    let body: Data

    /// Sends a request with `curl`, an independent client.
    ///
    /// - Parameters:
    ///   - url: the address.
    ///   - arguments: more options of curl.
    /// - Returns: the last answer; curl's own verdict is in ``exitStatus``.
    /// - Throws: ``ChildProcess/Failure`` when curl is not installed.
    static func get(_ url: String, _ arguments: [String] = []) async throws -> Answer {
        let ending = try await ChildProcess.run(
            Places.command("curl"),
            ["--silent", "--globoff", "--dump-header", "/dev/stderr", "--output", "-"] + arguments + [url])
        return Answer(ending)
    }

    private init(_ ending: ChildProcess.Ending) {
        exitStatus = ending.status
        body = ending.output
        let lines = ending.errorText.split(whereSeparator: \.isNewline)
        let last = lines.lastIndex { $0.hasPrefix("HTTP/") }
        status = last.flatMap { Int(lines[$0].split(separator: " ")[1]) } ?? 0
        var fields: [String: String] = [:]
        for line in lines.suffix(from: last.map { $0 + 1 } ?? lines.endIndex) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields[line[..<colon].lowercased()] = String(value)
        }
        self.fields = fields
    }
}
