import FlipFlopLiteMedia
import FlipFlopLiteSDK
import Foundation
import LectureFormats
import LectureLiveMedia
import LectureLiveServer
import LectureModel
import LecturePlayer
import LectureTestSupport
import LiveTestSupport

/// The program's own server with nginx, a link to it that a test can make worse, and what an application's server does.
final class Stage: Sendable {
    private static let credentials = "academy:a-secret-of-the-academy"

    let server: LiveServer
    let link: SlowLink
    private let directory: TemporaryDirectory

    /// Starts the server. Without nginx nothing listens for feeds.
    init(hasMedia: Bool = true) async throws {
        directory = try TemporaryDirectory.inMemory()
        guard let credentials = LiveCredentials(Self.credentials) else { throw Missing("credentials") }
        let link = try SlowLink()
        var options = LiveOptions(stateDirectory: directory.file("state"), credentials: credentials)
        (options.rtmpPort, options.nginx) = (hasMedia ? 0 : nil, try Places.command("nginx"))
        let port = hasMedia ? link.port : try Places.freePort()
        (options.fragment, options.ingestURL) = (.milliseconds(500), "rtmp://127.0.0.1:\(port)/live")
        server = try await LiveServer.start(options)
        self.link = link
        link.forward(to: server.rtmpPort.map { Int($0) })
    }

    /// A configuration whose broadcaster sends small pictures that a loaded machine encodes in time.
    func config(_ front: BroadcastSource = .testPicture, _ back: BroadcastSource? = nil) -> FFLConfig {
        var sources = BroadcastFeed.Sources(front: front, back: back)
        sources.speed = .ultrafast
        var player = PlayerPicture.Options()
        (player.hasSound, player.environment) = (false, [:])
        return FFLConfig(serverAddr: server.url).withMedia(sources, player: player)
    }

    /// 640 × 360, 15 pictures a second.
    static func settings(bitrate: Int = 600_000, adaptive: Bool = false) -> FFStreamerConfig {
        let config = FFStreamerConfig()
        (config.preset, config.fps, config.keyFrameInterval) = (.hd640x360, 15, 1)
        (config.videoBitrate, config.adaptiveBitrate) = (bitrate, adaptive)
        return config
    }

    private func ask(_ words: [String]) async throws -> JSONValue {
        let answer = try await ChildProcess.run("/usr/bin/curl", ["-sf", "--noproxy", "*"] + words)
        return try JSONScanner.scan(Array(answer.output))
    }

    /// Logs a member in.
    func token(_ member: String) async throws -> String {
        let body = JSONWriter.object { $0.member("appUserId", member) }
        let words = ["-u", Self.credentials, "-d", body, "\(server.url)/v2/apps/me/members/login"]
        guard let token = try await ask(words)["accessToken"]?.string else { throw Missing("token of \(member)") }
        return token
    }

    /// A room as a member sees it.
    func room(
        _ id: UInt64, _ token: String
    ) async throws -> (state: String?, playURL: String?, rtmpURL: String?, channel: UInt64) {
        let room = try await ask([
            "-H", "Authorization: Bearer \(token)", "\(server.url)/v2/members/me/video-rooms/\(id)",
        ])
        let (hls, rtmp) = (room["playUrl"]?.string, room["rtmpPlayUrl"]?.string)
        return (room["videoRoomState"]?.string, hls, rtmp, Self.number(room["channel"]?["id"]) ?? 0)
    }

    /// The newest room of the member.
    func newestRoom(_ token: String) async throws -> UInt64 {
        let page = try await ask([
            "-H", "Authorization: Bearer \(token)", "\(server.url)/v2/members/me/video-rooms?sortBy=CREATED_AT_DESC",
        ])
        guard let id = Self.number(page["content"]?.elements?.first?["id"]) else { throw Missing("a room") }
        return id
    }

    private static func number(_ value: JSONValue?) -> UInt64? { value?.integer.map { UInt64($0) } }

    func stop() async { await server.stop() }
}

/// Writes what a broadcaster and a viewer report.
final class Reports: FFLStreamerDelegate, FFLLivePlayerDelegate, Sendable {
    let journal = LiveJournal()

    var lines: [String] { journal.lines }

    func wait(for line: String, count: Int = 1) async throws { try await journal.wait(for: line, count: count) }

    /// How often it has reported a line.
    func count(_ line: String) -> Int { lines.count { $0 == line } }

    /// What was reported, without alarms and messages: they come at any time.
    var states: [String] {
        lines.filter { line in
            !["normal", "alert_", "says ", "system ", "channel ", "url "].contains { line.hasPrefix($0) }
        }
    }

    private func take(_ message: FFLMessage) {
        journal.record(
            message.origin == .system
                ? "system \(message.customType)" : "says \(message.appUserId): \(message.message)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate state: StreamerState) { journal.record("\(state)") }
    func fflStreamer(_ streamer: FFLStreamer, didUpdate state: BroadcastState) { journal.record("\(state)") }
    func fflStreamer(_ streamer: FFLStreamer, didExist room: FFLVideoRoom) {
        journal.record("exists \(room.videoRoomState) '\(room.title)'")
    }
    func fflStreamer(_ streamer: FFLStreamer, didPublish state: AlarmState) { journal.record("\(state)") }
    func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int) {
        journal.record("bitrate \(bitrate)")
    }
    func fflStreamer(_ streamer: FFLStreamer, didOpenChannel id: UInt64) { journal.record("channel \(id)") }
    func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage) { take(message) }
    func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError) { journal.record("failed \(error.code)") }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate state: FlipFlopLiteSDK.PlayerState) {
        journal.record("\(state)")
    }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate state: BroadcastState) { journal.record("\(state)") }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate liveUrl: String) { journal.record("url \(liveUrl)") }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didOpenChannel id: UInt64) { journal.record("channel \(id)") }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage) { take(message) }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError) { journal.record("failed \(error.code)") }
}

/// What is seen: the numbers of the test pictures (`Sources/CLectureMedia/pattern.c`), and what the newest looks like.
final class Screen: Sendable {
    enum Look: Hashable {
        case plain, mirrored, black, white, inset, blackWithInset, other
    }

    private struct State {
        var counters: [Int] = []
        var look = Look.other
    }

    private let state = Guarded(State())

    /// The place for a player's pictures, of the size that is broadcast.
    let frames: PlayerFrames

    init() {
        let state = state
        frames = PlayerFrames(width: 640, height: 360) { frame in
            let picture = Picture(frame)
            state.withLock { state in
                if let counter = picture.counter { state.counters.append(counter) }
                state.look = picture.look
            }
        }
    }

    var counters: [Int] { state.withLock { $0.counters } }
    var look: Look { state.withLock { $0.look } }

    /// Waits until this many numbered pictures more were seen, beyond all before.
    func see(_ count: Int) async throws {
        let (seen, last) = (counters.count, counters.max() ?? -1)
        try await Conditions.wait(for: "\(count) pictures", within: .seconds(40)) {
            self.counters.dropFirst(seen).count { $0 > last } >= count
        }
    }

    /// Waits for a look.
    func see(_ look: Look) async throws {
        try await Conditions.wait(for: "\(look)") { self.look == look }
    }
}

/// Reads a picture: green stands for brightness.
private struct Picture {
    let counter: Int?
    let look: Screen.Look
    private let frame: PlayerFrame

    init(_ frame: PlayerFrame) {
        self.frame = frame
        let (plain, mirrored) = (Self.counter(frame, isMirrored: false), Self.counter(frame, isMirrored: true))
        counter = plain ?? mirrored
        // Eight columns of the lowest quarter: bars from dark to bright.
        let bars = (0..<8).map { column in
            let left = frame.width * column / 8 + frame.width / 32
            return Self.mean(frame, left, frame.height * 3 / 4, frame.width / 16, frame.height / 4)
        }
        look =
            if bars.allSatisfy({ $0 < 12 }) {
                .black
            } else if bars.allSatisfy({ $0 > 240 }) {
                .white
            } else if bars.prefix(5).allSatisfy({ $0 < 12 }), bars[7] > 40 {
                .blackWithInset
            } else if plain != nil, bars[7] < bars[4] {
                .inset
            } else if plain != nil {
                .plain
            } else {
                mirrored == nil ? .other : .mirrored
            }
    }

    private static func mean(_ frame: PlayerFrame, _ left: Int, _ top: Int, _ width: Int, _ height: Int) -> Int {
        var sum = 0
        for line in top..<top + height {
            for x in left..<left + width { sum += Int(frame.pixels[(line * frame.width + x) * 4 + 1]) }
        }
        return sum / (width * height)
    }

    /// Two rows of 22 cells, white on the left and black on the right: 32 bits and their check.
    private static func counter(_ frame: PlayerFrame, isMirrored: Bool) -> Int? {
        let (width, height) = (frame.width / 22, min(frame.width / 22, frame.height / 8))
        var code: UInt64 = 0
        for row in 0..<2 {
            for column in 0..<22 {
                var left = column * width + width / 4
                if isMirrored { left = frame.width - left - width / 2 }
                let isWhite = mean(frame, left, row * height + height / 4, width / 2, height / 2) > 125
                if column == 0 || column == 21 {
                    if isWhite != (column == 0) { return nil }
                } else {
                    code = code << 1 | (isWhite ? 1 : 0)
                }
            }
        }
        var check: UInt8 = 0xFF
        for shift in [32, 24, 16, 8] {
            check ^= UInt8(truncatingIfNeeded: code >> UInt64(shift))
            for _ in 0..<8 { check = check & 0x80 != 0 ? check << 1 ^ 0x07 : check << 1 }
        }
        return check == UInt8(truncatingIfNeeded: code) ? Int(code >> 8) : nil
    }
}
