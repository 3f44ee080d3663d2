import LectureFormats
package import LectureModel

/// When downloads may run, and how fast: `Mon-Fri 18:00-07:00=full, 02:00-06:00=4M, else=off`.
///
/// A rule is an optional day or range of days, a window, and a rate. A window that ends before it starts ends on the
/// next day, and its days are those on which it starts: `Fri 22:00-06:00` ends on Saturday. The first rule that covers
/// a minute applies; if none does, `else` applies, and without that, `full`. Times are local wall time.
package struct Timetable: Hashable, Sendable {
    /// The minutes of a week, counted from Monday 00:00.
    package static let minutesOfWeek = 7 * 1440

    fileprivate struct Rule: Hashable {
        /// Bit 0 is Monday.
        let days: UInt8
        let start: Int
        let length: Int
        let rate: Rate
    }

    private var rules: [Rule] = []
    private var otherwise: Rate?

    /// Makes a timetable with one rate for all times.
    ///
    /// - Parameter rate: the rate.
    package init(always rate: Rate) { otherwise = rate }

    /// Reads a timetable.
    ///
    /// - Parameter text: rules separated by commas.
    /// - Throws: `LectureError(.parameter)`, naming the rule that cannot be read.
    package init(_ text: String) throws(LectureError) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let rule = FieldText.trimmed(part)
            guard let equals = rule.utf8.lastIndex(of: UInt8(ascii: "=")) else {
                throw Self.refusal(rule, "a rule is '02:00-06:00=full' or 'else=2M'")
            }
            let rate = try Rate(String(FieldText.trimmed(rule[rule.utf8.index(after: equals)...])))
            let window = FieldText.trimmed(rule[..<equals])
            if FieldText.equal(window, "else") {
                if otherwise != nil { throw Self.refusal(rule, "'else' appears twice") }
                otherwise = rate
            } else {
                rules.append(try Self.rule(window, rate))
            }
        }
    }

    /// The rate at a minute.
    ///
    /// - Parameter minute: minutes since Monday 00:00 local time; taken modulo a week.
    /// - Returns: the rate.
    package func rate(atMinuteOfWeek minute: Int) -> Rate {
        rules.first { $0.covers(Self.wrapped(minute)) }?.rate ?? otherwise ?? .full
    }

    /// When the rate changes next.
    ///
    /// - Parameter minute: minutes since Monday 00:00 local time; taken modulo a week.
    /// - Returns: how many minutes later another rate starts, 1…10,080; nil when there is only one rate.
    package func nextChange(after minute: Int) -> Int? {
        let now = Self.wrapped(minute)
        let rate = rate(atMinuteOfWeek: now)
        let distances = rules.flatMap { $0.boundaries }.map { Self.wrapped($0 - now - 1) + 1 }
        return distances.sorted().first { self.rate(atMinuteOfWeek: now + $0) != rate }
    }

    // MARK: Reading

    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func rule(_ window: Substring, _ rate: Rate) throws(LectureError) -> Rule {
        let words = window.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 1 || words.count == 2, let times = words.last else {
            throw refusal(window, "a window is '02:00-06:00', with days 'Mon-Fri 18:00-07:00'")
        }
        let ends = times.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = minute(ends[0]), let end = minute(ends[1]), start < 1440 else {
            throw refusal(window, "a window is 'HH:MM-HH:MM'")
        }
        if start == end { throw refusal(window, "the window is empty; the whole day is 00:00-24:00") }
        let days = words.count == 2 ? try self.days(words[0]) : 0x7F
        return Rule(days: days, start: start, length: end > start ? end - start : end - start + 1440, rate: rate)
    }

    private static func days(_ text: Substring) throws(LectureError) -> UInt8 {
        let names = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = names.compactMap { dayNames.firstIndex(of: FieldText.lowercased($0)) }
        guard numbers.count == names.count, let first = numbers.first, let last = numbers.last, numbers.count <= 2
        else {
            throw refusal(text, "days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, or two of them with '-'")
        }
        var days: UInt8 = 0
        for offset in 0...((last - first + 7) % 7) { days |= 1 << UInt8((first + offset) % 7) }
        return days
    }

    /// Reads `HH:MM`, 00:00…24:00.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 2, parts[1].utf8.count == 2,
            case .value(let hour) = FieldText.decimal(parts[0]), case .value(let minute) = FieldText.decimal(parts[1]),
            minute < 60, hour * 60 + minute <= 1440
        else { return nil }
        return Int(hour * 60 + minute)
    }

    private static func refusal(_ text: Substring, _ why: String) -> LectureError {
        LectureError(.parameter, detail: "timetable rule '\(text.prefix(64))'", cause: why)
    }

    private static func wrapped(_ minute: Int) -> Int {
        (minute % minutesOfWeek + minutesOfWeek) % minutesOfWeek
    }
}

extension Timetable.Rule {
    /// The minutes of the week at which it starts.
    private var starts: [Int] { (0..<7).filter { days & 1 << UInt8($0) != 0 }.map { $0 * 1440 + start } }

    fileprivate var boundaries: [Int] { starts.flatMap { [$0, $0 + length] } }

    fileprivate func covers(_ minute: Int) -> Bool {
        starts.contains { (minute - $0 + Timetable.minutesOfWeek) % Timetable.minutesOfWeek < length }
    }
}
