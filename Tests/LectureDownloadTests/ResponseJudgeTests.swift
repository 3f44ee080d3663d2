import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

/// Heads and expectations for the judge: an object of 100 bytes whose committed version has the tag `"v1"`.
private enum World {
    static let now = Timestamp(milliseconds: 784_111_777_000)
    static let sha256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let known = Validator(etag: "\"v1\"", lastModified: nil, total: 100)

    static func head(_ status: Int, _ fields: HeaderFields = [:], redirect: String? = nil, http2: Bool = false)
        -> ResponseHead
    {
        ResponseHead(status: status, fields: fields, redirectURL: redirect, receivedAt: now, isHTTP2: http2)
    }

    static func closed(_ start: UInt64, _ end: UInt64) -> RangeRequest? {
        ByteRange(start: start, end: end).map { .closed($0) }
    }

    /// A request in the middle of a download.
    static func resumed(_ range: RangeRequest? = closed(10, 20), digest: Bool = false, ifRange: Bool = true)
        -> Expectation
    {
        Expectation(range: range, sentIfRange: ifRange, total: 100, validator: known, digestIsKnown: digest)
    }

    static let first = Expectation(range: .from(0), isFirstContact: true)
}

@Suite struct ResponseJudgeWholeTests {
    @Test func `A 200 to a plain request is the object from its first byte`() {
        let head = World.head(
            200,
            [
                "Content-Length": "100", "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Type": "Video/MP4; x=y",
                "Repr-Digest": "sha-256=:\(World.sha256):",
            ])
        guard case .body(let plan) = ResponseJudge.judge(head, asked: Expectation()) else {
            Issue.record("no body")
            return
        }
        #expect(plan.first == 0 && plan.count == 100 && plan.total == 100)
        #expect(plan.validator == World.known)
        #expect(plan.acceptsRanges && !plan.validatorChanged)
        #expect(plan.digest?.count == 32)
        #expect(plan.mediaType == "video/mp4")
    }

    @Test func `Without a length (HTTP/1.0, chunked) the transfer ends the body, and ranges are not assumed`() {
        for fields in [["Accept-Ranges": "bytes"], ["Transfer-Encoding": "chunked", "Content-Length": "7"]]
            as [HeaderFields]
        {
            guard case .body(let plan) = ResponseJudge.judge(World.head(200, fields), asked: Expectation()) else {
                Issue.record("no body")
                return
            }
            #expect(plan.count == nil && plan.total == nil && !plan.acceptsRanges)
        }
    }

    @Test func `A 200 to a range over everything is the requested data`() {
        let head = World.head(200, ["Content-Length": "100", "Accept-Ranges": "bytes"])
        for range in [.from(0), World.closed(0, 100), World.closed(0, 200)] {
            guard case .body(let plan) = ResponseJudge.judge(head, asked: Expectation(range: range)) else {
                Issue.record("no body for \(String(describing: range))")
                return
            }
            #expect(plan.acceptsRanges)
        }
    }

    @Test func `A 200 to a part means that the server has no ranges`() {
        let same = World.head(200, ["Content-Length": "100", "ETag": "\"v1\""])
        guard case .noRanges(let plan) = ResponseJudge.judge(same, asked: World.resumed()) else {
            Issue.record("not noRanges")
            return
        }
        #expect(plan.first == 0 && plan.count == 100)
        let unmarked = World.head(200, ["Content-Length": "100"])
        guard case .noRanges = ResponseJudge.judge(unmarked, asked: World.resumed(ifRange: false)) else {
            Issue.record("an unmarked server without If-Range")
            return
        }
    }

    @Test func `A 200 to If-Range without a validator counts as another version (RFC 9110 section 13.1.5)`() {
        let verdict = ResponseJudge.judge(World.head(200, ["Content-Length": "100"]), asked: World.resumed())
        guard case .changed(.some, .wholeToIfRange) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test(
        "Another tag or another length is another version",
        arguments: [
            ("\"v2\"", "100", false, .validator), ("\"v1\"", "99", false, .total), ("\"v2\"", "99", true, .total),
        ] as [(String, String, Bool, ChangeReason)])
    func changed(etag: String, length: String, digest: Bool, reason: ChangeReason) {
        let head = World.head(200, ["Content-Length": length, "ETag": etag])
        let verdict = ResponseJudge.judge(head, asked: World.resumed(digest: digest))
        guard case .changed(let plan?, reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(plan.validator.etag == etag)
    }

    @Test func `With a digest of the whole file a changed tag alone lets the download continue`() {
        let whole = World.head(200, ["Content-Length": "100", "ETag": "\"v2\""])
        let part = World.head(206, ["Content-Range": "bytes 10-19/100", "ETag": "\"v2\""])
        for (head, first) in [(whole, 0), (part, 10)] as [(ResponseHead, UInt64)] {
            guard case .body(let plan) = ResponseJudge.judge(head, asked: World.resumed(digest: true)) else {
                Issue.record("no body")
                return
            }
            #expect(plan.validatorChanged && plan.first == first)
        }
        // Without a length on the answer nothing shows that the whole could still be the expected one.
        let unsized = World.head(206, ["Content-Range": "bytes 10-19/*", "ETag": "\"v2\""])
        guard case .changed(.some, .validator) = ResponseJudge.judge(unsized, asked: World.resumed(digest: true)) else {
            Issue.record("an unsized answer")
            return
        }
    }

    @Test func `An empty object is empty, unless it was known to have bytes`() {
        let head = World.head(200, ["Content-Length": "0"])
        guard case .empty(let plan) = ResponseJudge.judge(head, asked: World.first) else {
            Issue.record("not empty")
            return
        }
        #expect(plan.total == 0)
        guard case .changed(_, .total) = ResponseJudge.judge(head, asked: World.resumed()) else {
            Issue.record("not changed")
            return
        }
    }
}

@Suite struct ResponseJudgePartTests {
    private func judge(_ range: String?, _ asked: Expectation, _ more: HeaderFields = [:]) -> ResponseVerdict {
        var fields = more
        if let range { fields.append(HeaderField(name: "Content-Range", value: range)) }
        return ResponseJudge.judge(World.head(206, fields), asked: asked)
    }

    @Test(
        "A part that starts where requested and is not longer is accepted",
        arguments: [
            (World.closed(10, 20), "bytes 10-19/100", 10, 10), (World.closed(10, 20), "bytes 10-10/100", 10, 1),
            (World.closed(10, 20), "bytes 10-14/*", 10, 5), (.from(10), "bytes 10-99/100", 10, 90),
            (.from(10), "bytes 10-11/100", 10, 2), (.from(99), "bytes 99-99/100", 99, 1),
        ] as [(RangeRequest?, String, UInt64, UInt64)])
    func takes(asked: RangeRequest?, range: String, first: UInt64, count: UInt64) {
        guard case .body(let plan) = judge(range, World.resumed(asked), ["ETag": "\"v1\""]) else {
            Issue.record("no body")
            return
        }
        #expect(plan.first == first && plan.count == count && plan.acceptsRanges)
    }

    @Test(
        "Another range than requested is refused before its first byte",
        arguments: [
            nil, "", "bytes 9-19/100", "bytes 11-19/100", "bytes 10-20/100", "bytes 0-99/100", "bytes */100",
            "bytes 19-10/100",
            "items 10-19/100", "bytes 10-19", "bytes 10 - 19/100", "bytes 10-9223372036854775808/*", "bytes 10-19/15",
            "garbage",
            "bytes 10-14,16-19/100",
        ])
    func refuses(range: String?) {
        #expect(judge(range, World.resumed()) == .refuse(.rangeMismatch))
    }

    @Test func `An unrequested 206 is accepted when it is the whole file, and only then`() {
        guard case .body(let plan) = judge("bytes 0-99/100", Expectation(), ["Content-Length": "100"]) else {
            Issue.record("no body")
            return
        }
        #expect(plan.first == 0 && plan.count == 100 && plan.total == 100)
        for range in ["bytes 0-98/100", "bytes 1-99/100", "bytes 0-99/*", "bytes */100"] {
            #expect(judge(range, Expectation()) == .refuse(.rangeMismatch))
        }
    }

    @Test func `Two Content-Range fields are refused`() {
        let twice: HeaderFields = ["Content-Range": "bytes 10-19/100"]
        #expect(judge("bytes 10-19/100", World.resumed(), twice) == .refuse(.rangeMismatch))
    }

    @Test func `A multipart answer is refused with its own code`() {
        let fields: HeaderFields = ["Content-Type": "multipart/byteranges; boundary=x"]
        #expect(judge(nil, World.resumed(), fields) == .refuse(.multipartRefused))
    }

    @Test func `A Content-Length that contradicts the range is refused`() {
        #expect(judge("bytes 10-19/100", World.resumed(), ["Content-Length": "9"]) == .refuse(.lengthConflict))
        guard case .body = judge("bytes 10-19/100", World.resumed(), ["Content-Length": "10"]) else {
            Issue.record("no body")
            return
        }
    }

    @Test(
        "A 206 of another version is detected although If-Range was ignored",
        arguments: [
            ("bytes 10-19/101", "\"v1\"", .total), ("bytes 10-19/100", "\"v2\"", .validator),
            ("bytes 10-19/100", "W/\"v2\"", .validator),
            ("bytes 10-19/*", "\"v2\"", .validator),
        ] as [(String, String, ChangeReason)])
    func changed(range: String, etag: String, reason: ChangeReason) {
        let verdict = judge(range, World.resumed(), ["ETag": etag])
        guard case .changed(.some, reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test func `A 206 without validators counts as confirmed (section 15.3.7)`() {
        guard case .body(let plan) = judge("bytes 10-19/100", World.resumed()) else {
            Issue.record("no body")
            return
        }
        #expect(!plan.validatorChanged)
    }

    @Test func `A part beyond the known end is another version, whatever its total says`() {
        let verdict = judge("bytes 95-104/*", World.resumed(World.closed(95, 105)))
        guard case .changed(.some, .total) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }
}

@Suite struct ResponseJudgeRefusalTests {
    private func judge(_ fields: HeaderFields, _ asked: Expectation = World.first, status: Int = 200) -> ResponseVerdict
    {
        ResponseJudge.judge(World.head(status, fields), asked: asked)
    }

    @Test(
        "A body with an unusable length, coding or type is refused",
        arguments: [
            (["Content-Length": "1", "content-length": "2"], .lengthConflict),
            (["Content-Length": "1,2"], .lengthConflict),
            (["Content-Length": "-1"], .badLength), (["Content-Length": "9223372036854775808"], .badLength),
            (["Content-Encoding": "gzip"], .codingRefused), (["Content-Encoding": "identity, br"], .codingRefused),
            (["Content-Encoding": "x-unknown"], .codingRefused),
            (["Transfer-Encoding": "gzip, chunked"], .codingRefused),
            (["Transfer-Encoding": "chunked, Chunked"], .codingRefused),
            (["Transfer-Encoding": "chunked", "transfer-encoding": "chunked"], .codingRefused),
            (["Content-Type": "application/json; charset=utf-8"], .notMedia),
            (["Content-Type": "application/problem+json"], .notMedia), (["Content-Type": "text/xml"], .notMedia),
            (["Content-Type": "text/html"], .notMedia),
            (["Content-Type": "Application/XHTML+xml;charset=x"], .notMedia),
            (["Content-Type": "application/x-mpegurl"], .playlistUnsupported),
            (["Content-Type": "multipart/byteranges"], .multipartRefused),
        ] as [(HeaderFields, LectureError.Code)])
    func refuses(fields: HeaderFields, code: LectureError.Code) {
        #expect(judge(fields) == .refuse(code))
    }

    @Test func `A subtitle may be data for programs`() {
        guard case .body = judge(["Content-Type": "application/xml"], Expectation(role: .subtitle)) else {
            Issue.record("no body")
            return
        }
    }

    @Test(
        "Other types, and none, are media",
        arguments: ["text/plain", "application/octet-stream", "video/mp4", "nonsense", ""])
    func takes(type: String) {
        guard case .body = judge(["Content-Type": type, "Content-Encoding": "identity"]) else {
            Issue.record("no body")
            return
        }
    }

    @Test func `A web page is accepted only when a digest will verify it and its length is the expected one`() {
        let page: HeaderFields = ["Content-Type": "text/html", "Content-Length": "100"]
        #expect(judge(page, Expectation(digestIsKnown: true)) == .refuse(.notMedia))
        #expect(judge(page, Expectation(total: 99, digestIsKnown: true)) == .refuse(.notMedia))
        #expect(judge(page, Expectation(total: 100)) == .refuse(.notMedia))
        guard case .body = judge(page, Expectation(total: 100, digestIsKnown: true)) else {
            Issue.record("no body")
            return
        }
    }

    @Test func `A captive portal is refused as a web page, not taken for a new version`() {
        let portal: HeaderFields = ["Content-Type": "text/html", "Content-Length": "5", "ETag": "\"portal\""]
        #expect(judge(portal, World.resumed()) == .refuse(.notMedia))
        #expect(judge([:], World.resumed(), status: 511) == .refuse(.notMedia))
    }

    @Test func `A file above the limit is refused, also when only its part shows it`() {
        #expect(judge(["Content-Length": "101"], Expectation(maximumBytes: 100)) == .refuse(.tooLarge))
        let part = Expectation(range: .from(0), maximumBytes: 100)
        #expect(judge(["Content-Range": "bytes 0-9/101"], part, status: 206) == .refuse(.tooLarge))
        #expect(judge(["Content-Range": "bytes 0-100/*"], part, status: 206) == .refuse(.tooLarge))
        guard case .body = judge(["Content-Length": "100"], Expectation(maximumBytes: 100)) else {
            Issue.record("no body")
            return
        }
    }

    @Test func `A descriptor is read on first contact only, and only as a whole`() {
        let type = HeaderField(name: "Content-Type", value: "application/vnd.lecturekit.descriptor+json; charset=utf-8")
        guard case .descriptor = judge(HeaderFields([type])) else {
            Issue.record("no descriptor")
            return
        }
        func judged(_ fields: HeaderFields, _ asked: Expectation = World.first, status: Int = 200) -> ResponseVerdict {
            judge(HeaderFields(fields.elements + [type]), asked, status: status)
        }
        #expect(judged([:], Expectation()) == .refuse(.notMedia))
        #expect(judged(["Content-Length": "0"]) == .refuse(.descriptorEmpty))
        #expect(judged(["Content-Length": "1048577"]) == .refuse(.tooLarge))
        #expect(judged(["Content-Range": "bytes 0-9/20"], status: 206) == .refuse(.rangeMismatch))
        guard case .descriptor = judged(["Content-Range": "bytes 0-9/10"], status: 206) else {
            Issue.record("a whole descriptor as one range")
            return
        }
    }

    @Test func `A length beside chunks is ignored over HTTP/1.1 (RFC 9112 section 6.3)`() {
        let fields: HeaderFields = ["Transfer-Encoding": "chunked", "Content-Length": "1", "content-length": "2"]
        guard case .body(let plan) = judge(fields) else {
            Issue.record("no body")
            return
        }
        #expect(plan.count == nil)
        #expect(
            ResponseJudge.judge(World.head(200, fields, http2: true), asked: World.first) == .refuse(.lengthConflict))
    }

    @Test func `A body over HTTP/2 without any length is fetched over HTTP/1.1, where its end is marked`() {
        func judged(_ fields: HeaderFields, _ asked: Expectation) -> ResponseVerdict {
            ResponseJudge.judge(World.head(200, fields, http2: true), asked: asked)
        }
        #expect(judged([:], World.first) == .retry(ResponseJudge.unframed))
        #expect(judged([:], Expectation(digestIsKnown: true)) == .retry(ResponseJudge.unframed))
        let known: [(HeaderFields, Expectation)] = [
            (["Content-Length": "9"], World.first), ([:], Expectation(total: 9)),
        ]
        for (fields, asked) in known {
            guard case .body = judged(fields, asked) else {
                Issue.record("no body")
                return
            }
        }
    }
}

@Suite struct ResponseJudgeStatusTests {
    private func judge(_ status: Int, _ fields: HeaderFields = [:], _ asked: Expectation = World.resumed())
        -> ResponseVerdict
    {
        ResponseJudge.judge(World.head(status, fields), asked: asked)
    }

    @Test("A URL that no longer works is renewed", arguments: [401, 403, 404, 410])
    func renews(status: Int) { #expect(judge(status) == .renewLease(status: status)) }

    @Test("Transient statuses are retried", arguments: [408, 421, 425, 500, 502, 504, 507, 520, 599])
    func retries(status: Int) { #expect(judge(status) == .retry(.status(status))) }

    @Test(
        "Permanent statuses are refused",
        arguments: [400, 402, 405, 406, 407, 409, 411, 413, 414, 418, 451, 499, 501, 505, 508, 510])
    func refuses(status: Int) { #expect(judge(status) == .refuse(.status(status))) }

    @Test(
        "A status that carries no file is refused",
        arguments: [0, 100, 199, 201, 202, 203, 204, 205, 226, 300, 304, 305, 306, 399, 600])
    func noFile(status: Int) { #expect(judge(status) == .refuse(.unexpectedStatus)) }

    @Test("The server's wait is returned", arguments: [429, 503])
    func waits(status: Int) {
        #expect(judge(status, ["Retry-After": "7"]) == .wait(RetryAfter(delay: .seconds(7)), status: status))
        #expect(judge(status, ["Retry-After": "soon"]) == .wait(nil, status: status))
        #expect(judge(status) == .wait(nil, status: status))
    }

    @Test("A redirect with a Location is followed", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) {
        let head = World.head(status, ["Location": "/b"], redirect: "http://a/b")
        #expect(ResponseJudge.judge(head, asked: World.first) == .redirect(to: "http://a/b"))
        #expect(judge(status) == .refuse(.noLocation))
        #expect(judge(status, ["Location": ""]) == .refuse(.noLocation))
        // It has no http or https URL, or the transport would have made one.
        #expect(judge(status, ["Location": "data:,x"]) == .refuse(.redirectRefused))
    }

    @Test func `A 412 means a changed object only when there was a condition`() {
        #expect(judge(412) == .changed(nil, .precondition))
        #expect(judge(412, [:], World.first) == .refuse(.status(412)))
    }

    @Test(
        "A 416 is read by the length it carries (RFC 9110 section 15.5.17)",
        arguments: [
            (World.resumed(.from(100)), "bytes */100", .rangeBeyondEnd(total: 100)),
            (Expectation(range: .from(150)), "bytes */100", .rangeBeyondEnd(total: 100)),
            (World.resumed(), "bytes */50", .changed(nil, .total)),
            (World.resumed(), "bytes */0", .changed(nil, .total)),
            (World.resumed(), "bytes */100", .refuse(.rangeMismatch)),
            (World.resumed(), "bytes 10-19/100", .refuse(.status(416))),
            (World.resumed(), "garbage", .refuse(.status(416))), (Expectation(), "bytes */100", .refuse(.status(416))),
            (Expectation(range: .from(5)), "bytes */0", .changed(nil, .total)),
        ] as [(Expectation, String, ResponseVerdict)])
    func unsatisfied(asked: Expectation, range: String, verdict: ResponseVerdict) {
        #expect(judge(416, ["Content-Range": range], asked) == verdict)
    }

    @Test func `A 416 to a new empty object is the empty object`() {
        guard case .empty(let plan) = judge(416, ["Content-Range": "bytes */0", "ETag": "\"v0\""], World.first) else {
            Issue.record("not empty")
            return
        }
        #expect(plan.total == 0 && plan.validator.etag == "\"v0\"")
        #expect(judge(416) == .refuse(.status(416)))
    }

    @Test func `Whatever the status and the fields, a body stays within the requested range`() {
        var random = SeededGenerator(seed: 9110)
        let values = ["bytes 10-19/100", "bytes 0-99/100", "bytes 10-14/*", "bytes 12-19/100", "bytes */0", "x"]
        for _ in 0..<5000 {
            var fields = HeaderFields()
            if Bool.random(using: &random) {
                fields.append(HeaderField(name: "Content-Range", value: values.randomElement(using: &random) ?? ""))
            }
            if Bool.random(using: &random) {
                fields.append(
                    HeaderField(name: "Content-Length", value: "\(UInt8.random(in: 0...120, using: &random))"))
            }
            if Bool.random(using: &random) {
                fields.append(HeaderField(name: "ETag", value: Bool.random(using: &random) ? "\"v1\"" : "\"v2\""))
            }
            let status = [200, 206, 416, 302, 404].randomElement(using: &random) ?? 200
            guard case .body(let plan) = judge(status, fields) else { continue }
            #expect(status == 206)
            #expect(plan.first == 10 && plan.first + (plan.count ?? .max) <= 20)
            #expect(plan.validator.etag ?? "\"v1\"" == "\"v1\"")
        }
    }
}
