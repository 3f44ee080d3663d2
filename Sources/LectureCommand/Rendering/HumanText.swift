import LectureFormats
import LectureKit
package import LectureModel

/// Sizes, rates, durations and dates for people. Integer arithmetic, no locale: the same everywhere.
package enum HumanText {
    /// A number of bytes with three significant digits: `0 B`, `999 B`, `1.50 KiB`, `12.3 MiB`, `157 GiB`.
    ///
    /// - Parameter bytes: the number.
    /// - Returns: at most 8 characters for anything below an exbibyte.
    package static func byteCount(_ bytes: Int64) -> String {
        var text: [UInt8] = []
        append(byteCount: bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends what ``byteCount(_:)`` returns.
    ///
    /// - Parameters:
    ///   - bytes: the number.
    ///   - text: what it is appended to.
    static func append(byteCount bytes: Int64, to text: inout [UInt8]) {
        guard bytes >= 1000 else {
            DecimalText.append(max(0, bytes), to: &text)
            return text.append(contentsOf: " B".utf8)
        }
        var unit = -1
        var whole = bytes
        // Up to 999.5 of a unit; 1000 KiB reads better as 0.98 MiB.
        var divisor: Int64 = 1
        while whole >= 1000, unit < 5 {
            unit += 1
            divisor <<= 10
            whole = bytes / divisor
        }
        let hundredths = hundredfold(bytes, over: divisor)
        DecimalText.append(hundredths / 100, to: &text)
        let decimal = UInt8(hundredths % 100 / 10)
        switch hundredths {
        case ..<1000: text += [UInt8(ascii: "."), 0x30 + decimal, 0x30 + UInt8(hundredths % 10)]
        case ..<10_000: text += [UInt8(ascii: "."), 0x30 + decimal]
        default: break
        }
        text += [UInt8(ascii: " "), units[unit], UInt8(ascii: "i"), UInt8(ascii: "B")]
    }

    /// The first letters of the units from KiB on.
    private static let units = Array("KMGTPE".utf8)

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
        let hundredths = hundredfold(max(0, bytes), over: 1 << 20)
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
        return Int(hundredfold(clamped, over: total))
    }

    /// 100 × part / whole, rounded down, without overflow on the way; the quotient must fit, `part` not be negative.
    private static func hundredfold(_ part: Int64, over whole: Int64) -> Int64 {
        Int64(whole.magnitude.dividingFullWidth(part.magnitude.multipliedFullWidth(by: 100)).quotient)
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
