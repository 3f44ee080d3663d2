import LectureFormats
import LectureKit
package import LectureModel

/// Sizes, rates, durations and dates for people. Integer arithmetic, no locale: the same everywhere.
package enum HumanText {
    /// A number of bytes with three significant digits: `0 B`, `999 B`, `1.50 KiB`, `12.3 MiB`, `157 GiB`.
    ///
    /// - Parameter bytes: the number.
    /// - Returns: at most 8 characters for anything below an exbibyte.
    package static func byteCount(_ bytes: Int64) -> String { QuantityText.text(byteCount: bytes) }

    /// A number of lectures: `1 lecture`, `12 lectures`.
    ///
    /// - Parameter count: how many.
    /// - Returns: the text.
    package static func lectures(_ count: Int) -> String { count == 1 ? "1 lecture" : "\(count) lectures" }

    /// An offset in a file, in MiB with two decimals: `3.50`.
    ///
    /// - Parameter bytes: the offset; not negative.
    /// - Returns: the text, without the unit.
    package static func mebibytes(_ bytes: Int64) -> String {
        let hundredths = QuantityText.hundredfold(max(0, bytes), over: 1 << 20)
        return "\(hundredths / 100).\(twoDigits(hundredths % 100))"
    }

    /// Bytes per second: `12.3 MiB/s`.
    ///
    /// - Parameter bytesPerSecond: the rate.
    /// - Returns: at most 10 characters.
    package static func rate(_ bytesPerSecond: Int64) -> String { "\(byteCount(bytesPerSecond))/s" }

    /// A duration: `0:42`, `12:05`, `3:07:00`, `2d 04h`, `over 99d`.
    ///
    /// - Parameter seconds: the duration; negative counts as 0.
    /// - Returns: at most 8 characters.
    package static func duration(seconds: Int64) -> String {
        let seconds = max(0, seconds)
        let (minutes, hours, days) = (seconds / 60 % 60, seconds / 3600 % 24, seconds / 86_400)
        if days > 99 { return "over 99d" }
        if days > 0 { return "\(days)d \(twoDigits(hours))h" }
        if hours > 0 { return "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds % 60))" }
        return "\(minutes):\(twoDigits(seconds % 60))"
    }

    /// The whole percentage of a total, rounded down, so that 100 means all.
    ///
    /// - Parameters:
    ///   - part: bytes present.
    ///   - total: bytes expected.
    /// - Returns: 0…100.
    package static func percent(_ part: Int64, of total: Int64) -> Int {
        guard total > 0 else { return 100 }
        let clamped = min(max(0, part), total)
        return Int(QuantityText.hundredfold(clamped, over: total))
    }

    /// A time for people, in the machine's time zone: `2026-03-04 14:06:07`.
    ///
    /// - Parameter time: the time; truncated to whole seconds.
    /// - Returns: the text.
    package static func date(_ time: Timestamp) -> String {
        let local = time + .seconds(SystemTime.secondsEastOfUTC(time))
        let (day, clock) = MomentText.parts(local)
        return "\(day) \(clock)"
    }

    /// A time for lists: for people as ``date(_:)``, for programs as ``utc(_:)``.
    ///
    /// - Parameters:
    ///   - time: the time.
    ///   - isTerminal: whether a terminal shows it.
    /// - Returns: the text.
    package static func date(_ time: Timestamp, isTerminal: Bool) -> String { isTerminal ? date(time) : utc(time) }

    /// A time in UTC: `2026-03-04T05:06:07Z` (RFC 3339).
    ///
    /// - Parameter time: the time; truncated to whole seconds.
    /// - Returns: the text.
    package static func utc(_ time: Timestamp) -> String {
        let (day, clock) = MomentText.parts(time)
        return "\(day)T\(clock)Z"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
