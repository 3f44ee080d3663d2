import LectureFormats
import LectureLive
import Testing

/// Rooms, keys and messages as the member API writes them.
struct WireTests {
    private func json(_ body: (inout JSONWriter) -> Void) throws -> JSONValue {
        try JSONScanner.scan(Array(JSONWriter.object(body).utf8))
    }

    @Test(arguments: VideoRoomState.allCases)
    func `a room is read as it was written`(state: VideoRoomState) throws {
        var room = VideoRoom(id: .init(Int64.max), state: state, title: "<b>\u{0}수학 \"1\"", channelID: 7)
        #expect(try VideoRoom(json { room.write(&$0) }) == room)
        (room.session, room.playURL, room.archiveURL) = (3, "https://live.example/room-42", "https://live.example/vod")
        room.liveStartedAt = Timestamp(milliseconds: 1_772_600_767_008)
        (room.liveEndedAt, room.archiveState) = (Timestamp(milliseconds: 1_772_600_999_001), .archived)
        #expect(try VideoRoom(json { room.write(&$0) }) == room)
        #expect(state.isFinal == [.ended, .cancelled].contains(state))
    }

    @Test(arguments: [
        "[]", "{}", #"{"id":1,"videoRoomState":"LIVE"}"#, #"{"id":-1,"videoRoomState":"LIVE","channel":{"id":1}}"#,
        #"{"id":1,"videoRoomState":"ON_AIR","channel":{"id":1}}"#,
        #"{"id":"1","videoRoomState":"LIVE","channel":{"id":1}}"#,
    ])
    func `what is no room is none`(text: String) throws {
        #expect(try VideoRoom(JSONScanner.scan(text)) == nil)
    }

    @Test func `the description in the vendor's documents is read`() throws {
        let text = #"""
            {"id":101,"uuid":"0d3a","state":"ACTIVE","type":"BROADCAST_RTMP","protocol":"RTMP",
            "videoRoomState":"LIVE_INACTIVE","vodState":"NOT_ARCHIVED","vodUrl":null,"accessLevel":"PUBLIC",
            "format":"CMAF",
            "app":{"id":1},"member":{"id":5},"channel":{"id":88,"channelState":"OPENED","name":"x"},"title":"Live",
            "policy":{"hasPassword":false},"lastSessionNo":2,"liveStartedAt":"2024-01-02T03:04:05.678Z",
            "liveEndedAt":null,"stats":{"totalMemberWhitelistCount":0},"playUrl":null}
            """#
        let room = try #require(try VideoRoom(JSONScanner.scan(text)))
        #expect(room.id == 101 && room.channelID == 88 && room.state == .inactive && room.session == 2)
        #expect(room.liveStartedAt.map(MomentText.utc) == "2024-01-02T03:04:05.678Z" && room.playURL == nil)
    }

    @Test(arguments: StreamKeyState.allCases)
    func `a stream key is read as it was written, and never described with its key`(state: StreamKeyState) throws {
        var key = StreamKey(id: 9, state: state, ingestURL: "rtmp://127.0.0.1:1935/live", key: "s3cret")
        key.room = VideoRoom(id: 1, state: .scheduled, title: "", channelID: 2)
        let read = try #require(try StreamKey(json { key.write(&$0) }))
        #expect(read.id == 9 && read.state == state && read.room == key.room && read.publishURL == key.publishURL)
        #expect(key.publishURL == "rtmp://127.0.0.1:1935/live/s3cret?mode=CMAF")
        #expect(!"\(key)".contains("s3cret") && !String(describing: read).contains("s3cret"))
        #expect(!String(reflecting: key).contains("s3cret"))
        #expect(Mirror(reflecting: key).children.map(\.label) == ["id", "state"])
        #expect(state.hasFeed == ![.inactive, .liveWithoutFeed].contains(state))
        #expect(
            try StreamKey(JSONScanner.scan(#"{"id":9,"streamKeyState":"ACTIVE","ingestUrl":"x","streamKey":""}"#))
                == nil)
    }

    @Test func `messages are read as they were written`() throws {
        var chat = LiveMessage(id: 1, channelID: 2, sentAt: Timestamp(milliseconds: 3), origin: .member)
        (chat.userID, chat.userName, chat.customType, chat.text) = ("kim", "김", "question", "a\u{1}\n</script>\u{7F}")
        var joined = LiveMessage(id: 2, channelID: 2, sentAt: Timestamp(milliseconds: 4), origin: .system)
        (joined.customType, joined.userID, joined.participants) = (LiveMessage.Word.joined, "kim", 200)
        var change = LiveMessage(id: 3, channelID: 2, sentAt: Timestamp(milliseconds: 5), origin: .system)
        change.customType = LiveMessage.Word.change
        change.change = .init(roomID: 4, state: .live, playURL: "https://live.example/4", keyState: .live)
        var hidden = LiveMessage(id: 4, channelID: 2, sentAt: Timestamp(milliseconds: 6), origin: .system)
        (hidden.customType, hidden.hiddenID) = (LiveMessage.Word.hidden, 1)
        let empty = LiveMessage(id: 5, channelID: 2, sentAt: Timestamp(milliseconds: 7), origin: .app)
        for message in [chat, joined, change, hidden, empty] {
            #expect(try LiveMessage(json { message.write(&$0) }) == message)
        }
        let left =
            #"{"messageId":1,"channelId":2,"sentAt":"2024-01-02T03:04:05Z","origin":"SYSTEM","customType":"LEFTED"}"#
        #expect(try LiveMessage(JSONScanner.scan(left))?.customType == LiveMessage.Word.left)
        for text in ["{}", left.replacing("SYSTEM", with: "ROBOT"), left.replacing("2024", with: "x")] {
            #expect(try LiveMessage(JSONScanner.scan(text)) == nil)
        }
    }

    @Test func `an event of the vendor's documents is a change of a room`() throws {
        let text = #"""
            {"messageId":71,"sentAt":"2024-01-02T03:04:05.678Z","origin":"SYSTEM","type":"SIGNAL",
            "deliveryType":"BROADCAST",
            "channelId":88,"customType":"CHANGE_DATA_CAPTURE","customData":{"type":"VIDEO_ROOM","videoRoomId":101,
            "videoRoomState":"LIVE","playUrl":"https://live.example/1.m3u8"}}
            """#
        let message = try #require(try LiveMessage(JSONScanner.scan(text)))
        #expect(message.change == .init(roomID: 101, state: .live, playURL: "https://live.example/1.m3u8"))
    }
}
