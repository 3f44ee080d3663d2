import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTestSupport
import LectureTransport
import LiveTestSupport
import Testing

/// Event streams over real connections, which are cut, refused, doubled and wrong.
@Suite(.timeLimit(.minutes(1)))
struct ChannelFeedTests {
    private static func first(_ feed: ChannelFeed, _ count: Int) async -> [ChannelFeed.Event] {
        var events: [ChannelFeed.Event] = []
        for await event in feed.events {
            events.append(event)
            if events.count == count { break }
        }
        feed.close()
        return events
    }

    private static func message(_ id: UInt64, _ text: String = "") -> LiveMessage {
        var message = LiveMessage(
            id: id, channelID: MemberServer.channelID, sentAt: Timestamp(milliseconds: 1_772_600_767_000),
            origin: .member)
        message.text = text
        return message
    }

    @Test func `two hundred messages over twenty cut connections: none lost, doubled or out of order`() async throws {
        let server = try MemberServer { request in
            request.name == "GET event-sources" && request.number % 3 == 0 ? .cutAfter(request.number % 8) : nil
        }
        try await Stand.with(server.address) { stand in
            let feed = stand.feed(after: 0)
            for batch in 0..<20 {
                // One that was only asked for would not be cut below, and then nothing else would be awaited.
                try await waitUntil { server.openedStreams > batch }
                for number in 1...10 {
                    // Some are left out of the stream, some come twice.
                    server.say("\(batch) \(number)", reaches: number % 7 != 0, times: number % 5 == 0 ? 2 : 1)
                }
                server.cutStreams()
            }
            #expect(await numbers(feed, to: 200) == Array(1...200))
            #expect(server.streamCount >= 20)
        }
    }

    @Test func `a stream that is cut at any byte loses nothing`() async throws {
        let events = (1...3 as ClosedRange<UInt64>).map {
            MemberServer.chunk(MemberServer.event(Self.message($0, "수학")))
        }
        let bytes = Array((MemberServer.streamHead + MemberServer.chunk(":\n\n") + events.joined() + "0\r\n\r\n").utf8)
        let cut = Guarded(0)
        let server = try MemberServer { request in
            guard request.name == "GET event-sources", request.number % 2 == 1 else { return nil }
            return .raw(Array(bytes.prefix(cut.withLock { $0 })))
        }
        for _ in 1...3 { server.say("수학") }
        try await Stand.with(server.address) { stand in
            for position in 0...bytes.count {
                cut.withLock { $0 = position }
                let feed = stand.feed(after: 0)
                // Whole events of the first connection, the rest of the second one.
                #expect(await numbers(feed, to: 3) == [1, 2, 3], "cut after \(position) bytes")
                // An even number of connections, so that the next position begins with a cut one.
                if server.streamCount % 2 == 1 { _ = await numbers(stand.feed(after: 2), to: 3) }
            }
        }
    }

    @Test func `a history that fails, loses its answers or is refused at first does not lose messages`() async throws {
        let server = try MemberServer { request in
            if request.name == "GET event-sources" { return request.number == 2 ? .status(503, "BUSY") : nil }
            guard request.name.contains("messages?") else { return nil }
            return switch request.number {
            case 1: .status(500, "INTERNAL_SERVER_ERROR")
            case 2: .losesAnswer
            case 3: .raw(Array("HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nfalse".utf8))
            default: nil
            }
        }
        try await Stand.with(server.address) { stand in
            let feed = stand.feed(after: 0)
            for number in 1...150 { server.say("\(number)", reaches: false) }
            server.say("seen")
            var iterator = feed.events.makeAsyncIterator()
            #expect(await iterator.next() == .opened)
            server.cutStreams()
            var seen: [UInt64] = []
            while seen.last != 151, let event = await iterator.next() {
                if case .messages(let messages) = event { seen += messages.map(\.id) }
            }
            #expect(seen == Array(1...151))
            feed.close()
        }
    }

    @Test func `without a last message a stream begins with what comes next`() async throws {
        let server = try MemberServer()
        for number in 1...30 { server.say("\(number)") }
        try await Stand.with(server.address) { stand in
            let feed = stand.feed()
            var iterator = feed.events.makeAsyncIterator()
            #expect(await iterator.next() == .opened)
            // Cut before a message has come: what is said meanwhile is not lost, what was said before does not come.
            server.cutStreams()
            server.say("next")
            #expect(await iterator.next() == .messages([server.messages[30]]))
            feed.close()
        }
    }

    @Test(
        arguments: [
            (.status(401, "EXPIRED_ACCESS_TOKEN"), .unauthorized), (.status(403, "NOT_JOINED"), .channelUnexpected),
            (.status(404, "CHANNEL_NOT_FOUND"), .channelUnexpected), (.status(500, "INTERNAL_SERVER_ERROR"), .server),
            (.hangUp, .server), (.raw(Array("HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}".utf8)), .channelUnexpected),
        ] as [(MemberServer.Fault, LiveFailure.Code)])
    func `a stream that never opens ends with a reason`(fault: MemberServer.Fault, code: LiveFailure.Code) async throws
    {
        let server = try MemberServer { _ in fault }
        try await Stand.with(server.address) { stand in
            var events: [ChannelFeed.Event] = []
            let feed = stand.feed(after: 0)
            for await event in feed.events { events.append(event) }
            feed.close()
            guard case .failed(let failure)? = events.first, events.count == 1 else {
                Issue.record("\(events)")
                return
            }
            #expect(failure.code == code && !"\(failure)".contains(MemberServer.token))
        }
    }

    @Test func `a token that expires ends the stream, whichever call meets it first`() async throws {
        for name in ["GET event-sources", "GET channels/70/messages?channelMessageId=0&sortBy=GREATER_THAN&limit=100"] {
            let server = try MemberServer { request in
                request.name == name && (request.number > 1 || !name.hasSuffix("sources"))
                    ? .status(401, "EXPIRED") : nil
            }
            try await Stand.with(server.address) { stand in
                let feed = stand.feed(after: 0)
                var events: [ChannelFeed.Event] = []
                for await event in feed.events {
                    events.append(event)
                    if event == .opened { server.cutStreams() }
                }
                let failures = events.compactMap { if case .failed(let failure) = $0 { failure.code } else { nil } }
                #expect(failures == [.unauthorized])
            }
        }
    }

    @Test func `events that are none are skipped, and one above a mebibyte comes from the history`() async throws {
        let large = String(repeating: "x", count: 1 << 20)
        let other = LiveMessage(id: 9, channelID: 1, sentAt: Timestamp(milliseconds: 0), origin: .app)
        let junk = [
            "data: {\n\n", "data: []\n\n", "data: {\"messageId\":1}\n\n", "event: ping\ndata: 1\n\n", "retry: 10\n\n",
            "data: \(JSONWriter.object { other.write(&$0) })\n\n",
        ]
        let server = try MemberServer { request in
            guard request.name == "GET event-sources", request.number == 1 else { return nil }
            let text = junk.map(MemberServer.chunk).joined() + MemberServer.chunk("data: \(large)\n\n")
            return .raw(Array((MemberServer.streamHead + text).utf8))
        }
        // Just below the limit of an event, and above it.
        server.say(String(large.dropLast(1000)))
        server.say(large)
        server.say("small")
        try await Stand.with(server.address) { stand in
            let events = await Self.first(stand.feed(after: 0), 3)
            let texts = events.flatMap { event -> [Int] in
                if case .messages(let messages) = event { messages.map(\.text.utf8.count) } else { [] }
            }
            #expect(events.first == .opened && Array(texts.prefix(3)) == [(1 << 20) - 1000, 1 << 20, 5])
        }
    }

    @Test func `a stream without a byte is given up and opened again`() async throws {
        let server = try MemberServer { request in
            request.name == "GET event-sources" && request.number == 1 ? .silence : nil
        }
        server.say("1")
        try await Stand.with(server.address) { stand in
            let feed = stand.feed(after: 0, inactivity: .milliseconds(1100))
            #expect(await numbers(feed, to: 1) == [1])
        }
    }

    @Test func `closing ends the events and the connection`() async throws {
        let server = try MemberServer()
        try await Stand.with(server.address) { stand in
            let feed = stand.feed(after: 0)
            #expect(await Self.first(feed, 1) == [.opened])
            for await _ in feed.events { Issue.record("nothing follows") }
            try await waitUntil { await stand.transport.statistics().running == 0 }
        }
    }

    @Test(arguments: [Duration.zero, .seconds(1), .seconds(120)])
    func `a stream that was lost is given up when its reader has no more patience`(patience: Duration) async throws {
        let requests = Guarded(0)
        let server = try RawServer { peer in
            let head = peer.readHead()
            let isStream = head.contains("event-sources")
            let count = requests.withLock { requests in
                if isStream { requests += 1 }
                return requests
            }
            let answer =
                isStream && count == 1
                ? "200 OK\r\nContent-Type: text/event-stream" : "503 Busy\r\nContent-Length: 0"
            peer.send("HTTP/1.1 \(answer)\r\nConnection: close\r\n\r\n")
        }
        try await Stand.with(server.http) { stand in
            let start = stand.time.clock.boot()
            var events: [ChannelFeed.Event] = []
            let feed = stand.feed(patience: patience)
            for await event in feed.events { events.append(event) }
            #expect(events.count == 2 && events.first == .opened)
            guard case .failed(let failure) = events.last else { return #expect(Bool(false), "\(events)") }
            #expect(failure.code == .server && failure.isUnavailable)
            #expect(failure.message.contains("was lost, and has not come back for \(patience.components.seconds) s"))
            #expect(stand.time.clock.boot() - start >= patience)
        }
        #expect(requests.withLock { $0 } >= (patience == .zero ? 1 : 2))
    }
}
