import Foundation
import LectureCommand
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What programs rely on from outside may grow and never change: the numbers and names of errors with their exit
/// statuses, and the members of JSON lines. `RECORD_GOLDEN=1` adds what is new to the recorded list; it takes nothing
/// away, so a change stays a failure.
@Suite struct ContractTests {
    private static let path = "\(Places.repository())/Tests/Fixtures/contract.txt"

    /// A line for each error: its number, its name, and the exit status of a command that ends with it.
    private static var errors: [String] {
        LectureError.Code.all.map { code in
            "error \(code.number) \(code.name), status \(LectureCommand.ExitStatus.status(for: code).code)"
        }
    }

    /// A line for each fact of a schema: a member's type, whether it is required, a value that it may have.
    private static func schemas() throws -> [String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: JSONSchema.directory.path)
        return try files.filter { $0.hasSuffix(".json") }.flatMap { file in
            let data = try Data(contentsOf: JSONSchema.directory.appending(path: file))
            let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            return facts(schema, file.split(separator: ".").first.map(String.init) ?? file)
        }
    }

    private static func facts(_ schema: [String: Any], _ place: String) -> [String] {
        var facts: [String] = []
        if let type = schema["type"] as? String { facts.append("\(place): \(type)") }
        if let value = schema["const"] as? String { facts.append("\(place) is \(value)") }
        facts += (schema["enum"] as? [String] ?? []).map { "\(place) may be \($0)" }
        facts += (schema["required"] as? [String] ?? []).map { "\(place).\($0) is required" }
        for (name, member) in schema["properties"] as? [String: [String: Any]] ?? [:] {
            facts += Self.facts(member, "\(place).\(name)")
        }
        if let items = schema["items"] as? [String: Any] { facts += Self.facts(items, "\(place)[]") }
        return facts
    }

    @Test func `errors, exit statuses and JSON lines are as recorded`() throws {
        let now = try Set(Self.errors + Self.schemas().map { "json \($0)" })
        let recorded = try Set(
            String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").map(String.init))
        #expect(recorded.count > 500, "the list is not empty")
        #expect(recorded.subtracting(now).sorted() == [], "programs rely on it")
        let new = now.subtracting(recorded).sorted()
        #expect(new == [], "RECORD_GOLDEN=1 adds it")
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1", !new.isEmpty {
            let text = recorded.union(now).sorted().map { "\($0)\n" }.joined()
            try Data(text.utf8).write(to: URL(filePath: Self.path))
        }
    }
}
