import LectureFormats
import LectureTestSupport
import Testing

@Suite struct HTTPDateTests {
    /// 2026-01-01T00:00:00Z.
    static let now = Timestamp(milliseconds: 1_767_225_600_000)

    @Test(
        "The three forms of RFC 9110 section 5.6.7 denote one point in time",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func forms(text: String) {
        #expect(HTTPDate(text, now: Self.now)?.time == Timestamp(milliseconds: 784_111_777_000))
    }

    @Test(
        "Known points in time are read",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799),
            ("Sun Nov 16 08:49:37 1994", 784_975_777),
        ] as [(String, Int64)])
    func known(text: String, seconds: Int64) {
        #expect(HTTPDate(text, now: Self.now)?.time.milliseconds == seconds * 1000)
    }

    @Test(
        "An invalid HTTP date counts as missing",
        arguments: [
            "", "0", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Tue, 29 Feb 1900 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 -8:49:37 GMT",
        ])
    func refuses(text: String) {
        #expect(HTTPDate(text, now: Self.now) == nil)
    }

    @Test(
        "Two digits of a year mean the past when they would be more than 50 years ahead",
        arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("00", 2000), ("94", 1994)])
    func century(short: String, year: Int) throws {
        let date = try #require(HTTPDate("Monday, 02-Jan-\(short) 00:00:00 GMT", now: Self.now))
        #expect(date.headerValue.contains(" \(year) "))
    }

    @Test func `Every date is read back from its own text`() throws {
        var random = SeededGenerator(seed: 5_6_7)
        for _ in 0..<3000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &random)
            let date = HTTPDate(Timestamp(milliseconds: seconds * 1000))
            #expect(HTTPDate(date.headerValue, now: Self.now) == date)
        }
    }

    @Test func `Milliseconds are cut off, also before 1970`() {
        #expect(HTTPDate(Timestamp(milliseconds: 784_111_777_999)).headerValue == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate(Timestamp(milliseconds: -1)).headerValue == "Wed, 31 Dec 1969 23:59:59 GMT")
    }
}

@Suite struct RetryAfterTests {
    static let now = Timestamp(milliseconds: 784_111_777_000)

    @Test(
        "Seconds and dates of RFC 9110 section 10.2.3 are read",
        arguments: [
            ("0", 0), ("120", 120), ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:49:38 GMT", 1),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Fri, 31 Dec 1993 23:59:59 GMT", 0), ("31536000", 31_536_000),
            ("99999999999", 31_622_400), ("99999999999999999999999", 31_622_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 31_622_400),
        ] as [(String, Int)])
    func reads(value: String, seconds: Int) {
        #expect(RetryAfter(value, now: Self.now)?.delay == .seconds(seconds))
    }

    @Test("Nonsense requires no wait", arguments: ["", "-1", "soon", "1.5", "5s", "120 ", "1e3", "0x10"])
    func refuses(value: String) {
        #expect(RetryAfter(value, now: Self.now) == nil)
    }

    @Test func `A date is measured against the server's own clock`() {
        let head = ResponseHead(
            status: 503,
            fields: ["Date": "Sun, 06 Nov 1994 10:00:00 GMT", "Retry-After": "Sun, 06 Nov 1994 10:00:30 GMT"],
            receivedAt: Self.now)
        #expect(RetryAfter(head)?.delay == .seconds(30))
    }

    @Test func `An answer without the field requires no wait`() {
        #expect(RetryAfter(ResponseHead(status: 503, fields: [:], receivedAt: Self.now)) == nil)
    }
}
