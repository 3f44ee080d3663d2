import Foundation
import LectureTestSupport
import Testing

/// docs/threat-model.md: each claim of its tables names the test that shows it.
struct ThreatModelTests {
    @Test func `every row of the tables names a test that exists`() throws {
        let root = Places.repository()
        let page = try String(contentsOfFile: "\(root)/docs/threat-model.md", encoding: .utf8)
        let claims = page.components(separatedBy: "## Attacks and their results").last ?? ""
        let rows = claims.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
        var tests: Set<String> = []
        for case let path as String in FileManager.default.enumerator(atPath: "\(root)/Tests") ?? .init()
        where path.hasSuffix(".swift") {
            let source = try String(contentsOfFile: "\(root)/Tests/\(path)", encoding: .utf8)
            for match in source.matches(of: /func `([^`]+)`/) { tests.insert(String(match.1)) }
        }
        let titles = rows.filter { $0.hasSuffix("| test |") }
        #expect(titles.count >= 4 && rows.count > 40)
        for row in rows where !row.hasSuffix("| test |") {
            let cells = row.dropFirst().dropLast().split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = (cells.last ?? "").trimmingCharacters(in: ["`"])
            #expect(cells.count == 4 && tests.contains(name), "\(row)")
        }
    }
}
