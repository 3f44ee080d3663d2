import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import Testing

/// What is read from an exchange, and what is refused.
struct CallbackReplyTests {
    private static let now = Timestamp(milliseconds: 1_750_000_000_000)

    private func reply(
        _ body: String, status: Int? = 200, headers: [(String, String)] = [], end: TransferOutcome.End = .complete,
        isTooLarge: Bool = false
    ) -> ExchangeReply {
        let fields = HeaderFields(headers.map { HeaderField(name: $0.0, value: $0.1) })
        let head = status.map { ResponseHead(status: $0, fields: fields, receivedAt: Self.now) }
        return ExchangeReply(
            head: head, body: Array(body.utf8), isLong: isTooLarge,
            outcome: TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero))
    }

    private func fault(_ reply: ExchangeReply) -> CallbackFault? {
        do throws(CallbackFault) {
            _ = try reply.token()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["a.b.c", " \t\r\n a.b.c\u{0B}\u{0C}\r\n "])
    func `white space around the token does not count`(body: String) throws {
        #expect(try reply(body).token() == "a.b.c")
    }

    @Test func `an answer without a token is classified`() {
        #expect(fault(reply(""))?.error.code.number == -8651)
        #expect(fault(reply(" \n "))?.error.code.number == -8651)
        #expect(fault(reply("", status: 204))?.error.code.number == -8651)
        #expect(fault(reply("x", isTooLarge: true))?.error.code.number == -8634)
        #expect(fault(reply("x", status: nil, end: .failed(curl: 7, detail: "")))?.error.code.number == -9007)
        #expect(fault(reply("x", status: nil))?.error.code.number == -9052)
        for status in [300, 302, 400, 404, 429, 500, 503, 599] {
            #expect(fault(reply("a.b.c", status: status))?.error.code.number == -9000 - status)
        }
    }

    @Test func `the kind of failure decides about the server's pace`() {
        #expect(fault(reply("", status: 429))?.outcome == .overloaded)
        #expect(fault(reply("", status: 503))?.outcome == .overloaded)
        #expect(fault(reply("", status: 408))?.outcome == .timedOut)
        #expect(fault(reply("", status: nil, end: .failed(curl: 28, detail: "")))?.outcome == .timedOut)
        #expect(fault(reply("", status: nil, end: .failed(curl: 7, detail: "")))?.outcome == .failed)
        #expect(fault(reply("", status: nil, end: .cancelled))?.outcome == .neutral)
        #expect(fault(reply("", status: 404))?.outcome == .unusable)
        #expect(fault(reply("", status: 500))?.outcome == .unusable)
        #expect(fault(reply(""))?.outcome == .unusable)
        #expect(
            fault(reply("", status: 500))?.isFinal == false && fault(reply("", status: 500))?.mayBeOfOneItem == true)
        #expect(fault(reply("", status: 404))?.isFinal == true && fault(reply("", status: 404))?.mayBeOfOneItem == true)
    }

    @Test func `both forms of Retry-After are obeyed`() {
        let date = HTTPDate(Self.now + .seconds(90)).headerValue
        #expect(fault(reply("", status: 429, headers: [("Retry-After", "30")]))?.wait == .seconds(30))
        #expect(fault(reply("", status: 503, headers: [("Retry-After", date)]))?.wait == .seconds(90))
        #expect(fault(reply("", status: 429))?.wait == nil)
    }

    @Test func `numbers of licence servers are read back from the store`() {
        for code in [LectureError.Code.callbackTransfer(28), .callbackTransfer(6), .callbackStatus(503)] {
            #expect(LectureError.Code.stored(code.number).name == code.name && !code.summary.isEmpty)
        }
        #expect(LectureError.Code.callbackStatus(404).number == -9404)
    }

    // MARK: Items

    private func items(_ payload: String, _ keys: [String]) throws -> [String] {
        let value = try JSONScanner.value(of: payload)
        return try CallbackAnswers(value).answers(for: keys, .check).map { item in
            switch item {
            case .answer(let answer): answer.isPermitted ? "yes" : "no"
            case .unreadable(let error): "\(error.code.number)"
            case .missing: "missing"
            }
        }
    }

    private static func answer(_ key: String, _ members: String = #""result":1"#, kind: String = "3") -> String {
        #"{"kind":\#(kind),"media_content_key":"\#(key)",\#(members)}"#
    }

    @Test func `answers are matched by key and kind, in any order`() throws {
        let (a, b) = (Self.answer("a"), Self.answer("b", #""result":0"#))
        #expect(try items(#"{"data":[\#(b),\#(a)]}"#, ["a", "b", "c"]) == ["yes", "no", "missing"])
        #expect(try items(#"{"data":\#(a)}"#, ["a", "b"]) == ["yes", "missing"])
        #expect(try items(#"{"data":[\#(Self.answer("a", kind: "1"))]}"#, ["a"]) == ["missing"])
        #expect(try items(#"{"data":[]}"#, ["a"]) == ["missing"])
    }

    @Test func `two answers for one item are both rejected`() throws {
        let (yes, no) = (Self.answer("a"), Self.answer("a", #""result":0"#))
        #expect(try items(#"{"data":[\#(yes),\#(no),\#(Self.answer("b"))]}"#, ["a", "b"]) == ["-8636", "yes"])
        #expect(try items(#"{"data":[\#(yes),\#(yes),\#(yes)]}"#, ["a"]) == ["-8636"])
        let other = Self.answer("a", kind: "2")
        #expect(try items(#"{"data":[\#(yes),\#(other)]}"#, ["a"]) == ["yes"], "another kind is another answer")
    }

    @Test func `an invalid value spoils only its own item`() throws {
        let wrong = Self.answer("a", #""result":1,"expiration_count":"3""#)
        #expect(try items(#"{"data":[\#(wrong),\#(Self.answer("b"))]}"#, ["a", "b"]) == ["-8636", "yes"])
        #expect(try items(#"{"data":[\#(Self.answer("a", kind: #""3""#))]}"#, ["a"]) == ["-8636"])
        #expect(try items(#"{"data":[5,\#(Self.answer("b"))]}"#, ["a", "b"]) == ["missing", "yes"])
        #expect(try items(#"{"data":[{"kind":3,"result":1}]}"#, ["a"]) == ["-8636"], "asked alone, it is this one")
        #expect(try items(#"{"data":[{"kind":3,"result":1}]}"#, ["a", "b"]) == ["missing", "missing"])
        #expect(try items(#"{"data":[null,\#(Self.answer("b"))]}"#, ["a", "b"]) == ["missing", "yes"])
    }

    @Test(arguments: [#"{}"#, #"{"data":1}"#, #"{"data":null}"#, #"[]"#, #"{"data":"a"}"#])
    func `a payload without data is unreadable`(payload: String) {
        #expect(throws: LectureError(.answerUnreadable)) { try items(payload, ["a"]) }
    }
}
