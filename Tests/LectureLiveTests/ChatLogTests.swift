import LectureFormats
import LectureTestSupport
import Testing

@testable import LectureLive

/// The chat of a recording: positions, the file, and replaying it.
struct ChatLogTests {
    private func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_764_320_400_000 + seconds * 1000) }

    private func entry(
        _ id: UInt64, _ position: Duration, _ name: String, _ text: String, user: String = "kim", word: String = "",
        origin: LiveMessage.Origin = .member
    ) -> ChatLog.Entry {
        ChatLog.Entry(
            id: id, position: position, sentAt: moment(Int64(id)), origin: origin, userID: user, userName: name,
            customType: word, text: text)
    }

    // MARK: Positions

    @Test(arguments: [
        (-5, 0), (0, 0), (7, 7000), (60, 60_000), (75, 60_000), (100, 60_000), (101, 61_000), (130, 90_000),
        (131, 90_000), (500, 90_000),
    ])
    func `moments of sessions follow each other, and pauses are cut`(second: Int64, milliseconds: Int64) {
        let timeline = BroadcastTimeline(parts: [
            .init(start: moment(0), duration: .seconds(60)), .init(start: moment(100), duration: .seconds(30)),
        ])
        #expect(timeline.position(of: moment(second)) == .milliseconds(milliseconds))
        #expect(timeline.duration == .seconds(90))
    }

    @Test func `without sessions everything is at the beginning`() {
        #expect(BroadcastTimeline(parts: []).position(of: moment(9)) == .zero)
        #expect(BroadcastTimeline(parts: []).duration == .zero)
    }

    @Test func `a clock that was set back gives the later session, and nothing beyond the end`() {
        let timeline = BroadcastTimeline(parts: [
            .init(start: moment(1000), duration: .seconds(60)), .init(start: moment(0), duration: .seconds(20)),
        ])
        #expect(timeline.position(of: moment(10)) == .seconds(70))
        #expect(timeline.position(of: moment(1010)) == .seconds(80))
    }

    // MARK: The file

    @Test func `a log is WebVTT with a cue for each message, in the order of the recording`() {
        let log = ChatLog(entries: [
            entry(7, .milliseconds(3_661_005), "Lee", "late", user: "lee"),
            entry(5, .milliseconds(62_345), "Kim <Lee>", "a < b\n\n& so on -->", word: "a question"),
            entry(6, .milliseconds(62_345), "", "Welcome", user: "", origin: .app),
        ])
        #expect(
            log.webVTT == """
                WEBVTT

                5 2025-11-28T09:00:05.000Z MEMBER kim a%20question
                00:01:02.345 --> 00:01:08.345
                <v Kim &lt;Lee&gt;>Kim &lt;Lee&gt;: a &lt; b
                \u{A0}
                &amp; so on --&gt;

                6 2025-11-28T09:00:06.000Z APP
                00:01:02.345 --> 00:01:08.345
                Welcome

                7 2025-11-28T09:00:07.000Z MEMBER lee
                01:01:01.005 --> 01:01:07.005
                <v Lee>Lee: late

                """)
    }

    @Test(arguments: [
        ("Kim", "plain"), ("", "nameless"), ("Kim", "Kim: says Kim: twice"), ("&amp;", "&lt;b&gt; & <i>x</i>"),
        ("<v Eve>", "<v Adam>"), ("김철수", "안녕하세요 👩‍👩‍👧‍👦"), ("Kim", "\u{301}combines"), ("\u{301}e", "mark"),
        ("Kim", "a\n\nb\n"), ("Kim", "tab\there"), ("Kim", "00:00:00.000 --> 00:00:01.000"), ("Kim", "NOTE"),
        ("Kim", "WEBVTT"), ("Kim", " leading"), ("a: b", "c: d"), ("Kim", "STYLE\n::cue { }"),
    ])
    func `what was said is read as it was written`(name: String, text: String) throws {
        let written = entry(3, .seconds(5), name, text, user: "kim@x 1%", word: "w/ö-->")
        #expect(try ChatLog(webVTT: ChatLog(entries: [written]).webVTT).entries == [written])
    }

    @Test(arguments: [
        ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\n\u{A0}", "a\n"), ("a\0b", "a\u{FFFD}b"), ("\r\n\r\n", "\n\n"),
    ])
    func `line ends, and what WebVTT has not, are written as it has them`(text: String, read: String) throws {
        let log = try ChatLog(webVTT: ChatLog(entries: [entry(1, .zero, "Kim", text)]).webVTT)
        #expect(log.entries.map(\.text) == [read])
    }

    @Test func `a name is one line`() throws {
        let log = try ChatLog(webVTT: ChatLog(entries: [entry(1, .zero, " Kim\n\nLee\r ", "x")]).webVTT)
        #expect(log.entries.map(\.userName) == ["Kim  Lee"])
    }

    @Test func `positions before the start are the start, and hours have as many digits as they need`() throws {
        let log = ChatLog(entries: [entry(1, .seconds(-3), "", "x"), entry(2, .seconds(360_000), "", "y")])
        let read = try ChatLog(webVTT: log.webVTT)
        #expect(read.entries.map(\.position) == [.zero, .seconds(360_000)])
        #expect(log.webVTT.contains("\n100:00:00.000 --> 100:00:06.000\n"))
    }

    @Test(arguments: ["", "WEBVT", "webvtt", "WEBVTTX\n", "\nWEBVTT", "1\n00:00:01,000 --> 00:00:02,000\nSubRip"])
    func `another file is refused`(text: String) {
        #expect(throws: ChatLog.Unreadable()) { try ChatLog(webVTT: text) }
        #expect(ChatLog.Unreadable().description == "The file of the chat is no WebVTT.")
    }

    @Test(arguments: ["WEBVTT", "\u{FEFF}WEBVTT\r\n\r\n", "WEBVTT - chat\n\n", "WEBVTT\tchat"])
    func `a file without messages is an empty log`(text: String) throws {
        #expect(try ChatLog(webVTT: text).entries == [])
    }

    @Test(arguments: [
        "1 2025-11-28T09:00:05Z MEMBER kim", "x", "NOTE a\nb\nc", "STYLE\n::cue {}\n",
        "x 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.000 --> 00:00:02.000\nnumber",
        "-1 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.000 --> 00:00:02.000\nnumber",
        "1 yesterday MEMBER kim\n00:00:01.000 --> 00:00:02.000\ntime",
        "1 2025-11-28T09:00:05Z ROOT kim\n00:00:01.000 --> 00:00:02.000\norigin",
        "1 2025-11-28T09:00:05Z SYSTEM kim\n00:00:01.000 --> 00:00:02.000\nthe service says nothing",
        "1 2025-11-28T09:00:05Z MEMBER kim a b\n00:00:01.000 --> 00:00:02.000\nwords",
        "1 2025-11-28T09:00:05Z MEMBER %4\n00:00:01.000 --> 00:00:02.000\nencoding",
        "1 2025-11-28T09:00:05Z MEMBER %zz\n00:00:01.000 --> 00:00:02.000\nencoding",
        "1 2025-11-28T09:00:05Z MEMBER %FF\n00:00:01.000 --> 00:00:02.000\nno UTF-8",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.000 -> 00:00:02.000\narrow",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:01.000 --> 00:02.000\nno hours",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:60:01.000 --> 00:61:00.000\nminutes",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:00:61.000 --> 00:00:62.000\nseconds",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.5 --> 00:00:02.000\nfraction",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:00:+1.000 --> 00:00:02.000\nsign",
        "1 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.000 --> 00:00:02.000",
    ])
    func `a cue of another form is left out, and the others are read`(block: String) throws {
        let text =
            "WEBVTT\n\n\(block)\n\n9 2025-11-28T09:00:05Z MEMBER kim\n00:00:03.000 --> 00:00:04.000 line:0\nread\n"
        let log = try ChatLog(webVTT: text)
        #expect(log.entries.map(\.text) == ["read"] && log.entries.map(\.position) == [.seconds(3)])
    }

    @Test func `any text can be read, and what was read is written again as it was`() throws {
        var random = SeededGenerator(seed: 18)
        let pieces = [
            "\n", "\n\n", " --> ", "00:00:01.000", "7 2025-11-28T09:00:05Z MEMBER kim", "<v ", ">", "&", "&amp;", "\r",
            "x", "\u{301}", "%41", "\0", "👍",
        ]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...14, using: &random)
            let body = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let log = try ChatLog(webVTT: "WEBVTT\n\n7 2025-11-28T09:00:05Z MEMBER kim\n00:00:01.000 --> x\n\(body)")
            let again = try ChatLog(webVTT: log.webVTT)
            #expect(again.webVTT == (try ChatLog(webVTT: again.webVTT)).webVTT, "\(body.debugDescription)")
        }
    }

    // MARK: Replaying

    private var log: ChatLog {
        ChatLog(entries: (1...9).map { entry($0, .seconds(Int64($0) / 3 * 10), "Kim", "\($0)") })
    }

    @Test func `a recording that plays on shows each message once`() {
        var replay = ChatReplay(log)
        var shown: [[String]] = []
        for second in [0, 5, 9, 10, 10, 19, 25, 40, 41] as [Int64] {
            shown.append(replay.moved(to: .seconds(second)).map(\.text))
        }
        #expect(shown == [["1", "2"], [], [], ["3", "4", "5"], [], [], ["6", "7", "8"], ["9"], []])
    }

    @Test func `a jump shows nothing of what is between, and what was before can be read`() {
        var replay = ChatReplay(log)
        #expect(replay.latest(5).isEmpty)
        replay.jumped(to: .seconds(29))
        #expect(replay.latest(3).map(\.text) == ["6", "7", "8"] && replay.latest(100).count == 8)
        #expect(replay.moved(to: .seconds(30)).map(\.text) == ["9"])
        replay.jumped(to: .seconds(10))
        #expect(replay.latest(2).map(\.text) == ["4", "5"] && replay.latest(-1).isEmpty)
        #expect(replay.moved(to: .seconds(20)).map(\.text) == ["6", "7", "8"])
        // Back without a jump, as a player reports a repeated part: nothing twice, and on from there.
        #expect(replay.moved(to: .zero).isEmpty)
        #expect(replay.moved(to: .seconds(10)).map(\.text) == ["3", "4", "5"])
    }

    @Test func `a recording without chat has nothing to show`() {
        var replay = ChatReplay(ChatLog(entries: []))
        #expect(replay.moved(to: .seconds(10)).isEmpty && replay.latest(10).isEmpty)
    }
}

/// Positions in recordings of any sessions.
struct BroadcastTimelineTests {
    private func timeline(_ random: inout SeededGenerator) -> BroadcastTimeline {
        var (clock, parts) = (Int64(1_764_320_400_000), [BroadcastTimeline.Part]())
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            clock += Int64.random(in: 0...600_000, using: &random)
            let length = 2 * Int64.random(in: 0...450_000, using: &random)
            parts.append(.init(start: Timestamp(milliseconds: clock), duration: .milliseconds(length)))
            clock += length
        }
        return BroadcastTimeline(parts: parts)
    }

    @Test func `positions never go back, stay in the recording, and pass each second of a session`() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            let timeline = timeline(&random)
            let moments = (0..<100).map { _ in
                Timestamp(milliseconds: 1_764_320_400_000 + Int64.random(in: -1_000_000...8_000_000, using: &random))
            }.sorted()
            let positions = moments.map { timeline.position(of: $0) }
            #expect(positions == positions.sorted(), "seed \(seed)")
            #expect(positions.allSatisfy { (.zero...timeline.duration).contains($0) }, "seed \(seed)")
            var before = Duration.zero
            for part in timeline.parts {
                #expect(timeline.position(of: part.start) >= before, "seed \(seed)")
                let middle = timeline.position(of: part.start + part.duration / 2)
                // A session of no length begins where the next one does.
                if part.duration > .zero { #expect(middle == before + part.duration / 2, "seed \(seed)") }
                before += part.duration
            }
            #expect(before == timeline.duration)
        }
    }

    @Test func `what is said in a pause is where the next session begins, before and after it has`() {
        let start = Timestamp(milliseconds: 1_764_320_400_000)
        let first = BroadcastTimeline.Part(start: start, duration: .seconds(60))
        let second = BroadcastTimeline.Part(start: start + .seconds(90), duration: .seconds(60))
        let moment = start + .seconds(75)
        #expect(BroadcastTimeline(parts: [first]).position(of: moment) == .seconds(60))
        #expect(BroadcastTimeline(parts: [first, second]).position(of: moment) == .seconds(60))
        #expect(BroadcastTimeline(parts: [first, second]).position(of: second.start) == .seconds(60))
        #expect(BroadcastTimeline(parts: [second]).position(of: moment) == .zero)
    }
}
