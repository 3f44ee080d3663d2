import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// What a licence has to know of a lecture's media.
struct MediaPresenceTests {
    @Test func `a lecture is complete when it has a complete version`() throws {
        try StoreFixture.with { store in
            let key = try store.item(store.add("a")).content.key
            #expect(try store.index.contents.media(key)?.isComplete == false)
            let complete = try store.completed("b")
            let found = try #require(try store.index.contents.media(store.item(complete).content.key))
            #expect(found.id == complete && found.isComplete && found.key == nil)
            #expect(try store.index.contents.media(try ContentKey("nothing")) == nil)
        }
    }

    @Test func `the key of its media comes with it, in one statement`() throws {
        try StoreFixture.with { store in
            let content = try store.completed("a")
            let key = try store.item(content).content.key
            let wrapped = WrappedKey(
                wrapped: [UInt8](repeating: 7, count: 40), purpose: .licensed,
                grantingKeys: GrantingKeys(answers: ["one", "two"], files: ["three"]))
            try ContentKeyRows(connection: store.index.connection).add(content, wrapped, now: store.now)
            var statements = 0
            store.index.connection.faultPoint = { point in if case .statement = point { statements += 1 } }
            let found = try #require(try store.index.contents.media(key))
            store.index.connection.faultPoint = nil
            #expect(found.key == wrapped && found.isComplete)
            #expect(statements == 1)
        }
    }
}
