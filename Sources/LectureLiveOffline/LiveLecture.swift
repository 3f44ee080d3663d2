public import LectureFormats
import LectureKit
public import LectureLive
public import LectureModel

/// A live lecture, as what is kept of it names it.
public struct LiveLecture: Hashable, Sendable {
    /// The media content key of its recording, also that of its reports while it is live.
    public let key: ContentKey
    /// Its channel.
    public let channel: UInt64
    /// When it began.
    public let startedAt: Timestamp
    /// The name of its server; empty when it does not matter.
    public let host: String

    /// Creates a lecture.
    ///
    /// - Parameters:
    ///   - key: the media content key of its recording.
    ///   - channel: its channel.
    ///   - startedAt: when it began.
    ///   - host: the name of its server.
    public init(key: ContentKey, channel: UInt64, startedAt: Timestamp, host: String = "") {
        (self.key, self.channel, self.startedAt, self.host) = (key, channel, startedAt, host)
    }

    /// The lecture of a room: its key is `live-` and the UUID of the room, as the server names it in its descriptors.
    ///
    /// - Parameters:
    ///   - room: a room that has been live.
    ///   - host: the name of its server.
    /// - Throws: ``LectureError`` with `parameter` for a room that was never live, or has no
    ///   UUID.
    public init(_ room: VideoRoom, host: String = "") throws(LectureError) {
        guard let startedAt = room.liveStartedAt, !room.uuid.isEmpty else {
            throw LectureError(.parameter, detail: "room \(room.id)", cause: "it has not been live, or has no UUID")
        }
        self.init(
            key: try ContentKey(VideoRoom.contentKey(room.uuid)), channel: room.channelID, startedAt: startedAt,
            host: host)
    }
}

/// The clocks and the waits of this product; tests use their own.
struct LiveClock: Sendable {
    /// The time, which can be set.
    let now: @Sendable () -> Timestamp
    /// A clock that only goes forward, also while the machine sleeps.
    let monotonic: @Sendable () -> Duration
    /// Waits; ends early when its task is cancelled.
    let pause: @Sendable (Duration) async -> Void

    /// Those of the system.
    static let system = LiveClock(
        now: { SystemTime.clock.now() }, monotonic: { .nanoseconds(SystemTime.clock.boot().nanoseconds) },
        // proof: the pace at which what was watched is stored, ended with its task
        pause: { try? await Task.sleep(for: $0) })
}
