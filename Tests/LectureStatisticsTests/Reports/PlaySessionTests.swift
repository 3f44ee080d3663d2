import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

@Suite struct PlaySessionTests {
    @Test func `a session records what was played, how often, and how long it took`() {
        var world = PlayWorld()
        var session = PlaySession(duration: 100_000, blocks: 4)
        // 20 s at normal speed, 10 s of waiting, 20 s of media at double speed.
        session.add(world.next(.play, to: 20_000, took: .seconds(20)))
        session.add(world.next(.pause, took: .seconds(10)))
        session.add(world.next(.play, to: 40_000, speedPermille: 2000, took: .seconds(10)))
        // Back, and 15 s again.
        session.add(world.next(.seek, to: 10_000, took: .seconds(1)))
        session.add(world.next(.play, to: 25_000, took: .seconds(15)))
        session.add(world.next(.stop))
        let report = session.report
        #expect(report.clientUserID == "kim")
        #expect(report.startAt == 1_700_000_000)
        #expect(report.duration == 100)
        #expect(report.playtime == 55)
        #expect(report.realPlaytime == 40)
        #expect(report.playtimePercent == 55)
        #expect(report.showtime == 45)
        #expect(report.runtime == 56)
        #expect(report.lastPlayAt == 25)
        #expect(report.status == .stop)
        #expect(report.blocks.map(\.isPlayed) == [true, true, false, false])
        #expect(report.blocks.map(\.seconds) == [40, 15, 0, 0])
        #expect(report.blocks.map(\.percent) == [100, 60, 0, 0])
        #expect(
            report.sessions == [
                PlayReport.Stretch(block: 0, startTime: 0, playTime: 25),
                PlayReport.Stretch(block: 1, startTime: 25, playTime: 15),
                PlayReport.Stretch(block: 0, startTime: 10, playTime: 15),
            ])
        #expect(report.seen == [0..<40])
    }

    @Test func `a session in which nothing happened says so`() {
        let report = PlaySession(duration: 10_000, blocks: 2).report
        #expect(report.playtime == 0)
        #expect(report.blocks.count == 2)
        #expect(report.blocks.allSatisfy { !$0.isPlayed && $0.seconds == 0 && $0.percent == 0 })
        #expect(report.sessions.isEmpty)
        #expect(report.seen.isEmpty)
    }

    @Test func `a millisecond makes a block a played one`() {
        var world = PlayWorld()
        let session = PlaySession(duration: 10_000, blocks: 2, [world.next(.play, from: 4999, to: 5001)])
        #expect(session.report.blocks.map(\.isPlayed) == [true, true])
        #expect(session.report.blocks.map(\.seconds) == [0, 0])
        #expect(session.report.playtime == 0)
    }

    @Test func `the percentage is rounded down and may exceed a hundred`() {
        var world = PlayWorld()
        var session = PlaySession(duration: 10_900, blocks: 1)
        session.add(world.next(.play, to: 10_899))
        #expect(session.report.playtimePercent == 99)
        session.add(world.next(.play, to: 10_900))
        #expect(session.report.playtimePercent == 100)
        session.add(world.next(.play, from: 0, to: 10_900))
        #expect(session.report.playtimePercent == 200)
        #expect(session.report.realPlaytime == 10)
    }

    @Test func `parts of seconds are added before they are rounded`() {
        var world = PlayWorld()
        var session = PlaySession(duration: 10_000, blocks: 1)
        for _ in 0..<10 {
            session.add(world.next(.play, to: world.position + 300, took: .milliseconds(300)))
        }
        #expect(session.report.playtime == 3)
        #expect(session.report.showtime == 3)
        #expect(session.report.sessions == [PlayReport.Stretch(block: 0, startTime: 0, playTime: 3)])
    }

    @Test func `only playing plays`() {
        var world = PlayWorld()
        for activity in [PlayInterval.Activity.pause, .seek, .stop] {
            let session = PlaySession(
                duration: 10_000, blocks: 1, [world.next(activity, from: 0, to: 5000, took: .seconds(5))])
            #expect(session.report.playtime == 0)
            #expect(session.report.realPlaytime == 0)
            #expect(session.report.showtime == 0)
            #expect(session.report.runtime == 5)
            #expect(session.report.lastPlayAt == 5)
        }
    }

    @Test func `the status is what the player does, and seeking does not change it`() {
        var world = PlayWorld()
        var session = PlaySession(duration: 10_000, blocks: 1)
        let steps: [(PlayInterval.Activity, PlayStatus)] = [
            (.seek, .play), (.play, .play), (.pause, .pause), (.seek, .pause), (.play, .play), (.seek, .play),
            (.stop, .stop),
        ]
        for (activity, status) in steps {
            session.add(world.next(activity))
            #expect(session.report.status == status)
        }
    }

    @Test func `intervals that run backwards count only their time`() {
        var world = PlayWorld()
        let session = PlaySession(
            duration: 10_000, blocks: 1, [world.next(.play, from: 8000, to: 3000, took: .seconds(2))])
        #expect(session.report.playtime == 0)
        #expect(session.report.sessions.isEmpty)
        #expect(session.report.showtime == 2)
        #expect(session.report.lastPlayAt == 3)
    }

    @Test func `a boot clock that ran backwards takes no time away`() {
        let began = ClockReading(
            wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 9_000_000_000), bootID: "run")
        let back = PlayInterval(.play, from: 0, to: 1000, began: began, ended: BootInstant(nanoseconds: 1))
        #expect(back.nanoseconds == 0)
        let session = PlaySession(duration: 10_000, blocks: 1, [back])
        #expect(session.report.playtime == 1)
        #expect(session.report.showtime == 0)
    }

    @Test func `impossible numbers neither overflow nor end the program`() {
        let began = ClockReading(
            wall: Timestamp(milliseconds: .min), boot: BootInstant(nanoseconds: .min), bootID: "")
        let endless = PlayInterval(
            .play, from: .min, to: .max, speedPermille: .max, began: began, ended: BootInstant(nanoseconds: .max))
        #expect(endless.from == 0)
        #expect(endless.to == PlayInterval.furthest)
        #expect(endless.nanoseconds == .max)
        for (duration, blocks) in [(Int64.max, Int.max), (.min, .min), (0, 0), (1, 10_000)] {
            let report = PlaySession(duration: duration, blocks: blocks, [endless, endless, endless]).report
            #expect(report.playtime == 3 * PlayInterval.furthest / 1000)
            #expect(report.realPlaytime == PlayInterval.furthest / 1000)
            #expect(report.showtime == Int64.max / 1_000_000_000)
            #expect(report.blocks.count == min(max(1, blocks), BlockGrid.mostBlocks))
        }
        // Sums are clamped: two of these, and three thousand.
        var session = PlaySession(duration: 1, blocks: 2, [endless, endless])
        #expect(session.report.showtime == Int64.max / 1_000_000_000)
        #expect(session.report.runtime == Int64.max / 1_000_000_000)
        for _ in 0..<2998 { session.add(endless) }
        #expect(session.report.playtime == Int64.max / 1_000_000)
        #expect(session.report.playtimePercent == Int64.max / 1000 * 100)
        #expect(session.report.realPlaytime == PlayInterval.furthest / 1000)
    }
}

@Suite struct BlockGridTests {
    @Test(arguments: [(100_000, 10), (100, 7), (5, 9), (1, 1), (2, 3), (99_991, 100), (7, 10_000)] as [(Int64, Int)])
    func `every millisecond is in exactly one block`(duration: Int64, count: Int) {
        let grid = BlockGrid(duration: duration, count: count)
        var end: Int64 = 0
        for block in 0..<count {
            let range = grid.range(of: block)
            #expect(range.lowerBound == end)
            end = range.upperBound
            guard let last = range.last else { continue }
            #expect(grid.block(at: range.lowerBound) == block)
            #expect(grid.block(at: last) == block)
            #expect(abs(Int64(range.count) - duration / Int64(count)) <= 1)
        }
        #expect(end == duration)
    }

    @Test func `the last block holds everything after the duration`() {
        let grid = BlockGrid(duration: 1000, count: 2)
        #expect(grid.block(at: 1000) == 1)
        #expect(grid.block(at: 999_999) == 1)
        let pieces = grid.pieces(of: 400..<2000)
        #expect(pieces.map(\.block) == [0, 1])
        #expect(pieces.map(\.range) == [400..<500, 500..<2000])
    }

    @Test func `without a duration the first block holds everything`() {
        let pieces = BlockGrid(duration: 0, count: 3).pieces(of: 5..<2000)
        #expect(pieces.map(\.block) == [0])
        #expect(pieces.map(\.range) == [5..<2000])
    }

    @Test func `nothing has no pieces`() {
        #expect(BlockGrid(duration: 10, count: 3).pieces(of: 4..<4).isEmpty)
    }
}

@Suite struct SeenPartsTests {
    @Test func `parts are joined as a set of numbers is`() {
        for seed in 1...200 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var parts = SeenParts()
            var numbers: Set<Int64> = []
            for _ in 0..<25 {
                let start = Int64.random(in: 0..<150, using: &generator)
                let part = start..<start + Int64.random(in: 0..<12, using: &generator)
                parts.insert(part)
                numbers.formUnion(part)
                #expect(parts.total == Int64(numbers.count))
                #expect(Set(parts.ranges.joined()) == numbers)
                #expect(parts.ranges.allSatisfy { !$0.isEmpty })
                #expect(zip(parts.ranges, parts.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            }
        }
    }
}
