import LectureCrypto
import LectureEngine
import LectureFormats
import LectureModel
import LectureWebhooks
import Testing

/// The rules without a store: verdicts, waits, errors, names and signatures.
struct WebhookRuleTests {
    private static let received = Timestamp(milliseconds: 1_790_000_000_000)

    private static func head(_ status: Int, _ fields: [(String, String)] = []) -> ResponseHead {
        var list = HeaderFields()
        for (name, value) in fields { list.append(HeaderField(name: name, value: value)) }
        return ResponseHead(status: status, fields: list, receivedAt: received)
    }

    // MARK: Answers

    @Test func `Every status has one meaning, and only some may ask for a wait`() {
        let patient: Set = [408, 425, 429]
        for status in 200...599 {
            let (plain, asking) = (
                WebhookVerdict(Self.head(status)), WebhookVerdict(Self.head(status, [("retry-after", "7")]))
            )
            switch status {
            case ..<300: #expect(plain == .arrived && asking == .arrived, "\(status)")
            case 410: #expect(plain == .gone && asking == .gone)
            case _ where patient.contains(status) || status >= 500:
                #expect(plain == .later(wait: nil) && asking == .later(wait: .seconds(7)), "\(status)")
            default: #expect(plain == .refused && asking == .refused, "\(status)")
            }
        }
    }

    /// The answer was received at 2026-09-21T14:13:20Z.
    @Test(
        arguments: [
            ("0", nil, 0), ("7", nil, 7), ("007", nil, 7), ("31622400", nil, 31_622_400),
            ("31622401", nil, 31_622_400), ("99999999999999999999999", nil, 31_622_400),
            ("-1", nil, nil), ("+1", nil, nil), ("1.5", nil, nil), ("7s", nil, nil), ("7, 8", nil, nil), ("", nil, nil),
            ("soon", nil, nil), ("0x10", nil, nil), ("2026-09-21T14:13:30Z", nil, nil),
            ("Mon, 21 Sep 2026 14:14:20 GMT", nil, 60), ("Monday, 21-Sep-26 14:14:20 GMT", nil, 60),
            ("Mon Sep 21 14:14:20 2026", nil, 60), ("Mon, 21 Sep 2026 14:13:19 GMT", nil, 0),
            ("Mon, 21 Sep 2037 14:13:20 GMT", nil, 31_622_400),
            // The clock of the server counts for its own dates.
            ("Thu, 01 Jan 2026 00:01:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT", 60),
            ("Mon, 21 Sep 2026 14:14:20 GMT", "Mon, 21 Sep 2026 15:00:00 GMT", 0),
            ("7", "Thu, 01 Jan 2026 00:00:00 GMT", 7),
        ] as [(String, String?, Int?)])
    func `A wait has one of the forms of HTTP, or none`(value: String, date: String?, seconds: Int?) {
        let fields = [("Retry-After", value)] + (date.map { [("Date", $0)] } ?? [])
        #expect(WebhookVerdict(Self.head(503, fields)) == .later(wait: seconds.map { .seconds($0) }))
    }

    @Test func `Errors name the status or the failure, and the server without its path`() throws {
        func reply(_ head: ResponseHead?, _ end: TransferOutcome.End) -> ExchangeReply {
            ExchangeReply(
                head: head, body: [], isLong: false,
                outcome: TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero))
        }
        for status in 200...599 {
            let error = WebhookMachine.error(of: reply(Self.head(status), .complete), "https://h")
            let code: LectureError.Code? = status < 300 ? nil : status == 410 ? .webhookGone : .status(status)
            #expect(error?.code == code && error.map { $0.detail == "https://h" } ?? true, "\(status)")
        }
        for curl in [5, 6, 7, 18, 28, 35, 52, 55, 56, 60, 92] {
            let end = TransferOutcome.End.failed(curl: curl, detail: "words")
            let error = WebhookMachine.error(of: reply(nil, end), "https://h")
            #expect(error == LectureError(.transfer(curl), detail: "https://h", cause: "words"))
            // The head was received, so that the receiver has the event.
            #expect(WebhookMachine.error(of: reply(Self.head(204), end), "https://h") == nil)
        }
        #expect(WebhookMachine.error(of: reply(nil, .cancelled), "h")?.code == .interrupted)
    }

    @Test(arguments: [
        ("https://hooks.example/a?token=hush", "https://hooks.example"),
        ("http://H.Example:8080/x", "http://h.example:8080"),
        ("https://hooks.example:443/", "https://hooks.example"), ("http://[::1]:9/hush", "http://[::1]:9"),
        ("nothing hush", ""),
    ])
    func `An endpoint is named by its origin`(url: String, host: String) {
        var entry = WebhookEntry(id: WebhookID(1), url: url, kinds: WebhookKinds([.reportDead]))
        #expect(entry.host == host && entry.error == nil)
        entry.condition.failures = 3
        #expect(entry.error == LectureError(.transfer(7), detail: host))
        entry.condition.status = 404
        #expect(entry.error == LectureError(.status(404), detail: host))
        entry.condition.isSuspended = true
        #expect(entry.error == LectureError(.webhookGone, detail: host))
        #expect(entry.error?.message.contains("hush") == false)
    }

    // MARK: Waits

    @Test func `Waits double from a second and from a minute up to an hour, half of each random`() {
        for failures in 1...60 {
            let doubled = failures > 20 ? 3600 : min(3600, 1 << (failures - 1))
            let (full, event) = (Duration.seconds(doubled), Duration.seconds(min(3600, 60 * doubled)))
            #expect(WebhookWaits.endpoint(failures: failures, wanted: nil, random: 0) == full / 2)
            #expect(WebhookWaits.endpoint(failures: failures, wanted: nil, random: .max) == full)
            #expect(WebhookWaits.event(refusals: failures, random: 0) == event / 2)
            #expect(WebhookWaits.event(refusals: failures, random: .max) == event)
            let middle = WebhookWaits.endpoint(failures: failures, wanted: nil, random: 1 << 63)
            #expect(middle > full * 7 / 10 && middle < full * 8 / 10, "\(failures)")
            // What a server asks for counts only where it is longer.
            #expect(WebhookWaits.endpoint(failures: failures, wanted: .zero, random: .max) == full)
            #expect(
                WebhookWaits.endpoint(failures: failures, wanted: full + .milliseconds(1), random: .max)
                    == full + .milliseconds(1))
        }
    }

    // MARK: Signatures

    private static func secret(_ count: Int, _ byte: UInt8 = 7) -> String {
        "whsec_" + Base64.text([UInt8](repeating: byte, count: count))
    }

    @Test func `A secret has 24 to 64 bytes`() throws {
        for count in 0...100 {
            let text = Self.secret(count)
            if WebhookSigner.lengths.contains(count) {
                #expect(try WebhookSigner(text).signatures([1]).hasPrefix("v1,"), "\(count)")
            } else {
                let error = #expect(throws: LectureError.self) { _ = try WebhookSigner(text) }
                #expect(error?.code == .webhookSecret && error?.cause == "secret 1 has \(count) bytes")
            }
        }
        #expect(WebhookSigner.lengths == 24...64)
    }

    @Test func `The faulty secret of two is named by its number alone`() {
        let (good, valid) = (Self.secret(32), Base64.text([UInt8](repeating: 7, count: 32)))
        let faulty: [(line: String, cause: String)] = [
            (Self.secret(23), "secret 2 has 23 bytes"), (Self.secret(65), "secret 2 has 65 bytes"),
            (valid, "secret 2 is not 'whsec_' and Base64"), ("whsec-" + valid, "secret 2 is not 'whsec_' and Base64"),
            ("Whsec_" + valid, "secret 2 is not 'whsec_' and Base64"),
            ("whsec_ " + valid, "secret 2 is not 'whsec_' and Base64"),
            ("whsec_" + valid.dropLast(), "secret 2 is not 'whsec_' and Base64"),
            ("whsec_" + valid + "====", "secret 2 is not 'whsec_' and Base64"),
            ("whsec_" + valid.dropLast(2) + "d=", "secret 2 is not 'whsec_' and Base64"),
            ("whsec_" + String(repeating: "-_", count: 16), "secret 2 is not 'whsec_' and Base64"),
            ("\u{FEFF}" + good, "secret 2 is not 'whsec_' and Base64"),
            (good + " # former", "secret 2 is not 'whsec_' and Base64"),
            (good + "\n" + good, "3 lines, at most 2"),
        ]
        for (line, cause) in faulty {
            let error = #expect(throws: LectureError.self) { _ = try WebhookSigner(good + "\n" + line) }
            #expect(error == LectureError(.webhookSecret, cause: cause), "\(line)")
        }
    }

    @Test func `Signatures follow the order of the lines, whatever ends them`() throws {
        let secrets = [Self.secret(24, 1), Self.secret(64, 2)]
        let single = try secrets.map { try WebhookSigner($0).signatures(Array("m".utf8)) }
        #expect(single[0] != single[1] && single.allSatisfy { $0.utf8.count == 47 })
        for end in ["\n", "\r\n", "\r", "\n\n", " \t\r\n \n"] {
            let text = end + secrets.joined(separator: end) + end
            #expect(try WebhookSigner(text).signatures(Array("m".utf8)) == single.joined(separator: " "), "\(end)")
            let turned = end + secrets.reversed().joined(separator: end)
            #expect(try WebhookSigner(turned).signatures(Array("m".utf8)) == single.reversed().joined(separator: " "))
        }
        #expect(try WebhookSigner(secrets[0]).signatures([]) != single[0])
    }

    @Test(arguments: [(0, "0"), (999, "0"), (1000, "1"), (1_790_000_000_999, "1790000000")] as [(Int64, String)])
    func `What is signed is what is sent`(milliseconds: Int64, seconds: String) {
        let (time, body) = (Timestamp(milliseconds: milliseconds), "{\"é\":1}")
        let request = WebhookRequest.make(
            TransferID(3), to: "https://h/a?b", id: "msg_1", time: time, body: body, signatures: "v1,x v1,y")
        let signed = WebhookRequest.signed(id: "msg_1", time: time, body: body)
        #expect(signed == Array("msg_1.\(seconds).{\"é\":1}".utf8))
        #expect(request.headers["webhook-timestamp"] == seconds && request.headers["webhook-id"] == "msg_1")
        #expect(request.headers["webhook-signature"] == "v1,x v1,y" && request.url == "https://h/a?b")
        #expect(request.body == RequestBody(Array(body.utf8), mediaType: "application/json"))
        #expect(request.totalTimeout > request.stallTimeout && request.bodyLimit == WebhookRequest.bodyLimit)
    }

    // MARK: Names

    @Test func `A mistyped kind has a nearest name, and a foreign word has none`() {
        let names = WebhookKind.allCases.map(\.name)
        for name in names {
            let swapped = String(name.dropLast(2) + name.suffix(2).reversed())
            for wrong in [String(name.dropFirst()), name + "s", swapped, name.replacing(".", with: "_")] {
                #expect(WebhookKind(name: wrong) == nil)
                #expect(Suggestion.nearest(to: wrong, among: names) == name, "\(wrong)")
            }
            #expect(WebhookKind(name: name.uppercased()) == nil)
        }
        for word in ["", "webhook.test", "*", "all", String(repeating: "lecture.failed", count: 4)] {
            #expect(WebhookKind(name: word) == nil && Suggestion.nearest(to: word, among: names) == nil, "\(word)")
        }
    }

    @Test func `A selection is its bits, whatever the order, and the numbers are frozen`() {
        let frozen: [(WebhookKind, Int)] = [
            (.lectureCompleted, 2), (.lectureFailed, 4), (.lectureRemoved, 8), (.lectureDamaged, 16),
            (.licenceRenewed, 32), (.licenceRefused, 64), (.licenceEnded, 128), (.licenceDeleted, 256),
            (.reportDead, 512),
        ]
        #expect(frozen.map(\.0) == WebhookKind.allCases)
        for (kind, bit) in frozen { #expect(WebhookKinds([kind, kind]).bits == bit) }
        for bits in stride(from: 0, through: 1022, by: 2) {
            let kinds = WebhookKinds(bits: bits).all
            #expect(kinds == frozen.filter { bits & $0.1 != 0 }.map(\.0) && WebhookKinds(kinds.reversed()).bits == bits)
        }
    }
}
