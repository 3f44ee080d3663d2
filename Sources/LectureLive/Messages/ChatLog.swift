public import LectureFormats
import LectureModel

/// The chat of a recorded live lecture: messages with their positions in the recording.
///
/// It is kept as WebVTT, so that any player shows it in time as subtitles, and this type reads it again:
///
/// ```
/// 5 2026-11-28T09:00:12.345Z MEMBER kim question
/// 00:01:02.345 --> 00:01:08.345
/// <v Kim Lee>Kim Lee: Is that always so?
/// ```
///
/// The identifier of a cue (W3C WebVTT, section 4.1) has the number of the message, when it was sent, its origin, the
/// member and the word of the application; the last two are percent-encoded and may be missing.
public struct ChatLog: Hashable, Sendable {
    /// A message of the recording.
    public struct Entry: Hashable, Sendable, Identifiable {
        /// Its number within the channel.
        public var id: UInt64
        /// Where it is in the recording.
        public var position: Duration
        /// When the server got it.
        public var sentAt: Timestamp
        /// Who it is from.
        public var origin: LiveMessage.Origin
        /// The member; empty for one of the application.
        public var userID: String
        /// The member's name.
        public var userName: String
        /// A word of the application; empty for plain chat.
        public var customType: String
        /// The text.
        public var text: String

        /// Creates an entry.
        ///
        /// - Parameters:
        ///   - id: its number within the channel.
        ///   - position: where it is in the recording.
        ///   - sentAt: when the server got it.
        ///   - origin: who it is from.
        ///   - userID: the member.
        ///   - userName: the member's name.
        ///   - customType: a word of the application.
        ///   - text: the text.
        public init(
            id: UInt64, position: Duration, sentAt: Timestamp, origin: LiveMessage.Origin, userID: String = "",
            userName: String = "", customType: String = "", text: String
        ) {
            (self.id, self.position, self.sentAt, self.origin) = (id, position, sentAt, origin)
            (self.userID, self.userName, self.customType, self.text) = (userID, userName, customType, text)
        }
    }

    /// What is wrong with a text that is no WebVTT.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence for people.
        public var description: String { "The file of the chat is no WebVTT." }
    }

    /// The name under which a lecture's descriptor lists its chat among the subtitles.
    public static let subtitleName = "Chat"

    /// How long a message is shown.
    static let showing = Duration.seconds(6)

    /// The messages by position, and by number where that is the same.
    public let entries: [Entry]

    /// Creates a log.
    ///
    /// - Parameter entries: messages in any order.
    public init(entries: [Entry]) {
        self.entries = entries.sorted { ($0.position, $0.id) < ($1.position, $1.id) }
    }

    // MARK: Writing

    /// The log as WebVTT. A line of a message that is empty becomes one with a no-break space, since an empty one ends
    /// a cue.
    public var webVTT: String {
        var text = "WEBVTT\n"
        for entry in entries {
            let words = [
                "\(entry.id)", MomentText.utc(entry.sentAt), entry.origin.rawValue, Self.encoded(entry.userID),
                Self.encoded(entry.customType),
            ]
            text += "\n" + words.joined(separator: " ").trimmingSpaces + "\n"
            text +=
                WebVTTTime.text(entry.position.milliseconds) + " --> "
                + WebVTTTime.text((entry.position + Self.showing).milliseconds) + "\n"
            let name = Self.line(entry.userName)
            let lines = (name.isEmpty ? "" : "\(name): ") + entry.text
            if !name.isEmpty { text += "<v \(Self.escaped(name))>" }
            text += Self.lines(lines).map { $0.isEmpty ? "\u{A0}" : Self.escaped($0) }.joined(separator: "\n") + "\n"
        }
        return text
    }

    /// Lines as WebVTT counts them (section 4.1): they end with a line feed, a carriage return, or both.
    private static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }

    private static func line(_ text: String) -> String { lines(text).joined(separator: " ").trimmingSpaces }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // WebVTT has none (section 4.1).
            case "\0": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Percent-encoded but for letters, digits, and `-`, `.`, `_`, `~` (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    fileprivate var trimmingSpaces: String { String(FieldText.trimmed(self[...])) }
}

// MARK: - Reading

extension ChatLog {
    /// Reads a log. Cues that are not of the form above are left out, so that a file to which someone has added
    /// subtitles can be read.
    ///
    /// - Parameter webVTT: the text of the file.
    /// - Throws: ``Unreadable`` when it does not begin as WebVTT does.
    public init(webVTT: String) throws(Unreadable) {
        let marked = webVTT.hasPrefix("\u{FEFF}") ? String(webVTT.dropFirst()) : webVTT
        var lines = Self.lines(marked)[...]
        guard let first = lines.popFirst(),
            first == "WEBVTT" || first.hasPrefix("WEBVTT ") || first.hasPrefix("WEBVTT\t")
        else { throw Unreadable() }
        var entries: [Entry] = []
        for block in lines.split(separator: "") {
            if let entry = Self.entry(block) { entries.append(entry) }
        }
        self.init(entries: entries)
    }

    private static func entry(_ block: ArraySlice<String>) -> Entry? {
        guard block.count >= 3, let head = block.first else { return nil }
        let times = block[block.startIndex + 1]
        let words = head.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard (3...5).contains(words.count), let id = UInt64(words[0]), let sentAt = MomentText.moment(words[1]),
            let origin = LiveMessage.Origin(rawValue: words[2]), origin != .system,
            let arrow = times.firstRange(of: " --> "), let position = position(times[..<arrow.lowerBound])
        else { return nil }
        var entry = Entry(id: id, position: position, sentAt: sentAt, origin: origin, text: "")
        guard let user = decoded(words.count > 3 ? words[3] : ""), let word = decoded(words.count > 4 ? words[4] : "")
        else { return nil }
        (entry.userID, entry.customType) = (user, word)
        var texts = block.dropFirst(2).map { $0 == "\u{A0}" ? "" : $0 }
        // By scalars: a mark that combines with what is before it belongs to the text, whatever that is.
        let first = texts[0].unicodeScalars
        if first.starts(with: "<v ".unicodeScalars), let end = first.firstIndex(of: ">") {
            entry.userName = plain(first[..<end].dropFirst(3))
            texts[0] = String(first[first.index(after: end)...])
        }
        entry.text = plain(texts.joined(separator: "\n").unicodeScalars[...])
        let prefix = "\(entry.userName): ".unicodeScalars
        if !entry.userName.isEmpty, entry.text.unicodeScalars.starts(with: prefix) {
            entry.text = String(entry.text.unicodeScalars.dropFirst(prefix.count))
        }
        return entry
    }

    /// `HH:MM:SS.mmm`, hours of two digits or more.
    private static func position(_ text: Substring) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, (2...6).contains(parts[0].count), let hours = number(parts[0]),
            let minutes = number(parts[1]), parts[1].count == 2, minutes < 60
        else { return nil }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count == 2, seconds[0].count == 2, seconds[1].count == 3, let whole = number(seconds[0]),
            whole < 60, let rest = number(seconds[1])
        else { return nil }
        return .milliseconds(((hours * 60 + minutes) * 60 + whole) * 1000 + rest)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    private static func plain(_ text: Substring.UnicodeScalarView) -> String {
        let names = [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] as [(String, Unicode.Scalar)]
        var result = String.UnicodeScalarView()
        var rest = text
        while let scalar = rest.first {
            let name = scalar == "&" ? names.first { rest.starts(with: $0.0.unicodeScalars) } : nil
            result.append(name?.1 ?? scalar)
            rest = rest.dropFirst(name?.0.unicodeScalars.count ?? 1)
        }
        return String(result)
    }

    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

// MARK: - Replaying

/// What a player shows of a chat while its recording is played: messages in time, and those before a position.
///
/// ```swift
/// var replay = ChatReplay(log)
/// for await position in positions { show(replay.moved(to: position)) }   // after a jump: replay.latest(20)
/// ```
public struct ChatReplay: Hashable, Sendable {
    /// The chat.
    public let log: ChatLog
    /// How many messages are at or before the position.
    private var passed = 0

    /// Begins at the start of the recording; nothing was shown.
    ///
    /// - Parameter log: the chat.
    public init(_ log: ChatLog) { self.log = log }

    /// Takes a position of a recording that plays on.
    ///
    /// - Parameter position: where it is.
    /// - Returns: what was said since the last position; nothing when it is an earlier one.
    public mutating func moved(to position: Duration) -> ArraySlice<ChatLog.Entry> {
        let before = passed
        jumped(to: position)
        return log.entries[min(before, passed)..<passed]
    }

    /// Takes a position after a jump: what is between is not shown.
    ///
    /// - Parameter position: where it is.
    public mutating func jumped(to position: Duration) {
        // Binary search: a recording may have tens of thousands of messages.
        var (low, high) = (0, log.entries.count)
        while low < high {
            let middle = (low + high) / 2
            if log.entries[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        passed = low
    }

    /// The messages up to the position.
    ///
    /// - Parameter count: how many at most.
    /// - Returns: the newest of them, in order.
    public func latest(_ count: Int) -> ArraySlice<ChatLog.Entry> {
        log.entries[max(0, passed - max(0, count))..<passed]
    }
}
