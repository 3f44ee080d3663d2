import LectureFormats
public import LectureModel

/// A rule about what stays in a store: `keep 30d after play`, `never below 20 GiB`, `drop what has expired`.
///
/// ```
/// rule     = (keep | drop) ["for course" NAME] | never
/// keep     = "keep" DURATION "after" ("play" | "download")
/// drop     = "drop what has expired"
/// never    = "never below" SIZE
/// ```
///
/// Words may be written in capitals. A duration is `90s`, `15m`, `12h`, `30d`, `2w` or `1d12h`; a size is as in
/// `--quota`: `500 MiB`, `20GiB`. A name may be in quotes, and ends with the rule.
public struct RetentionRule: Sendable, Hashable {
    /// What a rule says.
    public enum Kind: Sendable, Hashable {
        /// A lecture stays this long after it was last played.
        case keepAfterPlay(Duration)
        /// A lecture stays this long after it was complete.
        case keepAfterDownload(Duration)
        /// What is least needed goes while fewer bytes are free.
        case neverBelow(Int64)
        /// Lectures whose licence has ended for good go.
        case dropExpired
    }

    /// What it says.
    public let kind: Kind
    /// The only course that it is about; nil for all lectures.
    public let course: String?
    /// As it was written.
    public let text: String

    /// Reads a rule.
    ///
    /// - Parameter text: the rule.
    /// - Throws: `LectureError` with `parameter`: its detail names the rule and the place, counted from 1, its cause
    ///   what is wrong there and the nearest word.
    public init(_ text: String) throws(LectureError) {
        var words = RuleWords(text)
        let start = try words.take(of: ["keep", "never", "drop"])
        switch start {
        case "keep":
            let time = try words.duration()
            try words.expect("after")
            kind = try words.take(of: ["play", "download"]) == "play" ? .keepAfterPlay(time) : .keepAfterDownload(time)
        case "never":
            try words.expect("below")
            kind = .neverBelow(try words.size())
        default:
            for word in ["what", "has", "expired"] { try words.expect(word) }
            kind = .dropExpired
        }
        course = start == "never" ? nil : try words.course()
        try words.end(hint: start == "never" ? "the disk is the same for all courses" : "it may end 'for course NAME'")
        self.text = text
    }

    /// Rules as one text, by which a store remembers that they were accepted.
    ///
    /// - Parameter rules: the rules.
    /// - Returns: each as it was written, on a line of its own.
    public static func text(of rules: [RetentionRule]) -> String { rules.map(\.text).joined(separator: "\n") }

    /// Reads rules.
    ///
    /// - Parameter texts: one each.
    /// - Returns: the rules, in this order.
    /// - Throws: as ``init(_:)``, with the number of the rule in the detail.
    public static func rules(_ texts: [String]) throws(LectureError) -> [RetentionRule] {
        var rules: [RetentionRule] = []
        for (place, text) in texts.enumerated() {
            do throws(LectureError) { rules.append(try RetentionRule(text)) } catch {
                throw LectureError(error.code, detail: "rule \(place + 1): \(error.detail)", cause: error.cause)
            }
        }
        return rules
    }
}

/// The words of a rule, one after the other, with their places.
private struct RuleWords {
    private let text: [Character]
    private var place = 0

    init(_ text: String) { self.text = Array(text) }

    /// The next word, and where it begins; empty at the end.
    private mutating func next() -> (word: String, place: Int) {
        while place < text.count, text[place].isWhitespace { place += 1 }
        let start = place
        while place < text.count, !text[place].isWhitespace { place += 1 }
        return (String(text[start..<place]), start)
    }

    private func refusal(at place: Int, _ cause: String) -> LectureError {
        LectureError(.parameter, detail: "'\(String(text.prefix(80)))', character \(place + 1)", cause: cause)
    }

    /// Takes one of some words.
    mutating func take(of known: [String]) throws(LectureError) -> String {
        let (word, start) = next()
        if let found = known.first(where: { $0 == word.lowercased() }) { return found }
        let list = known.map { "'\($0)'" }.joined(separator: " or ")
        guard !word.isEmpty else { throw refusal(at: start, "\(list) is missing") }
        throw refusal(
            at: start, "'\(word)' is not \(list)\(Suggestion.hint(for: word.lowercased(), among: known))")
    }

    mutating func expect(_ word: String) throws(LectureError) { _ = try take(of: [word]) }

    mutating func duration() throws(LectureError) -> Duration {
        let (word, start) = next()
        guard let time = QuantityText.duration(word.lowercased()) else {
            throw refusal(at: start, "'\(word)' is no length of time such as 30d, 12h or 2w")
        }
        return time
    }

    /// A size, its unit directly behind it or as a word of its own.
    mutating func size() throws(LectureError) -> Int64 {
        let (word, start) = next()
        let behind = place
        let unit = next().word
        // Two numbers are never one: '1 5GiB' is no 15 GiB.
        if unit.first?.isLetter == true, let bytes = QuantityText.byteCount(word + unit), bytes > 0 { return bytes }
        place = behind
        guard let bytes = QuantityText.byteCount(word), bytes > 0 else {
            throw refusal(at: start, "'\(word)' is no size such as 20GiB or '500 MiB'")
        }
        return bytes
    }

    /// What follows `for course`; nil when nothing does.
    mutating func course() throws(LectureError) -> String? {
        let behind = place
        if next().word.isEmpty { return nil }
        place = behind
        try expect("for")
        try expect("course")
        while place < text.count, text[place].isWhitespace { place += 1 }
        let start = place
        var name = text[start...]
        while name.last?.isWhitespace == true { name.removeLast() }
        if let quote = name.first, "'\"".contains(quote), name.count > 1, name.last == quote {
            name = name.dropFirst().dropLast()
        }
        guard !name.isEmpty else { throw refusal(at: start, "the name of the course is missing") }
        place = text.count
        return String(name)
    }

    mutating func end(hint: String) throws(LectureError) {
        let (word, start) = next()
        guard word.isEmpty else { throw refusal(at: start, "'\(word)' is too much; \(hint)") }
    }
}
