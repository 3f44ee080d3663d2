import LectureFormats
import LectureModel
import LectureSQLite

/// The rules for storing a report, so that every stored one can be read, sent and exported.
enum ReportCheck {
    /// The longest JSON text of values in bytes.
    static let valuesLimit = 1 << 20

    /// The values as stored.
    ///
    /// A NUL is refused: SQLite would store it, but its functions and many tools treat it as the end of a text.
    ///
    /// - Parameter record: the report.
    /// - Returns: an object on one line.
    /// - Throws: ``LectureError`` with the code `reportInvalid` and the name of the member as detail.
    static func values(of record: ReportRecord) throws -> String {
        guard (1...256).contains(record.id.unicodeScalars.count) else { throw invalid("id") }
        guard record.attempts >= 0 else { throw invalid("attempts") }
        let texts: [(String, String?)] = [
            ("id", record.id), ("content", record.content), ("user", record.user), ("session", record.session),
            ("course", record.course), ("note", record.note), ("boot_id", record.bootID),
            ("target", record.target?.url),
        ]
        for (name, text) in texts where text?.utf8.contains(0) == true { throw invalid(name) }
        if let method = record.target?.method, method != "GET", method != "POST" { throw invalid("target") }
        guard record.values.members != nil else { throw invalid("values") }
        // A value built by a program may have duplicate names, or be nested too deeply. Parsing the text again would
        // find that too, but take as long as everything else together.
        guard isSound(record.values, depth: 1) else { throw invalid("values") }
        let text = record.values.text
        guard text.utf8.count <= valuesLimit else { throw invalid("values") }
        return text
    }

    /// Whether a value can be read back from its text.
    private static func isSound(_ value: JSONValue, depth: Int) -> Bool {
        switch value {
        case .null, .bool, .integer, .string: true
        // The text of a number may have come from another reader of numbers.
        case .number(let number): (try? JSONScanner.value(of: number.text)) == value
        case .array(let elements):
            depth <= ReportRows.limits.depth && elements.allSatisfy { isSound($0, depth: depth + 1) }
        case .object(let members):
            depth <= ReportRows.limits.depth && !hasNameTwice(members)
                && members.allSatisfy { isSound($0.value, depth: depth + 1) }
        }
    }

    private static func hasNameTwice(_ members: [JSONMember]) -> Bool {
        if members.count > 24 { return Set(members.map { Array($0.name.utf8) }).count < members.count }
        for (place, member) in members.enumerated() {
            let count = member.name.utf8.count
            for other in members[..<place] where other.name.utf8.count == count {
                // Different texts have different bytes, which is found many times faster.
                if other.name == member.name, other.name.utf8.elementsEqual(member.name.utf8) { return true }
            }
        }
        return false
    }

    /// The stored size of a report in bytes: its texts.
    static func bytes(of record: ReportRecord, values: String) -> Int {
        record.id.utf8.count + record.content.utf8.count + record.user.utf8.count + record.session.utf8.count
            + (record.course?.utf8.count ?? 0) + (record.note?.utf8.count ?? 0) + values.utf8.count
    }

    private static func invalid(_ member: String) -> LectureError { LectureError(.reportInvalid, detail: member) }
}

/// What is stored under an id.
struct KnownReport {
    let id: OutboxID
    let uuid: String
    let queue: Int64
    let user: String
    let session: String
    let target: TargetID?
    let firstTarget: TargetID?
    let sequence: Int64
    /// Whether it is pending and in no request.
    let isFree: Bool
    private let content: String
    private let course: String?
    private let note: String?
    private let values: String

    /// Looks an id up.
    static func find(_ uuid: String, on connection: Connection) throws -> KnownReport? {
        // Most are new, and a short query is faster.
        guard try connection.first("SELECT 1 FROM report WHERE uuid = ?", uuid, read: { _ in true }) == true else {
            return nil
        }
        return try connection.first(
            byID, uuid
        ) { row in
            KnownReport(
                id: row.id(0), uuid: uuid, queue: row.int64(1), user: row.text(2), session: row.text(3),
                target: row.optionalInt64(4).map { TargetID($0) },
                firstTarget: row.optionalInt64(5).map { TargetID($0) },
                sequence: row.int64(6), isFree: row.bool(7), content: row.text(8), course: row.optionalText(9),
                note: row.optionalText(10), values: row.text(11))
        }
    }

    private static let byID = """
        SELECT report.id, report.lane_id, lms_lane.client_user_id, lms_lane.session, lms_lane.target_id,
            report.first_target, report.sequence, report.state = \(sql: ReportState.pending)
                AND report.flight_id IS NULL, report.content, report.course, report.note, report."values"
        FROM report CROSS JOIN lms_lane ON lms_lane.id = report.lane_id WHERE report.uuid = ?
        """

    /// Whether a report matches the stored one. Texts are compared byte by byte: two spellings of a letter are two
    /// texts.
    func matches(_ record: ReportRecord, values text: String, anySequence: Bool) -> Bool {
        Self.same(user, record.user) && Self.same(session, record.session) && Self.same(content, record.content)
            && Self.same(course, record.course) && Self.same(note, record.note)
            && (anySequence || sequence == record.sequence) && (Self.same(values, text) || sameMembers(record.values))
    }

    /// The same members in another order.
    private func sameMembers(_ other: JSONValue) -> Bool {
        guard let own = try? JSONScanner.value(of: values, limits: ReportRows.limits) else { return false }
        return Self.same(own.sorted.text, other.sorted.text)
    }

    private static func same(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}

extension JSONValue {
    /// With the members of every object ordered by the bytes of their names.
    fileprivate var sorted: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string: self
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(
                members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                    .map { JSONMember($0.name, $0.value.sorted) })
        }
    }
}
