import LectureModel
import LectureSQLite

/// The forms of a learner's id in a text: as is, in JSON, in a URL or in a form. Not as part of a longer word, since an
/// id may be as short as one digit.
struct LearnerName {
    private let spellings: [[UInt8]]

    init(_ user: String) {
        var spellings: Set<[UInt8]> = []
        if !user.isEmpty {
            spellings.insert(Array(user.utf8))
            spellings.insert(Array(JSONValue.string(user).text.utf8.dropFirst().dropLast()))
            for escaped in [Self.escaped(user, spaceAs: "%20"), Self.escaped(user, spaceAs: "+")] {
                spellings.insert(Array(escaped.utf8))
                spellings.insert(Array(escaped.lowercased().utf8))
            }
        }
        self.spellings = Array(spellings)
    }

    /// Whether a text names the learner.
    func isIn(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return spellings.contains { Self.find($0, in: bytes) }
    }

    private static func find(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = needle.first, bytes.count >= needle.count else { return false }
        for start in 0...(bytes.count - needle.count) where bytes[start] == first {
            let end = start + needle.count
            guard bytes[start..<end].elementsEqual(needle) else { continue }
            let isBegin = start == 0 || !isWord(bytes[start - 1]) || !isWord(first)
            let isEnd = end == bytes.count || !isWord(bytes[end]) || !isWord(needle[needle.count - 1])
            if isBegin, isEnd { return true }
        }
        return false
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
            true
        default: false
        }
    }

    private static func escaped(_ text: String, spaceAs space: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 0x20: escaped += space
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }
}

/// Every location outside the tables of reports where a learner is named.
struct LearnerTraces {
    let connection: Connection

    /// The texts that may name a learner: the name of the location, how to find its key, and the columns.
    private static let places: [(name: String, table: String, from: String, columns: [String])] = [
        (
            "licence of", "licence", "SELECT content_key, %@ FROM licence",
            ["client_user_id", "user_values", "callback_url", "error_detail"]
        ),
        (
            "content", "content", "SELECT key, %@ FROM content",
            [
                "source_url", "descriptor", "headers", "mirrors", "title", "folder", "description_url", "synopsis",
                "error_detail",
            ]
        ),
        (
            "address of", "url_lease",
            """
            SELECT content.key, %@ FROM url_lease JOIN resource ON resource.id = url_lease.resource_id
            JOIN version ON version.id = resource.version_id JOIN content ON content.id = version.content_id
            """, ["url_lease.url"]
        ),
        (
            "attempt of", "attempt", "SELECT content.key, %@ FROM attempt JOIN content ON content.id = content_id",
            ["detail"]
        ),
        ("file of", "output", "SELECT content.key, %@ FROM output JOIN content ON content.id = content_id", ["path"]),
        ("file of", "output_file", "SELECT content_key, %@ FROM output_file", ["path"]),
    ]

    /// Where a learner is named, for example `licence of KEY`; each location once.
    func places(of user: String) throws -> [String] {
        let name = LearnerName(user)
        var found: [String] = []
        for place in Self.places where try connection.hasTable(place.table) {
            let columns = place.columns.map { "coalesce(\($0), '')" }.joined(separator: ", ")
            let sql = place.from.split(separator: "%@", omittingEmptySubsequences: false).joined(separator: columns)
            let naming = try connection.query(sql) { row -> String? in
                for column in 1..<row.columnCount where name.isIn(row.text(column)) { return row.text(0) }
                return nil
            }
            for key in naming.compactMap(\.self) where !found.contains("\(place.name) \(key)") {
                found.append("\(place.name) \(key)")
            }
        }
        return found
    }
}

extension Connection {
    /// Whether a database has a table: an older one may not.
    func hasTable(_ name: String) throws -> Bool {
        try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) { _ in true } == true
    }
}
