import LectureModel
import LectureTestSupport
import Testing

@testable import LectureStatistics

/// The log of a play, from which a killed program's report is made.
struct PlayLogTests {
    private func interval(
        _ activity: PlayInterval.Activity, _ from: Int64, _ to: Int64, speed: Int = 1000, lasting: Int64
    ) -> PlayInterval {
        let began = ClockReading(wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0), bootID: "")
        return PlayInterval(
            activity, from: from, to: to, speedPermille: speed, began: began, ended: BootInstant(nanoseconds: lasting))
    }

    @Test func `one that goes on is extended`() {
        var log = PlayLog()
        for second in 0..<100 {
            log.add(interval(.play, Int64(second) * 1000, Int64(second + 1) * 1000, lasting: 1_000_000_000))
        }
        #expect(log.intervals == [interval(.play, 0, 100_000, lasting: 100_000_000_000)])
        log.add(interval(.play, 100_000, 102_000, speed: 2000, lasting: 1_000_000_000))
        log.add(interval(.pause, 102_000, 102_000, lasting: 5))
        log.add(interval(.pause, 102_000, 102_000, lasting: 6))
        log.add(interval(.seek, 102_000, 5000, lasting: 7))
        #expect(log.intervals.count == 4 && log.intervals[2].nanoseconds == 11)
    }

    @Test func `only what has changed is stored again`() {
        var log = PlayLog()
        log.add(interval(.play, 0, 1000, lasting: 1))
        #expect(log.firstChanged == 0)
        let kept = log
        log.stored(kept)
        #expect(log.firstChanged == 1)
        // Extended while it was being stored.
        log.add(interval(.play, 1000, 2000, lasting: 1))
        log.stored(kept)
        #expect(log.firstChanged == 0)
        log.stored(log)
        log.add(interval(.seek, 2000, 0, lasting: 1))
        #expect(log.firstChanged == 1)
        #expect(log.restarted.firstChanged == 0)
    }

    @Test(arguments: 0..<20) func `a report from the log is the report from what was added`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (log, place) = (PlayLog(), Int64(0))
        var (direct, stored) = (session(), session())
        for _ in 0..<500 {
            let activity = PlayInterval.Activity.allCases.randomElement(using: &random) ?? .play
            let next: Int64 =
                switch activity {
                case .play: place + .random(in: -500...5000, using: &random)
                case .seek: .random(in: 0...600_000, using: &random)
                case .pause, .stop: place
                }
            let added = interval(
                activity, place, next, speed: .random(in: 1...2, using: &random) * 1000,
                lasting: .random(in: 0...5_000_000_000, using: &random))
            direct.add(added)
            log.add(added)
            place = added.to
        }
        for interval in log.intervals { stored.add(interval) }
        #expect(stored.report == direct.report)
        #expect(log.intervals.count < 500)
    }

    private func session() -> PlaySession {
        PlaySession(clientUserID: "kim", startAt: 0, duration: 600_000, blockCount: 100)
    }
}
