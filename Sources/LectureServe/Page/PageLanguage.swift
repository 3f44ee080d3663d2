import LectureFormats
import LectureHTTP

/// A language of the page.
enum PageLanguage: String, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Korean.
    case korean = "ko"
    /// Japanese.
    case japanese = "ja"

    /// Its own name.
    var name: String {
        switch self {
        case .english: "English"
        case .korean: "한국어"
        case .japanese: "日本語"
        }
    }

    /// The cookie of a choice.
    static let cookie = "language"

    /// The language of a request: that of the cookie, or else the preferred one of `Accept-Language` (RFC 9110 section
    /// 12.5.4) that there is.
    ///
    /// - Parameter head: the request.
    init(_ head: HTTPRequestHead) {
        let pairs = head.values("cookie").joined(separator: ";").split(separator: ";")
        for pair in pairs.map({ $0.drop { $0 == " " } }) where pair.hasPrefix("\(Self.cookie)=") {
            guard let chosen = Self(rawValue: String(pair.dropFirst(Self.cookie.utf8.count + 1))) else { continue }
            self = chosen
            return
        }
        self = Self.preferred(head.values("accept-language").joined(separator: ","))
    }

    /// The language that a browser prefers. A range that cannot be read is left out; where none fits it is English,
    /// unless that is refused and another one is not.
    ///
    /// - Parameter field: `Accept-Language`.
    /// - Returns: the language.
    private static func preferred(_ field: String) -> Self {
        var qualities: [Self: Double] = [:]
        var others: Double?
        for range in field.split(separator: ",").prefix(20) {
            let words = range.split(separator: ";", omittingEmptySubsequences: false)
                .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let quality = quality(words.dropFirst()) else { continue }
            if words[0] == "*" { others = max(others ?? 0, quality) }
            guard let tag = words[0].split(separator: "-").first, let language = Self(rawValue: String(tag)) else {
                continue
            }
            qualities[language] = max(qualities[language] ?? 0, quality)
        }
        var best: (language: Self, quality: Double) = (.english, 0)
        for language in allCases {
            let quality = qualities[language] ?? others ?? 0
            if quality > best.quality { best = (language, quality) }
        }
        return best.language
    }

    /// The weight of a range (RFC 9110 section 12.4.2): up to three decimals from 0 to 1.
    ///
    /// - Parameter parameters: in lower case, without white space.
    /// - Returns: 1 without one; nil for one that is none.
    private static func quality(_ parameters: ArraySlice<String>) -> Double? {
        guard let weight = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1 }
        let parts = weight.split(separator: ".", omittingEmptySubsequences: false)
        let isDigits = parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard parts.count <= 2, parts[0] == "0" || parts[0] == "1", isDigits, weight.utf8.count <= 5 else { return nil }
        // `0.` and `1.` have no decimals.
        return Double(weight.last == "." ? weight.dropLast() : weight).flatMap { $0 <= 1 ? $0 : nil }
    }
}

/// Writes figures and times in a language. Times are UTC, as everywhere in this project.
struct PageFormat: Sendable {
    /// The language.
    let language: PageLanguage

    /// Bytes, with a decimal unit.
    ///
    /// - Parameter bytes: how many.
    /// - Returns: for instance `1.5 GB`.
    func size(_ bytes: Int64) -> String {
        var (value, unit) = (Double(max(0, bytes)), 0)
        while value >= 999.5, unit < Self.units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        let tenths = (value * 10).rounded()
        let text =
            unit == 0 || tenths >= 1000
            ? "\(Int64(value.rounded()))" : "\(Int64(tenths) / 10).\(Int64(tenths) % 10)"
        // The number and its unit stay on one line.
        return "\(text)\u{A0}\(Self.units[unit])"
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB"]

    /// A number with groups of three digits, as all three languages write it.
    ///
    /// - Parameter number: the number.
    /// - Returns: for instance `100,000`.
    func number(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [String] = []
        while digits.utf8.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    /// A day.
    ///
    /// - Parameter time: a time of it, in UTC.
    /// - Returns: for instance `28 Nov 2026`, `2026년 11월 28일`.
    func day(_ time: Timestamp) -> String {
        let parts = MomentText.parts(time).day.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3 else { return MomentText.parts(time).day }
        let (year, month, day) = (parts[0], parts[1], parts[2])
        return switch language {
        case .english: "\(day) \(Self.months[month - 1]) \(year)"
        case .korean: "\(year)년 \(month)월 \(day)일"
        case .japanese: "\(year)年\(month)月\(day)日"
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A moment to the minute, as an element that also has it for programs.
    ///
    /// - Parameter time: the moment.
    /// - Returns: for instance `28 Nov 2026, 05:06 UTC`.
    func moment(_ time: Timestamp) -> HTML {
        let text = "\(day(time))\(language == .english ? "," : "") \(MomentText.parts(time).clock.prefix(5)) UTC"
        return HTML("time", ["datetime": MomentText.utc(time)], HTML(text))
    }

    /// A length of time, in the two largest units.
    ///
    /// - Parameter time: the time.
    /// - Returns: for instance `2 h 5 min`, `2시간 5분`.
    func duration(_ time: Duration) -> String {
        let seconds = max(0, time.components.seconds)
        let units: [(Int64, Int)] = [(86_400, 0), (3600, 1), (60, 2), (1, 3)]
        var (rest, parts) = (seconds, [String]())
        for (length, unit) in units where rest >= length || (unit == 3 && parts.isEmpty) {
            parts.append(part(rest / length, unit))
            rest %= length
            if parts.count == 2 { break }
        }
        return parts.joined(separator: " ")
    }

    private func part(_ value: Int64, _ unit: Int) -> String {
        switch language {
        case .english: "\(value) \(["d", "h", "min", "s"][unit])"
        case .korean: "\(value)\(["일", "시간", "분", "초"][unit])"
        case .japanese: "\(value)\(["日", "時間", "分", "秒"][unit])"
        }
    }
}
