/// Points of time as people and issuers write them.
package enum MomentText {
    /// Reads a moment: whole seconds since 1970, or a date and time of RFC 3339 section 5.6. Seconds are required; a
    /// fraction is truncated to milliseconds, and a leap second is the first second of the next minute.
    ///
    /// - Parameter text: for example `1772352000` or `2026-03-01T08:00:00Z`.
    /// - Returns: the moment, or nil.
    package static func moment(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        if !bytes.isEmpty, bytes.count <= 12, bytes.allSatisfy({ FieldText.digit($0) != nil }) {
            return Int64(text).map { Timestamp(milliseconds: $0 * 1000) }
        }
        var reader = MomentReader(bytes)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t"), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            let fraction = reader.milliseconds(), let offset = reader.offset(), reader.isAtEnd,
            (1...12).contains(month), (1...days(month, year)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = (daysSinceEpoch(year, month, day) * 24 + hour) * 3600 + minute * 60 + second - offset
        return Timestamp(milliseconds: seconds * 1000 + fraction)
    }

    /// Reads a date alone: `2026-03-01`, as RFC 3339 writes it, or `2026/03/01`.
    ///
    /// - Parameter text: the date.
    /// - Returns: its midnight in UTC, or nil.
    package static func day(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        var reader = MomentReader(bytes)
        let dash: Unicode.Scalar = bytes.contains(UInt8(ascii: "/")) ? "/" : "-"
        guard let year = reader.number(4), reader.take(dash), let month = reader.number(2), reader.take(dash),
            let day = reader.number(2), reader.isAtEnd, (1...12).contains(month),
            (1...days(month, year)).contains(day)
        else { return nil }
        return Timestamp(milliseconds: daysSinceEpoch(year, month, day) * 86_400_000)
    }

    /// Writes a time in UTC with milliseconds: `2026-03-04T05:06:07.008Z` (RFC 3339).
    ///
    /// - Parameter time: the time.
    /// - Returns: the text, of 24 characters up to the year 9999.
    package static func utc(_ time: Timestamp) -> String {
        let (day, clock) = parts(time)
        let rest = time.milliseconds % 1000
        return "\(day)T\(clock).\(DecimalText.padded(rest < 0 ? rest + 1000 : rest, 3))Z"
    }

    /// The calendar and the clock at a time in UTC: `2026-03-04` and `05:06:07`.
    ///
    /// - Parameter time: the time; truncated to whole seconds.
    /// - Returns: both.
    package static func parts(_ time: Timestamp) -> (day: String, clock: String) {
        var (days, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        if rest < 0 { (days, rest) = (days - 1, rest + 86_400_000) }
        let (year, month, day) = civil(daysSinceEpoch: days)
        let seconds = rest / 1000
        let date = [
            year < 0 ? "\(year)" : DecimalText.padded(year, 4), DecimalText.padded(month, 2),
            DecimalText.padded(day, 2),
        ]
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { DecimalText.padded($0, 2) }
        return (date.joined(separator: "-"), clock.joined(separator: ":"))
    }

    /// The Gregorian date of a day (Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`):
    /// years begin in March, so that the leap day is the last one.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the Gregorian calendar, counted in years that start in March, so that the leap day is the last.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let monthOfYear = (month + 9) % 12
        let leaps = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leaps + (monthOfYear * 153 + 2) / 5 + day - 1 - 719_468
    }
}

/// Parses a moment.
private struct MomentReader {
    let bytes: [UInt8]
    var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard position < bytes.count, let digit = FieldText.digit(bytes[position]) else { return nil }
            value = value * 10 + Int64(digit)
            position += 1
        }
        return value
    }

    mutating func milliseconds() -> Int64? {
        guard take(".") else { return 0 }
        var (value, unit, count): (Int64, Int64, Int) = (0, 100, 0)
        while position < bytes.count, let digit = FieldText.digit(bytes[position]) {
            value += Int64(digit) * unit
            unit /= 10
            count += 1
            position += 1
        }
        return count > 0 ? value : nil
    }

    /// Seconds east of Greenwich.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hour * 60 + minute) * 60
    }
}
