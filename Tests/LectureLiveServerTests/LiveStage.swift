import Foundation
import Glibc
import LectureFormats
import LectureLive
import LectureLiveServer
import LectureModel
import LectureTestSupport

/// A failed expectation of the helpers.
struct StageFailure: Error, CustomStringConvertible {
    let description: String
}

/// An answer of the server.
struct LiveAnswer {
    var status = 0
    var head = ""
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONScanner.scan(body)) ?? .null }
    /// The code of an error.
    var code: String? { json["errorCode"]?.string }
}

/// A client on sockets of its own: one connection for each request.
struct LiveClient: Sendable {
    let port: Int
    var authorization: String?

    /// Sends a request, and reads the answer to its end.
    func call(
        _ method: String, _ path: String, _ body: String? = nil, fields: [String] = []
    ) async throws -> LiveAnswer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + fields
        if let authorization { lines.append("Authorization: \(authorization)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return try await exchange(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    }

    /// Sends bytes as they are.
    func exchange(_ text: String) async throws -> LiveAnswer {
        let answer = try await LocalHTTP.exchange(text, port: port)
        return LiveAnswer(status: answer.status, head: answer.head, body: answer.body)
    }

    /// As another who asks.
    func bearing(_ token: String) -> LiveClient { LiveClient(port: port, authorization: "Bearer \(token)") }
}

/// A member that has logged in.
struct StageMember: Sendable {
    let id: String
    let client: LiveClient
    let token: String
    let streamingToken: String

    func join(_ channel: Int) async throws -> LiveAnswer {
        try await client.call("POST", "/v2/members/me/video-rooms/\(channel)/channel/join")
    }

    func post(_ text: String, _ channel: Int = 1) async throws -> LiveAnswer {
        let body = JSONWriter.object { $0.member("message", text) }
        return try await client.call("POST", "/v2/members/me/channels/\(channel)/messages", body)
    }

    func createRoom(_ title: String = "Algebra") async throws -> Int {
        let body = JSONWriter.object { json in
            json.member("type", "BROADCAST_RTMP")
            json.member("title", title)
        }
        let answer = try await client.call("POST", "/v2/members/me/video-rooms", body)
        guard answer.status == 201, let id = answer.json["id"]?.integer else {
            throw StageFailure(description: answer.text)
        }
        return Int(id)
    }

    func room(_ id: Int) async throws -> JSONValue {
        try await client.call("GET", "/v2/members/me/video-rooms/\(id)").json
    }

    /// All messages of a channel, page by page.
    func history(_ channel: Int = 1) async throws -> [LiveMessage] {
        var all: [LiveMessage] = []
        while true {
            let answer = try await client.call(
                "GET", "/v2/members/me/channels/\(channel)/messages?channelMessageId=\(all.last?.id ?? 0)&limit=100")
            guard let page = answer.json["content"]?.elements else { throw StageFailure(description: answer.text) }
            all += page.compactMap { LiveMessage($0) }
            if answer.json["last"]?.bool == true { return all }
        }
    }

    func events(after lastID: String? = nil) throws -> EventClient {
        try EventClient(client, lastID: lastID)
    }
}

/// A clock that a test moves.
final class StageClock: Sendable {
    private let time = Guarded(Timestamp(milliseconds: 1_800_000_000_000))

    var now: Timestamp { time.withLock(\.self) }
    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// What a server reports, for tests that wait for it.
final class StageLog: Sendable {
    private struct State {
        var lines: [JSONValue] = []
        var waiters: [(event: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        func has(_ event: String, _ count: Int) -> Bool { of(event).count >= count }
        func of(_ event: String) -> [JSONValue] { lines.filter { $0["event"]?.string == event } }
    }

    private let state = Guarded(State())

    var log: LiveLog {
        LiveLog { [state] line in
            guard let value = try? JSONScanner.scan(Array(line.utf8)), line.hasSuffix("\n") else { return }
            let done = state.withLock { state in
                state.lines.append(value)
                let now = state
                state.waiters = now.waiters.filter { !now.has($0.event, $0.count) }
                return now.waiters.filter { now.has($0.event, $0.count) }
            }
            for waiter in done { waiter.continuation.resume() }
        }
    }

    var events: [String] { state.withLock(\.lines).compactMap { $0["event"]?.string } }
    var text: String { state.withLock(\.lines).map(\.text).joined(separator: "\n") }

    /// Waits until an event was reported so often.
    ///
    /// - Returns: its latest line.
    @discardableResult
    func wait(for event: String, count: Int = 1) async -> JSONValue {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.has(event, count) { return true }
                state.waiters.append((event, count, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
        return state.withLock { $0.of(event).last ?? .null }
    }
}

/// A server in this process, with a store of its own.
struct LiveStage {
    static let credentials = "academy:a secret of the academy".replacing(" ", with: "-")
    let directory: TemporaryDirectory
    let server: LiveServer
    let clock = StageClock()
    let application: LiveClient
    let log = StageLog()

    /// Starts a server; without nginx unless it is asked for, and with a new store unless another directory has one.
    init(
        media: Bool = false, in other: TemporaryDirectory? = nil, _ change: (inout LiveOptions) -> Void = { _ in }
    ) async throws {
        directory = try other ?? TemporaryDirectory.inMemory()
        guard let credentials = LiveCredentials(Self.credentials) else { throw StageFailure(description: "secret") }
        var options = LiveOptions(stateDirectory: directory.file("state"), credentials: credentials)
        (options.rtmpPort, options.nginx) = (media ? 0 : nil, try Places.command("nginx"))
        (options.chat.burst, options.fragment) = (10_000, .milliseconds(500))
        let clock = clock
        options.now = { clock.now }
        options.archives.joinProgram = Places.builtProduct("lecture-live-server")
        options.log = log.log
        change(&options)
        server = try await LiveServer.start(options)
        application = LiveClient(port: Int(server.port), authorization: Self.basic(Self.credentials))
    }

    static func basic(_ text: String) -> String { "Basic \(Data(text.utf8).base64EncodedString())" }

    /// Logs a member in.
    func member(_ id: String) async throws -> StageMember { try await Self.member(id, application) }

    static func member(_ id: String, _ application: LiveClient) async throws -> StageMember {
        let body = JSONWriter.object { $0.member("appUserId", id) }
        let answer = try await application.call("POST", "/v2/apps/me/members/login", body)
        guard let token = answer.json["accessToken"]?.string, let other = answer.json["streamingToken"]?.string else {
            throw StageFailure(description: "\(answer.status) \(answer.text)")
        }
        return StageMember(id: id, client: application.bearing(token), token: token, streamingToken: other)
    }
}

/// An open event stream, read on a thread of its own.
final class EventClient: Sendable {
    private struct State {
        var messages: [LiveMessage] = []
        var lastID: String
        var isOver = false
        var head = ""
        var waiters: [(test: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let peer: Peer
    private let state: Guarded<State>

    init(_ client: LiveClient, lastID: String?) throws {
        guard let peer = Peer.connected(to: client.port) else { throw StageFailure(description: "no server") }
        (self.peer, state) = (peer, Guarded(State(lastID: lastID ?? "")))
        let position = lastID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        peer.send(
            "GET /v2/members/me/event-sources HTTP/1.1\r\nHost: 127.0.0.1\r\n\(position)Authorization: "
                + "\(client.authorization ?? "")\r\n\r\n")
        let state = state
        Thread.detachNewThread { Self.follow(peer, state) }
    }

    deinit { peer.hangUp() }

    private static func follow(_ peer: Peer, _ state: Guarded<State>) {
        var reader = ServerSentEventReader(lastID: state.withLock(\.lastID))
        let head = peer.readHead()
        state.withLock { $0.head = head }
        var chunked: [UInt8] = []
        reading: while case let more = peer.read(1 << 16), !more.isEmpty {
            chunked += more
            // Whole chunks (RFC 9112, section 7.1).
            while let line = chunked.firstIndex(of: 0x0A) {
                let size = Int(String(decoding: chunked[..<line].dropLast(), as: UTF8.self), radix: 16) ?? 0
                if size == 0 { break reading }
                guard chunked.count >= line + 1 + size + 2 else { break }
                let events = reader.read(chunked[(line + 1)..<(line + 1 + size)]) ?? []
                chunked.removeFirst(line + 1 + size + 2)
                let messages = events.compactMap { event in
                    (try? JSONScanner.scan(event.data)).flatMap { LiveMessage($0) }
                }
                let lastID = reader.lastID
                state.withLock { state in
                    guard !state.isOver else { return }
                    state.messages += messages
                    state.lastID = lastID
                    wake(&state)
                }
            }
        }
        state.withLock { state in
            state.isOver = true
            wake(&state)
        }
        peer.close()
    }

    private static func wake(_ state: inout State) {
        let now = state
        let done = now.waiters.filter { now.isOver || $0.test(now) }
        state.waiters = now.waiters.filter { !(now.isOver || $0.test(now)) }
        for waiter in done { waiter.continuation.resume() }
    }

    var messages: [LiveMessage] { state.withLock(\.messages) }
    var isOver: Bool { state.withLock(\.isOver) }
    var head: String { state.withLock(\.head) }

    /// Waits until the messages so far pass a test, or the stream is over.
    @discardableResult
    func wait(until test: @escaping @Sendable ([LiveMessage]) -> Bool) async -> [LiveMessage] {
        await wait(for: { test($0.messages) })
        return messages
    }

    /// Waits until the server has said where the stream begins: what is sent after that is in it.
    ///
    /// - Returns: the position.
    func opened() async -> String {
        await wait(for: { !$0.lastID.isEmpty })
        return state.withLock(\.lastID)
    }

    private func wait(for test: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isOver || test(state) { return true }
                state.waiters.append((test, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Waits until a room changes to a state, from a message on.
    func change(
        to room: VideoRoomState, key: StreamKeyState? = nil, after number: UInt64 = 0
    ) async throws -> LiveMessage {
        let fits: @Sendable (LiveMessage) -> Bool = { message in
            message.id > number && message.change?.state == room && (key == nil || message.change?.keyState == key)
        }
        guard let found = await wait(until: { $0.contains(where: fits) }).first(where: fits) else {
            throw StageFailure(description: "the stream ended before \(room): \(messages.map(\.change))")
        }
        return found
    }

    /// Cuts the connection; nothing is added after that.
    func cut() -> (messages: [LiveMessage], lastID: String) {
        let result = state.withLock { state in
            state.isOver = true
            Self.wake(&state)
            return (state.messages, state.lastID)
        }
        peer.hangUp()
        return result
    }
}
