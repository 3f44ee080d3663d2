import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What viewers report: as bytes, as sums, and on its way to the outbox.
struct ViewingReportTests {
    private static func report(
        _ sequence: Int64, _ played: [(Double, Double)], _ state: ViewingReport.State = .playing, speed: Double? = nil,
        duration: Double? = nil
    ) throws -> ViewingReport {
        let stretches = played.map { from, to in
            #"{"from":\#(from),"to":\#(to)\#(speed.map { #","speed":\#($0)"# } ?? "")}"#
        }
        let length = duration.map { #","duration":\#($0)"# } ?? ""
        let text = """
            {"sequence":\(sequence),"state":"\(state.rawValue)","played":[\(stretches.joined(separator: ","))]\(length)}
            """
        return try #require(ViewingReport(Array(text.utf8)), "\(text)")
    }

    private static func play(_ from: Int64, _ to: Int64, speed: Double = 1) -> PlayedInterval {
        PlayedInterval(
            .play, from: .milliseconds(from), to: .milliseconds(to), speed: speed,
            lasting: .milliseconds(to - from) / speed)
    }

    private static func seek(_ from: Int64, _ to: Int64) -> PlayedInterval {
        PlayedInterval(.seek, from: .milliseconds(from), to: .milliseconds(to), lasting: .zero)
    }

    // MARK: Bytes

    @Test(arguments: [
        // No object, or more than one.
        "null", "true", "1", "\"x\"", "[{}]", "{", "}", "nope", " ", "\0", #"{"sequence":1}{"#,
        #"{"sequence":1,"state":"playing","played":[]} x"#, #"{"sequence":1,"state":"playing","played":[]}{}"#,
        // Not JSON, though some parsers take it.
        #"{'sequence':1,'state':'playing','played':[]}"#, #"{sequence:1,"state":"playing","played":[]}"#,
        #"{"sequence":1,"state":"playing","played":[],}"#, #"{"sequence":01,"state":"playing","played":[]}"#,
        #"{"sequence":1,/**/"state":"playing","played":[]}"#, #"{"sequence":+1,"state":"playing","played":[]}"#,
        "\u{FEFF}{\"sequence\":1,\"state\":\"playing\",\"played\":[]}",
        // Members of another kind, missing, twice or unknown.
        #"{"sequence":"1","state":"playing","played":[]}"#, #"{"sequence":null,"state":"playing","played":[]}"#,
        #"{"sequence":-1,"state":"playing","played":[]}"#, #"{"sequence":1000000001,"state":"playing","played":[]}"#,
        #"{"sequence":99999999999999999999,"state":"playing","played":[]}"#,
        #"{"sequence":1,"sequence":1,"state":"playing","played":[]}"#, #"{"sequence":1,"played":[]}"#,
        #"{"sequence":1,"state":"Playing","played":[]}"#, #"{"sequence":1,"state":1,"played":[]}"#,
        #"{"sequence":1,"state":"","played":[]}"#, #"{"sequence":1,"state":"playing","played":null}"#,
        #"{"sequence":1,"state":"playing","played":"[]"}"#, #"{"sequence":1,"state":"playing","played":[],"x":1}"#,
        #"{"sequence":1,"state":"playing","played":[],"duration":"10"}"#,
        #"{"sequence":1,"state":"playing","played":[],"duration":0}"#,
        #"{"sequence":1,"state":"playing","played":[],"duration":172801}"#,
        #"{"sequence":1,"state":"playing","played":[],"duration":1e999}"#,
        #"{"sequence":1,"state":"playing","played":[],"__proto__":{}}"#,
    ])
    func `what is no report is refused`(text: String) { #expect(ViewingReport(Array(text.utf8)) == nil) }

    @Test(arguments: [
        "null", "[]", "[0,1]", "\"0-1\"", "{}", #"{"from":0}"#, #"{"to":1}"#, #"{"from":"0","to":1}"#,
        #"{"from":0,"to":"1"}"#, #"{"from":null,"to":1}"#, #"{"from":true,"to":2}"#, #"{"from":-0.001,"to":1}"#,
        #"{"from":1,"to":1}"#, #"{"from":2,"to":1}"#, #"{"from":1.0001,"to":1.0002}"#, #"{"from":0,"to":172800.001}"#,
        #"{"from":0,"to":1e400}"#, #"{"from":-1e400,"to":1}"#, #"{"from":0,"to":NaN}"#, #"{"from":0,"to":Infinity}"#,
        #"{"from":0,"to":1,"speed":0.0624}"#, #"{"from":0,"to":1,"speed":16.01}"#, #"{"from":0,"to":1,"speed":-1}"#,
        #"{"from":0,"to":1,"speed":null}"#, #"{"from":0,"to":1,"speed":"1"}"#, #"{"from":0,"from":0,"to":1}"#,
        #"{"from":0,"to":1,"user":"ada"}"#, #"{"from":0,"to":[[[[1]]]]}"#,
    ])
    func `one stretch that is none spoils its report`(stretch: String) {
        func report(_ played: String) -> ViewingReport? {
            ViewingReport(Array(#"{"sequence":1,"state":"playing","played":[\#(played)]}"#.utf8))
        }
        let good = #"{"from":5,"to":6}"#
        #expect(report(good) != nil)
        for played in [stretch, "\(good),\(stretch)", "\(stretch),\(good)"] { #expect(report(played) == nil) }
    }

    @Test func `bytes that are too many, too deep or no UTF-8 are refused`() {
        let head = Array(#"{"sequence":1,"state":"playing","played":[]"#.utf8)
        func padded(_ count: Int) -> [UInt8] {
            head + Array(repeating: UInt8(ascii: " "), count: count - head.count - 1) + Array("}".utf8)
        }
        #expect(ViewingReport(padded(1 << 16)) != nil && ViewingReport(padded(1 << 16 + 1)) == nil)
        #expect(ViewingReport(Array(repeating: UInt8(ascii: "["), count: 60_000)) == nil)
        #expect(ViewingReport(Array(String(repeating: #"{"played":"#, count: 6000).utf8)) == nil)
        #expect(ViewingReport(Array(#"{"sequence":1,"state":""#.utf8) + [0xFF] + Array(#"","played":[]}"#.utf8)) == nil)
        let many = Array(repeating: "0", count: 3000).joined(separator: ",")
        #expect(ViewingReport(Array(#"{"sequence":1,"state":"playing","played":[\#(many)]}"#.utf8)) == nil)
    }

    @Test func `values at their limits are taken`() throws {
        for state in ViewingReport.State.allCases { #expect(try Self.report(1, [], state).state == state) }
        for speed in [0.0625, 0.5, 1, 1.25, 16] {
            #expect(try Self.report(1, [(0, 1)], speed: speed).played.map(\.speed) == [speed])
        }
        for sequence in [1, 2, 1_000_000_000] as [Int64] {
            #expect(try Self.report(sequence, []).sequence == sequence)
        }
        let times: [(Double, Double, Int64, Int64)] = [
            (0, 0.001, 0, 1), (0.0004, 0.0006, 0, 1), (172_799, 172_800, 172_799_000, 172_800_000),
            (1.0006, 1.0016, 1001, 1002),
        ]
        for (from, to, first, last) in times {
            let stretch = try #require(try Self.report(1, [(from, to)]).played.first)
            #expect(stretch.from == .milliseconds(first) && stretch.to == .milliseconds(last), "\(from) \(to)")
        }
        for duration in [0.001, 600.5, 172_800] {
            let read = try Self.report(1, [], duration: duration).duration
            #expect(read == .milliseconds(Int64(duration * 1000)))
        }
    }

    // MARK: Sums

    private static let orders: [([(Double, Double)], [PlayedInterval], Bool)] = [
        // One after the other.
        ([(0, 2), (2, 5)], [play(0, 2000), play(2000, 5000)], false),
        // Out of order, and again.
        ([(50, 52), (10, 12)], [play(50_000, 52_000), seek(52_000, 10_000), play(10_000, 12_000)], true),
        ([(3, 5), (3, 5)], [play(3000, 5000), seek(5000, 3000), play(3000, 5000)], true),
        // One within the other, and one over the end of the other.
        ([(0, 9), (2, 4)], [play(0, 9000), seek(9000, 2000), play(2000, 4000)], true),
        ([(0, 5), (4, 8)], [play(0, 5000), seek(5000, 4000), play(4000, 8000)], true),
        // Beyond the end: what players round is cut, and what is left of it is nothing.
        ([(98, 101.5)], [play(98_000, 100_000)], false), ([(99, 100), (100, 101)], [play(99_000, 100_000)], false),
        ([(100.5, 101)], [], false), ([], [], false),
    ]

    @Test(arguments: orders)
    func `stretches become intervals in the order in which they were watched`(
        played: [(Double, Double)], intervals: [PlayedInterval], hasJump: Bool
    ) throws {
        var meter = ViewingMeter(duration: .seconds(100), openedAt: .zero)
        let addition = try #require(try meter.add(try Self.report(1, played), now: .seconds(60)))
        #expect(addition.intervals == intervals && addition.hasJump == hasJump)
        #expect(meter.place == intervals.last?.to)
    }

    @Test func `a speed shortens what it took, and not what was watched`() throws {
        for (speed, lasting) in [(0.5, 8000), (1, 4000), (2, 2000), (4, 1000), (16, 250)] as [(Double, Int64)] {
            var meter = ViewingMeter(duration: nil, openedAt: .zero)
            let addition = try meter.add(try Self.report(1, [(0, 4)], speed: speed), now: .seconds(1))
            #expect(addition?.intervals.map(\.lasting) == [.milliseconds(lasting)], "\(speed)")
            #expect(meter.watched == .seconds(4))
        }
    }

    private static let speeds: [(Int64, Double, Bool)] = [
        // Opened at 100 s; four seconds for each, and two more.
        (100, 2, true), (100, 2.002, false), (101, 6, true), (101, 6.002, false), (110, 42, true), (110, 43, false),
        // The clock of the machine stood still.
        (99, 2, false),
    ]

    @Test(arguments: speeds)
    func `nothing is watched faster than players play`(now: Int64, watched: Double, isTaken: Bool) throws {
        // At once, in pieces, and over and over.
        let half = watched / 2
        let ways: [[(Double, Double)]] = [[(0, watched)], [(0, half), (half, watched)], [(0, half), (0, half)]]
        for played in ways {
            var meter = ViewingMeter(duration: nil, openedAt: .seconds(100))
            let before = meter
            let report = try Self.report(1, played)
            if isTaken {
                #expect(try meter.add(report, now: .seconds(now)) != nil)
            } else {
                #expect(throws: ClassroomRefusal.progress) { try meter.add(report, now: .seconds(now)) }
                #expect(meter == before)
            }
        }
    }

    @Test func `what reports add up to is limited, and what was refused may come again`() throws {
        var meter = ViewingMeter(duration: .seconds(1000), openedAt: .zero)
        for sequence in 1...10 as ClosedRange<Int64> {
            let start = Double(sequence) * 4
            #expect(try meter.add(try Self.report(sequence, [(start, start + 4)]), now: .seconds(sequence)) != nil)
        }
        #expect(meter.watched == .seconds(40) && meter.sequence == 10)
        let next = try Self.report(11, [(44, 50)])
        #expect(throws: ClassroomRefusal.progress) { try meter.add(next, now: .seconds(10)) }
        #expect(meter.sequence == 10 && meter.place == .seconds(44))
        #expect(try meter.add(next, now: .seconds(11))?.intervals == [Self.play(44_000, 50_000)])
        #expect(try meter.add(next, now: .seconds(12)) == nil, "once")
        #expect(try meter.add(try Self.report(5, [(0, 1)]), now: .seconds(12)) == nil, "late")
        #expect(try meter.add(try Self.report(900, [(50, 51)]), now: .seconds(13)) != nil, "numbers may be left out")
    }

    private static let ends: [(Int64?, Double?, Double, Bool)] = [
        // The store knows the length: what the viewer says is nothing.
        (100, nil, 102, true), (100, nil, 102.001, false), (100, 500, 103, false), (100, 5, 90, true),
        // The store does not: then it is the viewer's own word.
        (nil, 50, 52, true), (nil, 50, 52.001, false), (nil, nil, 5000, true),
    ]

    @Test(arguments: ends)
    func `a stretch lies within the lecture`(known: Int64?, said: Double?, end: Double, isTaken: Bool) throws {
        var meter = ViewingMeter(duration: known.map { .seconds($0) }, openedAt: .zero)
        let report = try Self.report(1, [(end - 3, end)], duration: said)
        if isTaken {
            let length = known.map(Double.init) ?? said ?? end
            let last = try meter.add(report, now: .seconds(60))?.intervals.last?.to
            #expect(last == .milliseconds(Int64(min(end, length) * 1000)))
        } else {
            #expect(throws: ClassroomRefusal.progress) { try meter.add(report, now: .seconds(60)) }
        }
    }
}
