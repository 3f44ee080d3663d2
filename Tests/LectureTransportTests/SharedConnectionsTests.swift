import LectureFormats
import Testing

@testable import LectureTransport

@Suite struct SharedConnectionsTests {
    private func origin(_ host: String) throws -> Origin { try Origin(parsing: "https://\(host)/file") }

    /// Which of requests that start now open connections.
    private func start(_ count: Int, _ origin: Origin, _ shared: inout SharedConnections) -> [Int] {
        var opened: [Int] = []
        for number in 0..<count where shared.start(origin) { opened.append(number) }
        return opened
    }

    @Test func `the first of each twenty-five opens a connection`() throws {
        var shared = SharedConnections()
        let (here, there) = try (origin("a.example"), origin("b.example"))
        var opened = start(100, here, &shared)
        #expect(opened == [0, 25, 50, 75])
        // Another server has connections of its own.
        opened = start(2, there, &shared)
        #expect(opened == [0])
    }

    @Test func `what has ended is not counted`() throws {
        var shared = SharedConnections()
        let here = try origin("a.example")
        _ = start(25, here, &shared)
        shared.end(here)
        var opened = start(2, here, &shared)
        #expect(opened == [1])
        // Two ends too many are none.
        for _ in 0..<28 { shared.end(here) }
        opened = start(2, here, &shared)
        #expect(opened == [0])
    }
}
