import LectureFormats
public import LectureModel

/// What a learner did, as reported to an LMS.
public struct LearningReport: Sendable, Hashable {
    /// Its identity, 1…256 bytes; nil generates a UUID. A report whose id is already stored with the same payload is
    /// not stored again.
    public var id: String?
    /// The media content key; empty when it is not about a lecture.
    public var content: String
    /// The course; nil takes the lecture's.
    public var course: String?
    /// The learner, up to 512 bytes.
    public var user: String
    /// The session, up to 512 bytes. The reports of one learner's session keep their order.
    public var session: String
    /// The number in the session, from 0; nil takes the next.
    public var sequence: Int64?
    /// The report itself: a JSON object of up to 1 MiB. The document of `{JSON_DATA}`, an object with the macros'
    /// names, or anything else that the LMS understands.
    public var values: String
    /// An attached text, up to 64 KiB.
    public var note: String?
    /// Where it goes; nil sends it to the channels of its lecture, else to the configured target, and keeps it until
    /// one is named if there is neither.
    public var target: ReportTarget?
    /// When it happened; nil is now. A given time cannot be assigned to a boot of the machine, so it is never
    /// corrected.
    public var time: Timestamp?

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - values: the report itself, a JSON object.
    ///   - user: the learner.
    ///   - session: the session.
    ///   - content: the media content key.
    public init(values: String = "{}", user: String = "", session: String = "", content: String = "") {
        (self.values, self.user, self.session, self.content) = (values, user, session, content)
    }
}

/// A report as stored for one target.
public struct StoredReportID: Sendable, Hashable {
    /// Its identity. The first target's is the report's own, the others append `.2`, `.3` ….
    public let id: String
    /// False when it was already stored.
    public let isNew: Bool
    /// The number in the session.
    public let sequence: Int64
    /// Where it goes; nil when it waits for a target.
    public let target: ReportTarget?
}

/// Checks and converts what is to be stored.
enum ReportForm {
    /// The longest report in bytes.
    static let longestValues = 1 << 20
    private static let longestID = 256
    private static let longestName = 512
    private static let longestNote = 65_536
    /// The limits of a report: the blocks of the longest lecture, three values each, and as many stretches.
    private static let limits = JSONScanner.Limits(depth: 32, items: 200_000)

    /// The row of a report, not yet bound to a target.
    ///
    /// - Parameters:
    ///   - report: what an application or a script supplies.
    ///   - id: its identity.
    ///   - reading: both clocks.
    /// - Returns: what the outbox stores.
    /// - Throws: ``LectureError`` with `reportInvalid` that names the member.
    static func record(
        _ report: LearningReport, id: String, reading: ClockReading
    ) throws(LectureError) -> ReportRecord {
        try check(id, "id", 1...longestID)
        if id.utf8.first == 0x20 || id.utf8.last == 0x20 || FieldText.hasControls(id) {
            throw fault("id", "no control character, and no space at its ends")
        }
        try check(report.user, "user", 0...longestName)
        try check(report.session, "session", 0...longestName)
        try check(report.content, "content", 0...longestName)
        if let course = report.course { try check(course, "course", 0...longestName) }
        if let note = report.note { try check(note, "note", 0...longestNote) }
        if let sequence = report.sequence, sequence < 0 { throw fault("seq", "a whole number from 0 on") }
        var record = ReportRecord(
            id: id, content: report.content, user: report.user, session: report.session,
            sequence: report.sequence ?? 0, wall: report.time ?? reading.wall, values: try values(report.values))
        (record.course, record.note) = (report.course, report.note)
        if report.time == nil { (record.boot, record.bootID) = (reading.boot, reading.bootID) }
        return record
    }

    private static func values(_ text: String) throws(LectureError) -> JSONValue {
        let count = text.utf8.count
        guard count <= longestValues else {
            throw fault("values", "\(count) bytes; at most \(longestValues) are taken")
        }
        let value: JSONValue
        do throws(LectureError) {
            value = try JSONScanner.value(of: Array(text.utf8), limits: limits)
        } catch {
            throw fault("values", error.message)
        }
        guard value.members != nil else { throw fault("values", "\(value.kind) where an object is expected") }
        return value
    }

    private static func check(_ text: String, _ name: String, _ range: ClosedRange<Int>) throws(LectureError) {
        guard range.contains(text.utf8.count) else {
            throw fault(name, "\(range.lowerBound) to \(range.upperBound) bytes")
        }
        if text.utf8.contains(0) { throw fault(name, "it holds a NUL") }
    }

    private static func fault(_ name: String, _ reason: String) -> LectureError {
        LectureError(.reportInvalid, detail: name, cause: reason)
    }
}
