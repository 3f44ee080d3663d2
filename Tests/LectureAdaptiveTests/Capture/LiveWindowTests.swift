import LectureFormats
import Testing

@testable import LectureAdaptive

/// What is new in a live playlist, and when it is loaded.
@Suite struct LiveWindowTests {
    /// A list: `7 D1: a b` is the sequence number, the discontinuity sequence number and the names; `!` before a name
    /// is a discontinuity.
    private static func list(_ text: String) -> MediaPlaylist {
        let parts = text.split(separator: ":")
        let numbers = parts[0].split(separator: " ")
        var playlist = MediaPlaylist(targetDuration: 4)
        playlist.mediaSequence = Int64(numbers[0]) ?? 0
        if numbers.count > 1 { playlist.discontinuitySequence = Int64(numbers[1].dropFirst()) ?? 0 }
        for name in parts[1].split(separator: " ") {
            var segment = PlaylistSegment(uri: "s/\(name.filter { $0 != "!" }).ts?t=\(text.count)", nanoseconds: 4)
            segment.isDiscontinuity = name.hasPrefix("!")
            playlist.segments.append(segment)
        }
        return playlist
    }

    /// What a load brings in words: `2..<3`, `missed 2`, `anew`, `cut`; `-` for nothing.
    private static func text(_ news: LiveWindow.News?) -> String {
        guard let news else { return "-" }
        var words = ["\(news.fresh.lowerBound)..<\(news.fresh.upperBound)"]
        if news.missed > 0 { words.append("missed \(news.missed)") }
        if news.isRestart { words.append("anew") }
        if news.isDiscontinuity { words.append("cut") }
        return words.joined(separator: " ")
    }

    @Test(arguments: [
        ("the window moves", ["0: a b c", "1: b c d", "3: d e f"], ["0..<3", "2..<3", "1..<3"]),
        ("nothing new", ["0: a b", "0: a b", "0: a b"], ["0..<2", "-", "-"]),
        ("an event grows", ["5: a", "5: a b", "5: a b c d"], ["0..<1", "1..<2", "2..<4"]),
        ("a gap", ["0: a b", "5: f g"], ["0..<2", "0..<2 missed 3"]),
        ("the next number and no overlap is no gap", ["0: a b", "2: c d"], ["0..<2", "0..<2"]),
        ("a copy that is older", ["4: e f g", "2: c d e", "5: f g h"], ["0..<3", "-", "2..<3"]),
        ("the server begins anew", ["50: a b", "0: x y", "1: y z"], ["0..<2", "0..<2 missed 1 anew", "1..<2"]),
        (
            "it begins anew just behind", ["0: a b", "8: i j", "5: x y z", "6: y z w"],
            ["0..<2", "0..<2 missed 6", "-", "0..<3 missed 1 anew"]
        ),
        (
            "an older copy lists what was missed", ["0: a", "4: e f", "2: c d", "6: g"],
            ["0..<1", "0..<2 missed 3", "-", "0..<1"]
        ),
        ("it jumps ahead", ["0: a b", "9000: x"], ["0..<2", "0..<1 missed 1 anew"]),
        ("the past is another one", ["0: a b c", "1: b x d"], ["0..<3", "0..<3 missed 1 anew"]),
        ("a list without segments", ["0: ", "3: a"], ["-", "0..<1"]),
        ("a discontinuity that is listed", ["0: a b", "1: b !c"], ["0..<2", "1..<2"]),
        ("one that left the window", ["0 D4: a b", "5 D5: f g"], ["0..<2", "0..<2 missed 3 cut"]),
        ("one in the list counts for those behind it", ["0 D4: a !b", "5 D5: f g"], ["0..<2", "0..<2 missed 3"]),
        ("one that is listed behind a gap", ["0 D4: a b", "5 D4: !f g"], ["0..<2", "0..<2 missed 3 cut"]),
        ("a server that does not count them", ["0: a !b", "5: f g"], ["0..<2", "0..<2 missed 3"]),
    ])
    func `lists one after the other`(what: String, lists: [String], news: [String]) {
        var window = LiveWindow()
        let found = lists.map { Self.text(window.take(Self.list($0))) }
        #expect(found == news, "\(what)")
    }

    @Test func `a window remembers a bounded number of segments, and a name is the last part of a path`() {
        var window = LiveWindow()
        for number in 0..<500 {
            let names = (number..<number + 3).map { "n\($0)" }.joined(separator: " ")
            #expect(window.take(Self.list("\(number): \(names)")) != nil)
        }
        let seen = (438..<502).map { LiveWindow.Seen($0, uri: "https://b.example/x/n\($0).ts#f", nanoseconds: 4) }
        #expect(window == LiveWindow(next: 502, first: 0, discontinuities: 0, seen: seen))
        #expect(LiveWindow.Seen(0, uri: "a.ts?b=/c.ts", nanoseconds: 4).name == "a.ts")
    }

    @Test func `a load waits for a target duration, or half of it, and ten without a change are too many`() {
        func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1_000_000_000)) }
        var pace = CapturePace(now: at(100))
        #expect(pace.isDue(at(100)))
        pace.begins(at(100))
        #expect(!pace.isDue(at(200)), "it is being loaded")
        pace.came(isChanged: true, targetDuration: 6, at(101))
        #expect(pace.due == at(106), "from the beginning of the load")
        pace.begins(at(106))
        pace.came(isChanged: false, targetDuration: 6, at(107))
        #expect(pace.due == at(109))
        pace.begins(at(109))
        pace.came(isChanged: false, targetDuration: 6, at(120))
        #expect(pace.due == at(120), "a slow load is followed by the next one")
        #expect(!pace.isStalled(at(160.9)) && pace.isStalled(at(161)))
        pace.begins(at(160))
        pace.came(isChanged: true, targetDuration: 0, at(160))
        #expect(pace.due == at(161) && !pace.isStalled(at(169)) && pace.isStalled(at(170)), "at least a second")
        pace.begins(at(170))
        pace.cameDamaged(at(170))
        #expect(pace.due == at(170.5) && pace.isStalled(at(170)))
        pace.came(isChanged: true, targetDuration: 1_000_000, at(171))
        #expect(pace.due == at(290), "at most two minutes")
    }
}
