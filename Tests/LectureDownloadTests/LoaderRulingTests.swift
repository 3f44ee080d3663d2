import LectureFormats
import LectureModel
import Testing

@testable import LectureDownload

/// What follows from a gateway's answer, decided from values alone.
struct LoaderRulingTests {
    private static let host = "gateway.example"
    private static let plan = BodyPlan(
        first: 0, count: 100, total: 100, validator: Validator(etag: nil, lastModified: nil, total: 100),
        acceptsRanges: true)

    private static func ended(
        _ verdict: ResponseVerdict?, _ end: TransferOutcome.End = .complete, document: [UInt8]? = nil
    ) -> EndedLoader {
        EndedLoader(
            TransferReport(
                outcome: TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero), verdict: verdict, status: 200,
                cause: .none, position: 0, handedOver: 0, reachedEnd: false, document: document, remainder: nil),
            host: host)
    }

    private static func error(_ code: LectureError.Code) -> LectureError { LectureError(code, detail: host) }

    @Test func `every verdict names what follows`() {
        let rows: [(ResponseVerdict, LoaderRuling)] = [
            (.redirect(to: "https://a.example/"), .follow("https://a.example/")),
            (.wait(nil, status: 503), .wait(nil, status: 503)), (.retry(.bodyCut), .tryAgain(Self.error(.bodyCut))),
            (.renewLease(status: 403), .fail(Self.error(.status(403)))),
            (.refuse(.status(451)), .fail(Self.error(.status(451)))),
            (.empty(Self.plan), .fail(Self.error(.descriptorEmpty))),
            (.changed(nil, .validator), .fail(Self.error(.descriptorEmpty))),
            (.rangeBeyondEnd(total: 5), .fail(Self.error(.descriptorEmpty))),
            (.descriptor(Self.plan), .tryAgain(Self.error(.descriptorUnreadable))),
            (.body(Self.plan), .takeAsMedia), (.noRanges(Self.plan), .takeAsMedia),
        ]
        for (verdict, ruling) in rows {
            #expect(Self.ended(verdict).ruling == ruling, "\(verdict)")
            var late = Self.ended(verdict)
            late.isLate = true
            #expect(late.ruling == .proceed(.ended), "\(verdict)")
        }
    }

    @Test func `only a whole descriptor is read`() {
        #expect(Self.ended(.descriptor(Self.plan), document: [1]).ruling == .readDescriptor([1]))
        let cut = Self.ended(.descriptor(Self.plan), .cancelled, document: [1])
        #expect(cut.ruling == .tryAgain(Self.error(.descriptorUnreadable)))
    }

    @Test func `a described lecture's link is not the media`() {
        for verdict in [ResponseVerdict.body(Self.plan), .noRanges(Self.plan)] {
            var known = Self.ended(verdict)
            known.isKnown = true
            #expect(known.ruling == .fail(Self.error(.descriptorUnreadable)))
        }
    }

    @Test func `a gateway's own number is the reason of its refusal, if it was received whole`() {
        let body = Array(#"{"error": 404}"#.utf8)
        for (verdict, code) in [(ResponseVerdict.renewLease(status: 403), 403), (.refuse(.status(451)), 451)] {
            let reported = GatewayRefusal.error(.status(code), body: body, host: Self.host)
            #expect(Self.ended(verdict, document: body).ruling == .fail(reported))
            let cut = Self.ended(verdict, .stopped, document: body).ruling
            #expect(cut == .fail(Self.error(.status(code))))
        }
    }

    @Test func `a failure below HTTP is final for the link or not`() {
        for curl in [6, 7, 28, 56, 60, 3] {
            let error = LectureError.belowHTTP(curl, "d", host: Self.host)
            let ruling = Self.ended(nil, .failed(curl: curl, detail: "d")).ruling
            #expect(ruling == (error.isFinalForURL ? .fail(error) : .tryAgain(error)), "\(curl)")
        }
        #expect(Self.ended(nil, .cancelled).ruling == .proceed(.cancelled))
    }
}
