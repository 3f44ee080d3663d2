import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport

/// A player on a machine with an arbitrary wall clock.
struct PlayWorld {
    var generator: SeededGenerator
    var boot: Int64 = 5_000_000_000
    var position: Int64 = 0

    init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

    /// An interval that starts where and when the last one ended.
    mutating func next(
        _ activity: PlayInterval.Activity, from: Int64? = nil, to: Int64? = nil, speedPermille: Int = 1000,
        took: Duration = .zero
    ) -> PlayInterval {
        let start = from ?? position
        let wall = Timestamp(milliseconds: Int64.random(in: 0...2_000_000_000_000, using: &generator))
        let began = ClockReading(wall: wall, boot: BootInstant(nanoseconds: boot), bootID: "run")
        boot += took.nanosecondCount
        position = to ?? start
        return PlayInterval(
            activity, from: start, to: position, speedPermille: speedPermille, began: began,
            ended: BootInstant(nanoseconds: boot))
    }

    /// A random session: playing at several speeds, pausing, seeking, repeating.
    ///
    /// - Parameters:
    ///   - count: how many intervals, with a stop after them.
    ///   - furthest: how far positions go, in units.
    ///   - unit: every position is a multiple of it, in milliseconds.
    /// - Returns: the intervals in their order.
    mutating func session(_ count: Int, furthest: Int64, unit: Int64) -> [PlayInterval] {
        var intervals: [PlayInterval] = []
        for _ in 0..<count {
            let target = Int64.random(in: 0...furthest, using: &generator) * unit
            let took = Duration.nanoseconds(Int64.random(in: 0...9_000_000_000, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: intervals.append(next(.pause, took: took))
            case 1...3: intervals.append(next(.seek, to: target, took: took))
            default:
                let speed = Int.random(in: 500...2000, using: &generator)
                let step = Int64.random(in: 0...furthest / 3, using: &generator) * unit
                let end = min(position + step, furthest * unit)
                intervals.append(next(.play, to: end, speedPermille: speed, took: took))
            }
        }
        intervals.append(next(.stop))
        return intervals
    }
}

extension PlaySession {
    /// A session of one learner.
    init(duration: Int64, blocks: Int, _ intervals: [PlayInterval] = []) {
        self.init(clientUserID: "kim", startAt: 1_700_000_000, duration: duration, blockCount: blocks)
        for interval in intervals { add(interval) }
    }
}

extension PlayInterval {
    /// The same in two parts, cut at a position and at a time.
    func split(at place: Int64, _ time: BootInstant, wall: Timestamp) -> [PlayInterval] {
        let middle = ClockReading(wall: wall, boot: time, bootID: began.bootID)
        return [
            PlayInterval(
                activity, from: from, to: place, speedPermille: speedPermille, began: began, ended: time),
            PlayInterval(
                activity, from: place, to: to, speedPermille: speedPermille, began: middle, ended: ended),
        ]
    }

    /// The same with another wall clock.
    func with(wall: Timestamp) -> PlayInterval {
        PlayInterval(
            activity, from: from, to: to, speedPermille: speedPermille,
            began: ClockReading(wall: wall, boot: began.boot, bootID: began.bootID), ended: ended)
    }
}
