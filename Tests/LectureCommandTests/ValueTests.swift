import LectureCommand
import LectureFormats
import LectureModel
import Testing

@Suite struct QuantityTests {
    @Test(arguments: [
        ("90", 90), ("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600), ("1h30m", 5400),
        ("1d2h3m4s", 93_784),
    ])
    func `durations are read`(text: String, seconds: Int64) {
        #expect(Quantity.duration(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "0", "0s", "s", "1x", "1m1h", "1h1h", "-5", "+5", "1.5h", " 1s", "١s", "99999999999999999999s",
        "9223372036854775807w",
    ])
    func `other texts are not a duration`(text: String) { #expect(Quantity.duration(text) == nil) }

    @Test(
        arguments: [
            ("0", 0), ("157286400", 157_286_400), ("150M", 157_286_400), ("1.5G", 1_610_612_736), ("1KiB", 1024),
            ("2kb", 2048), ("0.5k", 512), ("1.001K", 1025), ("1T", 1_099_511_627_776),
        ] as [(String, Int64)])
    func `byte counts are read`(text: String, bytes: Int64) { #expect(Quantity.byteCount(text) == bytes) }

    @Test(arguments: ["", "M", "1.M", ".5M", "1.2345M", "1..2M", "-1", "1X", "9999999999T", "8388608T", "1 M"])
    func `other texts are not a byte count`(text: String) { #expect(Quantity.byteCount(text) == nil) }

    @Test func `a rate is at least one byte a second`() {
        #expect(Quantity.rate("2M/s") == 2 << 20)
        #expect(Quantity.rate("500K") == 512_000)
        #expect(Quantity.rate("0") == nil)
        #expect(Quantity.rate("/s") == nil)
    }
}

@Suite struct CountLimitTests {
    @Test(arguments: [("0", 0), ("7", 7), ("0%", 0), ("10%", 19), ("50%", 99), ("100%", 199)])
    func `a limit is a number or a share, rounded down`(text: String, allowed: Int) throws {
        let limit = try #require(CountLimit(text))
        #expect(limit.allowed(of: 199) == allowed)
        #expect(limit.text == text)
    }

    @Test(arguments: ["", "%", "x", "-1", "1.5", "101%", "1 %", "١", "1000000001", "99999999999999999999"])
    func `other texts are not a limit`(text: String) { #expect(CountLimit(text) == nil) }
}

@Suite struct ByteRangeRequestTests {
    @Test func `the three forms of RFC 9110 are read`() {
        #expect(ByteRangeRequest("0-1023") == .from(0, through: 1023))
        #expect(ByteRangeRequest("4096-") == .from(4096, through: nil))
        #expect(ByteRangeRequest("-500") == .last(500))
    }

    @Test(arguments: ["", "-", "5", "5-4", "a-b", "-0", "1-2-3", "--5", "+1-2", "1 -2", "99999999999999999999-"])
    func `other texts are not a range`(text: String) { #expect(ByteRangeRequest(text) == nil) }

    @Test func `a range is clamped to the file`() {
        #expect(ByteRangeRequest("0-1023")?.resolved(byteCount: 100) == 0..<100)
        #expect(ByteRangeRequest("10-19")?.resolved(byteCount: 100) == 10..<20)
        #expect(ByteRangeRequest("99-")?.resolved(byteCount: 100) == 99..<100)
        #expect(ByteRangeRequest("100-")?.resolved(byteCount: 100) == nil)
        #expect(ByteRangeRequest("-30")?.resolved(byteCount: 100) == 70..<100)
        #expect(ByteRangeRequest("-300")?.resolved(byteCount: 100) == 0..<100)
        for text in ["-1", "0-", "0-1023"] { #expect(ByteRangeRequest(text)?.resolved(byteCount: 0) == 0..<0) }
        #expect(ByteRangeRequest("1-")?.resolved(byteCount: 0) == nil)
        #expect(ByteRangeRequest("0-9223372036854775807")?.resolved(byteCount: 5) == 0..<5)
    }
}

@Suite struct SuggestionTests {
    @Test func `edits are counted, a swap of neighbours as one`() {
        #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
        #expect(Suggestion.distance(Array("lsit"), Array("list")) == 1)
        #expect(Suggestion.distance([], Array("abc")) == 3)
        #expect(Suggestion.distance(Array("same"), Array("same")) == 0)
    }

    @Test func `only a similar word is suggested`() {
        let words = ["precache", "list", "show"]
        #expect(Suggestion.nearest(to: "precahce", among: words) == "precache")
        #expect(Suggestion.nearest(to: "lst", among: words) == "list")
        #expect(Suggestion.nearest(to: "download", among: words) == nil)
        #expect(Suggestion.nearest(to: "x", among: []) == nil)
    }
}

@Suite struct ValueGrammarTests {
    @Test(arguments: ["Authorization: Bearer x", "X-A:1", "Empty:"])
    func `valid headers are accepted`(text: String) { #expect(ValueGrammar.header.problem(in: text) == nil) }

    @Test(arguments: ["NoColon", ": x", "A b: x", "A: x\r\nB: y", "A: \u{0}", "Ä: x"])
    func `texts that would smuggle or break a header are refused`(text: String) {
        #expect(ValueGrammar.header.problem(in: text) != nil)
    }

    @Test func `a digest has 64 hexadecimal digits`() {
        #expect(ValueGrammar.sha256.problem(in: String(repeating: "aB", count: 32)) == nil)
        #expect(ValueGrammar.sha256.problem(in: String(repeating: "a", count: 63)) != nil)
        #expect(ValueGrammar.sha256.problem(in: String(repeating: "g", count: 64)) != nil)
    }

    @Test(arguments: ["https://h/p", "HTTP://h", "kollus://download?url=x", "course.jsonl", "-", "C:/x"])
    func `valid sources are accepted`(text: String) { #expect(ValueGrammar.source.problem(in: text) == nil) }

    @Test(arguments: ["ftp://h/p", "https:///p", "https://", "https://h/a b", "file:///etc/passwd"])
    func `other sources are refused`(text: String) { #expect(ValueGrammar.source.problem(in: text) != nil) }

    @Test func `a scheme is quoted shortened and without control characters`() {
        let scheme = "\u{1B}[31m" + String(repeating: "x", count: 200)
        let problem = ValueGrammar.url.problem(in: "\(scheme)://h/p") ?? ""
        #expect(problem.contains("only http, https can be fetched"))
        #expect(!FieldText.hasControls(problem) && problem.utf8.count < 200)
    }

    @Test func `percent is between 1 and 100`() {
        #expect(ValueGrammar.percent.problem(in: "100") == nil)
        #expect(ValueGrammar.percent.problem(in: "0") != nil)
        #expect(ValueGrammar.percent.problem(in: "5%") != nil)
    }
}
