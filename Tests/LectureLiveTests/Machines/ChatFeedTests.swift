import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

/// Messages in order, each once.
struct ChatFeedTests {
    private static func message(_ id: UInt64) -> LiveMessage {
        LiveMessage(id: id, channelID: 1, sentAt: Timestamp(milliseconds: Int64(id)), origin: .member)
    }
    private static func messages(_ ids: some Sequence<UInt64>) -> [LiveMessage] { ids.map(message) }
    private static let now = BootInstant(nanoseconds: 0)

    private static func text(_ outputs: [ChatFeed.Output]) -> [String] {
        outputs.map { output in
            switch output {
            case .connect(let id): "connect \(id ?? "-")"
            case .wait(let until): "wait \(until.nanoseconds / 1_000_000)"
            case .readHistory(let id): "read \(id)"
            case .readNewest: "newest"
            case .deliver(let messages): messages.map { "\($0.id)" }.joined(separator: " ")
            case .skipped(let range): "skipped \(range.lowerBound)-\(range.upperBound)"
            }
        }
    }

    private static func open(after id: UInt64?) -> ChatFeed {
        var feed = ChatFeed(after: id)
        _ = feed.opened(now: now)
        return feed
    }

    @Test func `messages in order are delivered as they come, doubles are dropped`() {
        var feed = Self.open(after: 4)
        var other = feed
        #expect(other.begin() == [.connect(lastEventID: "4")])
        let log = [5, 5, 6, 4, 1, 0, 7].map { Self.text(feed.received(Self.message($0))) }
        #expect(log == [["5"], [], ["6"], [], [], [], ["7"]] && feed.lastID == 7)
    }

    @Test func `a gap is filled from the history before anything behind it is delivered`() {
        var feed = Self.open(after: 1)
        #expect(Self.text(feed.received(Self.message(5))) == ["read 1"])
        #expect(Self.text(feed.received(Self.message(6))) == [])
        #expect(Self.text(feed.received(Self.message(3))) == [])
        // The answer may overlap with what has come.
        #expect(Self.text(feed.read(Self.messages([4, 2, 5, 3]), isEnd: true)) == ["2 3 4 5 6"])
        // What the server no longer has is skipped, and reported.
        #expect(Self.text(feed.received(Self.message(10))) == ["read 6"])
        #expect(Self.text(feed.read(Self.messages([9]), isEnd: true)) == ["skipped 7-8", "9 10"])
        #expect(Self.text(feed.received(Self.message(12))) == ["read 10"])
        #expect(Self.text(feed.read([], isEnd: false)) == ["skipped 11-11", "12"])
        // A gap that came up after the question is not answered by it.
        #expect(Self.text(feed.received(Self.message(14))) == ["read 12"])
        #expect(Self.text(feed.received(Self.message(20))) == [])
        #expect(Self.text(feed.read(Self.messages([13, 14]), isEnd: true)) == ["13 14", "read 14"])
        #expect(Self.text(feed.read(Self.messages(15...19), isEnd: true)) == ["15 16 17 18 19 20"])
    }

    @Test func `a long history is read page by page`() {
        var feed = Self.open(after: 0)
        #expect(Self.text(feed.received(Self.message(250))) == ["read 0"])
        #expect(Self.text(feed.read(Self.messages(1...100), isEnd: false)).last == "read 100")
        #expect(Self.text(feed.read(Self.messages(101...200), isEnd: false)).last == "read 200")
        #expect(Self.text(feed.read(Self.messages(201...249), isEnd: true)).count == 1)
        #expect(feed.lastID == 250)
    }

    @Test func `without a place to begin the newest message is it, before the first connection`() {
        for (newest, id) in [([], "0"), ([40], "40"), ([7, 9, 8], "9")] as [([UInt64], String)] {
            var feed = ChatFeed()
            #expect(Self.text(feed.begin()) == ["newest"])
            #expect(Self.text(feed.read(Self.messages(newest), isEnd: true)) == ["connect \(id)"])
            #expect(feed.opened(now: Self.now) == [])
            let next = (newest.max() ?? 0) + 1
            #expect(Self.text(feed.received(Self.message(next))) == ["\(next)"])
        }
        // It cannot be read: what comes first is the beginning.
        var feed = ChatFeed()
        _ = feed.begin()
        #expect(Self.text(feed.readFailed(now: Self.now, random: 0)) == ["connect -"])
        #expect(feed.opened(now: Self.now) == [])
        #expect(Self.text(feed.received(Self.message(9))) == ["9"] && feed.lastID == 9)
        #expect(Self.text(feed.lost(now: Self.now, random: 0)) == ["wait 0"])
        #expect(Self.text(feed.timePassed(now: Self.now)) == ["connect 9"])
    }

    @Test func `connections are repeated with growing waits, and the history is read after each`() {
        var feed = Self.open(after: 3)
        for milliseconds in [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] {
            #expect(Self.text(feed.lost(now: Self.now, random: .max)) == ["wait \(milliseconds)"])
        }
        #expect(Self.text(feed.timePassed(now: Self.now)) == ["wait 30000"])
        #expect(Self.text(feed.timePassed(now: Self.now + .seconds(30))) == ["connect 3"])
        #expect(feed.timePassed(now: Self.now + .seconds(60)) == [])
        #expect(Self.text(feed.opened(now: Self.now)) == ["read 3"])
        // Only a message, or a connection that lasts, is progress.
        var steady = feed
        #expect(Self.text(feed.lost(now: Self.now, random: .max)) == ["wait 30000"])
        #expect(Self.text(steady.lost(now: Self.now + .seconds(30), random: .max)) == ["wait 30500"])
        _ = feed.opened(now: Self.now)
        _ = feed.received(Self.message(4))
        #expect(Self.text(feed.lost(now: Self.now, random: .max)) == ["wait 500"])
        // The server asks for a wait of its own, at most 30 s.
        for (asked, wait) in [(2, 2000), (900, 30_000), (-1, 500)] {
            var feed = Self.open(after: 3)
            feed.setServerWait(.seconds(asked))
            #expect(Self.text(feed.lost(now: Self.now, random: .max)) == ["wait \(wait)"])
        }
    }

    @Test func `a history that cannot be read is asked for later, with the next connection at the latest`() {
        var feed = Self.open(after: 1)
        #expect(Self.text(feed.received(Self.message(3))) == ["read 1"])
        #expect(Self.text(feed.readFailed(now: Self.now, random: .max)) == ["wait 500"])
        #expect(Self.text(feed.received(Self.message(4))) == [])
        #expect(Self.text(feed.timePassed(now: Self.now + .seconds(1))) == ["read 1"])
        #expect(Self.text(feed.lost(now: Self.now, random: .max)).count == 1)
        #expect(Self.text(feed.readFailed(now: Self.now, random: .max)) == [])
        #expect(Self.text(feed.timePassed(now: Self.now + .seconds(9))) == ["connect 1", "read 1"])
        #expect(Self.text(feed.opened(now: Self.now)) == [])
        #expect(Self.text(feed.read(Self.messages([2]), isEnd: true)) == ["2 3 4", "read 4"])
        #expect(Self.text(feed.read([], isEnd: true)) == [])
    }

    @Test func `a flood behind a gap does not grow the memory, and nothing of it is lost`() {
        var feed = Self.open(after: 0)
        var delivered: [UInt64] = []
        var questions: [UInt64] = []
        func take(_ outputs: [ChatFeed.Output]) {
            for output in outputs {
                if case .deliver(let messages) = output { delivered += messages.map(\.id) }
                if case .readHistory(let id) = output { questions.append(id) }
            }
        }
        for id in 2...3000 as ClosedRange<UInt64> { take(feed.received(Self.message(id))) }
        while let after = questions.popLast() {
            let page = Array((after + 1...after + 100).prefix { $0 <= 3000 })
            take(feed.read(Self.messages(page), isEnd: page.count < 100))
        }
        #expect(delivered == Array(1...3000))
    }

    /// A server that numbers messages, and a stream that is cut, doubles, and leaves out.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `nothing is lost, doubled or out of order on a bad stream`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var feed = ChatFeed(after: 0)
        var (sent, delivered, now): (UInt64, [UInt64], BootInstant) = (0, [], Self.now)
        var (isOpen, work): (Bool, [ChatFeed.Output]) = (false, feed.begin())
        func run(_ outputs: [ChatFeed.Output]) {
            for output in outputs {
                if case .deliver(let messages) = output { delivered += messages.map(\.id) } else { work.append(output) }
            }
        }
        var steps = 0
        while delivered.count < 300, steps < 20_000 {
            steps += 1
            if sent < 300, Int.random(in: 0..<3, using: &random) == 0 {
                sent += 1
                // Left out by the stream sometimes; doubled sometimes.
                let copies = isOpen ? [0, 1, 1, 1, 2].randomElement(using: &random) ?? 1 : 0
                for _ in 0..<copies { run(feed.received(Self.message(sent))) }
            }
            if isOpen, Int.random(in: 0..<15, using: &random) == 0 {
                isOpen = false
                run(feed.lost(now: now, random: random.next()))
            }
            guard !work.isEmpty else {
                // A channel that is quiet shows a gap at its end with the next connection only.
                if sent == 300, isOpen {
                    isOpen = false
                    run(feed.lost(now: now, random: random.next()))
                }
                continue
            }
            switch work.removeFirst() {
            case .connect:
                isOpen = true
                run(feed.opened(now: now))
            case .wait(let until):
                now = max(now, until)
                run(feed.timePassed(now: now))
            case .readHistory(let after):
                if Bool.random(using: &random) {
                    run(feed.readFailed(now: now, random: random.next()))
                } else {
                    let page = Array((after + 1..<max(sent, after) + 1).prefix(10))
                    run(feed.read(Self.messages(page), isEnd: page.count < 10))
                }
            case .skipped, .readNewest, .deliver: Issue.record("a complete history has no holes")
            }
        }
        #expect(delivered == Array(1...300))
    }
}
