import LectureFormats
package import LectureModel

/// Replaces learner ids with keyed hashes, so that rows of one learner still belong together and cannot be attributed
/// without the key.
///
/// | where | what is replaced |
/// | --- | --- |
/// | `user` | all of it |
/// | `session` | the row's learner id at its start or end; in the rest as in other texts |
/// | members `client_user_id`, `player_id`, `hardware_id` of `values`, in any case | all of the value |
/// | `content`, `course` | the row's learner id, unless it is short: `lecture-1` is not about the learner `1` |
/// | `id`, other texts, names of members, `target`, `reason`, `note` | the row's learner id, a short one as a word |
/// | integers inside `uservalues` | one that reads like the learner id |
///
/// The id is found as it is, percent-encoded, as form data, and with JSON escapes. An id shorter than 4 bytes, like
/// `1`, is not replaced inside other words and numbers: nothing would be left of the report.
package struct Pseudonymiser: Sendable {
    /// Members that identify a person or their machine, whatever their value.
    private static let personal: Set<String> = ["client_user_id", "player_id", "hardware_id"]

    private let hash: @Sendable ([UInt8]) -> [UInt8]

    /// Makes a pseudonymiser.
    ///
    /// - Parameter hash: a keyed hash of at least 16 bytes; the key is not passed.
    package init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) { self.hash = hash }

    /// The pseudonym of an id.
    ///
    /// - Parameter id: a learner id.
    /// - Returns: `p-` and 32 hexadecimal digits; the empty id stays empty.
    package func pseudonym(of id: String) -> String {
        id.isEmpty ? "" : "p-" + Hexadecimal.text(hash(Array(id.utf8)).prefix(16))
    }

    /// Replaces the learner's id in a row.
    ///
    /// - Parameter record: the row.
    /// - Returns: the row without the id.
    package func apply(to record: ReportRecord) -> ReportRecord {
        let finder = Finder(id: record.user, pseudonym: pseudonym(of: record.user))
        var record = record
        record.user = finder.pseudonym
        record.id = finder.replacing(record.id)
        if finder.isLong {
            record.content = finder.replacing(record.content)
            record.course = record.course.map { finder.replacing($0) }
        }
        record.session = finder.replacing(session: record.session)
        record.reason = record.reason.map { finder.replacing($0) }
        record.note = record.note.map { finder.replacing($0) }
        if var target = record.target {
            target.url = finder.replacing(target.url)
            for index in target.parameters.indices {
                target.parameters[index].template = finder.replacing(target.parameters[index].template)
            }
            record.target = target
        }
        record.values = replacing(record.values, finder, isUserValue: false)
        return record
    }

    private func replacing(_ value: JSONValue, _ finder: Finder, isUserValue: Bool) -> JSONValue {
        switch value {
        case .null, .bool, .number: return value
        case .integer(let integer):
            let isID = isUserValue && String(integer) == finder.id
            return isID ? .string(finder.pseudonym) : value
        case .string(let text): return .string(finder.replacing(text))
        case .array(let elements):
            return .array(elements.map { replacing($0, finder, isUserValue: isUserValue) })
        case .object(let members):
            return .object(
                members.map { member in
                    let name = member.name.lowercased()
                    let isUserValue = isUserValue || name == "uservalues"
                    let value =
                        Self.personal.contains(name)
                        ? personal(member.value) : replacing(member.value, finder, isUserValue: isUserValue)
                    return JSONMember(finder.replacing(member.name), value)
                })
        }
    }

    private func personal(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null: value
        case .string(let text): .string(pseudonym(of: text))
        case .bool, .integer, .number, .array, .object: .string(pseudonym(of: value.text))
        }
    }
}

/// Finds the spellings of one id in texts.
private struct Finder {
    let id: String
    let pseudonym: String
    let isLong: Bool
    private let spellings: [[UInt8]]

    init(id: String, pseudonym: String) {
        self.id = id
        self.pseudonym = pseudonym
        isLong = id.utf8.count >= LearnerSpelling.wordLength
        spellings = LearnerSpelling.all(of: id)
    }

    /// A session is often the id and a time without a separator.
    func replacing(session: String) -> String {
        if id.isEmpty { return session }
        let (whole, own) = (Array(session.utf8), Array(id.utf8))
        if whole.starts(with: own) {
            return pseudonym + replacing(String(decoding: whole.dropFirst(own.count), as: UTF8.self))
        }
        if whole.suffix(own.count).elementsEqual(own) {
            return replacing(String(decoding: whole.dropLast(own.count), as: UTF8.self)) + pseudonym
        }
        return replacing(session)
    }

    func replacing(_ text: String) -> String {
        if spellings.isEmpty { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var copied = 0
        var index = 0
        while index < bytes.count {
            if let count = match(bytes, index) {
                output.append(contentsOf: bytes[copied..<index])
                output.append(contentsOf: pseudonym.utf8)
                index += count
                copied = index
            } else {
                index += 1
            }
        }
        if copied == 0 { return text }
        output.append(contentsOf: bytes[copied...])
        return String(decoding: output, as: UTF8.self)
    }

    private func match(_ bytes: [UInt8], _ index: Int) -> Int? {
        for spelling in spellings where bytes[index] == spelling[0] {
            let end = index + spelling.count
            guard end <= bytes.count, bytes[index..<end].elementsEqual(spelling) else { continue }
            if isLong { return spelling.count }
            let beginsWord = index == 0 || !Self.isWord(bytes[index - 1]) || isEscape(bytes, index)
            let endsWord = end == bytes.count || !Self.isWord(bytes[end])
            if beginsWord && endsWord { return spelling.count }
        }
        return nil
    }

    /// Whether a percent-encoded byte ends here: its digits are not part of a word.
    private func isEscape(_ bytes: [UInt8], _ index: Int) -> Bool { index >= 3 && bytes[index - 3] == 0x25 }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: false
        }
    }
}

/// Percent-encoding (RFC 3986 section 2.1).
enum PercentEncoding {
    /// The text with all but the unreserved characters of section 2.3 encoded.
    static func text(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes.append(contentsOf: "%\(Hexadecimal.text(CollectionOfOne(byte)).uppercased())".utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
