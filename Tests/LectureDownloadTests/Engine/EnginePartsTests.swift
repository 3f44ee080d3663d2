import LectureModel
import Testing

@testable import LectureDownload

/// The values that the engine consists of.
struct EnginePartsTests {
    private static func boot(_ milliseconds: Int64) -> BootInstant {
        BootInstant(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test func `paced work is done at once, and then at most so often`() {
        var pace = Pace()
        let due = [0, 999, 1_000, 1_001, 1_999, 2_500].map { pace.isDue(every: .seconds(1), at: Self.boot($0)) }
        #expect(due == [true, false, true, false, false, true])
    }

    @Test func `the transport gets a limit once, and again when the settings change`() throws {
        var rate = RateInForce()
        var settings = DownloadSettings()
        let now = Timestamp(milliseconds: 90_000)
        func follow(_ minute: Int) -> RateInForce.Limit? { rate.follow(settings, atMinuteOfWeek: minute, now: now) }
        #expect(follow(0) == RateInForce.Limit(bytesPerSecond: nil))
        #expect(follow(0) == nil)
        settings.rateLimit = 5_000_000
        #expect(follow(0) == RateInForce.Limit(bytesPerSecond: 5_000_000))
        rate.forget()
        #expect(follow(0) == RateInForce.Limit(bytesPerSecond: 5_000_000))
        settings.timetable = try Timetable("00:00-00:10=1M,else=off")
        #expect(follow(1) == RateInForce.Limit(bytesPerSecond: 1 << 20))
        #expect(rate.closedUntil == nil)
        #expect(follow(10) == RateInForce.Limit(bytesPerSecond: 5_000_000))
        #expect(rate.closedUntil == Timestamp(milliseconds: 60_000) + .seconds((24 * 60 - 10) * 60))
        #expect(follow(1) == RateInForce.Limit(bytesPerSecond: 1 << 20))
        #expect(rate.closedUntil == nil)
    }

    @Test func `a removal begins once, and after a disk error not before half a minute`() throws {
        var removals = Removals()
        let (id, key) = (ContentID(1), try ContentKey("a"))
        #expect(removals.mayBegin(id))
        removals.began(id, ContentLease(content: id, fence: 3), key)
        #expect(!removals.mayBegin(id) && removals.count == 1)
        let ended = removals.ended(id)
        #expect(ended?.lease.fence == 3 && ended?.key == key)
        let again = removals.ended(id)
        #expect(again == nil && removals.count == 0)
        removals.failed(id, at: Self.boot(0))
        #expect(removals.waiting(at: Self.boot(29_999)) == 1)
        #expect(!removals.mayBegin(id))
        #expect(removals.waiting(at: Self.boot(30_000)) == 0)
        #expect(removals.mayBegin(id))
        removals.began(id, ContentLease(content: id, fence: 4), key)
        removals.collapse()
        #expect(removals.mayBegin(id) && removals.count == 0)
    }

    @Test func `the media directory is listed once and compared in slices`() {
        var orphans = Orphans()
        let lists = [orphans.needsList(), orphans.needsList()]
        #expect(lists == [true, false])
        #expect(orphans.activeCount == 1 && !orphans.hasUnchecked)
        orphans.listed((0..<501).map { $0 == 500 ? "media/0000/500.mp4.part" : "media/0000/\($0).mp4" })
        #expect(orphans.activeCount == 501 && orphans.hasUnchecked)
        let slice = orphans.takeSlice()
        #expect(slice.count == 500 && slice.last == "media/0000/500.mp4")
        #expect(orphans.takeSlice() == ["media/0000/0.mp4"])
        #expect(orphans.takeSlice() == [])
        #expect(orphans.activeCount == 0)
        orphans.deletes()
        #expect(orphans.activeCount == 1)
        orphans.deleted()
        #expect(orphans.activeCount == 0)
    }
}
