import Foundation
import LectureCrypto
import LectureHTTP
import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// Reports of viewers, links, subtitles and pages, as values.
struct ViewingTests {
    private static func report(
        _ sequence: Int64, _ played: String, state: String = "playing", more: String = ""
    ) throws -> ViewingReport {
        let text = #"{"sequence":\#(sequence),"state":"\#(state)","played":[\#(played)]\#(more)}"#
        return try #require(ViewingReport(Array(text.utf8)), "\(text)")
    }

    @Test func `a report is read whole`() throws {
        let report = try Self.report(
            2, #"{"from":5,"to":9.8,"speed":2},{"from":60,"to":61.0005}"#, state: "ended", more: #","duration":600.5"#)
        #expect(report.sequence == 2 && report.state == .ended && report.duration == .milliseconds(600_500))
        let stretches = [
            ViewingReport.Stretch(from: .seconds(5), to: .milliseconds(9800), speed: 2),
            ViewingReport.Stretch(from: .seconds(60), to: .milliseconds(61_001), speed: 1),
        ]
        #expect(report.played == stretches)
        #expect(try Self.report(1, "", more: #","duration":null"#).duration == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"sequence":1,"state":"playing"}"#, #"{"sequence":0,"state":"playing","played":[]}"#,
        #"{"sequence":1.5,"state":"playing","played":[]}"#, #"{"sequence":1,"state":"dancing","played":[]}"#,
        #"{"sequence":1,"state":"playing","played":{}}"#, #"{"sequence":1,"state":"playing","played":[1]}"#,
        #"{"sequence":1,"state":"playing","played":[{"from":2,"to":2}]}"#,
        #"{"sequence":1,"state":"playing","played":[{"from":3,"to":2}]}"#,
        #"{"sequence":1,"state":"playing","played":[{"from":-1,"to":2}]}"#,
        #"{"sequence":1,"state":"playing","played":[{"from":1,"to":1e99}]}"#,
        #"{"sequence":1,"state":"playing","played":[{"from":1,"to":2,"speed":0}]}"#,
        #"{"sequence":1,"state":"playing","played":[],"duration":-1}"#,
        #"{"sequence":1,"state":"playing","played":[],"user":"ada"}"#,
    ])
    func `what is no report is refused`(text: String) { #expect(ViewingReport(Array(text.utf8)) == nil) }

    @Test func `a report has at most 200 stretches`() {
        func text(_ count: Int) -> [UInt8] {
            let played = Array(repeating: #"{"from":1,"to":2}"#, count: count).joined(separator: ",")
            return Array(#"{"sequence":1,"state":"playing","played":[\#(played)]}"#.utf8)
        }
        #expect(ViewingReport(text(200)) != nil && ViewingReport(text(201)) == nil)
    }

    @Test func `stretches become intervals, with a jump between those that do not meet`() throws {
        var meter = ViewingMeter(duration: .seconds(100), openedAt: .seconds(1000))
        let first = try meter.add(try Self.report(1, #"{"from":0,"to":5}"#), now: .seconds(1005))
        #expect(first?.hasJump == false)
        #expect(first?.intervals == [PlayedInterval(.play, from: .zero, to: .seconds(5), lasting: .seconds(5))])
        let second = try meter.add(
            try Self.report(2, #"{"from":5,"to":7,"speed":2},{"from":50,"to":51}"#), now: .seconds(1007))
        let intervals = [
            PlayedInterval(.play, from: .seconds(5), to: .seconds(7), speed: 2, lasting: .seconds(1)),
            PlayedInterval(.seek, from: .seconds(7), to: .seconds(50), lasting: .zero),
            PlayedInterval(.play, from: .seconds(50), to: .seconds(51), lasting: .seconds(1)),
        ]
        #expect(second?.intervals == intervals && second?.hasJump == true)
        #expect(meter.watched == .seconds(8) && meter.place == .seconds(51) && meter.sequence == 2)
    }

    @Test func `a report that comes twice, or late, is dropped`() throws {
        var meter = ViewingMeter(duration: nil, openedAt: .zero)
        #expect(try meter.add(try Self.report(2, #"{"from":0,"to":5}"#), now: .seconds(5)) != nil)
        for sequence in [1, 2] as [Int64] {
            #expect(try meter.add(try Self.report(sequence, #"{"from":5,"to":6}"#), now: .seconds(6)) == nil)
        }
        #expect(meter.watched == .seconds(5))
    }

    @Test(arguments: [
        // In ten seconds no more than 42 can have been watched.
        (#"{"from":0,"to":42}"#, 10, true), (#"{"from":0,"to":43}"#, 10, false),
        (#"{"from":0,"to":21},{"from":0,"to":22}"#, 10, false),
        // Beyond the end only what players round.
        (#"{"from":99,"to":101}"#, 10, true), (#"{"from":99,"to":103}"#, 10, false),
    ])
    func `what cannot have been watched is refused, and changes nothing`(
        played: String, seconds: Int, isTaken: Bool
    ) throws {
        var meter = ViewingMeter(duration: .seconds(100), openedAt: .zero)
        let before = meter
        let report = try Self.report(1, played)
        if isTaken {
            let addition = try meter.add(report, now: .seconds(seconds))
            #expect(addition?.intervals.allSatisfy { $0.to <= .seconds(100) } == true)
        } else {
            #expect(throws: ClassroomRefusal.progress) { try meter.add(report, now: .seconds(seconds)) }
            #expect(meter == before)
        }
    }

    @Test(arguments: [
        "plain", "with space", "a/b", "../x", "..", ".", "~tilde", "강의 1", "a+b%2F&?#", "back\\slash", "'\"",
    ])
    func `any key is one segment of a path`(key: String) throws {
        let segment = LectureSegment.text(key)
        #expect(segment.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(!segment.contains("/") && !segment.contains("?") && !segment.contains("#"))
        let decoded = try #require(segment.removingPercentEncoding)
        #expect(!decoded.contains("/") && LectureSegment.key(decoded) == key)
    }

    @Test func `a segment that is none is refused`() {
        for text in ["~!", "~_w"] { #expect(LectureSegment.key(text) == nil, "\(text)") }
    }

    @Test func `pictures are known by their first bytes`() {
        let kinds: [([UInt8], String?)] = [
            ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"), ([0x89, 0x50, 0x4E, 0x47], "image/png"),
            (Array("GIF89a".utf8), "image/gif"), (Array("RIFF....WEBP".utf8), "image/webp"),
            (Array("<svg>".utf8), nil), ([], nil),
        ]
        for (bytes, type) in kinds { #expect(PictureKind.type(of: bytes) == type) }
    }

    @Test func `pages show times as people read them`() {
        let times: [(Int64, String)] = [(0, "0:00"), (59, "0:59"), (61, "1:01"), (3661, "1:01:01"), (-5, "0:00")]
        for (seconds, text) in times { #expect(ClassroomPage.clock(seconds) == text) }
    }

    @Test func `errors have the status of what they mean`() {
        let cases: [(LectureError.Code, Int)] = [
            (.playerNotPermitted, 403), (.licenceExpired, 403), (.countUsedUp, 403), (.unknownContent, 404),
            (.notComplete, 409), (.parameter, 400), (.closing, 503), (.damaged, 500),
        ]
        for (code, status) in cases {
            let refusal = ClassroomRefusal(LectureError(code))
            #expect(refusal.status == status && refusal.code == code.number, "\(code.name)")
            #expect(!refusal.sentence.isEmpty)
        }
    }

    @Test func `a link opens one lecture for one person until its time`() throws {
        let now = Guarded(Timestamp(milliseconds: 1_000_000))
        let clock: @Sendable () -> Timestamp = { now.withLock(\.self) }
        func links(_ byte: UInt8) throws -> LectureLinks {
            let key = try SecretBytes(copying: Array(repeating: byte, count: 32))
            return LectureLinks(try SiteAccess(AccessList(), key: key, isSecure: false, now: clock), now: clock)
        }
        let own = try links(1)
        let url = try own.make(try ContentKey("a/b"), user: "김 민", until: 1060)
        let parts = try url.split(separator: "/").dropFirst(2).map { try #require(String($0).removingPercentEncoding) }
        func open(_ links: LectureLinks, _ parts: [String]) throws -> HTTPAnswer {
            try links.open(parts[0], user: parts[1], until: parts[2], parts[3])
        }
        let answer = try open(own, parts)
        #expect(answer.status == 303)
        #expect(answer.fields.first { $0.name == "Location" }?.value == "/classroom/lectures/~YS9i")
        #expect(answer.fields.first { $0.name == "Set-Cookie" }?.value.contains("Max-Age=60;") == true)
        for place in parts.indices {
            var changed = parts
            changed[place] = ["other", "lee", "1061", String(parts[3].reversed())][place]
            #expect(throws: ClassroomRefusal.link) { try open(own, changed) }
        }
        #expect(throws: ClassroomRefusal.link, "of another server") { try open(try links(2), parts) }
        now.withLock { $0 = Timestamp(milliseconds: 1_060_000) }
        #expect(throws: ClassroomRefusal.link, "expired") { try open(own, parts) }
        for (user, until) in [("", 2000), ("a\n", 2000), (String(repeating: "x", count: 129), 2000), ("kim", 1060)] {
            #expect(throws: LectureError.self) { try own.make(try ContentKey("a"), user: user, until: Int64(until)) }
        }
    }
}
