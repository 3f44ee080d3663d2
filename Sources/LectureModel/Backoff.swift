import LectureFormats

/// How long to wait before the next attempt: exponential, with full jitter and a cap.
///
/// | failed attempts in a row | longest wait | mean wait |
/// |---|---|---|
/// | 1 | 0.5 s | 0.25 s |
/// | 2 | 1 s | 0.5 s |
/// | 3 | 2 s | 1 s |
/// | 4 | 4 s | 2 s |
/// | 5 | 8 s | 4 s |
/// | 6 | 16 s | 8 s |
/// | 7 | 32 s | 16 s |
/// | 8 and more | 60 s | 30 s |
///
/// Full jitter (anything between zero and the longest wait) spreads the clients of a recovering server better than any
/// jitter around a fixed wait. The counter restarts when an attempt made progress.
package struct Backoff: Hashable, Sendable {
    /// The longest wait after the first failure.
    package let base: Duration
    /// The longest wait at all.
    package let cap: Duration

    /// Creates a backoff.
    ///
    /// - Parameters:
    ///   - base: the longest wait after the first failure.
    ///   - cap: the longest wait at all.
    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// The longest wait after a number of failures.
    ///
    /// - Parameter failures: failed attempts in a row, from 1.
    /// - Returns: the upper end of ``delay(failures:random:)``.
    package func ceiling(failures: Int) -> Duration {
        guard failures > 0 else { return .zero }
        var ceiling = base
        var doublings = failures - 1
        // Doubling stops at the cap, so that it neither overflows nor takes long.
        while doublings > 0, ceiling < cap {
            ceiling *= 2
            doublings -= 1
        }
        return min(ceiling, cap)
    }

    /// The wait after a number of failures.
    ///
    /// - Parameters:
    ///   - failures: failed attempts in a row, from 1.
    ///   - random: a uniformly random number.
    /// - Returns: between zero and ``ceiling(failures:)``, both included.
    package func delay(failures: Int, random: UInt64) -> Duration {
        let span = UInt64(max(0, ceiling(failures: failures).nanosecondCount))
        // The high half of the product is uniform in 0...span, without a division and without its bias.
        return .nanoseconds(Int64((span + 1).multipliedFullWidth(by: random).high))
    }
}

/// A wait that survives a restart and changes of the wall clock: the one rule for lectures, servers, licences and
/// reports.
///
/// Only the wall clock survives a restart, and it may be wrong. So the start is stored beside the end. A wait is over
/// when its end has passed, or when the clock shows a time that is before the start by more than the length of the
/// wait: that clock was set back, and otherwise a wait could last for years. A clock that was set forward ends the wait
/// early, and the server may then ask for another one. `RetryWait.isOver(_:)` of the store is the same rule in SQL.
package struct RetryWait: Hashable, Sendable {
    /// When the wait started.
    package let setAt: Timestamp
    /// When it ends.
    package let due: Timestamp

    /// Starts a wait.
    ///
    /// - Parameters:
    ///   - setAt: now.
    ///   - delay: how long to wait; a negative one counts as zero.
    package init(setAt: Timestamp, delay: Duration) {
        self.setAt = setAt
        self.due = setAt + max(delay, .zero)
    }

    /// Reads a wait from its stored columns.
    ///
    /// - Parameters:
    ///   - setAt: when it started.
    ///   - due: when it ends; an end before the start counts as the start.
    package init(setAt: Timestamp, due: Timestamp) {
        self.setAt = setAt
        self.due = max(setAt, due)
    }

    /// The remaining wait.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: between zero, when it is over, and the intended length of the wait.
    package func remaining(at now: Timestamp) -> Duration {
        let length = due - setAt
        return setAt - now > length ? .zero : min(max(due - now, .zero), length)
    }

    /// The wait as it should be stored from now on: restarted when the clock was set back, else unchanged.
    ///
    /// Without this every restart before the old start would wait for longer than intended.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: a wait that starts at or before `now`.
    package func normalized(at now: Timestamp) -> RetryWait {
        now < setAt ? RetryWait(setAt: now, delay: remaining(at: now)) : self
    }
}
