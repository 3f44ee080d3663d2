import LectureKit
import Testing

@testable import LecturePlayer

/// What an engine shows, divided into intervals.
struct WatchMeterTests {
    /// The time of the lecture in intervals of an activity.
    private func played(_ intervals: [PlayedInterval]) -> Duration {
        intervals.filter { $0.activity == .play }.reduce(.zero) { $0 + ($1.to - $1.from) }
    }

    @Test func `playing is from position to position, at the speed and for the time it took`() {
        var meter = WatchMeter(at: .seconds(10), rate: 2, now: .zero)
        var found = meter.plays(at: .seconds(1))
        found += meter.moved(to: .seconds(12), at: .seconds(2))
        found += meter.moved(to: .seconds(14), at: .seconds(3))
        found += meter.pauses(at: .seconds(3))
        #expect(
            found == [
                PlayedInterval(.pause, from: .seconds(10), to: .seconds(10), lasting: .seconds(1)),
                PlayedInterval(.play, from: .seconds(10), to: .seconds(14), speed: 2, lasting: .seconds(2)),
            ])
    }

    @Test(arguments: [1, 3, 20])
    func `into how many intervals the same playing is cut makes no difference`(cuts: Int) {
        var meter = WatchMeter(at: .zero, rate: 1, now: .zero)
        var found = meter.plays(at: .zero)
        for second in 1...60 {
            found += meter.moved(to: .seconds(second), at: .seconds(second))
            if second.isMultiple(of: cuts) { found += meter.cut(at: .seconds(second)) }
        }
        found += meter.pauses(at: .seconds(60))
        #expect(played(found) == .seconds(60))
        #expect(found.reduce(.zero) { $0 + $1.lasting } == .seconds(60))
    }

    @Test func `a jump is no playing, whether the engine reports it or not`() {
        var meter = WatchMeter(at: .zero, rate: 1, now: .zero)
        var found = meter.plays(at: .zero) + meter.moved(to: .seconds(5), at: .seconds(5))
        found += meter.seeking(at: .seconds(5))
        // Where it was before the jump.
        found += meter.moved(to: .seconds(5), at: .seconds(6))
        found += meter.arrived(at: .seconds(100), plays: true, now: .seconds(6))
        found += meter.moved(to: .seconds(103), at: .seconds(9))
        // Unreported: forwards, and backwards.
        found += meter.moved(to: .seconds(200), at: .seconds(10))
        found += meter.moved(to: .seconds(50), at: .seconds(11))
        found += meter.pauses(at: .seconds(11))
        #expect(played(found) == .seconds(8))
        let jumps = found.filter { $0.activity == .seek }.map { [$0.from / .seconds(1), $0.to / .seconds(1)] }
        #expect(jumps == [[5, 100], [103, 200], [200, 50]])
    }

    @Test func `waiting for media is neither playing nor a pause`() {
        var meter = WatchMeter(at: .zero, rate: 1, now: .zero)
        var found = meter.plays(at: .zero) + meter.moved(to: .seconds(4), at: .seconds(4))
        found += meter.waits(at: .seconds(4)) + meter.plays(at: .seconds(30))
        found += meter.moved(to: .seconds(5), at: .seconds(31)) + meter.pauses(at: .seconds(31))
        #expect(found.map(\.activity) == [.play, .seek, .play])
        #expect(played(found) == .seconds(5))
        #expect(found.map(\.lasting) == [.seconds(4), .seconds(26), .seconds(1)])
    }

    @Test func `a speed that changes ends an interval`() {
        var meter = WatchMeter(at: .zero, rate: 1, now: .zero)
        var found = meter.plays(at: .zero) + meter.moved(to: .seconds(2), at: .seconds(2))
        found += meter.changes(rate: 4, at: .seconds(2))
        found += meter.moved(to: .seconds(10), at: .seconds(4)) + meter.pauses(at: .seconds(4))
        #expect(found.map(\.speed) == [1, 4])
        #expect(found.map(\.to) == [.seconds(2), .seconds(10)])
    }
}
