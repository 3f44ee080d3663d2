import LectureFormats
package import LectureLive
import LectureModel
import LectureTestSupport

/// A server with the member API on 127.0.0.1, for one member with one room: real HTTP, in the memory of the test.
///
/// It keeps the rules that a client meets: a room starts with an active key, ends without a feed, changes are messages
/// of its channel, the event stream goes on after `Last-Event-ID`. What it does wrong is decided by the test.
public final class MemberServer: Sendable {
    /// A request.
    public struct Request: Sendable {
        /// `GET video-rooms/7`: the method, and the path after `/v2/members/me/`.
        public var name: String
        /// Header fields by their lower-cased names.
        public var fields: [String: String]
        /// The body.
        public var body: [UInt8]
        /// The number of this kind of request, from 1.
        public var number: Int
    }

    /// What a request gets in place of its answer.
    public enum Fault: Sendable {
        /// A refusal.
        case status(Int, String)
        /// Nothing: the connection ends before the request has any effect.
        case hangUp
        /// Nothing: the request has its effect, and the answer is lost.
        case losesAnswer
        /// These bytes.
        case raw([UInt8])
        /// An event stream that is open and silent.
        case silence
        /// An event stream that ends after so many events.
        case cutAfter(Int)
    }

    private struct Stream {
        let peer: Peer
        var rest: Int
    }

    private struct State {
        var room: VideoRoom?
        var keyState = StreamKeyState.inactive
        var messages: [LiveMessage] = []
        var streams: [Stream] = []
        var counts: [String: Int] = [:]
        var log: [String] = []
        var feeds = 1
        var openedStreams = 0
    }

    /// The token that is valid.
    public static let token = "t0k3n-of-kim"
    /// The stream key.
    public static let key = "s3cr3t-k3y"
    /// The room that is created.
    public static let roomID: UInt64 = 7
    /// Its channel.
    public static let channelID: UInt64 = 70

    private let state = Guarded(State())
    private let fault: @Sendable (Request) -> Fault?
    private let listener = Guarded<RawServer?>(nil)

    /// Starts a server.
    ///
    /// - Parameter fault: what a request gets in place of its answer; nil for its answer.
    /// - Throws: when the system has no port.
    public init(_ fault: @escaping @Sendable (Request) -> Fault? = { _ in nil }) throws {
        self.fault = fault
        let server = try RawServer { [weak self] peer in
            while let self, let request = self.read(peer), self.answer(request, peer) {}
        }
        listener.withLock { $0 = server }
    }

    /// `http://127.0.0.1:PORT`.
    public var address: String { listener.withLock { $0?.http ?? "" } }
    /// The requests so far, without those of the event stream.
    public var log: [String] { state.withLock { $0.log } }
    /// How many event streams were asked for.
    public var streamCount: Int { state.withLock { $0.counts["GET event-sources"] ?? 0 } }
    /// How many streams get, or got, what is said: ``cutStreams()`` ends them all.
    package var openedStreams: Int { state.withLock { $0.openedStreams } }
    /// The room.
    package var room: VideoRoom? { state.withLock { $0.room } }
    /// The messages so far.
    package var messages: [LiveMessage] { state.withLock { $0.messages } }

    // MARK: What happens on the server

    /// A member says something.
    public func say(_ text: String, reaches isSent: Bool = true, times: Int = 1) {
        state.withLock { state in
            var message = Self.message(&state, .member)
            (message.text, message.userID, message.userName) = (text, "lee", "Lee")
            Self.post(message, &state, times: isSent ? times : 0)
        }
    }

    /// There is a room already.
    package func openRoom(_ room: VideoRoomState, playURL: String? = nil, key: StreamKeyState = .inactive) {
        state.withLock { state in
            var made = VideoRoom(id: Self.roomID, state: room, title: "made before", channelID: Self.channelID)
            made.playURL = playURL
            (state.room, state.keyState) = (made, key)
        }
    }

    /// There is a room that can be watched; over RTMP as well, if wanted.
    public func openLiveRoom(rtmp hasRTMP: Bool = false) {
        openRoom(.live, playURL: "http://127.0.0.1/live-1", key: .live)
        if hasRTMP { state.withLock { $0.room?.rtmpPlayURL = Self.rtmp(1) } }
    }

    private static func rtmp(_ feed: Int) -> String { "rtmp://127.0.0.1/egress/live-\(feed)?signature=\(feed)" }

    /// Whether the room has ended.
    public var hasEnded: Bool { state.withLock { $0.room?.state == .ended } }

    /// A feed arrives, and can be watched at once.
    public func feedBegan() {
        state.withLock { state in
            state.keyState = state.room?.state == .inactive ? .live : .active
            if state.room?.state == .inactive {
                state.feeds += 1
                state.room?.state = .live
                state.room?.playURL = "http://127.0.0.1/live-\(state.feeds)"
                if state.room?.rtmpPlayURL != nil { state.room?.rtmpPlayURL = Self.rtmp(state.feeds) }
            }
            Self.postChange(&state)
        }
    }

    /// The feed has ended.
    public func feedEnded() {
        state.withLock { state in
            state.keyState = state.room?.state == .live ? .liveWithoutFeed : .inactive
            if state.room?.state == .live { state.room?.state = .inactive }
            Self.postChange(&state)
        }
    }

    /// The room is ended, by another program.
    public func endRoom() {
        state.withLock { state in
            state.room?.state = .ended
            state.keyState = .inactive
            Self.postChange(&state)
        }
    }

    /// All event streams end.
    public func cutStreams() {
        state.withLock { state in
            for stream in state.streams { stream.peer.hangUp() }
            state.streams = []
        }
    }

    private static func message(_ state: inout State, _ origin: LiveMessage.Origin) -> LiveMessage {
        let id = UInt64(state.messages.count + 1)
        return LiveMessage(
            id: id, channelID: channelID, sentAt: Timestamp(milliseconds: 1_772_600_767_000 + Int64(id)), origin: origin
        )
    }

    private static func postChange(_ state: inout State) {
        guard let room = state.room else { return }
        var message = message(&state, .system)
        message.customType = LiveMessage.Word.change
        message.change = .init(roomID: room.id, state: room.state, playURL: room.playURL, keyState: state.keyState)
        post(message, &state)
    }

    private static func post(_ message: LiveMessage, _ state: inout State, times: Int = 1) {
        state.messages.append(message)
        for _ in 0..<times {
            for index in state.streams.indices { send(message, &state.streams[index]) }
        }
        state.streams.removeAll { $0.rest == 0 }
    }

    private static func send(_ message: LiveMessage, _ stream: inout Stream) {
        guard stream.rest > 0 else { return }
        stream.peer.send(chunk(event(message)))
        stream.rest -= 1
        if stream.rest == 0 { stream.peer.hangUp() }
    }

    // MARK: The wire

    /// An event, as the server writes it.
    package static func event(_ message: LiveMessage) -> String {
        "id: \(message.id)\ndata: \(JSONWriter.object { message.write(&$0) })\n\n"
    }

    /// A chunk of a body (RFC 9112 section 7.1).
    public static func chunk(_ text: String) -> String {
        "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n"
    }

    /// The head of an event stream.
    public static let streamHead =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    private func read(_ peer: Peer) -> Request? {
        let lines = peer.readHead().split(separator: "\r\n")
        guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            fields[line[..<colon].lowercased()] = String(line[colon...].dropFirst().drop { $0 == " " })
        }
        var body: [UInt8] = []
        let length = fields["content-length"].flatMap(Int.init) ?? 0
        while body.count < length {
            let more = peer.read(length - body.count)
            if more.isEmpty { return nil }
            body += more
        }
        let name = "\(words[0]) \(words[1].replacing("/v2/members/me/", with: ""))"
        let number = state.withLock { state in
            state.counts[name, default: 0] += 1
            if !name.hasSuffix("event-sources") { state.log.append(name) }
            return state.counts[name] ?? 0
        }
        return Request(name: name, fields: fields, body: body, number: number)
    }

    /// Answers a request; false when the connection is over.
    private func answer(_ request: Request, _ peer: Peer) -> Bool {
        let fault = fault(request)
        switch fault {
        case .hangUp: return false
        case .raw(let bytes):
            peer.send(bytes)
            return false
        case .silence:
            peer.send(Self.streamHead)
            peer.waitForEnd()
            return false
        case .status(let status, let word):
            return respond(peer, status, #"{"errorCode":"\#(word)","errorMessage":"about \#(Self.token)"}"#)
        case .losesAnswer, .cutAfter, nil: break
        }
        guard request.fields["authorization"] == "Bearer \(Self.token)" else {
            return respond(peer, 401, #"{"errorCode":"INVALID_ACCESS_TOKEN","errorMessage":""}"#)
        }
        if request.name == "GET event-sources" {
            var rest = Int.max
            if case .cutAfter(let count) = fault { rest = count }
            return stream(request, peer, rest)
        }
        let (status, text) = state.withLock { Self.work(request, &$0) }
        if case .losesAnswer = fault { return false }
        return respond(peer, status, text)
    }

    private func respond(_ peer: Peer, _ status: Int, _ text: String) -> Bool {
        peer.send(
            "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
        )
    }

    private func stream(_ request: Request, _ peer: Peer, _ limit: Int) -> Bool {
        state.withLock { state in
            peer.send(Self.streamHead + Self.chunk(": hello\n\n"))
            var stream = Stream(peer: peer, rest: limit)
            if limit == 0 { peer.hangUp() }
            // The position is `CHANNEL-MESSAGE` of a client, or the plain number of this server.
            let position = request.fields["last-event-id"].flatMap { $0.split(separator: "-").last }
            let last = position.flatMap { UInt64($0) } ?? UInt64(state.messages.count)
            for message in state.messages where message.id > last { Self.send(message, &stream) }
            if stream.rest > 0 { state.streams.append(stream) }
            state.openedStreams += 1
        }
        peer.waitForEnd()
        return false
    }

    private static func work(_ request: Request, _ state: inout State) -> (Int, String) {
        let (path, query) = split(request.name)
        switch path {
        case "GET stream-key":
            var key = StreamKey(id: 1, state: state.keyState, ingestURL: "rtmp://127.0.0.1/live", key: key)
            key.room = state.room.flatMap { $0.state.isFinal ? nil : $0 }
            return (200, JSONWriter.object { key.write(&$0) })
        case "POST video-rooms":
            let title = (try? JSONScanner.scan(request.body))?["title"]?.string ?? ""
            state.room = VideoRoom(id: roomID, state: .scheduled, title: title, channelID: channelID)
            return (201, text(of: state.room))
        case "GET video-rooms":
            return (200, #"{"content":[\#(text(of: state.room)),{"id":"?"}],"last":true}"#)
        case "GET video-rooms/7": return (200, text(of: state.room))
        case "POST video-rooms/7/start":
            guard state.keyState == .active else { return (400, #"{"errorCode":"STREAM_KEY_STATE_NOT_ACTIVE"}"#) }
            state.room?.state = .live
            state.keyState = .live
            state.room?.playURL = "http://127.0.0.1/live-1"
            postChange(&state)
            return (200, text(of: state.room))
        case "POST video-rooms/7/end":
            guard state.keyState == .liveWithoutFeed else {
                return (400, #"{"errorCode":"VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE"}"#)
            }
            state.room?.state = .ended
            state.keyState = .inactive
            postChange(&state)
            return (204, "")
        case "POST video-rooms/7/channel/join", "POST video-rooms/7/channel/leave":
            var message = message(&state, .system)
            message.customType = path.hasSuffix("join") ? LiveMessage.Word.joined : LiveMessage.Word.left
            (message.userID, message.userName, message.participants) = ("kim", "Kim", path.hasSuffix("join") ? 1 : 0)
            post(message, &state)
            return (200, "{}")
        case "POST channels/70/messages":
            guard let text = (try? JSONScanner.scan(request.body))?["message"]?.string, !text.isEmpty else {
                return (400, #"{"errorCode":"EMPTY_MESSAGE"}"#)
            }
            var message = message(&state, .member)
            (message.text, message.userID, message.userName) = (text, "kim", "Kim")
            message.customType = (try? JSONScanner.scan(request.body))?["customType"]?.string ?? ""
            post(message, &state)
            return (201, JSONWriter.object { message.write(&$0) })
        case "GET channels/70/messages": return (200, history(query, state))
        default: return (404, #"{"errorCode":"VIDEO_ROOM_NOT_FOUND"}"#)
        }
    }

    private static func history(_ query: [Substring: Substring], _ state: State) -> String {
        let limit = query["limit"].flatMap { Int($0) } ?? 100
        let after = query["channelMessageId"].flatMap { UInt64($0) }
        let page =
            after.map { id in state.messages.filter { $0.id > id }.prefix(limit) } ?? state.messages.suffix(limit)
        return "[\(page.map { one in JSONWriter.object { one.write(&$0) } }.joined(separator: ","))]"
    }

    private static func text(of room: VideoRoom?) -> String {
        room.map { room in JSONWriter.object { room.write(&$0) } } ?? "{}"
    }

    private static func split(_ name: String) -> (String, [Substring: Substring]) {
        let parts = name.split(separator: "?", maxSplits: 1)
        var query: [Substring: Substring] = [:]
        for item in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = item.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { query[pair[0]] = pair[1] }
        }
        return (String(parts[0]), query)
    }
}
