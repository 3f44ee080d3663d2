import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

/// Every test with a network, one after another: encoders, a server and readers share the machine.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct LiveMediaNetTests {}

/// Small broadcasts that a loaded machine encodes in time, and what was recorded of them.
enum Studio {
    /// 320 × 180 at 30 frames a second.
    static func configuration(_ source: BroadcastSource = .testPicture) -> BroadcastConfiguration {
        var configuration = BroadcastConfiguration(source: source)
        configuration.width = 320
        configuration.height = 180
        configuration.videoBitrate = 600_000
        configuration.keyFrameInterval = 1
        configuration.speed = .ultrafast
        return configuration
    }

    /// Waits until this many pictures more have been sent.
    static func send(_ count: Int, with broadcast: LiveBroadcast) async throws {
        let goal = broadcast.statistics.framesSent + count
        try await Conditions.wait(for: "picture \(goal)") { broadcast.statistics.framesSent >= goal }
    }

    /// Publishes this many pictures of the test source and waits for the recording.
    static func record(
        _ count: Int, as name: String, on server: RTMPServer, _ configuration: BroadcastConfiguration? = nil
    ) async throws -> String {
        let broadcast = try LiveBroadcast(configuration ?? self.configuration())
        try await broadcast.connect(to: server.url(name))
        try await send(count, with: broadcast)
        await broadcast.disconnect()
        broadcast.close()
        return try await server.recording(of: name)
    }
}

/// What a picture of the test source shows, with the effects on it.
enum Look: Hashable {
    case plain
    case mirrored
    case zoomed
    case black
    case white
    case inset
    case other

    init(_ frame: FrameCounterReader.Frame) {
        let bars = (0..<8).map { 40 + 24 * $0 }
        let isClose = { (expected: [Int]) in zip(frame.columns, expected).allSatisfy { abs($0 - $1) <= 10 } }
        self =
            if isClose(bars) {
                .plain
            } else if isClose(bars.reversed()) {
                .mirrored
            } else if isClose([88, 88, 112, 112, 136, 136, 160, 160]) {
                .zoomed
            } else if frame.columns.allSatisfy({ $0 <= 24 }) {
                .black
            } else if frame.columns.allSatisfy({ $0 >= 225 }) {
                .white
            } else if isClose(Array(bars.prefix(6))), abs(frame.columns[6] - bars[6]) > 20 {
                .inset
            } else {
                .other
            }
    }

    /// What is seen, each once as long as it lasts.
    static func sequence(_ frames: [FrameCounterReader.Frame]) -> [Look] {
        frames.map(Look.init).reduce(into: []) { looks, look in
            if looks.last != look { looks.append(look) }
        }
    }
}

extension [Int] {
    /// Whether each number is one more than the one before it.
    var isConsecutive: Bool { zip(self, dropFirst()).allSatisfy { $1 == $0 + 1 } }
    /// Whether each number is larger than the one before it.
    var isRising: Bool { zip(self, dropFirst()).allSatisfy { $1 > $0 } }
}
