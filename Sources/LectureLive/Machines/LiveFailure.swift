/// Why something of a live lecture failed: a number of the vendor's (`FFLErrorCode`), and what happened.
///
/// It never contains an access token, a stream key, or an address that has one.
public struct LiveFailure: Error, Hashable, Sendable {
    /// The numbers of the vendor's interface.
    public enum Code: Int, Hashable, Sendable, CaseIterable {
        /// The media server cannot be reached.
        case connectionFailed = 80100
        /// The feed has stopped.
        case streamingStopped = 80101
        /// The media server does not take the feed.
        case streamingFailed = 80102
        /// There is nothing to show or to send.
        case streamingInvalidView = 80103
        /// The player cannot play.
        case playFailed = 80104
        /// Sound cannot be used.
        case audioSession = 80105
        /// It was tried too often.
        case tooManyRetries = 80106
        /// The media is not usable.
        case media = 80110
        /// The channel does what no rule foresees.
        case channelUnexpected = 80200
        /// A message that cannot be read, or may not be sent.
        case invalidMessage = 80201
        /// A message was not sent.
        case messageSend = 80202
        /// The access token is not valid, or no longer.
        case unauthorized = 80203
        /// A command before `prepare`.
        case notPrepared = 80300
        /// There is no usable address of the server.
        case noServerAddress = 80301
        /// There is no stream key.
        case noStreamKey = 80302
        /// The server cannot be reached.
        case server = 80400
        /// An answer, or a command, that fits nowhere.
        case serverUnexpected = 80401
        /// The room is not the one.
        case invalidVideoRoomID = 80402
        /// The stream key was not read.
        case streamKeyGet = 80403
        /// The room was not created.
        case roomCreate = 80404
        /// The room was not read.
        case roomGet = 80405
        /// The room was not joined.
        case roomJoin = 80406
        /// The room was not started.
        case roomStart = 80407
        /// The room was not left.
        case roomLeave = 80408
        /// The room was not ended.
        case roomEnd = 80409
        /// Earlier messages were not read.
        case messagesGet = 80410
        /// The player of low latency cannot play.
        case lowLatencyPlay = 90201
        /// It has waited for media for too long.
        case tooLongBuffering = 90203
    }

    /// The number.
    public var code: Code
    /// What happened, in one sentence.
    public var message: String
    /// The word of the server (`errorCode`); empty when the server has not answered so.
    public var serverCode: String
    /// Whether the server has not answered, or could not do anything now (a status of 500 and above).
    package var isUnavailable = false
    /// How long the server asks to wait before the same is tried again (`Retry-After`).
    package var retryAfter: Duration?

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - code: the number.
    ///   - message: what happened, in one sentence, without secrets.
    ///   - serverCode: the word of the server.
    public init(_ code: Code, _ message: String, serverCode: String = "") {
        (self.code, self.message, self.serverCode) = (code, message, serverCode)
    }

    /// The same under another number; a token that is not valid keeps its own, since another one has to be fetched.
    ///
    /// - Parameter code: the number of what was tried.
    /// - Returns: the failure.
    package func during(_ code: Code) -> Self {
        var failure = self
        if self.code != .unauthorized { failure.code = code }
        return failure
    }

    /// Whether a message was refused because it came too soon after another one, and can be sent later.
    package var isTooFast: Bool { ["TOO_MANY_MESSAGES", "CHANNEL_SLOW_MODE"].contains(serverCode) }

    /// Whether a room could not be ended because the server has not noticed the end of the feed yet, or does the same
    /// already: it can be ended a moment later.
    package var isTooEarly: Bool {
        [
            "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE", "STREAM_KEY_STATE_NOT_INACTIVE_LIVE", "REQUEST_LOCKED",
        ].contains(serverCode)
    }
}

/// Where a feed goes. The address has the stream key in it, a secret: it is in no description.
public struct FeedAddress: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// What the service makes of a feed (`mode`).
    public enum OutputMode: String, Hashable, Sendable, CaseIterable {
        /// HLS and DASH with common media files; 5 to 8 s late.
        case cmaf = "CMAF"
        /// RTMP; 2 to 3 s late.
        case rtmp = "RTMP"
        /// Both.
        case both = "RTMP_CMAF"
    }

    /// The address, with the key.
    public let url: String

    /// Creates an address (`{ingestUrl}/{streamKey}?mode=CMAF`).
    ///
    /// - Parameters:
    ///   - key: the stream key.
    ///   - mode: what the service makes of the feed.
    package init(_ key: StreamKey, mode: OutputMode = .cmaf) {
        url = "\(key.ingestURL)/\(key.key)?mode=\(mode.rawValue)"
    }

    /// Without the address.
    public var description: String { "an address with a stream key" }
    /// Without the address.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
