package import LectureModel

/// What the player did without a change for some time: the smallest thing that a report is made of.
///
/// | activity | position | counts as played | time of playing | time open |
/// | --- | --- | --- | --- | --- |
/// | play | runs from one to the other | what lies between | yes | yes |
/// | pause | stands | nothing | no | yes |
/// | seek | leaps from one to the other | nothing | no | yes |
/// | stop | stands, and the session is over | nothing | no | yes |
///
/// An interval lies within one run of the machine, so one boot id holds for both of its ends.
package struct PlayInterval: Hashable, Sendable {
    /// What the player did. Stored, so the raw values are frozen.
    package enum Activity: Int, Sendable, CaseIterable {
        /// The content ran.
        case play = 1
        /// The content stood still.
        case pause = 2
        /// The learner went to another place.
        case seek = 3
        /// The player was closed.
        case stop = 4
    }

    /// The furthest position there is, a hundred years in milliseconds: sums of them stay within 64 bits.
    package static let furthest: Int64 = 3_155_760_000_000

    /// What the player did.
    package let activity: Activity
    /// Where in the content it began, in milliseconds.
    package let from: Int64
    /// Where in the content it ended, in milliseconds.
    package let to: Int64
    /// How fast the content ran, in thousandths of the normal speed. Told on as it is; the sums go by the positions,
    /// in which the speed is already.
    package let speedPermille: Int
    /// Both clocks when it began.
    package let began: ClockReading
    /// The boot clock when it ended, in the same run of the machine.
    package let ended: BootInstant

    /// Makes an interval; positions outside of the possible are moved to the nearest possible one.
    ///
    /// - Parameters:
    ///   - activity: what the player did.
    ///   - from: where in the content it began, in milliseconds.
    ///   - to: where in the content it ended, in milliseconds.
    ///   - speedPermille: how fast the content ran, in thousandths of the normal speed.
    ///   - began: both clocks when it began.
    ///   - ended: the boot clock when it ended, in the same run of the machine.
    package init(
        _ activity: Activity, from: Int64, to: Int64, speedPermille: Int = 1000, began: ClockReading,
        ended: BootInstant
    ) {
        self.activity = activity
        self.from = min(max(0, from), Self.furthest)
        self.to = min(max(0, to), Self.furthest)
        (self.speedPermille, self.began, self.ended) = (speedPermille, began, ended)
    }

    /// The part of the content that ran, in milliseconds; empty when nothing did, or when it ran backwards.
    package var played: Range<Int64> {
        activity == .play && from < to ? from..<to : from..<from
    }

    /// How long it took by the boot clock, in nanoseconds; 0 when the clock ran backwards. The wall clock has no say.
    package var nanoseconds: Int64 {
        let (difference, overflow) = ended.nanoseconds.subtractingReportingOverflow(began.boot.nanoseconds)
        if overflow { return ended > began.boot ? .max : 0 }
        return max(0, difference)
    }
}
