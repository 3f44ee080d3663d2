package import LectureModel

/// A time in which the player's activity did not change: the smallest part of a report.
///
/// | activity | position | counts as played | time of playing | time open |
/// | --- | --- | --- | --- | --- |
/// | play | moves from one to the other | what is between | yes | yes |
/// | pause | unchanged | nothing | no | yes |
/// | seek | jumps from one to the other | nothing | no | yes |
/// | stop | unchanged, and the session is over | nothing | no | yes |
///
/// An interval is within one boot of the machine, so one boot id applies to both of its ends.
package struct PlayInterval: Hashable, Sendable {
    /// What the player did. Stored, so the raw values are frozen.
    package enum Activity: Int, Sendable, CaseIterable {
        /// The lecture was playing.
        case play = 1
        /// The lecture was paused.
        case pause = 2
        /// The learner went to another position.
        case seek = 3
        /// The player was closed.
        case stop = 4
    }

    /// The largest position, a hundred years in milliseconds: sums stay within 64 bits.
    package static let furthest: Int64 = 3_155_760_000_000

    /// What the player did.
    package let activity: Activity
    /// Where in the lecture it started, in milliseconds.
    package let from: Int64
    /// Where in the lecture it ended, in milliseconds.
    package let to: Int64
    /// The playback speed, in thousandths of the normal speed. Passed on unchanged; the sums use the positions, which
    /// already include the speed.
    package let speedPermille: Int
    /// Both clocks when it started.
    package let began: ClockReading
    /// The boot clock when it ended, in the same boot of the machine.
    package let ended: BootInstant

    /// Makes an interval; positions are clamped to the valid range.
    ///
    /// - Parameters:
    ///   - activity: what the player did.
    ///   - from: where in the lecture it started, in milliseconds.
    ///   - to: where in the lecture it ended, in milliseconds.
    ///   - speedPermille: the playback speed, in thousandths of the normal speed.
    ///   - began: both clocks when it started.
    ///   - ended: the boot clock when it ended, in the same boot of the machine.
    package init(
        _ activity: Activity, from: Int64, to: Int64, speedPermille: Int = 1000, began: ClockReading,
        ended: BootInstant
    ) {
        self.activity = activity
        self.from = min(max(0, from), Self.furthest)
        self.to = min(max(0, to), Self.furthest)
        (self.speedPermille, self.began, self.ended) = (speedPermille, began, ended)
    }

    /// Makes an interval of which only the length is known. Only that counts in the sums, so any start will do.
    ///
    /// - Parameters:
    ///   - activity: what the player did.
    ///   - from: where in the lecture it started, in milliseconds.
    ///   - to: where in the lecture it ended, in milliseconds.
    ///   - speedPermille: the playback speed, in thousandths of the normal speed.
    ///   - lasting: how long it took, in nanoseconds; negative counts as zero.
    package init(_ activity: Activity, from: Int64, to: Int64, speedPermille: Int, lasting: Int64) {
        let began = ClockReading(wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0), bootID: "")
        self.init(
            activity, from: from, to: to, speedPermille: speedPermille, began: began,
            ended: BootInstant(nanoseconds: max(0, lasting)))
    }

    /// The part of the lecture that was played, in milliseconds; empty when nothing was, or when it ran backwards.
    package var played: Range<Int64> {
        activity == .play && from < to ? from..<to : from..<from
    }

    /// How long it took by the boot clock, in nanoseconds; 0 when the clock ran backwards. The wall clock is not used.
    package var nanoseconds: Int64 {
        let (difference, overflow) = ended.nanoseconds.subtractingReportingOverflow(began.boot.nanoseconds)
        if overflow { return ended > began.boot ? .max : 0 }
        return max(0, difference)
    }
}
