import LectureFormats
import LectureModel
import LectureStatistics
import Testing

/// The verdict on reports, answer by answer.
struct AnswerJudgeTests {
    private static let now = Timestamp(milliseconds: 1_750_000_000_000)
    private static let page = "<!DOCTYPE html><html><body>Log in to the hotel</body></html>"

    private func judge(
        _ status: Int?, _ body: String = "", headers: [(String, String)] = [], form: AnswerForm = .emptyOrJSON,
        count: Int = 1, end: SendEnd = .whole, redirect: String? = nil,
        change: (inout SendExpectation) -> Void = { _ in }
    ) -> SendVerdict {
        judge(
            status, bytes: Array(body.utf8), headers: headers, form: form, count: count, end: end, redirect: redirect,
            change: change)
    }

    private func judge(
        _ status: Int?, bytes: [UInt8], headers: [(String, String)] = [], form: AnswerForm = .emptyOrJSON,
        count: Int = 1, end: SendEnd = .whole, redirect: String? = nil,
        change: (inout SendExpectation) -> Void = { _ in }
    ) -> SendVerdict {
        var expectation = SendExpectation(form: form, count: count, url: "https://lms.example/report", id: "b-1")
        change(&expectation)
        let fields = HeaderFields(headers.map { HeaderField(name: $0.0, value: $0.1) })
        let head = status.map {
            ResponseHead(status: $0, fields: fields, redirectURL: redirect, receivedAt: Self.now)
        }
        return AnswerJudge.judge(head, body: bytes, end: end, expectation: expectation)
    }

    // MARK: 2xx

    /// The verdict on each body in each format: d delivered, p portal, o another answer.
    @Test(arguments: [
        ("", "dddd"), (" \r\n\t", "dddd"), ("{}", "dodd"), ("[]", "dodd"), ("{\"ok\":true}", "dddd"),
        ("{\"ok\":false}", "dodd"), ("{\"ok\":\"true\"}", "dodd"), (" {\"ok\": true, \"n\": 3} \n", "dddd"),
        ("[\"0190\"]", "dodd"), ("1", "dodd"), ("OK", "oodd"), ("{\"ok\":true", "oodd"), ("{} x", "oodd"),
        ("<html>", "pppd"), ("\n<!doctype html>", "pppd"), ("<?xml version='1.0'?><r/>", "pppd"),
    ])
    func `a 2xx counts with the answer configured for the target`(body: String, expected: String) {
        let letters: [Character: SendVerdict] = [
            "d": .delivered, "p": .keep(.portal, wait: nil), "o": .keep(.otherAnswer, wait: nil),
        ]
        for (form, letter) in zip([AnswerForm.emptyOrJSON, .ok, .text, .anything], expected) {
            for status in [200, 201, 202, 299] {
                #expect(judge(status, body, form: form) == letters[letter], "\(form) \(status)")
            }
        }
    }

    @Test(arguments: AnswerForm.allCases, [204, 205])
    func `an answer without a body is accepted for all`(form: AnswerForm, status: Int) {
        #expect(judge(status, form: form) == .delivered)
    }

    @Test func `a portal is recognised by the body, and by the declared type only without one`() {
        let html = [("Content-Type", "text/html; charset=utf-8")]
        #expect(judge(200, "{\"ok\":true}", headers: html, form: .ok) == .delivered, "PHP declares everything so")
        #expect(judge(200, "", headers: html) == .delivered)
        #expect(judge(200, "Please log in", headers: html) == .keep(.portal, wait: nil))
        #expect(judge(200, Self.page, headers: [("Content-Type", "application/json")]) == .keep(.portal, wait: nil))
        #expect(judge(200, "{\"ok\":", headers: html) == .keep(.otherAnswer, wait: nil))
    }

    @Test func `formats have the answers of the wire contract`() {
        #expect(ReportFormat.allCases.map { AnswerForm($0) } == [.emptyOrJSON, .ok, .emptyOrJSON])
        #expect(AnswerForm.allCases.map(\.rawValue) == ["json", "ok", "text", "no_error", "anything"])
    }

    @Test func `a bookmark server refuses with an error in its answer`() {
        for accepted in ["", "{}", #"{"error":0}"#, #"{"error":"0"}"#, #"{"error":null}"#, #"{"result":[]}"#] {
            #expect(judge(200, accepted, form: .noError) == .delivered, "\(accepted)")
        }
        for refused in [#"{"error":1}"#, #"{"error":"no"}"#, #"{"error":true}"#] {
            #expect(judge(200, refused, form: .noError) == .dead(.refused), "\(refused)")
        }
        #expect(judge(200, Self.page, form: .noError) == .keep(.portal, wait: nil))
        #expect(judge(200, "OK", form: .noError) == .keep(.otherAnswer, wait: nil))
    }

    @Test func `half an answer proves nothing`() {
        for form in AnswerForm.allCases {
            for body in ["", "{\"ok\":true}", Self.page] {
                #expect(judge(200, body, form: form, end: .cut) == .keep(.noAnswer, wait: nil))
            }
        }
        #expect(judge(413, "", count: 2, end: .cut) == .split, "but the status of half a refusal is whole")
        #expect(judge(nil, end: .cut) == .keep(.noAnswer, wait: nil))
        #expect(judge(nil, end: .whole) == .keep(.noAnswer, wait: nil))
        #expect(judge(nil, end: .unsent) == .keep(.unreachable, wait: nil))
    }

    @Test func `of a body that is too long the start is judged`() {
        let start = "[\"0190\",\"01"
        #expect(judge(200, start, end: .long) == .delivered)
        #expect(judge(200, "{\"ok\":true}", form: .ok, end: .long) == .keep(.otherAnswer, wait: nil))
        #expect(judge(200, "OK OK", form: .text, end: .long) == .delivered)
        #expect(judge(200, "   ", end: .long) == .keep(.otherAnswer, wait: nil), "white space may go on as anything")
        #expect(judge(200, Self.page, form: .text, end: .long) == .keep(.portal, wait: nil))
    }

    @Test func `an answer in another encoding is read`() {
        let good = "{\"ok\":true,\"message\":\"저장\"}"
        let units = Array(good.utf16)
        let low = units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let high = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        // "저장" in EUC-KR.
        let korean = Array("{\"ok\":true,\"message\":\"".utf8) + [0xC0, 0xFA, 0xC0, 0xE5] + Array("\"}".utf8)
        let bodies: [[UInt8]] = [
            Array(good.utf8), [0xEF, 0xBB, 0xBF] + Array(good.utf8), [0xFF, 0xFE] + low, [0xFE, 0xFF] + high, low, high,
            korean, [0xEF, 0xBB, 0xBF] + korean,
        ]
        for (index, body) in bodies.enumerated() {
            #expect(judge(200, bytes: body, form: .ok) == .delivered, "body \(index)")
        }
        #expect(judge(200, bytes: [0xEF, 0xBB, 0xBF]) == .delivered, "a mark alone is empty")
        let page = Array(Self.page.utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        #expect(judge(200, bytes: [0xFF, 0xFE] + page, form: .text) == .keep(.portal, wait: nil))
        #expect(judge(200, bytes: [0xC0, 0xFA]) == .keep(.otherAnswer, wait: nil))
    }

    // MARK: 3xx

    @Test(arguments: [
        ("https://lms.example/other", true), ("https://LMS.example:443/other", true),
        ("https://portal.example/login", false), ("http://lms.example/report", false),
        ("https://lms.example:8443/report", false), ("ftp://lms.example/", false), ("nonsense", false),
    ])
    func `only the same host is followed to`(place: String, follows: Bool) {
        for status in [301, 302, 307, 308] {
            #expect(
                judge(status, redirect: place) == (follows ? .follow(url: place) : .keep(.redirected, wait: nil)))
        }
        for status in [300, 303, 304, 305] {
            #expect(judge(status, redirect: place) == .keep(.redirected, wait: nil))
        }
    }

    @Test func `redirects end, and may go from http to https`() {
        let place = "https://lms.example/report"
        #expect(judge(308, redirect: place) { $0.url = "http://lms.example/report" } == .follow(url: place))
        #expect(judge(308, redirect: place) { $0.redirects = 4 } == .follow(url: place))
        #expect(judge(308, redirect: place) { $0.redirects = 5 } == .keep(.redirected, wait: nil))
        #expect(judge(308, redirect: nil) == .keep(.redirected, wait: nil))
    }

    // MARK: 4xx and 5xx

    @Test func `every other status has its verdict`() {
        for status in 400...499 where status != 409 {
            let (one, many): (SendVerdict, SendVerdict)
            switch status {
            case 401: (one, many) = (.suspend(.unauthorized), .suspend(.unauthorized))
            case 403: (one, many) = (.suspend(.forbidden), .suspend(.forbidden))
            case 407: (one, many) = (.suspend(.proxy), .suspend(.proxy))
            case 408, 425: (one, many) = (.keep(.again, wait: nil), .keep(.again, wait: nil))
            case 429: (one, many) = (.keep(.busy, wait: nil), .keep(.busy, wait: nil))
            case 413, 414, 431: (one, many) = (.dead(.tooLarge), .split)
            default: (one, many) = (.dead(.refused), .bisect)
            }
            #expect(judge(status, Self.page) == one, "\(status)")
            #expect(judge(status, "{\"ok\":true}", count: 2) == many, "\(status)")
        }
        for status in 500...599 where ![501, 505, 511].contains(status) {
            let reason: KeepReason = status == 503 ? .busy : .serverFailed
            #expect(judge(status, count: 3) == .keep(reason, wait: nil), "\(status)")
        }
        for status in [0, 100, 199, 600, 999] { #expect(judge(status) == .keep(.noAnswer, wait: nil)) }
    }

    @Test(arguments: [501, 505, 511], [1, 7])
    func `an operation that a server lacks is tried five times`(status: Int, count: Int) {
        for tries in 0...3 {
            #expect(judge(status, count: count) { $0.boundedTries = tries } == .keep(.unsupported, wait: nil))
        }
        for tries in 4...6 {
            #expect(judge(status, count: count) { $0.boundedTries = tries } == .dead(.unsupported))
        }
    }

    @Test(arguments: [408, 409, 425, 429, 500, 501, 502, 503, 504])
    func `both forms of Retry-After are obeyed`(status: Int) {
        func wait(_ headers: [(String, String)]) -> Duration? {
            guard case .keep(_, let wait) = judge(status, headers: headers) else { return nil }
            return wait
        }
        #expect(wait([("Retry-After", "30")]) == .seconds(30))
        let date = HTTPDate(Self.now + .seconds(90)).headerValue
        #expect(wait([("Retry-After", date)]) == .seconds(90))
        let server = HTTPDate(Self.now + .seconds(60)).headerValue
        #expect(wait([("Retry-After", date), ("Date", server)]) == .seconds(30), "by the server's clock")
        #expect(wait([("Retry-After", "soon")]) == nil)
    }

    @Test func `a conflict is a success when it is our own`() {
        for body in ["", "{}", "{\"batch_id\":\"b-1\"}", "{\"batch_id\":\"B-1\"}", "already there", Self.page] {
            #expect(judge(409, body) == .delivered)
            #expect(judge(409, body, count: 9) == .delivered)
        }
        #expect(judge(409, "{\"batch_id\":\"b-2\"}") == .dead(.conflict))
        #expect(judge(409, "{\"event_id\":\"x\"}", count: 9) == .bisect)
        #expect(judge(409, headers: [("Retry-After", "2")]) == .keep(.again, wait: .seconds(2)))
        #expect(judge(409, count: 9) { $0.isIDOfWhole = false } == .bisect, "one of the statements is known")
        #expect(judge(409, count: 1) { $0.isIDOfWhole = false } == .delivered)
    }
}
