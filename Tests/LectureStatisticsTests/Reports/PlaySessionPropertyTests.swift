import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// A lecture as a row of units, each with its play count: the meaning of a report, without any optimisation.
private struct NaiveModel {
    let duration: Int64
    let count: Int
    let unit: Int64
    var times: [Int64: Int64] = [:]
    var order: [Int64] = []

    mutating func add(_ interval: PlayInterval) {
        guard interval.activity == .play else { return }
        for place in stride(from: interval.from, to: interval.to, by: Int64.Stride(unit)) {
            times[place, default: 0] += 1
            order.append(place)
        }
    }

    /// Tried one by one, from the last block to the first.
    func block(of place: Int64) -> Int {
        if duration == 0 { return 0 }
        return (0..<count).last { duration * Int64($0) / Int64(count) <= place } ?? 0
    }

    func length(of block: Int) -> Int64 {
        duration * Int64(block + 1) / Int64(count) - duration * Int64(block) / Int64(count)
    }

    var playtime: Int64 { Int64(order.count) * unit }
    var realPlaytime: Int64 { Int64(times.count) * unit }

    var blocks: [PlayReport.Block] {
        var (ran, seen) = ([Int: Int64](), [Int: Int64]())
        for (place, count) in times {
            ran[block(of: place), default: 0] += count * unit
            seen[block(of: place), default: 0] += unit
        }
        return (0..<count).map { block in
            let played = ran[block, default: 0]
            let share = length(of: block) == 0 ? 0 : seen[block, default: 0] * 100 / length(of: block)
            return PlayReport.Block(isPlayed: played > 0, seconds: played / 1000, percent: min(100, share))
        }
    }

    /// A new stretch starts where a unit does not follow the previous one, or is in another block.
    var sessions: [PlayReport.Stretch] {
        var runs: [(block: Int, start: Int64, end: Int64)] = []
        for place in order {
            if let last = runs.last, last.end == place, last.block == block(of: place) {
                runs[runs.count - 1].end = place + unit
            } else {
                runs.append((block(of: place), place, place + unit))
            }
        }
        return runs.map {
            PlayReport.Stretch(block: $0.block, startTime: $0.start / 1000, playTime: $0.end / 1000 - $0.start / 1000)
        }
    }

    /// Every whole second of which all units were seen.
    var seenSeconds: Set<Int64> {
        let last = (times.keys.max() ?? 0) / 1000
        let seen = (0...last).filter { second -> Bool in
            let start = second * 1000
            return stride(from: start, to: start + 1000, by: Int64.Stride(unit)).allSatisfy { times[$0] != nil }
        }
        return Set(seen)
    }
}

@Suite struct PlaySessionPropertyTests {
    @Test(arguments: [(90_000, 9), (90_000, 1), (90_000, 90), (60_000, 20)] as [(Int64, Int)])
    func `reports agree with counting seconds`(duration: Int64, blocks: Int) {
        for seed in 1...40 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            check(world.session(30, furthest: 90, unit: 1000), duration, blocks, unit: 1000)
        }
    }

    @Test(arguments: [(2500, 7), (2999, 1), (5, 9), (0, 4), (1, 1), (2000, 10)] as [(Int64, Int)])
    func `reports agree with counting milliseconds, where blocks and seconds do not end together`(
        duration: Int64, blocks: Int
    ) {
        for seed in 1...12 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            check(world.session(12, furthest: 2800, unit: 1), duration, blocks, unit: 1)
        }
    }

    private func check(_ intervals: [PlayInterval], _ duration: Int64, _ blocks: Int, unit: Int64) {
        var model = NaiveModel(duration: duration, count: blocks, unit: unit)
        for interval in intervals { model.add(interval) }
        let report = PlaySession(duration: duration, blocks: blocks, intervals).report
        #expect(report.playtime == model.playtime / 1000)
        #expect(report.realPlaytime == model.realPlaytime / 1000)
        #expect(report.playtimePercent == (duration == 0 ? 0 : model.playtime * 100 / duration))
        #expect(report.blocks == model.blocks)
        #expect(report.sessions == model.sessions)
        #expect(Set(report.seen.flatMap { Array($0) }) == model.seenSeconds)
        // Sums that every receiver may compute itself.
        if unit == 1000 {
            #expect(report.sessions.reduce(0) { $0 + $1.playTime } == report.playtime)
            #expect(report.blocks.reduce(0) { $0 + $1.seconds } == report.playtime)
        }
        #expect(report.realPlaytime <= report.playtime)
        #expect(report.showtime <= report.runtime)
    }

    @Test func `splitting an interval anywhere changes nothing`() {
        for seed in 1...150 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            var intervals = world.session(15, furthest: 70_000, unit: 1)
            let whole = PlaySession(duration: 61_234, blocks: 11, intervals)
            for _ in 0..<30 {
                let index = Int.random(in: intervals.indices, using: &world.generator)
                let old = intervals[index]
                let place = Int64.random(in: min(old.from, old.to)...max(old.from, old.to), using: &world.generator)
                let time = BootInstant(
                    nanoseconds: Int64.random(
                        in: old.began.boot.nanoseconds...old.ended.nanoseconds, using: &world.generator))
                let wall = Timestamp(milliseconds: Int64.random(in: 0...Int64.max, using: &world.generator))
                intervals.replaceSubrange(index...index, with: old.split(at: place, time, wall: wall))
            }
            let parts = PlaySession(duration: 61_234, blocks: 11, intervals)
            #expect(parts == whole)
            #expect(parts.report == whole.report)
        }
    }

    @Test func `repeated playing adds to the playtime and not to the real one`() {
        for seed in 1...100 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            let intervals = world.session(20, furthest: 100, unit: 1000)
            var session = PlaySession(duration: 100_000, blocks: 10, intervals)
            let once = session.report
            for interval in intervals { session.add(interval) }
            let twice = session.report
            #expect(once.playtime > 0)
            #expect(twice.playtime == 2 * once.playtime)
            #expect(twice.realPlaytime == once.realPlaytime)
            #expect(twice.seen == once.seen)
            #expect(twice.blocks.map(\.seconds) == once.blocks.map { 2 * $0.seconds })
            #expect(twice.blocks.map(\.percent) == once.blocks.map(\.percent))
        }
    }

    @Test func `the wall clock may show anything, in any order`() {
        for seed in 1...100 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            let intervals = world.session(20, furthest: 90_000, unit: 1)
            let walls = intervals.map(\.began.wall)
            let plain = PlaySession(duration: 80_000, blocks: 5, intervals)
            for order in [walls.shuffled(using: &world.generator), walls.reversed(), walls.sorted()] {
                let others = zip(intervals, order).map { $0.with(wall: $1) }
                #expect(PlaySession(duration: 80_000, blocks: 5, others) == plain)
            }
        }
    }

    @Test func `no sum ever shrinks`() {
        for seed in 1...100 as ClosedRange<UInt64> {
            var world = PlayWorld(seed: seed)
            var session = PlaySession(duration: 80_000, blocks: 7)
            var sums = Self.sums(session.report)
            for interval in world.session(25, furthest: 90_000, unit: 1) {
                session.add(interval)
                let next = Self.sums(session.report)
                #expect(zip(sums, next).allSatisfy { $0 <= $1 }, "\(sums) then \(next)")
                sums = next
            }
        }
    }

    private static func sums(_ report: PlayReport) -> [Int64] {
        [
            report.playtime, report.realPlaytime, report.playtimePercent, report.showtime, report.runtime,
            Int64(report.sessions.count), report.sessions.reduce(0) { $0 + $1.playTime },
        ] + report.blocks.flatMap { [$0.isPlayed ? 1 : 0, $0.seconds, $0.percent] }
    }
}
