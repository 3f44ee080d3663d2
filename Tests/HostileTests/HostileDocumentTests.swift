import Foundation
import HostileSuite
import LectureTestSupport
import Testing

struct HostileDocumentTests {
    @Test func `the document has a row for every case and no others`() throws {
        let text = try String(contentsOfFile: Places.repository() + "/docs/hostile.md", encoding: .utf8)
        let names = text.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.dropFirst(3).prefix { $0 != "`" } : nil
        }
        #expect(Set(names) == Set(HostileCase.all.map { Substring($0.name) }), "run Tools/hostile")
    }

    @Test func `the names of the cases are unique, and there are a hundred at least`() {
        let names = HostileCase.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 100)
    }

    @Test func `every family has cases, and every summary is a sentence`() {
        #expect(Set(HostileCase.all.map(\.family)) == Set(HostileCase.Family.allCases))
        for hostileCase in HostileCase.all {
            #expect(hostileCase.summary.hasSuffix(".") && !hostileCase.summary.contains("|"), "\(hostileCase.name)")
        }
    }
}
