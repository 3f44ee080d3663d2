/// A date of HTTP (RFC 9110 section 5.6.7): read in its three forms, written in the preferred one.
///
/// The calendar is computed here, without time zones and locales: the forms are fixed and always GMT.
package struct HTTPDate: Hashable, Sendable {
    /// The point of time, whole seconds.
    package let time: Timestamp

    /// Creates a date.
    ///
    /// - Parameter time: the point of time; milliseconds are cut off.
    package init(_ time: Timestamp) {
        self.time = Timestamp(milliseconds: Self.floorDivide(time.milliseconds, 1000) * 1000)
    }

    /// Reads IMF-fixdate, the RFC 850 form or the asctime form.
    ///
    /// The name of the day must be valid, but is not compared with the date: it is redundant.
    ///
    /// - Parameters:
    ///   - text: the field value.
    ///   - now: decides the century of the RFC 850 form: a date more than 50 years ahead is in the past.
    package init?(_ text: String, now: Timestamp) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 40, let civil = Self.fixdate(bytes) ?? Self.rfc850(bytes, now) ?? Self.asctime(bytes)
        else {
            return nil
        }
        self.time = Timestamp(milliseconds: civil.seconds * 1000)
    }

    /// The date as IMF-fixdate, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var headerValue: String {
        let seconds = Self.floorDivide(time.milliseconds, 1000)
        let days = Self.floorDivide(seconds, 86_400)
        let rest = seconds - days * 86_400
        let (year, month, day) = CivilTime.date(dayNumber: days)
        let weekday = Self.weekdays[Int(((days + 3) % 7 + 7) % 7)]
        let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { DecimalText.padded($0, 2) }.joined(separator: ":")
        let date = "\(DecimalText.padded(day, 2)) \(Self.months[Int(month) - 1]) \(DecimalText.padded(year, 4))"
        return "\(weekday), \(date) \(clock) GMT"
    }

    // MARK: The three forms

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ bytes: [UInt8]) -> CivilTime? {
        var reader = DateReader(bytes)
        guard reader.word(of: weekdays) != nil, reader.literal(", "), let day = reader.number(2), reader.literal(" "),
            let month = reader.word(of: months), reader.literal(" "), let year = reader.number(4), reader.literal(" "),
            let clock = reader.clock(), reader.literal(" GMT"), reader.isAtEnd
        else { return nil }
        return CivilTime(year: year, month: Int64(month) + 1, day: day, clock: clock)
    }

    /// Reads `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ bytes: [UInt8], _ now: Timestamp) -> CivilTime? {
        var reader = DateReader(bytes)
        guard reader.word(of: longWeekdays) != nil, reader.literal(", "), let day = reader.number(2),
            reader.literal("-"), let month = reader.word(of: months), reader.literal("-"),
            let short = reader.number(2), reader.literal(" "), let clock = reader.clock(), reader.literal(" GMT"),
            reader.isAtEnd
        else { return nil }
        let today = CivilTime.date(dayNumber: floorDivide(now.milliseconds, 86_400_000))
        var year = today.year - today.year % 100 + short
        // "a timestamp that appears to be more than 50 years in the future" is "the most recent year in the past".
        if year > today.year + 50 { year -= 100 } else if year <= today.year - 50 { year += 100 }
        return CivilTime(year: year, month: Int64(month) + 1, day: day, clock: clock)
    }

    /// Reads `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ bytes: [UInt8]) -> CivilTime? {
        var reader = DateReader(bytes)
        guard reader.word(of: weekdays) != nil, reader.literal(" "), let month = reader.word(of: months),
            reader.literal(" "), let day = reader.literal(" ") ? reader.number(1) : reader.number(2),
            reader.literal(" "), let clock = reader.clock(), reader.literal(" "), let year = reader.number(4),
            reader.isAtEnd
        else { return nil }
        return CivilTime(year: year, month: Int64(month) + 1, day: day, clock: clock)
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longWeekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        value >= 0 ? value / by : -((-(value + 1)) / by) - 1
    }
}

/// Reads fixed text from the start of a date.
private struct DateReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func literal(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    mutating func word(of words: [String]) -> Int? {
        guard let index = words.firstIndex(where: { rest.starts(with: $0.utf8) }) else { return nil }
        rest = rest.dropFirst(words[index].utf8.count)
        return index
    }

    mutating func number(_ width: Int) -> Int64? {
        guard rest.count >= width else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(width) {
            guard let digit = FieldText.digit(byte) else { return nil }
            value = value * 10 + Int64(digit)
        }
        rest = rest.dropFirst(width)
        return value
    }

    /// Reads `hh:mm:ss` as seconds since midnight; 60 seconds are a leap second and count as the 59th.
    mutating func clock() -> Int64? {
        guard let hour = number(2), hour < 24, literal(":"), let minute = number(2), minute < 60, literal(":"),
            let second = number(2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }
}

/// A date of the proleptic Gregorian calendar as seconds since 1970, after Howard Hinnant's `days_from_civil`.
///
/// Years start in March, so that the leap day is the last of its year.
private struct CivilTime {
    let seconds: Int64

    init?(year: Int64, month: Int64, day: Int64, clock: Int64) {
        let days = Self.dayNumber(year: year, month: month, day: day)
        // A day that the month does not have comes back as another date.
        guard Self.date(dayNumber: days) == (year, month, day) else { return nil }
        seconds = days * 86_400 + clock
    }

    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func date(dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
