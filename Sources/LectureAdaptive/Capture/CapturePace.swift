package import LectureFormats

/// When a live playlist is loaded (RFC 8216 section 6.3.4), and when its server has stopped.
///
///     due ── began ──▶ loading ── came: changed ───▶ waits one target duration from the beginning of the load ──▶ due
///                         │  └─── came: the same ──▶ waits half of it ──▶ due
///                         └────── came: the same for ten target durations ──▶ stalled
///
/// It has no clock: points in time come in.
package struct CapturePace: Sendable, Hashable {
    /// After how many target durations without a change a server has stopped. RFC 8216 section 6.2.1 gives it one and a
    /// half for the next version; players that follow a broadcast give up after three or four, and would lose less.
    package static let patience = 10

    /// When the playlist is loaded next; nil while it is loaded.
    package private(set) var due: BootInstant?
    private var began: BootInstant
    private var changed: BootInstant
    private var target = Duration.seconds(1)

    /// A playlist that is due, and counts as changed.
    ///
    /// - Parameter now: the moment.
    package init(now: BootInstant) { (due, began, changed) = (now, now, now) }

    /// Whether it is to be loaded at a moment.
    package func isDue(_ now: BootInstant) -> Bool { due.map { $0 <= now } ?? false }

    /// A load begins.
    ///
    /// - Parameter now: the moment.
    package mutating func begins(_ now: BootInstant) { (due, began) = (nil, now) }

    /// It was loaded.
    ///
    /// - Parameters:
    ///   - isChanged: whether it has something new.
    ///   - seconds: its target duration.
    ///   - now: the moment.
    package mutating func came(isChanged: Bool, targetDuration seconds: Int64, _ now: BootInstant) {
        target = .seconds(min(max(1, seconds), Self.longestTarget))
        if isChanged { changed = now }
        due = max(now, began + (isChanged ? target : target / 2))
    }

    /// What was loaded is no playlist: as if it were the same.
    ///
    /// - Parameter now: the moment.
    package mutating func cameDamaged(_ now: BootInstant) { due = max(now, began + target / 2) }

    /// Whether the server has stopped, at a moment.
    package func isStalled(_ now: BootInstant) -> Bool { now - changed >= target * Self.patience }

    /// A longer target duration counts as this one, in seconds: else a server could have nothing happen for a day.
    private static let longestTarget: Int64 = 120
}
