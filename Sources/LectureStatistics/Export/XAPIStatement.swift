package import LectureFormats
package import LectureModel

/// Makes xAPI 1.0.3 statements of the video profile (`https://w3id.org/xapi/video`, templates of version 1.0.3).
///
/// | member | is |
/// | --- | --- |
/// | `id` | the row's id; a UUID made from it when it is not one |
/// | `actor` | an account: the home page, and the learner (`anonymous` for none) |
/// | `verb`, `result` | what ``VideoVerb`` and the values say; only what the profile requires for the verb |
/// | `object` | the activity: the prefix and the content key, percent-encoded |
/// | `context.registration` | a UUID of version 5 made from learner and session |
/// | `context.extensions` | `session-id`, a UUID of version 4 in form, which the profile requires; `length` |
/// | `timestamp` | the corrected time, else the wall clock's |
/// | `version` | 1.0.0, which the specification requires of clients (1.0.3, data, 2.4.10) |
package struct XAPIStatement: Sendable {
    /// The prefix of the profile's extension names.
    package static let extensions = "https://w3id.org/xapi/video/extensions/"

    private let homePage: String
    private let activityPrefix: String
    private let hash: @Sendable ([UInt8]) -> [UInt8]

    /// Makes an instance.
    ///
    /// - Parameters:
    ///   - homePage: the address of the system with the learners' accounts, with its scheme.
    ///   - activityPrefix: the prefix of the content key in an activity's id, with its scheme.
    ///   - hash: a hash of at least 16 bytes.
    package init(homePage: String, activityPrefix: String, hash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.homePage = homePage
        self.activityPrefix = activityPrefix
        self.hash = hash
    }

    /// Writes the statement of a row.
    ///
    /// - Parameters:
    ///   - record: the row.
    ///   - writer: positioned where a value is expected.
    package func write(_ record: ReportRecord, to writer: inout JSONWriter) {
        let facts = VideoFacts(record.values)
        writer.object { writer in
            writer.member("id", Self.isUUID(record.id) ? record.id : uuid("statement", [record.id], version: 5))
            writer.object("actor") { writer in
                writer.member("objectType", "Agent")
                writer.object("account") { writer in
                    writer.member("homePage", homePage)
                    writer.member("name", record.user.isEmpty ? "anonymous" : record.user)
                }
            }
            writer.object("verb") { writer in
                writer.member("id", facts.verb.iri)
                writer.object("display") { $0.member("en", facts.verb.rawValue) }
            }
            writer.object("object") { writer in
                writer.member("objectType", "Activity")
                writer.member("id", activityPrefix + PercentEncoding.text(record.content))
                writer.object("definition") { $0.member("type", "https://w3id.org/xapi/video/activity-type/video") }
            }
            result(facts, to: &writer)
            context(record, facts, to: &writer)
            writer.member("timestamp", ISOTime.text(record.time))
            writer.member("version", "1.0.0")
        }
    }

    /// What the profile's templates require for each verb.
    private func result(_ facts: VideoFacts, to writer: inout JSONWriter) {
        if facts.verb == .initialized { return }
        writer.object("result") { writer in
            if facts.verb == .completed {
                writer.member("completion", true)
                writer.member("duration", "PT\(Self.decimal(facts.watched))S")
            }
            writer.object("extensions") { writer in
                func member(_ name: String, _ thousandths: Int64) {
                    writer.member(Self.extensions + name, json: Self.number(thousandths))
                }
                switch facts.verb {
                case .initialized: break
                case .played: member("time", facts.time)
                case .seeked:
                    member("time-from", facts.from)
                    member("time-to", facts.to)
                case .paused, .completed, .terminated:
                    member("time", facts.time)
                    member("progress", facts.progress)
                    writer.member(Self.extensions + "played-segments", Self.text(facts.segments))
                }
            }
        }
    }

    private func context(_ record: ReportRecord, _ facts: VideoFacts, to writer: inout JSONWriter) {
        let owner = [record.user, record.session]
        writer.object("context") { writer in
            writer.member("registration", uuid("registration", owner, version: 5))
            writer.object("contextActivities") { writer in
                writer.array("category") { writer in
                    writer.object { $0.member("id", "https://w3id.org/xapi/video") }
                }
            }
            writer.object("extensions") { writer in
                writer.member(Self.extensions + "session-id", uuid("session", owner, version: 4))
                writer.member(Self.extensions + "length", json: Self.number(facts.length))
            }
        }
    }

    // MARK: Numbers

    private static func text(_ segments: [(from: Int64, to: Int64)]) -> String {
        segments.map { "\(decimal($0.from))[.]\(decimal($0.to))" }.joined(separator: "[,]")
    }

    private static func number(_ thousandths: Int64) -> JSONValue {
        if thousandths % 1000 == 0 { return .integer(thousandths / 1000) }
        return JSONNumber(decimal(thousandths)).map { .number($0) } ?? .integer(thousandths / 1000)
    }

    /// A number of thousandths that is not negative as a decimal, without zeros at the end.
    private static func decimal(_ thousandths: Int64) -> String {
        var digits = String(thousandths % 1000 + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        let whole = String(thousandths / 1000)
        return digits.isEmpty ? whole : "\(whole).\(digits)"
    }

    // MARK: UUIDs

    /// Makes a UUID (RFC 9562 section 5.5, with the hash that was passed in). Each text is preceded by its length, so
    /// that no two lists of texts give the same bytes.
    private func uuid(_ kind: String, _ texts: [String], version: UInt8) -> String {
        var name = Array("LectureKit xAPI \(kind)".utf8)
        for text in texts {
            name.append(contentsOf: "\n\(text.utf8.count):".utf8)
            name.append(contentsOf: text.utf8)
        }
        var bytes = Array(hash(name).prefix(16))
        bytes.append(contentsOf: repeatElement(0, count: 16 - bytes.count))
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { Hexadecimal.text(bytes[$0]) }.joined(separator: "-")
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Hexadecimal.digit($0) != nil } }
    }
}

/// Writes a JSON array of xAPI statements, one per line, as an LRS accepts them.
package struct XAPIWriter: ReportWriter {
    private let statement: XAPIStatement
    private var writer = JSONWriter(reserving: 1024)
    private var isEmpty = true

    /// Makes a writer.
    ///
    /// - Parameter statement: makes the statements.
    package init(_ statement: XAPIStatement) { self.statement = statement }

    /// Writes the statement of one row.
    package mutating func append(_ record: ReportRecord, to buffer: inout [UInt8]) {
        writer.removeAll()
        statement.write(record, to: &writer)
        buffer.append(contentsOf: isEmpty ? "[\n".utf8 : ",\n".utf8)
        buffer.append(contentsOf: writer.bytes)
        isEmpty = false
    }

    /// Ends the array.
    package mutating func finish(into buffer: inout [UInt8]) {
        buffer.append(contentsOf: isEmpty ? "[]\n".utf8 : "\n]\n".utf8)
    }
}

/// ISO 8601 in UTC with milliseconds, as RFC 3339 has it.
enum ISOTime {
    /// 9999-12-31T23:59:59.999Z, the last moment that has four digits for its year.
    private static let last: Int64 = 253_402_300_799_999

    /// Writes a time.
    ///
    /// - Parameter time: clamped to 1970…9999: a clock that is further off is meaningless.
    /// - Returns: for example `2026-11-20T08:30:00.250Z`.
    static func text(_ time: Timestamp) -> String {
        MomentText.utc(Timestamp(milliseconds: min(max(time.milliseconds, 0), last)))
    }
}
