import LectureLicence
import LectureModel
import Testing

/// The claims of a licence file checked against a context: for each rule, accepted and refused files.
@Suite struct LicenceFileTests {
    private static let now: Int64 = 1_800_000_000
    private static let device = String(repeating: "A", count: 42) + "A"
    private static let whole = """
        {"iss":"academy","aud":["player","web"],"sub":"kim","iat":1799999000,"nbf":1799999000,"exp":1800001000,
        "jti":"t1","mck":"algebra","cnf":{"jkt":"\(device)"},"serial":7,
        "policy":{"expiration_date":1800000500,"expiration_count":3,"expiration_playtime":600,"check_abuse":0,
        "check_expiration_date":1800000400,"offline_bookmark":{"download":1,"readonly":1}}}
        """

    private static func context() -> LicenceFileContext {
        var context = LicenceFileContext(now: Timestamp(milliseconds: now * 1000))
        context.device = device
        context.content = "algebra"
        context.user = "kim"
        context.audience = "player"
        context.issuer = "academy"
        context.lastSeen = Timestamp(milliseconds: now * 1000)
        context.serialFloor = 7
        context.seenTokens = ["t0"]
        return context
    }

    private static func reasons(_ payload: String, _ context: LicenceFileContext = context()) -> [String] {
        // The keys of these tests are not real; they are distinguished by their text.
        LicenceFileJudge.judge(Array(payload.utf8), context) { $0["kty"]?.string == "X" ? device : nil }.reasons
            .map(\.name)
    }

    @Test func `A file that matches in everything is accepted`() { #expect(Self.reasons(Self.whole) == []) }

    /// One change of the file each, and the expected refusals; none where it still fits.
    private static let changes: [(String, String, [String])] = [
        (#""iss":"academy""#, #""iss":"Academy""#, ["issuer_wrong"]),
        (#""iss":"academy","#, "", ["issuer_missing"]),
        (#""iss":"academy""#, #""iss":7"#, ["claim_malformed"]),
        (#""iss":"academy""#, #""iss":null"#, ["claim_malformed"]),
        (#""aud":["player","web"]"#, #""aud":"player""#, []),
        (#""aud":["player","web"]"#, #""aud":"web""#, ["audience_wrong"]),
        (#""aud":["player","web"]"#, #""aud":[]"#, ["audience_wrong"]),
        (#""aud":["player","web"]"#, #""aud":["player",1]"#, ["claim_malformed"]),
        (#""aud":["player","web"],"#, "", ["audience_missing"]),
        (#""sub":"kim""#, #""sub":"lee""#, ["user_wrong"]),
        (#""sub":"kim","#, "", ["user_missing"]),
        (#""mck":"algebra""#, #""mck":"algebra ""#, ["content_wrong"]),
        (#""mck":"algebra","#, "", ["content_missing"]),
        (#""mck":"algebra""#, #""mck":"""#, ["claim_malformed"]),
        (device, String(device.dropLast()) + "E", ["device_wrong"]),
        (#""cnf":{"jkt":"\#(device)"},"#, "", ["device_missing"]),
        (#"{"jkt":"\#(device)"}"#, #"{"kid":"\#(device)"}"#, ["claim_malformed"]),
        (#"{"jkt":"\#(device)"}"#, #"{"jwk":{"kty":"X"}}"#, []),
        (#"{"jkt":"\#(device)"}"#, #"{"jwk":{"kty":"Y"}}"#, ["claim_malformed"]),
        (#"{"jkt":"\#(device)"}"#, #"{"jkt":"B","jwk":{"kty":"X"}}"#, ["device_wrong"]),
        (#""iat":1799999000"#, #""iat":1800000000"#, []),
        (#""iat":1799999000"#, #""iat":1800000001"#, ["issued_in_future"]),
        (#""nbf":1799999000"#, #""nbf":1800000000"#, []),
        (#""nbf":1799999000"#, #""nbf":1800000001"#, ["not_yet_valid"]),
        (#""exp":1800001000"#, #""exp":1800000001"#, []),
        (#""exp":1800001000"#, #""exp":1800000000"#, ["expired"]),
        (#""exp":1800001000"#, #""exp":1800001000.0"#, ["claim_malformed"]),
        (#""exp":1800001000"#, #""exp":"1800001000""#, ["claim_malformed"]),
        (#""exp":1800001000"#, #""exp":-1"#, ["claim_malformed"]),
        (#""exp":1800001000"#, #""exp":9223372036854775807"#, ["claim_malformed"]),
        (#""exp":1800001000"#, #""exp":99999999999999999999"#, ["claim_malformed"]),
        (#""exp":1800001000,"#, "", []),
        (#""serial":7"#, #""serial":8"#, []),
        (#""serial":7"#, #""serial":6"#, ["superseded"]),
        (#""serial":7,"#, "", []),
        (#""serial":7"#, #""serial":true"#, ["claim_malformed"]),
        (#""jti":"t1""#, #""jti":"t0""#, ["already_seen"]),
        (#""jti":"t1","#, "", ["jti_missing"]),
        (#""expiration_date":1800000500"#, #""expiration_date":1800000000"#, ["policy_expired"]),
        (#""expiration_date":1800000500"#, #""expiration_date":0"#, []),
        (#""expiration_date":1800000500"#, #""expiration_date":1893456000"#, ["policy_out_of_range"]),
        (#""expiration_count":3"#, #""expiration_count":1001"#, ["policy_out_of_range"]),
        (#""expiration_count":3"#, #""expiration_count":"3""#, ["policy_out_of_range"]),
        (#""expiration_playtime":600"#, #""expiration_playtime":59"#, ["policy_out_of_range"]),
        (#""expiration_playtime":600"#, #""expiration_playtime":604801"#, ["policy_out_of_range"]),
        (#""check_abuse":0"#, #""check_abuse":2"#, ["policy_out_of_range"]),
        (#""check_abuse":0"#, #""check_abuse":false"#, ["policy_out_of_range"]),
        (#""check_abuse":0"#, #""content_delete":1"#, ["deleted"]),
        (#""check_abuse":0"#, #""content_expired":1"#, ["force_expired"]),
        (#""check_abuse":0"#, #""result":0"#, ["refused"]),
        (#""check_abuse":0"#, #""somebody_elses":[{}]"#, []),
        (#""check_expiration_date":1800000400"#, #""check_expiration_date":1800000000"#, ["check_due"]),
        (#""download":1"#, #""download":3"#, ["policy_out_of_range"]),
        (#""iss":"academy""#, #""iss":"academy","iss":"academy""#, ["payload_syntax"]),
        (#""iss":"academy""#, #""iss":"academy","data":[]"#, ["form_ambiguous"]),
        (#""iss":"academy""#, #""iss":"academy","unknown":{"a":[1.5,null]}"#, []),
    ]

    @Test(arguments: changes)
    func `Each claim counts`(old: String, new: String, expected: [String]) {
        let changed = Self.whole.replacing(old, with: new)
        #expect(changed != Self.whole)
        #expect(Self.reasons(changed) == expected)
    }

    @Test func `A payload that is not an object is refused`() {
        for text in ["", "[]", "\"a\"", "1", "null", "{", "{}x", "{\"a\":01}", "\u{FEFF}{}"] {
            #expect(["payload_syntax", "payload_not_object"].contains(Self.reasons(text).first ?? ""), "\(text)")
        }
    }

    @Test func `An empty context accepts an empty file, unless a lecture is required`() {
        var context = LicenceFileContext(now: Timestamp(milliseconds: 0))
        #expect(Self.reasons("{}", context) == [])
        context.needsContent = true
        #expect(Self.reasons("{}", context) == ["content_missing"])
        #expect(Self.reasons(#"{"mck":"a"}"#, context) == [])
        // A name that cannot be a thumbprint binds to nothing.
        #expect(Self.reasons(#"{"mck":"a","cnf":{"jkt":"abc"}}"#, context) == ["claim_malformed"])
    }

    @Test func `Recorded use and times count`() {
        var context = Self.context()
        context.countUsed = 2
        context.playTimeUsed = .milliseconds(599_999)
        #expect(Self.reasons(Self.whole, context) == [])
        context.countUsed = 3
        context.playTimeUsed = .seconds(600)
        context.lastSeen = Timestamp(milliseconds: Self.now * 1000 + 1)
        #expect(Self.reasons(Self.whole, context) == ["clock_set_back", "count_used_up", "play_time_used_up"])
    }

    @Test func `Without a serial number the issue time counts`() {
        let file = Self.whole.replacing(#""serial":7,"#, with: "")
        var context = Self.context()
        context.serialFloor = 1_799_999_000
        #expect(Self.reasons(file, context) == [])
        context.serialFloor = 1_799_999_001
        #expect(Self.reasons(file, context) == ["superseded"])
        #expect(Self.reasons(file.replacing(#""iat":1799999000,"#, with: ""), context) == ["serial_missing"])
    }

    @Test func `Every reason is named, the first that applies first`() {
        var context = Self.context()
        context.issuer = "b"
        context.user = "b"
        context.now = Timestamp(milliseconds: 1_900_000_000_000)
        context.countUsed = 9
        #expect(
            Self.reasons(Self.whole, context) == [
                "issuer_wrong", "user_wrong", "expired", "policy_expired", "check_due", "count_used_up",
            ])
    }

    @Test func `Two normalisations of a letter are two names`() {
        var context = LicenceFileContext(now: Timestamp(milliseconds: 0))
        context.user = "e\u{301}"
        #expect(Self.reasons("{\"sub\":\"\u{E9}\"}", context) == ["user_wrong"])
        #expect(Self.reasons("{\"sub\":\"e\u{301}\"}", context) == [])
    }

    @Test func `The claims become a policy`() throws {
        let finding = LicenceFileJudge.judge(Array(Self.whole.utf8), Self.context()) { _ in nil }
        let file = try #require(finding.file)
        #expect(file.policy.startsAt == Timestamp(milliseconds: 1_799_999_000_000))
        #expect(file.policy.expiresAt == Timestamp(milliseconds: 1_800_000_500_000))
        #expect(file.policy.countLimit == 3 && file.policy.playTimeLimit == .seconds(600))
        #expect(file.policy.bookmarks == .index && file.policy.bookmarksAreReadOnly)
        #expect(file.serial == 7 && file.identity == "t1" && file.content == "algebra" && file.contentKey == nil)
    }

    @Test func `An application key is valid for a bundle, not for a lecture`() {
        var context = LicenceFileContext(now: Timestamp(milliseconds: Self.now * 1000))
        context.needsContent = true
        let key = #"{"iss":"academy","app":{"bundle_id":"org.example","exp":1800000001}}"#
        #expect(Self.reasons(key, context) == [])
        #expect(Self.reasons(key.replacing("1800000001", with: "1800000000"), context) == ["expired"])
        #expect(Self.reasons(key.replacing("\"org.example\"", with: "7"), context) == ["claim_malformed"])
        // An application's policy says nothing about a lecture.
        context.content = "algebra"
        #expect(Self.reasons(key, context) == ["content_missing"])
        // Together with a lecture it is an unknown claim.
        #expect(Self.reasons(#"{"mck":"algebra","app":7}"#, context) == [])
    }

    // MARK: Answers of callbacks

    private static func answer(_ members: String, beside: String = "", content: String = "algebra") -> String {
        #"{"data":[{"kind":1,"media_content_key":"\#(content)","result":1\#(members)}]\#(beside)}"#
    }

    private static let answers: [(String, [String])] = [
        (answer(""), []),
        (answer(#","message":"ok","expiration_date":1800000001,"expiration_count":1"#), []),
        (answer(#","expiration_date":1800000000"#), ["policy_expired"]),
        (answer(#","content_delete":1"#), ["deleted"]),
        (answer(#","content_expired":1"#), ["force_expired"]),
        (answer(#","expiration_count":"1""#), ["answer_malformed"]),
        (answer("").replacing(#""result":1"#, with: #""result":0"#), ["refused"]),
        (answer("", content: "other"), ["answer_missing"]),
        (#"{"data":[]}"#, ["answer_missing"]),
        (#"{"data":{"kind":1,"media_content_key":"algebra","result":1}}"#, []),
        (answer("", beside: #","iat":1,"exp":1800000001,"x":null"#), []),
        (answer("", beside: #","exp":1800000000"#), ["expired"]),
        (answer("", beside: #","exp":"soon""#), ["claim_malformed"]),
        (answer("", beside: #","nbf":1800000001"#), ["not_yet_valid"]),
        (answer("", beside: #","mck":"algebra""#), ["form_ambiguous"]),
    ]

    @Test(arguments: answers)
    func `An answer is checked against its lecture`(payload: String, expected: [String]) {
        var context = LicenceFileContext(now: Timestamp(milliseconds: Self.now * 1000))
        context.content = "algebra"
        #expect(Self.reasons(payload, context) == expected)
    }

    @Test func `An answer for another lecture does not count, a second one for the same does`() {
        var context = LicenceFileContext(now: Timestamp(milliseconds: Self.now * 1000))
        context.content = "algebra"
        let refusal = #"{"kind":1,"media_content_key":"b","result":0}"#
        let other = #"{"data":[\#(refusal),{"kind":1,"media_content_key":"algebra","result":1}]}"#
        #expect(Self.reasons(other, context) == [])
        // Two answers of one kind are none, as for the engine.
        let twice = other.replacing("\"b\"", with: "\"algebra\"")
        #expect(Self.reasons(twice, context) == ["refused", "answer_malformed"])
        #expect(Self.reasons(twice.replacing("\"result\":0", with: "\"result\":1"), context) == ["answer_malformed"])
        let later = twice.replacing("{\"kind\":1,\"media_content_key\":\"algebra\",\"result\":0}", with: "null")
        #expect(Self.reasons(later, context) == [], "an element that names no lecture answers for none")
        context.content = nil
        #expect(Self.reasons(other, context) == ["refused"])
        context.countUsed = 2
        context.content = "algebra"
        #expect(Self.reasons(Self.answer(#","expiration_count":2"#), context) == ["count_used_up"])
    }
}
