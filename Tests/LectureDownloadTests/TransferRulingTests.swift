import Foundation
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

/// What follows from the end of a transfer, decided from values alone.
struct TransferRulingTests {
    private static let host = "media.example"
    private static let validator = Validator(etag: nil, lastModified: nil, total: 100)

    private static func plan(first: UInt64 = 0, count: UInt64? = 100) -> BodyPlan {
        BodyPlan(first: first, count: count, total: 100, validator: validator, acceptsRanges: true)
    }

    private static func ended(
        _ verdict: ResponseVerdict?, _ end: TransferOutcome.End = .complete, cause: TransferReport.Cause = .none,
        position: UInt64 = 0, reachedEnd: Bool = false, document: [UInt8]? = nil
    ) -> EndedTransfer {
        EndedTransfer(
            TransferReport(
                outcome: TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero), verdict: verdict, status: 200,
                cause: cause, position: position, handedOver: 0, reachedEnd: reachedEnd, document: document,
                remainder: nil),
            host: host)
    }

    private static func error(_ code: LectureError.Code) -> LectureError { LectureError(code, detail: host) }

    @Test func `what the sink stopped is decided by its cause`() {
        let refusal = FirstBytes.Refusal(code: .notMedia, cause: "a page")
        let rows: [(TransferReport.Cause, TransferRuling)] = [
            (.border, .proceed(.split)), (.disk, .proceed(.disk)), (.noSpace(.quota), .stopForSpace(.quota)),
            (.tooLong, .rejectURL(LectureError(.bodyTooLong))), (.tooLarge, .rejectURL(LectureError(.tooLarge))),
            (.refusedHead, .tryAgain(Self.error(.rangeMismatch))),
            (.firstBytes(refusal), .rejectURL(LectureError(.notMedia, detail: Self.host, cause: "a page"))),
        ]
        for (cause, ruling) in rows {
            #expect(Self.ended(.body(Self.plan()), .stopped, cause: cause).ruling == ruling, "\(cause)")
        }
        var conditional = Self.ended(.body(Self.plan()), .stopped, cause: .refusedHead)
        conditional.sentIfRange = true
        #expect(conditional.ruling == .proceed(.validator))
        #expect(Self.ended(.noRanges(Self.plan()), .stopped, cause: .refusedHead).ruling == .proceed(.cancelled))
    }

    @Test func `a body that ended by itself is done, short or cut`() {
        let whole = Self.ended(.body(Self.plan()), position: 100, reachedEnd: true)
        #expect(whole.ruling == .proceed(.done))
        var range = Self.ended(.body(Self.plan(first: 10, count: 30)), position: 40)
        (range.start, range.count) = (10, 30)
        #expect(range.ruling == .proceed(.done))
        range.count = 31
        #expect(range.ruling == .refuse(.rangeMismatch), "all of too short an answer")
        range.report.position = 39
        #expect(range.ruling == .tryAgain(Self.error(.bodyCut)))
        range.hasGained = true
        #expect(range.ruling == .proceed(.short))
        #expect(Self.ended(.body(Self.plan()), .cancelled).ruling == .proceed(.cancelled))
        let failure = LectureError.belowHTTP(56, "reset", host: Self.host)
        #expect(Self.ended(.body(Self.plan()), .failed(curl: 56, detail: "reset")).ruling == .tryAgain(failure))
    }

    @Test func `a failure below HTTP is final for the URL or not`() {
        for curl in [6, 7, 28, 56, 60, 3] {
            let error = LectureError.belowHTTP(curl, "d", host: Self.host)
            let ruling = Self.ended(nil, .failed(curl: curl, detail: "d")).ruling
            #expect(ruling == (error.isFinalForURL ? .rejectURL(error) : .tryAgain(error)), "\(curl)")
        }
        #expect(Self.ended(nil, .cancelled).ruling == .proceed(.cancelled))
    }

    @Test func `another version is discarded, unless another server is to blame`() {
        var ended = Self.ended(.changed(nil, .validator))
        #expect(ended.ruling == .discard(LectureError(.versionUnstable)))
        ended.isAsking = true
        #expect(ended.ruling == .rejectURL(LectureError(.lengthChanged)))
        ended.report.verdict = .rangeBeyondEnd(total: 5)
        #expect(ended.ruling == .discard(LectureError(.lengthChanged)))
        ended.isOtherMirror = true
        #expect(ended.ruling == .rejectURL(Self.error(.mirrorDisagrees)))
    }

    @Test func `an empty object is finished only where it is expected`() {
        var ended = Self.ended(.empty(Self.plan(count: 0)))
        #expect(ended.ruling == .rejectURL(LectureError(.lengthChanged)))
        ended.isAsking = true
        guard case .rejectURL = ended.ruling else {
            Issue.record("unexpected empty media is not refused")
            return
        }
        for change in [
            { $0.expectedBytes = 0 }, { $0.digestIsKnown = true }, { $0.acceptsAny = true },
            { $0.refusesEmpty = false },
        ] as [(inout EndedTransfer) -> Void] {
            var expected = ended
            change(&expected)
            #expect(expected.ruling == .finishEmpty)
            expected.expectedBytes = 1
            #expect(expected.ruling == .rejectURL(LectureError(.lengthChanged)))
        }
    }

    @Test func `the other verdicts name what follows`() {
        let rows: [(ResponseVerdict, TransferRuling)] = [
            (.redirect(to: "https://a.example/"), .follow("https://a.example/")),
            (.wait(nil, status: 503), .wait(nil, status: 503)), (.renewLease(status: 403), .renew(status: 403)),
            (.retry(.bodyCut), .tryAgain(Self.error(.bodyCut))), (.refuse(.rangeMismatch), .refuse(.rangeMismatch)),
            (.descriptor(Self.plan()), .tryAgain(LectureError(.descriptorUnreadable))),
        ]
        for (verdict, ruling) in rows { #expect(Self.ended(verdict).ruling == ruling, "\(verdict)") }
        #expect(Self.ended(.descriptor(Self.plan()), document: [1, 2]).ruling == .readDescriptor([1, 2]))
        let cut = Self.ended(.descriptor(Self.plan()), .stopped, document: [1, 2]).ruling
        #expect(cut == .tryAgain(LectureError(.descriptorUnreadable)))
    }

    // MARK: Words

    /// The words that attempts have always had: stored, printed, compared by scripts.
    private static let words = [
        "continued", "ended", "cancelled", "done", "short", "split", "disk", "space", "validator", "retry", "wait",
        "redirect", "mirror", "renew", "renewed", "loaded", "merged", "media", "refused", "restart", "failed",
    ]

    @Test func `every decision has its own word, which is documented`() throws {
        #expect(Decision.allCases.map(\.rawValue) == Self.words)
        #expect(Set(Self.words).count == Self.words.count)
        let text = try String(contentsOfFile: "\(Places.repository())/docs/schema.md", encoding: .utf8)
        let section = try #require(text.components(separatedBy: "### `attempt`").dropFirst().first)
        let sentence = try #require(section.components(separatedBy: "The words of `decision`:").dropFirst().first)
        let list = try #require(sentence.components(separatedBy: ".").first)
        let documented = list.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(documented == Self.words)
    }
}
