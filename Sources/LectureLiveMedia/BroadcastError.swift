internal import CLectureMedia

/// Why a broadcast cannot start or go on. No text contains an address, because an address contains the stream key.
public enum BroadcastError: Error, Sendable, Hashable, CaseIterable {
    /// A value of the configuration, or an argument, is outside its bounds.
    case invalidValue
    /// The source cannot be opened or read.
    case sourceUnavailable
    /// The microphone beside the source cannot be opened.
    case microphoneUnavailable
    /// An encoder is missing or refuses its settings.
    case encoderUnavailable
    /// No RTMP server answers at the address.
    case noServer
    /// The server does not accept this publisher.
    case refused
    /// Another publisher uses the stream key.
    case busy
    /// The other side has accepted nothing until the deadline.
    case timedOut
    /// The other side has closed the connection.
    case connectionLost
    /// It is connected already.
    case alreadyConnected
    /// The broadcast was closed, or disconnected while it was connecting.
    case closed
    /// The file is no image that can be decoded.
    case unreadableImage
    /// There is no memory, or no thread.
    case noResources

    init(_ code: clm_code) {
        self =
            switch code {
            case .CLM_NO_SERVER: .noServer
            case .CLM_REFUSED: .refused
            case .CLM_BUSY: .busy
            case .CLM_TIMED_OUT: .timedOut
            case .CLM_LOST: .connectionLost
            case .CLM_NO_SOURCE, .CLM_SOURCE_ENDED: .sourceUnavailable
            case .CLM_NO_MICROPHONE: .microphoneUnavailable
            case .CLM_NO_ENCODER: .encoderUnavailable
            case .CLM_BAD_VALUE: .invalidValue
            case .CLM_BAD_STATE: .alreadyConnected
            case .CLM_STOPPED: .closed
            case .CLM_UNREADABLE: .unreadableImage
            case .CLM_OK, .CLM_UNWRITABLE, .CLM_MISMATCH, .CLM_NO_RESOURCES: .noResources
            }
    }

    /// Whether the same connection may succeed later: what a program tries again.
    public var isTransient: Bool {
        switch self {
        case .noServer, .busy, .timedOut, .connectionLost, .noResources: true
        case .invalidValue, .sourceUnavailable, .microphoneUnavailable, .encoderUnavailable, .refused,
            .alreadyConnected, .closed, .unreadableImage:
            false
        }
    }
}

extension BroadcastError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .invalidValue: "A value of the broadcast is outside its bounds."
        case .sourceUnavailable: "The source of the broadcast cannot be opened or read."
        case .microphoneUnavailable: "The microphone of the broadcast cannot be opened or read."
        case .encoderUnavailable: "An encoder is not installed, or refuses its settings."
        case .noServer: "No RTMP server answers at the address of the broadcast."
        case .refused: "The server does not accept the broadcast; its stream key may be wrong."
        case .busy: "Another publisher uses the stream key of the broadcast."
        case .timedOut: "The server has accepted nothing until the deadline."
        case .connectionLost: "The server has closed the connection of the broadcast."
        case .alreadyConnected: "The broadcast is connected already."
        case .closed: "The broadcast was closed, or disconnected while it was connecting."
        case .unreadableImage: "The file is no image that can be decoded."
        case .noResources: "The system has no memory or thread for the broadcast."
        }
    }
}

/// Something that happened to a broadcast by itself.
public enum BroadcastEvent: Sendable, Hashable {
    /// The connection has ended. The source and the encoders stay ready for another one.
    case connectionEnded(BroadcastError)
    /// A file that does not loop is at its end. What is queued is still sent.
    case sourceEnded
    /// The source can no longer be read.
    case sourceFailed
    /// The microphone can no longer be read. Silence is sent in its place.
    case microphoneFailed
}

/// What a broadcast has done so far.
public struct BroadcastStatistics: Sendable, Hashable {
    /// Pictures that the source gave.
    public let framesMade: Int
    /// Pictures that were encoded for a connection. After an orderly end they are those that were sent or dropped.
    public let framesEncoded: Int
    /// Pictures that were given to the connection.
    public let framesSent: Int
    /// Encoded pictures that were not sent.
    public let framesDropped: Int
    /// Key frames among the pictures that were sent.
    public let keyFramesSent: Int
    /// Packets of sound that were sent.
    public let soundsSent: Int
    /// Packets of sound that were not sent.
    public let soundsDropped: Int
    /// Encoded media that was sent, in bytes, without those of RTMP.
    public let bytesSent: Int
    /// How much media waits to be sent: from the oldest packet to the newest.
    public let queue: Duration
    /// The same in bytes, without the packet that is being sent.
    public let queueBytes: Int
    /// The target of the video encoder, bits a second.
    public let videoBitrate: Int
    /// Since the last packet was sent; nil while not connected.
    public let sinceLastSent: Duration?
    /// Whether there is a connection.
    public let isConnected: Bool
    /// Why the latest attempt to connect has failed, or the latest connection has ended; nil for neither.
    public let lastError: BroadcastError?

    init(_ values: clm_statistics) {
        framesMade = Int(values.frames_made)
        framesEncoded = Int(values.frames_encoded)
        framesSent = Int(values.frames_sent)
        framesDropped = Int(values.frames_dropped)
        keyFramesSent = Int(values.key_frames_sent)
        soundsSent = Int(values.sounds_sent)
        soundsDropped = Int(values.sounds_dropped)
        bytesSent = Int(values.bytes_sent)
        queue = .milliseconds(values.queue_ms)
        queueBytes = Int(values.queue_bytes)
        videoBitrate = Int(values.video_bitrate)
        sinceLastSent = values.idle_ms < 0 ? nil : .milliseconds(values.idle_ms)
        isConnected = values.is_connected
        lastError = values.last_error == .CLM_OK ? nil : BroadcastError(values.last_error)
    }
}
