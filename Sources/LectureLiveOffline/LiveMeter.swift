import LectureKit

/// Divides what a viewer of a live lecture sees into intervals, whose sums are what was watched.
///
/// Positions are times since the lecture began: a viewer who joins later begins there, and what was missed while the
/// link was slow is a jump. Times are those of a monotonic clock, so that a clock that is set changes nothing.
///
/// ```
/// waits ──plays──▶ plays ──waits──▶ waits …        ends, from both: over
/// ```
struct LiveMeter: Hashable, Sendable {
    /// What the viewer does.
    private enum Activity: Hashable { case waiting, playing }

    /// Where in the lecture the viewer is when the monotonic clock is at zero.
    private let origin: Duration
    private var activity = Activity.waiting
    private var since: Duration
    /// The end of the last interval; nil before the first one.
    private var place: Duration?

    /// Begins to measure a viewer who waits for a picture.
    ///
    /// - Parameters:
    ///   - age: how long ago the lecture began.
    ///   - now: the monotonic clock.
    init(age: Duration, now: Duration) { (origin, since) = (max(.zero, age) - now, now) }

    /// There is a picture.
    mutating func plays(at now: Duration) -> [PlayedInterval] { turn(to: .playing, at: now) }

    /// There is none.
    mutating func waits(at now: Duration) -> [PlayedInterval] { turn(to: .waiting, at: now) }

    /// Ends the interval and begins another one of the same kind.
    mutating func cut(at now: Duration) -> [PlayedInterval] { turn(to: activity, at: now) }

    /// The viewer has gone.
    mutating func ends(at now: Duration) -> [PlayedInterval] {
        let rest = turn(to: .waiting, at: now)
        let end = place ?? origin + now
        return rest + [PlayedInterval(.stop, from: end, to: end, lasting: .zero)]
    }

    private mutating func turn(to next: Activity, at now: Duration) -> [PlayedInterval] {
        // A clock that stands still, or an event that came late.
        let now = max(now, since)
        let (start, end) = (origin + since, origin + now)
        var intervals: [PlayedInterval] = []
        switch activity {
        case .playing:
            if end > start {
                intervals.append(PlayedInterval(.play, from: start, to: end, lasting: now - since))
                place = end
            }
        case .waiting where next == .playing:
            // Only the time in which the player was open counts: nothing was played, and nothing paused.
            if let place, end > place {
                intervals.append(PlayedInterval(.seek, from: place, to: end, lasting: now - since))
            }
            place = end
        case .waiting: return []
        }
        (activity, since) = (next, now)
        return intervals
    }
}
