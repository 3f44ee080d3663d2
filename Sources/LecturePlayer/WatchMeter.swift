import LectureKit

/// Divides what a video engine shows into intervals, whose sums are what was watched.
///
/// Positions come from the engine and times from a monotonic clock. The position of an interval's end is the start of
/// the next one, so that nothing is counted twice and nothing is left out, however often ``cut(at:)`` is called.
struct WatchMeter: Sendable, Hashable {
    /// What happens between two intervals.
    private enum Stretch { case playing, paused, waiting, seeking }

    /// Where and when an interval began.
    private struct Beginning: Sendable, Hashable {
        let place: Duration
        let moment: Duration
    }

    /// A position that is further from the expected one is a jump, whether the engine has reported one or not.
    private static let tolerance: Duration = .seconds(2)

    /// The newest known position.
    private(set) var place: Duration
    /// The speed; 1 is normal.
    private(set) var rate: Double
    private var stretch: Stretch
    private var start: Beginning
    private var placeTime: Duration

    /// Begins to measure a player that is paused.
    ///
    /// - Parameters:
    ///   - place: where in the lecture it is.
    ///   - rate: the speed.
    ///   - now: the clock.
    init(at place: Duration, rate: Double, now: Duration) {
        (self.place, self.rate, stretch, placeTime) = (place, rate, .paused, now)
        start = Beginning(place: place, moment: now)
    }

    /// The engine is at another position.
    mutating func moved(to next: Duration, at now: Duration) -> [PlayedInterval] {
        guard stretch == .playing else {
            // Before the end of a jump the engine may still report where it was.
            if stretch == .paused { (place, placeTime) = (next, now) }
            return []
        }
        let farthest = place + Self.scaled(now - placeTime, by: rate) + Self.tolerance
        guard next < place || next > farthest else {
            (place, placeTime) = (next, now)
            return []
        }
        return seeking(at: now) + arrived(at: next, plays: true, now: now)
    }

    /// The engine plays on.
    mutating func plays(at now: Duration) -> [PlayedInterval] { turn(to: .playing, at: now) }

    /// The engine has paused.
    mutating func pauses(at now: Duration) -> [PlayedInterval] { turn(to: .paused, at: now) }

    /// The engine waits for media.
    mutating func waits(at now: Duration) -> [PlayedInterval] { turn(to: .waiting, at: now) }

    /// A jump begins.
    mutating func seeking(at now: Duration) -> [PlayedInterval] { turn(to: .seeking, at: now) }

    /// A jump has ended.
    mutating func arrived(at next: Duration, plays: Bool, now: Duration) -> [PlayedInterval] {
        guard stretch == .seeking else { return [] }
        let jump = PlayedInterval(.seek, from: place, to: next, lasting: now - start.moment)
        (place, placeTime, stretch) = (next, now, plays ? .playing : .paused)
        start = Beginning(place: next, moment: now)
        return [jump]
    }

    /// The speed has changed.
    mutating func changes(rate next: Double, at now: Duration) -> [PlayedInterval] {
        let done = cut(at: now)
        rate = next
        return done
    }

    /// Ends the interval and begins another one of the same kind.
    mutating func cut(at now: Duration) -> [PlayedInterval] { turn(to: stretch, at: now) }

    private mutating func turn(to next: Stretch, at now: Duration) -> [PlayedInterval] {
        let lasting = now - start.moment
        let done: PlayedInterval? =
            switch stretch {
            case .playing: PlayedInterval(.play, from: start.place, to: place, speed: rate, lasting: lasting)
            case .paused: PlayedInterval(.pause, from: place, to: place, lasting: lasting)
            // Neither played nor paused: only the time in which the player was open counts.
            case .waiting: PlayedInterval(.seek, from: place, to: place, lasting: lasting)
            case .seeking: next == .seeking ? nil : PlayedInterval(.seek, from: place, to: place, lasting: lasting)
            }
        guard let done else { return [] }
        (start, stretch) = (Beginning(place: place, moment: now), next)
        return done.lasting > .zero || done.from != done.to ? [done] : []
    }

    private static func scaled(_ time: Duration, by rate: Double) -> Duration {
        .seconds(time / .seconds(1) * rate)
    }
}
