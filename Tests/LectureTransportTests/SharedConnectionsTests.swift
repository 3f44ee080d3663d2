import LectureFormats
import Testing

@testable import LectureTransport

@Suite struct SharedConnectionsTests {
    private func origin(_ host: String) throws -> Origin { try Origin(parsing: "https://\(host)/file") }

    @Test func `the first of each twenty-five opens a connection`() throws {
        var shared = SharedConnections()
        let (here, there) = try (origin("a.example"), origin("b.example"))
        let opened = (0..<100).filter { _ in shared.start(here) }
        #expect(opened == [0, 25, 50, 75])
        // Another server has connections of its own.
        #expect(shared.start(there))
        #expect(!shared.start(there))
    }

    @Test func `what has ended is not counted`() throws {
        var shared = SharedConnections()
        let here = try origin("a.example")
        for _ in 0..<25 { _ = shared.start(here) }
        shared.end(here)
        #expect(!shared.start(here))
        #expect(shared.start(here))
        for _ in 0..<26 { shared.end(here) }
        #expect(shared.start(here))
        // An end too many is none.
        shared.end(here)
        shared.end(here)
        #expect(shared.start(here) && !shared.start(here))
    }
}
