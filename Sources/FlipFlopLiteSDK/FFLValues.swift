public import Foundation
package import LectureFormats
import LectureLive

/// The state of a broadcaster, on this device.
public enum StreamerState: String, Sendable, CaseIterable {
    /// It can be entered.
    case prepared
    /// Media is sent. Viewers cannot see it yet: that is ``BroadcastState/active``.
    case started
    /// No media is sent; it can be started again.
    case stopped
    /// It has ended, and the server knows it.
    case closed
    /// The room was ended by another program.
    case terminated
}

/// Whether viewers can see a broadcast.
public enum BroadcastState: String, Sendable, CaseIterable {
    /// They can.
    case active
    /// They cannot: the feed is interrupted.
    case inactive
}

/// The state of a viewer.
public enum PlayerState: String, Sendable, CaseIterable {
    /// The media can be played.
    case prepared
    /// It plays.
    case started
    /// There is no media to go on with.
    case paused
    /// It was stopped, by the application or after too many attempts.
    case stopped
    /// The broadcast has ended.
    case completed
    /// It was left.
    case closed
}

// The vendor's names.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// How good the link of a broadcaster is; the higher the worse. Levels may be skipped.
public enum AlarmState: Int, Sendable, CaseIterable {
    /// Good.
    case normal
    /// Somewhat unsteady.
    case alert_1
    /// Worse.
    case alert_2
    /// The worst.
    case alert_3

    /// The name in the published interface.
    public static let alert_level_1 = Self.alert_1
    /// The name in the published interface.
    public static let alert_level_2 = Self.alert_2
    /// The name in the published interface.
    public static let alert_level_3 = Self.alert_3
}

/// A message of a channel.
public struct FFLMessage: Sendable, Hashable {
    /// Who a message is from.
    public enum Origin: String, Sendable {
        /// The server of the application.
        case app = "APP"
        /// A member.
        case members = "MEMBER"
        /// The service.
        case system = "SYSTEM"
    }

    /// Its number within the channel.
    public let messageId: UInt64
    /// When the server got it.
    public let sentAt: Date
    /// Who it is from.
    public let origin: Origin
    /// The member.
    public let appUserId: String
    /// The member's name.
    public let appUsername: String
    /// What it is: `JOINED`, `LEAVED`, `CHANNEL_STAT_UPDATED`, a word of the application, or empty.
    public let customType: String
    /// The text.
    public let message: String
    /// How many members are in the channel, if it says so.
    public let participantCount: UInt64?
    /// The same as ``sentAt``.
    package let moment: Timestamp

    init(_ message: LiveMessage) {
        (messageId, moment) = (message.id, message.sentAt)
        sentAt = Date(timeIntervalSince1970: Double(message.sentAt.milliseconds) / 1000)
        origin =
            switch message.origin {
            case .app: .app
            case .member: .members
            case .system: .system
            }
        (appUserId, appUsername) = (message.userID, message.userName)
        (customType, self.message) = (message.customType, message.text)
        participantCount = message.participants
    }
}

/// A room, as applications see it.
public struct FFLVideoRoom: Sendable, Hashable {
    /// Its number.
    public let id: UInt64
    /// `ACTIVE`.
    public let state: String
    /// `SCHEDULED`, `LIVE`, `LIVE_INACTIVE`, `ENDED` or `CANCELLED`.
    public let videoRoomState: String
    /// `BROADCAST_RTMP`.
    public let type: String
    /// Its title.
    public let title: String

    init(_ room: VideoRoom) {
        (id, state, videoRoomState) = (room.id, "ACTIVE", room.state.rawValue)
        (type, title) = (room.type, room.title)
    }
}

/// What went wrong.
public struct FFError: Error, Sendable, Hashable {
    /// The number, see ``FFLErrorCode``.
    public let code: Int
    /// What happened, in one sentence; never an access token or a stream key.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the number.
    ///   - message: what happened.
    public init(code: Int, message: String) { (self.code, self.message) = (code, message) }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the number.
    ///   - message: what happened.
    public init(_ code: FFLErrorCode, _ message: String) { self.init(code: code.rawValue, message: message) }

    init(_ failure: LiveFailure) { self.init(code: failure.code.rawValue, message: failure.message) }

    /// The name of its number; nil for one that the vendor has not named.
    public var kind: FFLErrorCode? { FFLErrorCode(rawValue: code) }
}

// The vendor's names.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The numbers of errors, with the vendor's names.
public enum FFLErrorCode: Int, Sendable, CaseIterable {
    /// The media server cannot be reached.
    case CONNECTION_FAILED = 80100
    /// The feed has stopped.
    case STREAMING_STOPPED = 80101
    /// The media server does not take the feed.
    case STREAMING_FAILED = 80102
    /// There is nothing to show or to send.
    case STREAMING_INVALID_VIEW = 80103
    /// The player cannot play.
    case HLS_PLAYER_PLAY_FAILED = 80104
    /// Sound cannot be used.
    case AV_AUDIO_SESSION_ERROR = 80105
    /// It was tried too often.
    case TOO_MANY_RETRIES = 80106
    /// The media is not usable.
    case MEDIA_ERROR = 80110
    /// The channel does what no rule foresees.
    case CHANNEL_UNEXPECTED = 80200
    /// A message that may not be sent.
    case CHANNEL_INVALID_MESSAGE = 80201
    /// A message was not sent.
    case CHANNEL_MESSAGE_SEND = 80202
    /// The access token is not valid, or no longer.
    case CHANNEL_UNAUTHORIZED = 80203
    /// A command before `prepare`.
    case STREAMER_NOT_PREPARED = 80300
    /// There is no usable address of the server.
    case STREAMER_NO_SERVER_ADDRESS = 80301
    /// There is no stream key.
    case STREAMER_NO_STREAM_KEY = 80302
    /// The server cannot be reached.
    case SERVER_ERROR = 80400
    /// An answer, or a command, that fits nowhere.
    case SERVER_UNEXPECTED = 80401
    /// The room is not the one.
    case SERVER_INVALID_VIDEO_ROOM_ID = 80402
    /// The stream key was not read.
    case SERVER_STREAM_KEY_GET = 80403
    /// The room was not created.
    case SERVER_ROOM_CREATE = 80404
    /// The room was not read.
    case SERVER_ROOM_GET = 80405
    /// The room was not joined.
    case SERVER_ROOM_JOIN = 80406
    /// The room was not started.
    case SERVER_ROOM_START = 80407
    /// The room was not left.
    case SERVER_ROOM_LEAVE = 80408
    /// The room was not ended.
    case SERVER_ROOM_END = 80409
    /// Earlier messages were not read.
    case SERVER_MESSAGES_GET = 80410
    /// The player of low latency cannot play.
    case RTMP_PLAYER_ERROR = 90201
    /// It has waited for media for too long.
    case RTMP_PLAYER_TOO_LONG_BUFFERING = 90203
}

/// What a broadcaster sends. A class, as in the tutorial: `let config = FFStreamerConfig()`, and then its properties.
public final class FFStreamerConfig {
    /// The sizes of the picture.
    public enum Preset: String, Sendable, CaseIterable {
        /// 640 × 360.
        case hd640x360
        /// 960 × 540.
        case hd960x540
        /// 1280 × 720.
        case hd1280x720
        /// 1920 × 1080.
        case hd1920x1080

        /// In pixels.
        public var size: (width: Int, height: Int) {
            switch self {
            case .hd640x360: (640, 360)
            case .hd960x540: (960, 540)
            case .hd1280x720: (1280, 720)
            case .hd1920x1080: (1920, 1080)
            }
        }
    }

    /// Which of the two sources.
    public enum CameraPosition: String, Sendable, CaseIterable {
        /// The first.
        case front
        /// The second.
        case back
    }

    /// The size of the picture.
    public var preset = Preset.hd1280x720
    /// Of the video, in bits a second.
    public var videoBitrate = 2000 * 1024
    /// Between key frames, in seconds.
    public var keyFrameInterval = 2
    /// Frames a second.
    public var fps = 30
    /// Of the sound, in Hz.
    public var sampleRate = 48_000
    /// Of the sound, in bits a second.
    public var audioBitrate = 64 * 1024
    /// Which of the two sources is sent first.
    public var cameraPos = CameraPosition.front
    /// Whether the bitrate follows the link.
    public var adaptiveBitrate = false
    /// Whether only sound is sent.
    public var audioOnly = false

    /// Creates the tutorial's defaults.
    public init() {}
}
