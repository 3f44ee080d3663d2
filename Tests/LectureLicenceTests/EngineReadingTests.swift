import LectureModel
import LectureSQLite
import Testing

@testable import LectureStore

/// How often a renewal reads its row: each time its code is checked.
struct EngineReadingTests {
    @Test func `a renewal reads its licence once for its claim, its request and its answer`() throws {
        let world = try LicenceWorld()
        try world.licensed((0..<10).map { "k\($0)" })
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        let connection = world.index.connection
        var reads = 0
        connection.faultPoint = { point in
            guard case .statement(let text) = point, text.hasPrefix("SELECT \(LicenceColumns.list)") else {
                return
            }
            if text.contains("content_key = ?") || text.contains("id = ?") { reads += 1 }
        }
        defer { connection.faultPoint = nil }
        #expect(try world.renew().renewed == 10)
        #expect(reads == 10)
    }

    /// The second time because its key may have been bound meanwhile; without media of its own there is none.
    @Test func `a renewal looks at its lecture when it is answered, and for its verdict`() throws {
        let world = try LicenceWorld()
        try world.licensed((0..<10).map { "k\($0)" })
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        let looks = world.contents.looks
        #expect(try world.renew().renewed == 10)
        #expect(world.contents.looks == looks + 20)
    }
}
