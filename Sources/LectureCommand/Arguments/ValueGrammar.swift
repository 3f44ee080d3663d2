import LectureFormats
import LectureModel

/// The values that an option or argument accepts. The parser checks them, so that a command never starts with an
/// unusable value; completions offer values from it.
package enum ValueGrammar: Sendable, Equatable {
    /// Any text that is not empty.
    case text
    /// A whole number inside a range.
    case integer(ClosedRange<Int>)
    /// A whole number inside a range, or the word `auto`.
    case integerOrAuto(ClosedRange<Int>)
    /// One of these words, or a whole number inside a range.
    case wordsOrInteger([String], ClosedRange<Int>)
    /// Bits per second: `800000`, `800K`, `1.5M`; powers of 1000.
    case bitRate
    /// One of these words.
    case words([String])
    /// A length of time: `90`, `90s`, `15m`, `12h`, `7d`, `2w`, `1h30m`.
    case duration
    /// Bytes per second: `500K`, `2M`, `1.5M/s`; powers of 1024.
    case rate
    /// A number of bytes: `157286400`, `150M`, `1.5G`; powers of 1024.
    case byteCount
    /// A whole percentage, 1 to 100.
    case percent
    /// A number, or a whole percentage: `10`, `10%`.
    case countOrPercent
    /// First and last byte, counted from 0: `0-1023`, `4096-`, `-500` for the last 500.
    case byteRange
    /// A position in a lecture: `90`, `12:30`, `1:02:03.5`, `1h2m`.
    case position
    /// A part of a lecture, from one position to another: `60-90`, `12:30-15:00`.
    case section
    /// A speed, 0.5 to 10: `1.25`.
    case speed
    /// A SHA-256 in 64 hexadecimal digits.
    case sha256
    /// A request header, `Name: value`, or `@FILE`.
    case header
    /// A label of metrics, `NAME=VALUE`, whose name the program does not use itself.
    case metricLabel
    /// An http or https URL.
    case url
    /// A URL, a `kollus:` link, a course list or `-`.
    case source
    /// A moment: seconds since 1970, or `2026-03-01T08:00:00Z`.
    case time
    /// A path of a file.
    case file
    /// A path of a directory.
    case directory
    /// The key of a lecture in the store.
    case key
    /// The key of a lecture in the store, a URL or a `kollus:` link.
    case keyOrURL
    /// The name of a command, for `help`.
    case command

    /// What completions offer.
    package enum Completion: Sendable, Equatable {
        /// Nothing.
        case nothing
        /// Names of files.
        case files
        /// Names of directories.
        case directories
        /// These words.
        case words([String])
        /// Keys of the store's lectures.
        case keys
        /// Names of commands.
        case commands
    }

    /// What completions offer for a value of this kind.
    package var completion: Completion {
        switch self {
        case .words(let words): .words(words)
        case .integerOrAuto: .words(["auto"])
        case .wordsOrInteger(let words, _): .words(words)
        case .file, .source: .files
        case .directory: .directories
        case .key, .keyOrURL: .keys
        case .command: .commands
        case .text, .integer, .duration, .rate, .byteCount, .percent, .countOrPercent, .byteRange, .position, .section,
            .speed, .sha256, .header, .metricLabel, .url, .time, .bitRate:
            .nothing
        }
    }

    /// Describes what is wrong with a value.
    ///
    /// - Parameter text: the value as given.
    /// - Returns: the end of a sentence whose subject is the value (`… must be …`), or nil when it is usable.
    package func problem(in text: String) -> String? {
        if text.isEmpty { return "must not be empty" }
        switch self {
        case .text, .file, .directory, .key, .command:
            return nil
        case .integer(let range):
            return Self.integer(text, in: range) == nil ? Self.rangeSentence(range) : nil
        case .integerOrAuto(let range):
            return text == "auto" || Self.integer(text, in: range) != nil
                ? nil : "must be 'auto' or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .words(let words):
            if words.contains(text) { return nil }
            let hint = Suggestion.nearest(to: text, among: words).map { "; did you mean '\($0)'" } ?? ""
            return "must be one of \(words.joined(separator: ", "))\(hint)"
        case .duration:
            return Quantity.duration(text) == nil ? "must be a length of time such as 90s, 15m, 12h or 7d" : nil
        case .wordsOrInteger(let words, let range):
            if words.contains(text) || Self.integer(text, in: range) != nil { return nil }
            return "must be \(words.map { "'\($0)'" }.joined(separator: ", ")) or a whole number from "
                + "\(range.lowerBound) to \(range.upperBound)"
        case .bitRate:
            return BitRate.bits(text) == nil ? "must be a rate in bits per second such as 800K or 2M" : nil
        case .rate:
            return Quantity.rate(text) == nil ? "must be a rate in bytes per second such as 500K or 2M" : nil
        case .byteCount:
            return Quantity.byteCount(text) == nil ? "must be a number of bytes such as 150M or 1.5G" : nil
        case .countOrPercent:
            return CountLimit(text) == nil ? "must be a number, or a share such as 10%" : nil
        case .percent:
            return Self.integer(text, in: 1...100) == nil ? "must be a whole percentage from 1 to 100" : nil
        case .byteRange:
            return ByteRangeRequest(text) == nil ? "must be a byte range such as 0-1023, 4096- or -500" : nil
        case .position:
            return PlayPosition.read(text) == nil ? "must be a position such as 90, 12:30, 1:02:03 or 1h2m" : nil
        case .section:
            return PlayPosition.section(text) == nil ? "must be two positions in order such as 12:30-15:00" : nil
        case .speed:
            return PlayPosition.speed(text) == nil ? "must be a speed from 0.5 to 10 such as 1.25" : nil
        case .sha256:
            return text.utf8.count == 64 && Hexadecimal.bytes(text) != nil
                ? nil : "must be a SHA-256, 64 hexadecimal digits"
        case .header:
            return Self.headerProblem(text)
        case .metricLabel:
            return Self.labelProblem(text)
        case .url:
            return Self.urlProblem(text)
        case .time:
            return Quantity.moment(text) == nil
                ? "must be seconds since 1970 or a time such as 2026-03-01T08:00:00Z" : nil
        case .source, .keyOrURL:
            return text.contains("://") ? Self.urlProblem(text, schemes: ["http", "https", "kollus"]) : nil
        }
    }

    /// The longest URL that is accepted, in bytes: about what servers and proxies accept.
    package static let longestURL = 8192

    static func integer(_ text: String, in range: ClosedRange<Int>) -> Int? {
        guard let number = Int(text), range.contains(number) else { return nil }
        return number
    }

    private static func rangeSentence(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max
            ? "must be a whole number of at least \(range.lowerBound)"
            : "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    /// A field name is a token and the value has no control character (RFC 9110, sections 5.1 and 5.5): a line end
    /// here would smuggle a second header into the request.
    private static func headerProblem(_ text: String) -> String? {
        if text.utf8.first == UInt8(ascii: "@"), text.utf8.count > 1 { return nil }
        let form = "must have the form 'Name: value', without line ends, or name a file: @FILE"
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return form }
        guard FieldText.isToken(text[..<colon]) else { return form }
        let value = text.utf8[text.utf8.index(after: colon)...]
        return value.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) } ? nil : form
    }

    private static func labelProblem(_ text: String) -> String? {
        let name = String(text.prefix { $0 != "=" })
        guard name != text, OpenMetrics.isLabelName(name) else {
            return "must have the form NAME=VALUE; the name has letters, digits and '_'"
        }
        return StoreMetrics.labelNames.contains(name) ? "has a name that the metrics use themselves" : nil
    }

    private static func urlProblem(_ text: String, schemes: [String] = ["http", "https"]) -> String? {
        let length = text.utf8.count
        guard length <= longestURL else {
            return "is a URL of \(length) bytes; at most \(longestURL) are accepted"
        }
        guard let separator = text.firstRange(of: "://") else { return "must be a URL such as https://host/path" }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard schemes.contains(scheme) else {
            return "has the scheme \(UsageError.quoted(scheme)); only \(schemes.joined(separator: ", ")) can be fetched"
        }
        guard text[separator.upperBound...].first.map({ !"/?#".contains($0) }) ?? false else {
            return "names no host; a URL has the form https://host/path"
        }
        return text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f } ? nil : "contains a space or a control character"
    }
}
