import LectureFormats
import LectureLive
import LectureTestSupport
import Testing

/// The event stream, by the rules of WHATWG HTML section 9.2.6.
struct ServerSentEventTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var events: [ServerSentEvent]
    }

    private static func event(_ data: String, id: String = "", type: String = "message") -> ServerSentEvent {
        ServerSentEvent(id: id, type: type, data: data)
    }

    private static let cases = [
        Case(testDescription: "one line", text: "data: a\n\n", events: [event("a")]),
        Case(testDescription: "two lines", text: "data: a\ndata:b\n\n", events: [event("a\nb")]),
        Case(testDescription: "one space is no part of it", text: "data:  a\n\n", events: [event(" a")]),
        Case(testDescription: "an empty line of data", text: "data\ndata\n\n", events: [event("\n")]),
        Case(
            testDescription: "no data, no event", text: "event: x\nid: 1\n\ndata: a\n\n",
            events: [event("a", id: "1")]),
        Case(
            testDescription: "the id stays", text: "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            events: [event("a", id: "7"), event("b", id: "7"), event("c")]),
        Case(
            testDescription: "an id with a NUL", text: "id: 7\nid: 8\u{0}\ndata: a\n\n", events: [event("a", id: "7")]),
        Case(
            testDescription: "the type does not stay", text: "event: x\ndata: a\n\ndata: b\n\n",
            events: [event("a", type: "x"), event("b")]),
        Case(
            testDescription: "comments and other fields", text: ": hello\nfoo: bar\ndata: a\n:\n\n",
            events: [event("a")]),
        Case(
            testDescription: "carriage returns", text: "data: a\r\rdata: b\r\n\r\ndata: c\n\r\n",
            events: [
                event("a"), event("b"), event("c"),
            ]),
        Case(testDescription: "a byte order mark", text: "\u{FEFF}data: a\n\n", events: [event("a")]),
        Case(testDescription: "a cut event is dropped", text: "data: a\n\ndata: b\n", events: [event("a")]),
        Case(testDescription: "letters of several bytes", text: "data: 수학\n\n", events: [event("수학")]),
    ]

    @Test(arguments: cases)
    private func `a stream means the same however it is split`(one: Case) {
        let bytes = Array(one.text.utf8)
        for step in 1...max(1, bytes.count) {
            var reader = ServerSentEventReader()
            var events: [ServerSentEvent] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                events += reader.read(bytes[start..<min(bytes.count, start + step)]) ?? []
            }
            #expect(events == one.events, "in steps of \(step)")
        }
    }

    @Test func `the wait before the next connection is a whole number`() {
        var reader = ServerSentEventReader(lastID: "41")
        #expect(reader.lastID == "41")
        for (text, retry) in [("x", nil), ("-1", nil), ("", nil), ("1500", 1500), ("1.5", 1500)] as [(String, Int?)] {
            let events = reader.read(Array("retry: \(text)\n\n".utf8))
            #expect(events == [] && reader.retry == retry)
        }
    }

    @Test func `a line without an end and an event without an end are refused`() {
        var reader = ServerSentEventReader()
        let line = reader.read([UInt8](repeating: 0x61, count: ServerSentEventReader.limit + 1))
        #expect(line == nil)
        reader = ServerSentEventReader()
        let piece = Array("data: \(String(repeating: "a", count: 1000))\n".utf8)
        let count = (0..<2000).first { _ in reader.read(piece) == nil }
        #expect(count.map { (1000...1100).contains($0) } == true)
    }

    @Test func `random bytes never stop the reader`() {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<200 {
            var reader = ServerSentEventReader()
            let letters: [UInt8] = Array("data:id\n\r :event".utf8) + [0, 0xFF]
            let bytes = (0..<400).map { _ in letters.randomElement(using: &random) ?? 0 }
            let events = reader.read(bytes) ?? []
            #expect(events.allSatisfy { !$0.id.utf8.contains(0) && !$0.type.isEmpty })
        }
    }
}
