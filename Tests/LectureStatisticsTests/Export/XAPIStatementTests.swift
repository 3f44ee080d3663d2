import LectureFormats
import LectureModel
import LectureStatistics
import Testing

/// The statements have what xAPI 1.0.3 and the templates of the video profile require, and nothing else.
@Suite struct XAPIStatementTests {
    private static let maker = XAPIStatement(
        homePage: "https://lms.example", activityPrefix: "https://lms.example/video/", hash: testHash)
    private static let id = "0198c0de-0000-7000-8000-00000000002a"
    private static let extensions = XAPIStatement.extensions

    private static func record(_ values: String) throws -> ReportRecord {
        ReportRecord(
            id: id, content: "algebra 1/é", user: "kim", session: "kim_1", sequence: 1,
            wall: Timestamp(milliseconds: 1_795_161_600_250), values: try JSONScanner.value(of: values))
    }

    private static func statement(_ record: ReportRecord) throws -> JSONValue {
        var writer = JSONWriter()
        maker.write(record, to: &writer)
        return try JSONScanner.value(of: writer.bytes)
    }

    private static func faults(_ statement: JSONValue) throws -> [String] {
        try StatementChecker.faults(of: statement)
    }

    /// Values of reports, and the resulting verb.
    private static let values: [(String, VideoVerb)] = [
        ("{}", .initialized), ("[]", .initialized), ("null", .initialized),
        (#"{"video":{"verb":"watched"}}"#, .initialized),
        (#"{"content_info":{"last_play_at":12}}"#, .played),
        (#"{"JSON_DATA":{"content_info":{"last_play_at":12}}}"#, .played),
        (#"{"PLAY_STATUS":"play"}"#, .played), (#"{"PLAY_STATUS":"pause"}"#, .paused),
        (#"{"PLAY_STATUS":"stop","PLAYTIME_PERCENT":"130"}"#, .terminated),
        (#"{"PLAY_STATUS":"stop","video":{"verb":"completed"},"PLAY_TIME":"12.5"}"#, .completed),
        (#"{"video":{"verb":"paused","time_ms":-1,"duration_ms":1e300,"segments_ms":[[3,2],[1],7,[-1,4]]}}"#, .paused),
        (#"{"video":{"verb":"seeked","from_ms":9223372036854775807}}"#, .seeked),
        (#"{"PLAY_STATUS":"pause","DURATION":"nan","PLAY_TIME":"inf","PLAYTIME_PERCENT":-1}"#, .paused),
    ]

    @Test(arguments: values) func `a statement has what its verb requires`(values: String, verb: VideoVerb) throws {
        let statement = try Self.statement(Self.record(values))
        #expect(try Self.faults(statement) == [])
        #expect(statement["verb"]?["id"]?.string == verb.iri)
    }

    @Test func `statements of any rows obey the rules`() throws {
        var maker = RecordMaker(seed: 11)
        for _ in 0..<300 {
            var record = maker.record()
            let verb = VideoVerb.allCases[Int(record.attempts % 6)]
            let video = JSONValue.object([JSONMember("verb", .string(verb.rawValue))])
            record.values = .object([JSONMember("video", video), JSONMember("more", record.values)])
            #expect(try Self.faults(Self.statement(record)) == [])
        }
    }

    @Test func `the rules detect a mistake`() throws {
        let statement = try Self.statement(Self.record(#"{"video":{"verb":"completed"}}"#)).text
        for (text, wrong, fault) in [
            ("1.0.0", "1.0.3", "version"), ("true", "false", "completion"), ("PT0S", "0S", "duration"),
            ("Agent", "Group", "actor"), (Self.id, "1", "id"), ("category", "parent", "category"),
            ("/progress", "/done", "result extensions"), ("/length", "/size", "context extensions"),
            ("T08:00", " 08:00", "timestamp"), ("/activity-type", "", "definition"), ("verbs/", "verb/", "verb"),
        ] {
            #expect(statement.contains(text))
            let broken = try JSONScanner.value(of: statement.replacing(text, with: wrong))
            #expect(try Self.faults(broken).first == fault)
        }
    }

    // MARK: The facts

    @Test func `a complete statement is as in the profile`() throws {
        let values = #"""
            {"video":{"verb":"paused","time_ms":30000,"duration_ms":40000,
            "segments_ms":[[0,12000],[14000,21500],[18000,30000],[0,500]]}}
            """#
        let statement = try Self.statement(Self.record(values))
        let found = statement["result"]?["extensions"]
        #expect(found?[Self.extensions + "played-segments"]?.string == "0[.]12[,]14[.]21.5[,]18[.]30[,]0[.]0.5")
        #expect(found?[Self.extensions + "time"] == .integer(30))
        #expect(found?[Self.extensions + "progress"] == JSONNumber("0.7").map { .number($0) })
        #expect(statement["id"]?.string == Self.id)
        #expect(statement["object"]?["id"]?.string == "https://lms.example/video/algebra%201%2F%C3%A9")
        #expect(statement["actor"]?["account"]?["name"]?.string == "kim")
        #expect(statement["timestamp"]?.string == "2026-11-20T08:00:00.250Z")
        #expect(statement["context"]?["extensions"]?[Self.extensions + "length"] == .integer(40))
    }

    @Test func `a jump has its start and its target`() throws {
        let values = #"{"video":{"verb":"seeked","from_ms":1005,"to_ms":90010}}"#
        let found = try Self.statement(Self.record(values))["result"]?["extensions"]
        #expect(found?[Self.extensions + "time-from"]?.text == "1.005")
        #expect(found?[Self.extensions + "time-to"]?.text == "90.01")
    }

    /// Milliseconds and their text.
    private static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_735_689_599_001, "2024-12-31T23:59:59.001Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (.min, "1970-01-01T00:00:00.000Z"), (.max, "9999-12-31T23:59:59.999Z"),
    ]

    @Test(arguments: times) func `the corrected time is written before that of the wall`(time: Int64, text: String)
        throws
    {
        var record = try Self.record("{}")
        record.corrected = Timestamp(milliseconds: time)
        #expect(try Self.statement(record)["timestamp"]?.string == text)
    }

    @Test func `the registration belongs to the learner and the session`() throws {
        func registration(_ user: String, _ session: String) throws -> JSONValue? {
            var record = try Self.record("{}")
            (record.user, record.session) = (user, session)
            return try Self.statement(record)["context"]?["registration"]
        }
        let all = try [("kim", "s"), ("kim", "t"), ("lee", "s"), ("ki", "ms"), ("", "kims")].map(registration)
        #expect(Set(all).count == all.count)
        #expect(try registration("kim", "s") == all[0])
    }

    @Test func `an id that is not a UUID gets one, and an empty learner a name`() throws {
        var record = try Self.record("{}")
        var ids: Set<String> = []
        for id in ["1", "2", Self.id + "0", Self.id.replacing("c", with: "g")] {
            record.id = id
            record.user = ""
            let statement = try Self.statement(record)
            #expect(try Self.faults(statement) == [])
            ids.insert(try #require(statement["id"]?.string))
        }
        #expect(ids.count == 4)
        record.id = Self.id.uppercased()
        #expect(try Self.statement(record)["id"]?.string == Self.id.uppercased())
    }

    @Test func `the export is one array with one statement per line`() throws {
        let records = try Self.values.map { try Self.record($0.0) }
        let file = try export(records, XAPIWriter(Self.maker))
        #expect(try JSONScanner.value(of: file).elements == records.map(Self.statement))
        #expect(file.count { $0 == 0x0A } == records.count + 2)
    }
}
