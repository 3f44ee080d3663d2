import Foundation
import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// Pages, refusals and reports of viewers, as values.
struct ClassroomPageTests {
    private static func text(_ answer: HTTPAnswer) -> String {
        guard case .bytes(let bytes) = answer.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("plain", "plain"), ("<b>", "&lt;b&gt;"), ("a & b", "a &amp; b"), ("\"x\"", "&quot;x&quot;"),
        ("it's", "it&#39;s"), ("&amp;", "&amp;amp;"), ("</title><script>", "&lt;/title&gt;&lt;script&gt;"),
        ("강의 1", "강의 1"), ("🎓", "🎓"), ("", ""),
    ])
    func `a title is text wherever it stands`(title: String, markup: String) {
        let text = Self.text(ClassroomPage.page(title, "<p>body</p>"))
        #expect(text.contains("<title>\(markup)</title>") && text.contains("<h1>\(markup)</h1>"))
        #expect(text.components(separatedBy: "<script").count == 1)
        #expect(ClassroomPage.escaped(title) == markup)
    }

    @Test func `a page is complete, and has a script only where it plays`() {
        for hasScript in [false, true] {
            let answer = ClassroomPage.page("T", "<p>body</p>", status: 201, hasScript: hasScript)
            let text = Self.text(answer)
            #expect(answer.status == 201)
            #expect(text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">") && text.hasSuffix("</html>\n"))
            #expect(text.contains("<script src=\"/classroom/watch.js\" defer>") == hasScript)
            #expect(text.contains("<main>\n<h1>T</h1>\n<p>body</p>\n</main>"))
            #expect(!text.contains("style=") && !text.contains("onclick"))
            let type = HTTPField(name: "Content-Type", value: "text/html; charset=utf-8")
            #expect(answer.fields.contains(type))
        }
    }

    @Test(arguments: [
        (ClassroomRefusal.unknownLecture, 404, "unknown_lecture"), (.unknownPlay, 404, "unknown_play"),
        (.manyPlays, 429, "many_plays"), (.manyReads, 429, "many_reads"), (.range, 416, "range"),
        (.progress, 400, "progress"), (.link, 403, "link"),
    ])
    func `a refusal is a page for people and an object for programs`(
        refusal: ClassroomRefusal, status: Int, name: String
    ) throws {
        #expect(refusal.status == status && refusal.name == name && refusal.code == nil)
        let page = ClassroomPage.refusal(refusal)
        #expect(page.status == status && Self.text(page).contains("<p role=\"alert\">"))
        #expect(!Self.text(page).contains("Back to the lecture"))
        let answer = refusal.answer([("X-More", "1")])
        #expect(answer.status == status && answer.fields.contains(HTTPField(name: "X-More", value: "1")))
        let object = try JSONSerialization.jsonObject(with: Data(Self.text(answer).utf8)) as? [String: String]
        #expect(object == ["event": "error", "name": name, "message": refusal.sentence])
        #expect(refusal.sentence.hasSuffix(".") && refusal.sentence.first?.isUppercase == true)
    }

    @Test(arguments: [
        (LectureError.Code.licenceExpired, 403), (.countUsedUp, 403), (.playRefused, 403), (.licenceDeleted, 403),
        (.playerNotPermitted, 403), (.unknownContent, 404), (.notComplete, 409), (.parameter, 400), (.closing, 503),
        (.cancelled, 503), (.readFile, 500), (.damaged, 500), (.bug, 500),
    ])
    func `an error of the store has its number on both`(code: LectureError.Code, status: Int) {
        let refusal = ClassroomRefusal(LectureError(code, detail: "algebra-01"))
        #expect(refusal.status == status && refusal.name == code.name)
        #expect(Self.text(refusal.answer()).contains("\"code\":\(code.number)"))
        let page = Self.text(ClassroomPage.refusal(refusal, back: "a b"))
        #expect(page.contains("(code \(code.number))"))
        #expect(page.contains("<a href=\"/classroom/lectures/a%20b\">Back to the lecture</a>"))
    }

    @Test(arguments: [
        (0, "0:00"), (1, "0:01"), (59, "0:59"), (60, "1:00"), (599, "9:59"), (600, "10:00"), (3599, "59:59"),
        (3600, "1:00:00"), (3661, "1:01:01"), (36_000, "10:00:00"), (172_800, "48:00:00"), (-1, "0:00"),
        (Int64.min, "0:00"),
    ])
    func `a position is read as a clock`(seconds: Int64, text: String) { #expect(ClassroomPage.clock(seconds) == text) }

    // MARK: Segments

    @Test(arguments: [
        ("algebra-01", "algebra-01"), ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a/b", "~YS9i"), ("a\\b", "~YVxi"),
        (".", "~Lg"), ("..", "~Li4"), ("...", "..."), ("~x", "~fng"), ("x~", "x%7E"), ("a%b", "a%25b"),
        ("a?b#c", "a%3Fb%23c"), ("강", "%EA%B0%95"), ("a\nb", "~YQpi"), ("", ""), ("a\u{7F}", "~YX8"),
    ])
    func `a key is a segment, and read back`(key: String, segment: String) throws {
        #expect(LectureSegment.text(key) == segment)
        let decoded = try #require(segment.removingPercentEncoding)
        #expect(LectureSegment.key(decoded) == key)
    }

    @Test(arguments: ["~", "~=", "~A", "~_-8", "~YS9i=", "~ YS9i"])
    func `base64url that is none is no key`(segment: String) {
        #expect(LectureSegment.key(segment) == (segment == "~" ? "" : nil))
    }

    // MARK: Reports

    private static func json(_ change: (inout [String: Any]) -> Void) throws -> [UInt8] {
        var object: [String: Any] = [
            "sequence": 1, "state": "playing", "duration": 600, "played": [["from": 0, "to": 5, "speed": 1]],
        ]
        change(&object)
        return Array(try JSONSerialization.data(withJSONObject: object))
    }

    @Test func `numbers are taken up to their limits and not beyond`() throws {
        let cases: [(String, [Any], [Any])] = [
            ("sequence", [1, 2, 1_000_000_000], [0, -1, 1_000_000_001, 1.5, "1", true]),
            ("state", ["playing", "paused", "ended", "closed"], ["", "Playing", "stopped", 1, []]),
            ("duration", [0.001, 1, 172_800, NSNull()], [0, -1, 172_800.5, "600", []]),
        ]
        for (name, taken, refused) in cases {
            for value in taken {
                #expect(ViewingReport(try Self.json { $0[name] = value }) != nil, "\(name) \(value)")
            }
            for value in refused {
                #expect(ViewingReport(try Self.json { $0[name] = value }) == nil, "\(name) \(value)")
            }
        }
    }

    @Test func `a stretch has a beginning, an end behind it, and a speed that players have`() throws {
        let taken: [[String: Any]] = [
            ["from": 0, "to": 0.001], ["from": 1.5, "to": 2], ["from": 0, "to": 172_800],
            ["from": 0, "to": 1, "speed": 0.0625], ["from": 0, "to": 1, "speed": 16],
            ["from": 0, "to": 1, "speed": 1.25],
        ]
        let refused: [[String: Any]] = [
            [:], ["from": 0], ["to": 1], ["from": 1, "to": 1], ["from": 2, "to": 1], ["from": -0.1, "to": 1],
            ["from": 0, "to": 172_801], ["from": "0", "to": 1], ["from": 0, "to": 1, "speed": 0],
            ["from": 0, "to": 1, "speed": -1], ["from": 0, "to": 1, "speed": 17], ["from": 0, "to": 1, "speed": "1"],
            ["from": 0, "to": 1, "speed": NSNull()],
        ]
        for stretch in taken {
            #expect(ViewingReport(try Self.json { $0["played"] = [stretch] })?.played.count == 1, "\(stretch)")
        }
        for stretch in refused {
            #expect(ViewingReport(try Self.json { $0["played"] = [stretch] }) == nil, "\(stretch)")
        }
        let both = ViewingReport(try Self.json { $0["played"] = [taken[0], refused[0]] })
        #expect(both == nil, "one that cannot be used spoils the report")
    }

    @Test func `members that are missing or unknown, and bodies that are none, are refused`() throws {
        for name in ["sequence", "state", "played"] {
            #expect(ViewingReport(try Self.json { $0[name] = nil }) == nil, "\(name)")
        }
        #expect(ViewingReport(try Self.json { $0["duration"] = nil }) != nil)
        for name in ["user", "key", "position", "Sequence", ""] {
            #expect(ViewingReport(try Self.json { $0[name] = 1 }) == nil, "\(name)")
        }
        let texts = ["", "null", "1", "[]", "\"\"", "{", "{\"sequence\":1", "{}{}", "\u{0}", "{\"sequence\":1,}"]
        for text in texts { #expect(ViewingReport(Array(text.utf8)) == nil, "\(text)") }
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(ViewingReport(Array("{\"played\":\(deep)}".utf8)) == nil)
        let long = try Self.json { $0["played"] = Array(repeating: ["from": 0, "to": 1], count: 200) }
        #expect(ViewingReport(long) != nil)
        #expect(ViewingReport(long + Array(repeating: 0x20, count: 1 << 16)) == nil, "too long")
    }

    // MARK: The meter

    private static func add(
        _ meter: inout ViewingMeter, _ sequence: Int64, _ stretches: [(Double, Double, Double)], at seconds: Double
    ) throws -> ViewingMeter.Addition? {
        let body = try json { object in
            object["sequence"] = sequence
            object["played"] = stretches.map { ["from": $0.0, "to": $0.1, "speed": $0.2] }
        }
        let report = try #require(ViewingReport(body))
        return try meter.add(report, now: .milliseconds(Int64(seconds * 1000)))
    }

    @Test func `what is watched adds up, whatever its speed`() throws {
        var meter = ViewingMeter(duration: .seconds(600), openedAt: .zero)
        let rows: [([(Double, Double, Double)], Double, Duration, Duration?, Bool)] = [
            ([(0, 5, 1)], 5, .seconds(5), .seconds(5), false), ([(5, 15, 2)], 10, .seconds(15), .seconds(15), false),
            ([], 11, .seconds(15), .seconds(15), false), ([(100, 101, 1)], 12, .seconds(16), .seconds(101), true),
            ([(101, 102, 1), (50, 51, 1)], 14, .seconds(18), .seconds(51), true),
            ([(51, 51.5, 0.5)], 15, .milliseconds(18_500), .milliseconds(51_500), false),
        ]
        for (index, row) in rows.enumerated() {
            let addition = try #require(try Self.add(&meter, Int64(index + 1), row.0, at: row.1))
            #expect(meter.watched == row.2 && meter.place == row.3 && addition.hasJump == row.4, "row \(index)")
            #expect(addition.intervals.filter { $0.activity == .play }.count == row.0.count)
        }
        #expect(try Self.add(&meter, 3, [(0, 1, 1)], at: 16) == nil, "it was there already")
    }

    private static let limits: [(stretches: [(Double, Double, Double)], seconds: Double, isTaken: Bool)] = [
        ([(0, 6, 1)], 1, true), ([(0, 6.001, 1)], 1, false), ([(0, 3, 1), (0, 3, 1)], 1, true),
        ([(0, 3, 1), (0, 3.1, 1)], 1, false), ([(598, 602, 1)], 10, true), ([(598, 602.1, 1)], 10, false),
        ([(0, 600, 16)], 149.5, true), ([(0, 600, 16)], 149.4, false),
    ]

    @Test(arguments: limits.indices)
    func `no more is watched than the clock permits, and nothing behind the end`(row: Int) throws {
        let (stretches, seconds, isTaken) = Self.limits[row]
        var meter = ViewingMeter(duration: .seconds(600), openedAt: .zero)
        let before = meter
        if isTaken {
            let addition = try #require(try Self.add(&meter, 1, stretches, at: seconds))
            #expect(addition.intervals.allSatisfy { $0.to <= .seconds(600) })
        } else {
            #expect(throws: ClassroomRefusal.progress) { try Self.add(&meter, 1, stretches, at: seconds) }
            #expect(meter == before)
        }
    }
}
