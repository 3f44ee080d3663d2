import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// The member API against a real HTTP server.
@Suite(.timeLimit(.minutes(1)))
struct MemberClientTests {
    private static func failure(_ body: () async throws -> Void) async -> LiveFailure? {
        do { try await body() } catch { return error as? LiveFailure }
        return nil
    }

    @Test func `a broadcast from its key to its end`() async throws {
        let server = try MemberServer()
        try await Stand.with(server.address) { stand in
            let client = stand.client
            let key = try await client.streamKey()
            #expect(key.key == MemberServer.key && key.state == .inactive && key.room == nil)
            let room = try await client.createRoom(title: "수학 \"1\"", scheduledAt: Timestamp(milliseconds: 0))
            #expect(room.id == 7 && room.title == "수학 \"1\"" && room.state == .scheduled && room.channelID == 70)
            try await client.join(7)
            server.feedBegan()
            try await client.start(7)
            #expect(try await client.room(7).state == .live)
            #expect(try await client.rooms(state: .live).rooms.map(\.id) == [7])
            try await client.send("안녕", customType: "greeting", channelID: 70)
            let early = await Self.failure { try await client.end(7) }
            #expect(early?.code == .roomEnd && early?.isTooEarly == true)
            server.feedEnded()
            try await client.leave(7)
            try await client.end(7)
            #expect(server.room?.state == .ended)
            let (messages, isEnd) = try await client.messages(channelID: 70, after: 1)
            #expect(isEnd && messages.first { !$0.text.isEmpty }?.text == "안녕")
            #expect(messages.map(\.id) == Array(2...UInt64(server.messages.count)))
            #expect(try await client.newestMessage(channelID: 70)?.id == UInt64(server.messages.count))
        }
        let expected = [
            "GET stream-key", "POST video-rooms", "POST video-rooms/7/channel/join", "POST video-rooms/7/start",
            "GET video-rooms/7", "GET video-rooms?sortBy=CREATED_AT_DESC&page=0&pageSize=20&videoRoomState=LIVE",
            "POST channels/70/messages", "POST video-rooms/7/end", "POST video-rooms/7/channel/leave",
            "POST video-rooms/7/end", "GET channels/70/messages?channelMessageId=1&sortBy=GREATER_THAN&limit=100",
            "GET channels/70/messages?sortBy=CREATED_AT_DESC&limit=1",
        ]
        #expect(server.log == expected)
    }

    /// Each call, and its number.
    private static let calls: [(LiveFailure.Code, @Sendable (MemberClient) async throws -> Void)] = [
        (.streamKeyGet, { _ = try await $0.streamKey() }),
        (.roomCreate, { _ = try await $0.createRoom(title: "", scheduledAt: Timestamp(milliseconds: 0)) }),
        (.roomGet, { _ = try await $0.room(7) }), (.roomGet, { _ = try await $0.rooms() }),
        (.roomStart, { try await $0.start(7) }), (.roomEnd, { try await $0.end(7) }),
        (.roomJoin, { try await $0.join(7) }), (.roomLeave, { try await $0.leave(7) }),
        (.messageSend, { try await $0.send("x", channelID: 70) }),
        (.messagesGet, { _ = try await $0.messages(channelID: 70, after: 0) }),
        (.messagesGet, { _ = try await $0.newestMessage(channelID: 70) }),
    ]

    @Test(
        arguments: [
            (.status(500, "INTERNAL_SERVER_ERROR"), "INTERNAL_SERVER_ERROR"),
            (.status(404, "VIDEO_ROOM_NOT_FOUND"), "VIDEO_ROOM_NOT_FOUND"),
            (.status(400, "lower case is no word"), ""), (.hangUp, ""), (.losesAnswer, ""),
            (.raw(Array("HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".utf8)), ""),
            (.raw(Array("no HTTP\r\n\r\n".utf8)), ""),
            (.raw(Array("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{}".utf8)), ""),
        ] as [(MemberServer.Fault, String)])
    func `each call that fails has its number, and no token in its text`(fault: MemberServer.Fault, word: String)
        async throws
    {
        let server = try MemberServer { _ in fault }
        try await Stand.with(server.address) { stand in
            for (code, call) in Self.calls {
                let failure = await Self.failure { try await call(stand.client) }
                #expect(failure?.code == code && failure?.serverCode == word, "\(code)")
                #expect(failure.map { "\($0)".contains(MemberServer.token) } == false)
            }
        }
    }

    @Test func `a token that is refused has one number everywhere`() async throws {
        let server = try MemberServer()
        try await Stand.with(server.address, token: "another") { stand in
            for (_, call) in Self.calls {
                let failure = await Self.failure { try await call(stand.client) }
                #expect(failure?.code == .unauthorized && failure?.serverCode == "INVALID_ACCESS_TOKEN")
                #expect(
                    failure?.message.contains("another token") != true && "\(stand.client.server)" == server.address)
            }
            var dumped = ""
            dump(stand.client.server, to: &dumped)
            #expect(!dumped.contains("another"))
        }
    }

    @Test(arguments: ["[]", "{}", "null", "", "{", "\"a\"", #"{"id":1}"#, #"{"content":{}}"#, "\u{FEFF}[]"])
    func `an answer that is something else is a failure, never a value`(text: String) async throws {
        let answer = "HTTP/1.1 200 X\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
        let server = try MemberServer { _ in .raw(Array(answer.utf8)) }
        try await Stand.with(server.address) { stand in
            for (code, call) in Self.calls
            where ![.roomStart, .roomEnd, .roomJoin, .roomLeave, .messageSend].contains(code) {
                if text == "[]", code == .messagesGet { continue }
                #expect(await Self.failure { try await call(stand.client) }?.code == code, "\(code)")
            }
        }
    }

    @Test func `words of the server that mean something else have their own numbers`() async throws {
        let server = try MemberServer { request in
            switch request.name {
            case "GET stream-key": .status(404, "STREAM_KEY_NOT_FOUND")
            case "POST channels/70/messages": .status(400, "MESSAGE_TOO_LONG")
            default: nil
            }
        }
        try await Stand.with(server.address) { stand in
            #expect(await Self.failure { _ = try await stand.client.streamKey() }?.code == .noStreamKey)
            #expect(await Self.failure { try await stand.client.send("x", channelID: 70) }?.code == .invalidMessage)
        }
    }

    @Test func `an endless answer is refused, and a call ends with its task`() async throws {
        let endless = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 X\r\n\r\n")
            let bytes = [UInt8](repeating: 0x5B, count: 65_536)
            while peer.send(bytes) {}
        }
        let silent = try RawServer { $0.waitForEnd() }
        try await Stand.with(endless.http) { stand in
            let failure = await Self.failure { _ = try await stand.client.room(7) }
            #expect(failure?.code == .roomGet && failure?.message.contains("too large") == true)
        }
        try await Stand.with(silent.http) { stand in
            let call = Task { await Self.failure { _ = try await stand.client.room(7) } }
            call.cancel()
            #expect(await call.value?.message.contains("cancelled") == true)
        }
    }

    @Test(arguments: [
        "", "live.example", "ftp://live.example", "file:///etc/passwd", "http://", "http://kim:pw@live.example",
        "http://a b",
        "https://live.example/?a=1", "https://live.example/#a", "javascript://alert",
    ])
    func `only http and https addresses without a user are used`(address: String) {
        #expect(throws: LiveFailure.self) { try LiveServer(address: address, accessToken: "t") }
        do throws(LiveFailure) { _ = try LiveServer(address: address, accessToken: "t") } catch {
            #expect(error.code == .noServerAddress && !error.message.contains("pw"))
        }
    }

    @Test func `a path is kept, and a token that cannot be sent is refused`() throws {
        #expect(
            try LiveServer(address: "HTTPS://Live.example/api//", accessToken: "t").base == "https://Live.example/api")
        for token in ["", "a\r\nX: y", "a\u{0}"] {
            #expect(throws: LiveFailure.self) { try LiveServer(address: "http://a", accessToken: token) }
        }
    }
}
