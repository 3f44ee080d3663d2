import LectureCrypto
import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks
import Testing

struct WebhookVerdictTests {
    private static func head(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
        var list = HeaderFields()
        for (name, value) in fields { list.append(HeaderField(name: name, value: value)) }
        return ResponseHead(status: status, fields: list, receivedAt: Timestamp(milliseconds: 0))
    }

    @Test(arguments: [
        (200, WebhookVerdict.arrived), (204, .arrived), (299, .arrived), (301, .refused), (308, .refused),
        (400, .refused), (401, .refused), (404, .refused), (408, .later(wait: nil)), (410, .gone), (413, .refused),
        (425, .later(wait: nil)), (429, .later(wait: nil)), (500, .later(wait: nil)), (503, .later(wait: nil)),
        (599, .later(wait: nil)),
    ])
    func `An answer means one thing`(status: Int, verdict: WebhookVerdict) {
        #expect(WebhookVerdict(Self.head(status)) == verdict)
    }

    @Test func `No answer is tried again`() { #expect(WebhookVerdict(nil) == .later(wait: nil)) }

    @Test(arguments: [429, 500, 503]) func `The wait that a server asks for counts`(status: Int) {
        #expect(WebhookVerdict(Self.head(status, [("Retry-After", "90")])) == .later(wait: .seconds(90)))
    }

    @Test func `Waits grow, are never shorter than asked for, and have an end`() {
        var last = Duration.zero
        for failures in 1...40 {
            let shortest = WebhookWaits.endpoint(failures: failures, wanted: nil, random: 0)
            let longest = WebhookWaits.endpoint(failures: failures, wanted: nil, random: .max)
            #expect(shortest * 2 <= longest + .milliseconds(1) && longest <= .seconds(3600) && shortest >= last / 2)
            #expect(WebhookWaits.endpoint(failures: failures, wanted: .seconds(7200), random: 0) == .seconds(7200))
            last = longest
        }
        // Ten refusals take two to four hours: long enough for a deployment.
        let waits = (1..<WebhookVerdict.refusalLimit).map { WebhookWaits.event(refusals: $0, random: 0) }
        let total = waits.reduce(.zero, +)
        #expect(total > .seconds(2 * 3600 - 60) && total < .seconds(4 * 3600))
    }

    // MARK: Signatures

    /// The vector of the specification.
    @Test func `A signature is that of the specification`() throws {
        let signer = try WebhookSigner("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let signed = WebhookRequest.signed(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: Timestamp(milliseconds: 1_614_265_330_999),
            body: #"{"test": 2432232314}"#)
        #expect(try signer.signatures(signed) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    private static func secret(_ byte: UInt8, _ count: Int) -> String {
        "whsec_\(Base64.text([UInt8](repeating: byte, count: count)))"
    }

    @Test func `Two secrets give two signatures`() throws {
        let (one, two) = (Self.secret(1, 32), Self.secret(2, 64))
        let both = try WebhookSigner("\(one)\n\n  \(two)\r\n").signatures([1, 2, 3])
        #expect(try both == "\(WebhookSigner(one).signatures([1, 2, 3])) \(WebhookSigner(two).signatures([1, 2, 3]))")
    }

    @Test(arguments: [
        "", "\n \n", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==", "whsec_***", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        String(repeating: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", count: 3),
    ])
    func `A secret that cannot be used is refused without being named`(text: String) {
        let error = #expect(throws: LectureError.self) { _ = try WebhookSigner(text) }
        #expect(error?.code == .webhookSecret)
        #expect(error.map { !$0.message.contains("MfKQ") } ?? false)
    }

    // MARK: Bodies

    private static func event(_ kind: WebhookKind, _ change: (inout WebhookEvent) -> Void) -> WebhookEvent {
        var event = WebhookEvent(id: 7, kind: kind, happened: Timestamp(milliseconds: 1_790_000_000_123))
        change(&event)
        return event
    }

    private static func body(_ type: String, _ data: String) -> String {
        #"{"type":"\#(type)","timestamp":"2026-09-21T14:13:20.123Z","data":\#(data)}"#
    }

    @Test func `Bodies have the words of the lines`() {
        let complete = Self.event(.lectureCompleted) {
            ($0.key, $0.title, $0.course, $0.bytes) = ("a1", "Limits \"and\" more", "Maths", 1_048_576)
        }
        #expect(
            WebhookBody.text(complete)
                == Self.body(
                    "lecture.completed", #"{"key":"a1","title":"Limits \"and\" more","course":"Maths","bytes":1048576}"#
                ))
        let failed = Self.event(.lectureFailed) { ($0.key, $0.title, $0.error) = ("a1", "T", -8404) }
        #expect(
            WebhookBody.text(failed)
                == Self.body(
                    "lecture.failed",
                    #"{"key":"a1","title":"T","code":-8404,"name":"http_404","#
                        + #""message":"the server answered HTTP 404"}"#))
        let dead = Self.event(.reportDead) {
            ($0.key, $0.report, $0.deadReason, $0.status) = ("a1", "r-1", .tooLarge, 413)
        }
        #expect(
            WebhookBody.text(dead)
                == Self.body(
                    "report.dead", #"{"key":"a1","id":"r-1","reason":"too_large","http_status":413}"#))
        #expect(
            WebhookBody.test(at: Timestamp(milliseconds: 0))
                == #"{"type":"webhook.test","timestamp":"1970-01-01T00:00:00.000Z","data":{}}"#)
    }

    @Test func `An id is the same for every attempt, and another one for another store, row or time`() {
        let event = Self.event(.lectureRemoved) { _ in }
        let id = WebhookBody.id(of: event, store: "u")
        #expect(id == WebhookBody.id(of: event, store: "u") && !id.contains("."))
        var (other, later) = (event, event)
        (other.id, later.happened) = (8, event.happened + .milliseconds(1))
        let ids = [
            id, WebhookBody.id(of: event, store: "v"), WebhookBody.id(of: other, store: "u"),
            WebhookBody.id(of: later, store: "u"),
        ]
        #expect(Set(ids).count == 4)
    }

    @Test func `Kinds have names and bits of their own`() {
        #expect(Set(WebhookKind.allCases.map(\.name)).count == WebhookKind.allCases.count)
        for kind in WebhookKind.allCases {
            #expect(WebhookKind(name: kind.name) == kind)
            #expect(WebhookKinds(bits: WebhookKinds([kind]).bits).all == [kind])
        }
        #expect(WebhookKind(name: "lecture.complete") == nil)
        #expect(WebhookKinds(WebhookKind.allCases).all == WebhookKind.allCases)
    }
}
