import LectureKit
import LectureTestSupport
import Testing

@testable import LectureLiveOffline

/// What a viewer of a live lecture sees, as intervals.
struct LiveMeterTests {
    /// What happens at a second of the monotonic clock.
    private enum Step {
        case plays(Int)
        case waits(Int)
        case cut(Int)
        case ends(Int)
    }

    private func run(age: Int, from: Int = 1000, _ steps: [Step]) -> [String] {
        var meter = LiveMeter(age: .seconds(age), now: .seconds(from))
        var intervals: [PlayedInterval] = []
        for step in steps {
            switch step {
            case .plays(let second): intervals += meter.plays(at: .seconds(second))
            case .waits(let second): intervals += meter.waits(at: .seconds(second))
            case .cut(let second): intervals += meter.cut(at: .seconds(second))
            case .ends(let second): intervals += meter.ends(at: .seconds(second))
            }
        }
        return intervals.map { interval in
            let (from, to) = (interval.from / .seconds(1), interval.to / .seconds(1))
            return "\(interval.activity.rawValue) \(Int(from))-\(Int(to)) \(Int(interval.lasting / .seconds(1)))"
        }
    }

    @Test func `a viewer who joins later begins there`() {
        #expect(
            run(age: 600, [.plays(1005), .cut(1015), .ends(1020)])
                == ["play 605-615 10", "play 615-620 5", "stop 620-620 0"])
    }

    @Test func `what was missed while the link was slow is a jump`() {
        #expect(
            run(age: 0, [.plays(1000), .waits(1010), .plays(1014), .waits(1020), .ends(1021)])
                == ["play 0-10 10", "seek 10-14 4", "play 14-20 6", "stop 20-20 0"])
    }

    @Test func `nothing counts while there is no picture`() {
        #expect(run(age: 30, [.ends(1100)]) == ["stop 130-130 0"])
        #expect(run(age: 30, [.waits(1010), .cut(1020), .waits(1030), .ends(1040)]) == ["stop 70-70 0"])
    }

    @Test func `intervals of no length are left out, and none overlap`() {
        #expect(
            run(age: 0, [.plays(1000), .plays(1000), .cut(1000), .plays(1005), .cut(1005), .waits(1005), .plays(1005)])
                == ["play 0-5 5"])
    }

    @Test func `events that come late, and lectures of the future, count nothing twice`() {
        #expect(
            run(age: -50, [.plays(1000), .cut(1010), .cut(1008), .ends(1012)]) == [
                "play 0-10 10", "play 10-12 2", "stop 12-12 0",
            ])
    }

    @Test func `the sums are what was watched, however often it is cut`() {
        for seed in 0..<50 {
            var random = SeededGenerator(seed: UInt64(seed))
            var (now, watched, isPlaying) = (1000, 0, false)
            var steps: [Step] = []
            for _ in 0..<40 {
                let step = Int.random(in: 0...9, using: &random)
                if isPlaying { watched += step }
                now += step
                switch Int.random(in: 0...2, using: &random) {
                case 0: (isPlaying, steps) = (true, steps + [.plays(now)])
                case 1: (isPlaying, steps) = (false, steps + [.waits(now)])
                default: steps.append(.cut(now))
                }
            }
            let plays = run(age: 7, steps + [.ends(now)]).filter { $0.hasPrefix("play") }
            let sum = plays.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            #expect(sum == watched, "seed \(seed)")
        }
    }

    @Test func `intervals follow each other, and no two of what was seen overlap`() {
        for seed in 0..<50 {
            var random = SeededGenerator(seed: UInt64(seed))
            var meter = LiveMeter(age: .seconds(100), now: .zero)
            var (now, intervals) = (Duration.zero, [PlayedInterval]())
            for _ in 0..<60 {
                now += .milliseconds(Int64.random(in: 0...9_000, using: &random))
                switch Int.random(in: 0...2, using: &random) {
                case 0: intervals += meter.plays(at: now)
                case 1: intervals += meter.waits(at: now)
                default: intervals += meter.cut(at: now)
                }
            }
            intervals += meter.ends(at: now)
            for (interval, next) in zip(intervals, intervals.dropFirst()) {
                #expect(interval.to == next.from, "seed \(seed)")
            }
            for interval in intervals {
                #expect(interval.from <= interval.to && interval.lasting == interval.to - interval.from)
                #expect(interval.activity == .stop || interval.lasting > .zero)
            }
            #expect(intervals.last?.activity == .stop && (intervals.last?.to ?? .zero) <= .seconds(100) + now)
        }
    }
}
