import LectureFormats
import LectureTestSupport
import Testing

@Suite struct ContentRangeTests {
    @Test(
        "A well-formed value of RFC 9110 section 14.4 is read",
        arguments: [
            ("bytes 0-0/1", 0, 1, 1), ("bytes 5-9/10", 5, 10, 10), ("bytes 42-1233/1234", 42, 1234, 1234),
            ("BYTES 0-9/10", 0, 10, 10), ("bytes 007-009/0010", 7, 10, 10),
            (
                "bytes 0-9223372036854775806/9223372036854775807", 0, 9_223_372_036_854_775_807,
                9_223_372_036_854_775_807
            ),
        ] as [(String, UInt64, UInt64, UInt64)])
    func reads(value: String, start: UInt64, end: UInt64, total: UInt64) throws {
        let range = try #require(ByteRange(start: start, end: end))
        #expect(try ContentRange(value) == .part(range, total: total))
    }

    @Test func `An unknown length and an unsatisfied range are read`() throws {
        let range = try #require(ByteRange(start: 42, count: 1192))
        #expect(try ContentRange("bytes 42-1233/*") == .part(range, total: nil))
        #expect(try ContentRange("bytes */1234") == .unsatisfied(total: 1234))
        #expect(try ContentRange("bytes */0") == .unsatisfied(total: 0))
    }

    @Test(
        "Each fault has its own code",
        arguments: [
            ("items 0-1/2", .otherUnit), ("bytes=0-1/2", .malformed), ("", .malformed), ("bytes", .malformed),
            ("bytes 0-1", .malformed), ("bytes 0/2", .malformed), ("bytes -1/2", .malformed),
            ("bytes 0-/2", .malformed),
            ("bytes 0-1/", .malformed), ("bytes 0-1/2/3", .malformed), ("bytes 0-1-2/3", .malformed),
            ("bytes */*", .malformed), ("bytes a-b/c", .malformed), ("bytes +0-1/2", .malformed),
            ("bytes 0x0-0x1/2", .malformed), ("bytes \u{0660}-\u{0661}/2", .malformed), ("bytes 0-1/2,", .malformed),
            ("bytes  0-1/2", .whiteSpace), ("bytes 0 -1/2", .whiteSpace), ("bytes 0-1 /2", .whiteSpace),
            ("bytes 0-1/ 2", .whiteSpace), ("bytes\t0-1/2", .whiteSpace), ("bytes 0-1/2\t", .whiteSpace),
            ("bytes 9-5/10", .inverted), ("bytes 5-9/9", .beyondTotal), ("bytes 0-0/0", .beyondTotal),
            ("bytes 0-9223372036854775807/*", .overflow), ("bytes 0-9223372036854775808/*", .overflow),
            ("bytes 0-99999999999999999999999999/*", .overflow),
            ("bytes 18446744073709551616-18446744073709551617/*", .overflow),
            ("bytes 0-1/18446744073709551616", .overflow),
        ] as [(String, ContentRange.Fault)])
    func refuses(value: String, fault: ContentRange.Fault) {
        #expect(throws: fault) { try ContentRange(value) }
    }

    @Test func `A requested range is read back from the value of its answer`() throws {
        var random = SeededGenerator(seed: 14_4)
        for _ in 0..<2000 {
            let total = UInt64.random(in: 1...(1 << 62), using: &random)
            let start = UInt64.random(in: 0..<total, using: &random)
            let end = UInt64.random(in: (start + 1)...total, using: &random)
            let range = try #require(ByteRange(start: start, end: end))
            let asked = RangeRequest.closed(range).headerValue
            let answer = "bytes " + asked.dropFirst("bytes=".count) + "/\(total)"
            #expect(try ContentRange(answer) == .part(range, total: total))
        }
    }

    @Test func `Random bytes never trap the reader`() {
        var random = SeededGenerator(seed: 14_5)
        let alphabet = Array("bytes 0123456789-/*,\t=é")
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "b" })
            guard case .part(let range, let total) = try? ContentRange(text) else { continue }
            #expect(range.start < range.end && range.end <= total ?? .max)
        }
    }
}

@Suite struct ByteRangeTests {
    @Test func `A range is never empty, inverted or too long`() {
        #expect(ByteRange(start: 5, end: 5) == nil)
        #expect(ByteRange(start: 6, end: 5) == nil)
        #expect(ByteRange(start: 0, count: 0) == nil)
        #expect(ByteRange(start: 2, count: .max) == nil)
        #expect(ByteRange(start: 2, count: 3)?.count == 3)
    }

    @Test func `A request is written as in RFC 9110 section 14.1.2`() throws {
        #expect(RangeRequest.from(0).headerValue == "bytes=0-")
        #expect(RangeRequest.from(500).headerValue == "bytes=500-")
        #expect(RangeRequest.closed(try #require(ByteRange(start: 500, end: 1000))).headerValue == "bytes=500-999")
        #expect(RangeRequest.closed(try #require(ByteRange(start: 7, count: 1))).headerValue == "bytes=7-7")
    }

    @Test func `Containment counts whole ranges`() throws {
        let outer = try #require(ByteRange(start: 10, end: 20))
        #expect(outer.contains(outer))
        #expect(outer.contains(try #require(ByteRange(start: 12, end: 13))))
        #expect(!outer.contains(try #require(ByteRange(start: 9, end: 11))))
        #expect(!outer.contains(try #require(ByteRange(start: 19, end: 21))))
    }
}
