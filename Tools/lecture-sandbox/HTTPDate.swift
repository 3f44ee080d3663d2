/// Dates of HTTP in the preferred form (RFC 9110 section 5.6.7, IMF-fixdate).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Writes a date.
    ///
    /// - Parameter seconds: since the epoch.
    /// - Returns: for instance `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(_ seconds: Int64) -> String {
        let day = Int(seconds.quotientAndRemainder(dividingBy: 86400).quotient)
        let second = Int(seconds % 86400)
        let (year, month, dayOfMonth) = civil(day)
        let time = [second / 3600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        return "\(days[(day + 4) % 7]), \(two(dayOfMonth)) \(months[month - 1]) \(year) \(time) GMT"
    }

    /// Reads a date.
    ///
    /// - Parameter text: in the form above.
    /// - Returns: seconds since the epoch; `nil` for any other form.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            (1970...9999).contains(year), (1...31).contains(day), let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] < 61 else { return nil }
        let second = time[0] * 3600 + time[1] * 60 + time[2]
        return Int64(days(year: year, month: month + 1, day: day)) * 86400 + Int64(second)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Days since the epoch of a date of the Gregorian calendar, counted in years that begin in March.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year % 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
