import LectureFormats
import LectureModel

/// Bounds bytes a second. Bytes are taken after they were received, so the level may fall below zero; nothing more is
/// read until time has refilled it. The mean is therefore exact whatever the size of a read, which libcurl's own limit
/// is not: it forgets the excess every three seconds.
struct TokenBucket {
    /// Bytes a second.
    let rate: Int
    private var level = 0.0
    private var filledAt: SuspendingClock.Instant

    /// Makes an empty bucket.
    ///
    /// - Parameters:
    ///   - rate: bytes a second; less than 1 counts as 1.
    ///   - now: when it starts to fill.
    init(rate: Int, now: SuspendingClock.Instant) {
        self.rate = max(rate, 1)
        filledAt = now
    }

    /// Takes received bytes.
    ///
    /// - Parameters:
    ///   - bytes: how many.
    ///   - now: the time.
    mutating func take(_ bytes: Int, now: SuspendingClock.Instant) {
        level = filled(now: now) - Double(bytes)
        filledAt = now
    }

    /// How long reading is forbidden.
    ///
    /// - Parameter now: the time.
    /// - Returns: zero when reading is allowed.
    func delay(now: SuspendingClock.Instant) -> Duration {
        let level = filled(now: now)
        return level >= 0 ? .zero : .seconds(-level / Double(rate))
    }

    /// Unused capacity is kept for a tenth of a second only, so that a pause is not followed by a burst.
    private func filled(now: SuspendingClock.Instant) -> Double {
        min(level + filledAt.duration(to: now).secondsDouble * Double(rate), Double(rate) / 10)
    }
}
