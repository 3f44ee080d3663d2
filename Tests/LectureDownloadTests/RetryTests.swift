import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

@Suite struct RetryTableTests {
    @Test("Every libcurl result has a row with a message", arguments: 1...99)
    func transfers(curl: Int) {
        let entry = RetryTable.entry(transfer: curl)
        #expect(entry.reason.hasSuffix(".") && entry.reason.contains(" "))
        #expect(entry.reason != RetryTable.entry(transfer: 1000).reason)
        #expect(entry.isEnabled || entry.decision == .final)
        #expect(RetryTable.entry(code: .transfer(curl)) == entry)
    }

    @Test("Every status has a row with a message", arguments: 300...599)
    func statuses(status: Int) {
        let entry = RetryTable.entry(status: status)
        #expect(entry.reason.hasSuffix(".") && entry.isEnabled)
        #expect(RetryTable.entry(code: .status(status)) == entry)
        #expect(entry.decision != .final || !LectureError.Code.status(status).remedy.contains("tried again"))
    }

    @Test(
        "The rows that were measured or that the design specifies",
        arguments: [
            (16, .retryOverHTTP1), (92, .retryOverHTTP1), (6, .retry), (7, .retry), (18, .retry), (28, .retry),
            (56, .retry),
            (60, .otherMirror), (23, .final), (9, .final),
        ] as [(Int, RetryDecision)])
    func fixed(curl: Int, decision: RetryDecision) {
        #expect(RetryTable.entry(transfer: curl).decision == decision)
    }

    @Test(
        "Statuses decide as designed",
        arguments: [(404, .renewLease), (503, .wait), (500, .retry), (418, .final)] as [(Int, RetryDecision)])
    func status(status: Int, decision: RetryDecision) {
        #expect(RetryTable.entry(status: status).decision == decision)
    }

    @Test("Every code of the catalogue has a row", arguments: LectureError.Code.all)
    func codes(code: LectureError.Code) {
        #expect(!RetryTable.entry(code: code).reason.isEmpty)
    }
}

@Suite struct BackoffTests {
    @Test(
        "The ceiling matches the table",
        arguments: zip(0...9, [0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]))
    func table(failures: Int, milliseconds: Int) {
        #expect(Backoff().ceiling(failures: failures) == .milliseconds(milliseconds))
    }

    @Test func `The jitter reaches from nothing to the ceiling`() {
        let backoff = Backoff()
        #expect(backoff.delay(failures: 3, random: 0) == .zero)
        #expect(backoff.delay(failures: 3, random: .max) == .seconds(2))
        #expect(backoff.delay(failures: .max, random: .max) == .seconds(60))
        #expect(backoff.delay(failures: 0, random: .max) == .zero)
        #expect(backoff.delay(failures: -1, random: .max) == .zero)
    }

    @Test func `The mean is half of the ceiling`() {
        var random = SeededGenerator(seed: 60)
        let sum = (0..<4000).reduce(0.0) { sum, _ in
            sum + Backoff().delay(failures: 4, random: random.next()).secondsDouble
        }
        #expect(abs(sum / 4000 - 2) < 0.1)
    }
}

@Suite struct RetryWaitTests {
    private let start = Timestamp(milliseconds: 1_000_000)

    @Test(
        "The remaining wait never exceeds the original one, and a clock set back further than it ends it",
        arguments: [
            (0, 60), (30, 30), (60, 0), (61, 0), (1_000_000, 0), (-1, 60), (-60, 60), (-61, 0), (-1_000_000, 0),
        ] as [(Int, Int)])
    func remaining(passed: Int, left: Int) {
        let wait = RetryWait(setAt: start, delay: .seconds(60))
        #expect(wait.remaining(at: start + .seconds(passed)) == .seconds(left))
    }

    @Test func `A clock that was set back restarts the wait once`() {
        let wait = RetryWait(setAt: start, delay: .seconds(60))
        let back = start + .seconds(-50)
        let again = wait.normalized(at: back)
        #expect(again == RetryWait(setAt: back, delay: .seconds(60)))
        #expect(again.normalized(at: back + .seconds(20)) == again)
        #expect(again.remaining(at: back + .seconds(20)) == .seconds(40))
    }

    @Test func `Invalid stored columns wait for nothing`() {
        let wait = RetryWait(setAt: start, due: start + .seconds(-5))
        #expect(wait.remaining(at: start) == .zero)
        #expect(RetryWait(setAt: start, delay: .seconds(-5)).remaining(at: start) == .zero)
    }
}

@Suite struct RedirectPolicyTests {
    private func origin(_ url: String) throws -> Origin { try Origin(url: url) }

    @Test func `Ten redirects are followed and the eleventh is not`() throws {
        let start = try origin("http://a/")
        #expect(try RedirectPolicy.follow("https://b:1/x", from: start, hop: 10).text == "https://b:1")
        #expect(throws: LectureError(.redirectLoop)) { try RedirectPolicy.follow("http://b/", from: start, hop: 11) }
    }

    @Test(
        "Only http and https are followed, never down to http, never with credentials in the URL",
        arguments: [
            "http://a/", "ftp://a/", "file:///etc/passwd", "", "/relative", "https://user:pw@a/", "https://a/\r\nX: y",
            "https:///",
            "https://a/" + String(repeating: "x", count: 9000),
        ])
    func refuses(url: String) throws {
        let start = try origin("https://a/")
        #expect(throws: LectureError(.redirectRefused)) { try RedirectPolicy.follow(url, from: start, hop: 1) }
    }

    @Test func `Another origin gets only harmless fields`() throws {
        let names = [
            "Accept", "ACCEPT-encoding", "Range", "If-Range", "User-Agent", "Authorization", "Cookie", "X-Api-Key",
            "Referer",
        ]
        let fields = names.map { HeaderField(name: $0, value: "v") }
        let start = try origin("https://a/")
        #expect(RedirectPolicy.fields(fields, from: start, to: try origin("https://a:443/x")) == fields)
        for other in ["https://b/", "http://a/", "https://a:444/"] {
            #expect(
                RedirectPolicy.fields(fields, from: start, to: try origin(other)).map(\.name) == Array(names.prefix(5)))
        }
    }
}
