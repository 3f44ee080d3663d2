import LectureFormats
public import LectureModel

/// A time as people name one: `Mon 08:00`, `tomorrow 08:00`, `08:00`, `2026-11-30 08:00`, `2026-11-30T08:00:00+09:00`.
///
/// Without a zone it is local time. A day of the week and a time alone mean the next one. A time that the change to
/// summer time skips is as long after the change as it would have been; of one that there is twice the first counts.
public enum ReadyTime {
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let day: Int64 = 86_400_000

    /// Reads a time.
    ///
    /// - Parameters:
    ///   - text: as typed.
    ///   - now: the wall clock.
    ///   - secondsEast: how far local time is ahead of UTC at a time.
    /// - Returns: the time, or nil for a text that is none.
    public static func time(_ text: String, now: Timestamp, secondsEast: (Timestamp) -> Int) -> Timestamp? {
        // A number of few digits is an hour without its minutes, and not a time just after 1970.
        if text.utf8.count >= 9, let moment = MomentText.moment(text) { return moment }
        var text = Array(text)
        if text.count > 10, text[10] == "T", text[0].isNumber { text[10] = " " }
        let words = String(text).split(separator: " ").map { $0.lowercased() }
        guard let last = words.last, words.count <= 2, let clock = clock(last) else { return nil }
        let local = now.milliseconds + Int64(secondsEast(now)) * 1000
        let today = local - modulo(local, day)
        func at(_ date: Int64) -> Timestamp { instant(date + clock, secondsEast) }
        guard words.count == 2 else { return at(today) > now ? at(today) : at(today + day) }
        switch words[0] {
        case "today": return at(today)
        case "tomorrow": return at(today + day)
        default: break
        }
        if let date = MomentText.day(words[0]) { return at(date.milliseconds) }
        guard let wanted = days.firstIndex(where: { $0 == words[0] || words[0].hasPrefix($0) && isDay(words[0]) })
        else { return nil }
        // 1 January 1970 was a Thursday.
        let weekday = modulo(today / day + 3, 7)
        let date = today + modulo(Int64(wanted) - weekday, 7) * day
        return at(date) > now ? at(date) : at(date + 7 * day)
    }

    private static func isDay(_ word: String) -> Bool {
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].contains(word)
    }

    private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        (number % divisor + divisor) % divisor
    }

    /// `8:00`, `08:00`, `08:00:30`, in milliseconds.
    private static func clock(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            (1...2).contains(part.utf8.count) && part.utf8.allSatisfy { FieldText.digit($0) != nil } ? Int64(part) : nil
        }
        guard numbers.count == parts.count, (2...3).contains(numbers.count), numbers[0] < 24, numbers[1] < 60,
            parts.dropFirst().allSatisfy({ $0.utf8.count == 2 }), numbers.count == 2 || numbers[2] < 60
        else { return nil }
        return (numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)) * 1000
    }

    /// The moment of a local time.
    private static func instant(_ local: Int64, _ secondsEast: (Timestamp) -> Int) -> Timestamp {
        // The distances to UTC a day before and after; a zone changes at most once in between.
        let offsets = [-day, day].map { Int64(secondsEast(Timestamp(milliseconds: local + $0))) * 1000 }
        let found = offsets.map { Timestamp(milliseconds: local - $0) }.filter {
            local - Int64(secondsEast($0)) * 1000 == $0.milliseconds
        }.min()
        return found ?? Timestamp(milliseconds: local - offsets[0])
    }
}
