import LectureModel
import Testing

@testable import LectureKit

/// What is reported of lectures that other processes work on.
struct FollowerTests {
    private let id = ContentID(7)

    private func content(_ state: ItemState, _ bytes: Int64 = 0) throws -> Content {
        var content = Content(
            key: try ContentKey("k"), sourceURL: "", title: "", state: state, added: Timestamp(milliseconds: 0))
        content.committedBytes = bytes
        return content
    }

    @Test func `each change is reported once, and the end ends it`() throws {
        var follower = Follower()
        let key = try ContentKey("k")
        follower.add(id, try content(.queued))
        #expect(follower.lectures.map(\.0) == [id])
        let found1 = follower.changes(of: id, key, try content(.queued))
        #expect(found1.isEmpty)
        let started = try content(.downloading, 5)
        let found2 = follower.changes(of: id, key, started)
        #expect(found2 == [.bytes(started), .state(started)])
        let found3 = follower.changes(of: id, key, started)
        #expect(found3.isEmpty)
        // Fewer bytes than before are not reported.
        let found4 = follower.changes(of: id, key, try content(.downloading, 4))
        #expect(found4.isEmpty)
        let end = try content(.completed, 9)
        let found5 = follower.changes(of: id, key, end)
        #expect(found5 == [.state(end)])
        #expect(follower.isIdle)
        let found6 = follower.changes(of: id, key, nil)
        #expect(found6.isEmpty)
    }

    @Test func `what was reported here is not reported again, and a removed lecture is gone once`() throws {
        var follower = Follower()
        let key = try ContentKey("k")
        follower.add(id, try content(.queued))
        follower.reported(id, try content(.downloading, 3))
        let found7 = follower.changes(of: id, key, try content(.downloading, 3))
        #expect(found7.isEmpty)
        let found8 = follower.changes(of: id, key, nil)
        #expect(found8 == [.gone])
        #expect(follower.isIdle)
        follower.add(id, try content(.queued))
        follower.forget(key)
        let found9 = follower.changes(of: id, key, nil)
        #expect(found9.isEmpty)
        follower.reported(id, try content(.failed))
        #expect(follower.isIdle, "no process follows it")
    }

    @Test func `changes of another process are checked, four times a second at most`() throws {
        var follower = Follower()
        func moment(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }
        let due = [1_000, 1_249, 1_250].map { follower.isDue(moment($0)) }
        #expect(due == [true, false, true])
        let news = [3, 3, 4].map { follower.isNews($0) }
        #expect(news == [true, false, true])
        // A newly followed lecture is checked, whatever was written before.
        follower.add(id, try content(.queued))
        let isNews = follower.isNews(4)
        #expect(isNews)
    }
}
