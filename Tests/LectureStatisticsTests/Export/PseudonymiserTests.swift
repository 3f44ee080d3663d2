import LectureFormats
import LectureModel
import LectureStatistics
import Testing

/// Pseudonyms replace the learner's id everywhere; filters select the right rows.
@Suite struct PseudonymiserTests {
    private static let pseudonymiser = Pseudonymiser(hash: testHash)

    private static func record(_ user: String, _ values: JSONValue = .object([])) -> ReportRecord {
        ReportRecord(
            id: "1", content: "c", user: user, session: "\(user)_1700000000", sequence: 1,
            wall: Timestamp(milliseconds: 1000), values: values)
    }

    @Test func `a pseudonym depends on the id and on the hash alone`() {
        let other = Pseudonymiser { testHash([1] + $0) }
        let name = Self.pseudonymiser.pseudonym(of: "kim")
        #expect(name == Self.pseudonymiser.pseudonym(of: "kim"))
        #expect(name != Self.pseudonymiser.pseudonym(of: "lee"))
        #expect(name != other.pseudonym(of: "kim"))
        #expect(name.wholeMatch(of: /p-[0-9a-f]{32}/) != nil)
        #expect(Self.pseudonymiser.pseudonym(of: "") == "")
    }

    /// A learner, a text, and the text with `*` where the pseudonym is expected.
    private static let texts: [(String, String, String)] = [
        ("kim7", "kim7", "*"), ("kim7", "xkim7y kim7", "x*y *"), ("kim7", "kim8", "kim8"),
        ("a b@c.d", "https://h/?u=a%20b%40c.d&v=a+b%40c.d&w=a b@c.d", "https://h/?u=*&v=*&w=*"),
        ("a/b@c", "u=a%2fb%40c", "u=*"), ("a\"b\\c", #"{"user":"a\"b\\c"}"#, #"{"user":"*"}"#),
        ("한국", "x=%ED%95%9C%EA%B5%AD,한국", "x=*,*"),
        ("1", "1 page of 10, user=1", "* page of 10, user=*"), ("1", "id%3D1", "id%3D*"), ("kim", "kimchi", "kimchi"),
        ("", "anyone", "anyone"),
    ]

    @Test(arguments: texts) func `an id is replaced in every spelling`(user: String, text: String, due: String) throws {
        let due = due.replacing("*", with: Self.pseudonymiser.pseudonym(of: user))
        let values = JSONValue.object([JSONMember("a", .array([.string(text)])), JSONMember(text, .null)])
        var record = Self.record(user, values)
        record.note = text
        record.reason = text
        record.target = ReportRecord.Target(
            url: text, format: .kollus, parameters: [ReportRecord.Target.Parameter(name: "u", template: text)])
        let result = Self.pseudonymiser.apply(to: record)
        #expect(result.note == due)
        #expect(result.reason == due)
        #expect(result.target?.url == due)
        #expect(result.target?.parameters.map(\.template) == [due])
        #expect(result.values == .object([JSONMember("a", .array([.string(due)])), JSONMember(due, .null)]))
        #expect(result.user == Self.pseudonymiser.pseudonym(of: user))
        #expect(result.session == "\(Self.pseudonymiser.pseudonym(of: user))_1700000000")
    }

    @Test func `an id in the report's own id, its lecture or its course is replaced, a short one only in the id`() {
        for (user, content) in [("kim7", "notes of *"), ("1", "lecture-1")] {
            var record = Self.record(user)
            record.id = "r-\(user)-2"
            record.content = content.replacing("*", with: user)
            record.course = record.content
            let (result, name) = (Self.pseudonymiser.apply(to: record), Self.pseudonymiser.pseudonym(of: user))
            #expect(result.id == "r-\(name)-2")
            #expect(result.content == content.replacing("*", with: name))
            #expect(result.course == result.content)
        }
    }

    @Test func `an id is spelled in every way that a text may need`() {
        let spellings = LearnerSpelling.all(of: "a/\"b ~").map { String(decoding: $0, as: UTF8.self) }
        for due in [
            "a/\"b ~", "a/\\\"b ~", "a%2F%22b%20~", "a%2f%22b%20~", "a%2F%22b+~", "a%2F%22b+%7E", "a%2f%22b+%7e",
            "a%2F%5C%22b%20~",
        ] { #expect(spellings.contains(due), "\(due)") }
        #expect(spellings.map(\.utf8.count) == spellings.map(\.utf8.count).sorted(by: >))
        #expect(LearnerSpelling.all(of: "") == [] && LearnerSpelling.all(of: "Kim") == [Array("Kim".utf8)])
    }

    /// The session of the learner `kim`, and its replacement.
    private static let sessions = [
        ("kim1700000000", "*1700000000"), ("1700kim", "1700*"), ("kim", "*"), ("a-kim-b", "a-*-b"), ("akimb", "akimb"),
        ("kim1_kim", "*1_*"), ("", ""),
    ]

    @Test(arguments: sessions) func `a session keeps its time and loses the id`(session: String, due: String) {
        var record = Self.record("kim")
        record.session = session
        let pseudonym = Self.pseudonymiser.pseudonym(of: "kim")
        #expect(Self.pseudonymiser.apply(to: record).session == due.replacing("*", with: pseudonym))
    }

    @Test func `members that name a person or a machine are replaced entirely`() throws {
        let values = try JSONScanner.value(
            of: #"""
                {"user_info":{"client_user_id":"other","player_id":"d-1","hardware_id":42,"host_name":"h"},
                "CLIENT_USER_ID":"kim","content_info":{"playtime":42},"uservalues":{"uid":42,"n":43,"x":null}}
                """#)
        let result = Self.pseudonymiser.apply(to: Self.record("42", values)).values
        func name(_ id: String) -> JSONValue { .string(Self.pseudonymiser.pseudonym(of: id)) }
        #expect(result["user_info"]?["client_user_id"] == name("other"))
        #expect(result["user_info"]?["player_id"] == name("d-1"))
        #expect(result["user_info"]?["hardware_id"] == name("42"))
        #expect(result["user_info"]?["host_name"] == .string("h"))
        #expect(result["CLIENT_USER_ID"] == name("kim"))
        #expect(result["content_info"]?["playtime"] == .integer(42))
        #expect(result["uservalues"]?["uid"] == name("42"))
        #expect(result["uservalues"]?["n"] == .integer(43))
        #expect(result["uservalues"]?["x"] == .null)
    }

    @Test func `no export of a pseudonymous row contains the id`() throws {
        var maker = RecordMaker(seed: 5)
        let statement = XAPIStatement(
            homePage: "https://a.example", activityPrefix: "https://b.example/", hash: testHash)
        for _ in 0..<100 {
            var record = maker.record()
            let user = "learner=7"
            record.user = user
            record.session = maker.text() + user + "17"
            record.note = maker.text() + user
            record.reason = user + maker.text()
            record.values = .object([JSONMember(user, .string(maker.text() + user)), JSONMember("v", record.values)])
            let hidden = [Self.pseudonymiser.apply(to: record)]
            for file in try [
                export(hidden, CSVWriter()), export(hidden, JSONLinesWriter()), export(hidden, XAPIWriter(statement)),
            ] {
                let text = String(decoding: file, as: UTF8.self)
                #expect(!text.contains("learner"))
                #expect(text.contains(Self.pseudonymiser.pseudonym(of: user)))
            }
        }
    }
}
