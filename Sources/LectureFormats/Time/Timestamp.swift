/// A point of wall time: milliseconds since 1970-01-01T00:00:00Z. The wall clock may be wrong; no decision about rights
/// may rely on it alone.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the epoch, UTC.
    public var milliseconds: Int64

    /// Creates a point of time.
    ///
    /// - Parameter milliseconds: since the epoch, UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Compares two points of time.
    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The point of time `duration` later, clamped to the range of the type.
    public static func + (left: Self, duration: Duration) -> Self {
        let (sum, overflow) = left.milliseconds.addingReportingOverflow(duration.milliseconds)
        if !overflow { return Self(milliseconds: sum) }
        return Self(milliseconds: duration < .zero ? .min : .max)
    }

    /// How much later the left point of time is, clamped to the range of the type.
    public static func - (left: Self, right: Self) -> Duration {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        if !overflow { return .milliseconds(difference) }
        return .milliseconds(left > right ? Int64.max : Int64.min)
    }
}

/// A point on the clock that only runs forward (`CLOCK_BOOTTIME`): nanoseconds since the machine started, suspend
/// included. For measuring and for timers; never stored across a restart.
public struct BootInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine started.
    public var nanoseconds: Int64

    /// Creates a point on the boot clock.
    ///
    /// - Parameter nanoseconds: since the machine started.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Compares two points.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The point `duration` later.
    public static func + (left: Self, duration: Duration) -> Self {
        Self(nanoseconds: left.nanoseconds &+ duration.nanosecondCount)
    }

    /// How much later the left point is.
    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds &- right.nanoseconds)
    }
}

extension Duration {
    /// Whole milliseconds, clamped to the range of `Int64`.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, over) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return over ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole nanoseconds, clamped to the range of `Int64`.
    package var nanosecondCount: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, over) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return over ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds with a fraction, for rates and displays.
    package var secondsDouble: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
