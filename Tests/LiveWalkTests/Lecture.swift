import Foundation
import LectureFiles
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureLiveMedia
import LectureLiveServer
import LectureModel
import LectureTestSupport
import LectureTransport

/// Something that a test needs and does not get.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// The program's own server, and clients of it: nothing stands in for anything.
final class Lecture: Sendable {
    private static let credentials = "academy:a-secret-of-the-academy"

    let server: LectureLiveServer.LiveServer
    let transport: CurlTransport
    let directory: TemporaryDirectory
    private let archived: AsyncStream<String>

    /// Starts the server, with nginx if there is a broadcast.
    init(hasMedia: Bool, _ change: (inout LiveOptions) -> Void = { _ in }) async throws {
        directory = try TemporaryDirectory.inMemory()
        guard let credentials = LiveCredentials(Self.credentials) else { throw Missing(description: "credentials") }
        var options = LiveOptions(stateDirectory: directory.file("state"), credentials: credentials)
        (options.rtmpPort, options.nginx) = (hasMedia ? 0 : nil, try Places.command("nginx"))
        (options.chat.burst, options.fragment) = (10_000, .milliseconds(500))
        let (lines, report) = AsyncStream.makeStream(of: String.self)
        options.log = LiveLog { report.yield($0) }
        options.archives.joinProgram = Places.builtProduct("lecture-live-server")
        archived = lines
        change(&options)
        server = try await LectureLiveServer.LiveServer.start(options)
        var configuration = TransportConfiguration()
        configuration.proxy = ""
        transport = try CurlTransport(configuration, clock: SystemClock())
    }

    /// Waits until a room was made a lecture, or could not be.
    func archive() async throws {
        for await line in archived {
            if line.contains("\"archived\"") { return }
            guard line.contains("\"archiving\"") else { throw Missing(description: line) }
        }
    }

    /// A request of the application's server, or of a member with a token, that has no answer to read.
    func call(_ method: String, _ path: String, _ body: String = "", token: String? = nil) async throws {
        let who = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? ["-u", Self.credentials]
        let ending = try await ChildProcess.run(
            "/usr/bin/curl", ["-sf", "--noproxy", "*", "-X", method, "-d", body] + who + ["\(address)\(path)"])
        guard ending.status == 0 else { throw Missing(description: "\(method) \(path): \(ending.status)") }
    }

    var address: String { "http://127.0.0.1:\(server.port)" }

    func stop() async throws {
        await transport.shutdown()
        await server.stop()
    }

    /// Logs a member in, as the server of an application does.
    func member(_ id: String) async throws -> MemberClient { try client(try await token(id)) }

    /// Logs a member in, and gives its access token.
    func token(_ id: String) async throws -> String {
        let body = JSONWriter.object { $0.member("appUserId", id) }
        let words = ["-sf", "-u", Self.credentials, "-d", body, "\(address)/v2/apps/me/members/login"]
        let answer = try JSONScanner.scan(Array(try await ChildProcess.run("/usr/bin/curl", words).output))
        guard let token = answer["accessToken"]?.string else { throw Missing(description: "token of \(id)") }
        return token
    }

    func client(_ token: String) throws -> MemberClient {
        let server = try LectureLiveClient.LiveServer(address: address, accessToken: token)
        return MemberClient(server, transport: transport)
    }
}

/// Decodes media for tests: on a thread of its own, since the server of the same process answers on those of Swift.
enum Decoded {
    /// The pictures of a file or a playlist.
    static func frames(_ path: String) async throws -> [FrameCounterReader.Frame] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FrameCounterReader(path).read().frames })
            }
        }
    }

    /// The numbers in them.
    static func counters(_ path: String) async throws -> [Int] { try await frames(path).compactMap(\.counter) }
}

/// What a member reads of a channel, in the order in which it comes.
final class Reading {
    private let feed: ChannelFeed
    private var events: AsyncStream<ChannelFeed.Event>.Iterator
    private(set) var messages: [LiveMessage] = []
    private var waiting: [LiveMessage] = []

    init(_ channel: UInt64, _ client: MemberClient) {
        let time = LiveTime(clock: SystemClock(), random: SystemRandom())
        feed = ChannelFeed(channel, client, after: 0, time: time)
        events = feed.events.makeAsyncIterator()
    }

    /// The next message that fits; those before it are kept as read.
    func next(where isRight: (LiveMessage) -> Bool) async throws -> LiveMessage {
        while true {
            while !waiting.isEmpty {
                let message = waiting.removeFirst()
                messages.append(message)
                if isRight(message) { return message }
            }
            switch await events.next(isolation: #isolation) {
            case .messages(let more): waiting += more
            case .opened: continue
            case .skipped(let range): throw Missing(description: "messages \(range)")
            case .failed(let failure): throw failure
            case nil: throw Missing(description: "further events")
            }
        }
    }

    /// Waits until the stream key of the host is in a state.
    func key(_ state: StreamKeyState) async throws {
        _ = try await next { $0.change?.keyState == state }
    }

    /// Waits until the room is in a state.
    func room(_ state: VideoRoomState) async throws {
        _ = try await next { $0.change?.state == state }
    }

    func close() { feed.close() }
}
