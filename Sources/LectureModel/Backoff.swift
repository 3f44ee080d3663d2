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
/// Full jitter (anything between nothing and the longest wait) spreads the clients of a server that came back better
/// than any jitter around a fixed wait. The counter begins anew when an attempt gained bytes.
package struct Backoff: Hashable, Sendable {
    /// The longest wait after the first failure.
    package let base: Duration
    /// The longest wait at all.
    package let cap: Duration

    /// Makes a backoff.
    ///
    /// - Parameters:
    ///   - base: the longest wait after the first failure.
    ///   - cap: the longest wait at all.
    package init(base: Duration = .milliseconds(500), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// The longest wait after so many failures.
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

    /// The wait after so many failures.
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

/// A wait that survives a restart, and a wall clock that is set while it lasts.
///
/// Only the wall clock survives a restart, and it may be wrong. So the beginning is stored beside the end: when the
/// clock shows a time before the beginning it was set back, and then the wait lasts at most as long as it was meant to.
/// A clock that was set forward ends the wait early, which the server answers with another one.
package struct PersistedWait: Hashable, Sendable {
    /// When the wait was begun.
    package let setAt: Timestamp
    /// When it ends.
    package let due: Timestamp

    /// Begins a wait.
    ///
    /// - Parameters:
    ///   - setAt: now.
    ///   - delay: how long to wait; a negative one counts as zero.
    package init(setAt: Timestamp, delay: Duration) {
        self.setAt = setAt
        self.due = setAt + max(delay, .zero)
    }

    /// Takes a wait from its stored columns.
    ///
    /// - Parameters:
    ///   - setAt: when it was begun.
    ///   - due: when it ends; an end before the beginning counts as the beginning.
    package init(setAt: Timestamp, due: Timestamp) {
        self.setAt = setAt
        self.due = max(setAt, due)
    }

    /// How long is left to wait.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: between zero and the length the wait was meant to have.
    package func remaining(at now: Timestamp) -> Duration {
        min(max(due - now, .zero), due - setAt)
    }

    /// The wait as it should be stored from now on: begun anew when the clock was set back, else unchanged.
    ///
    /// Without this every restart before the old beginning would wait the full length again.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: a wait that begins at or before `now`.
    package func normalized(at now: Timestamp) -> PersistedWait {
        now < setAt ? PersistedWait(setAt: now, delay: remaining(at: now)) : self
    }
}
