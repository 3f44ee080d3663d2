public import LectureLive

/// A view, a window, or what else an application gives to be drawn in. On iOS it is a `UIView`; here it is any object,
/// which goes to the media as it is.
///
/// `@unchecked Sendable`: it is stored and handed on, and never used here.
public struct LiveSurface: @unchecked Sendable {
    /// The object; nil shows nothing.
    public let object: AnyObject?

    /// Creates a surface.
    ///
    /// - Parameter object: what the application gives; nil shows nothing.
    public init(object: AnyObject?) { self.object = object }
}

/// How media is sent: an ``FFStreamerConfig`` as it was when `prepare` was called.
public struct FeedSettings: Sendable, Hashable {
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    /// In bits a second.
    public var videoBitrate: Int
    /// In seconds.
    public var keyFrameInterval: Int
    /// Frames a second.
    public var framesPerSecond: Int
    /// In Hz.
    public var sampleRate: Int
    /// In bits a second.
    public var audioBitrate: Int
    /// The source to begin with.
    public var camera: FFStreamerConfig.CameraPosition
    /// Whether only sound is sent.
    public var isAudioOnly: Bool
    /// Whether the bitrate follows the link.
    public var isAdaptive: Bool

    /// Takes the values of a configuration as they are now.
    ///
    /// - Parameter config: the configuration.
    public init(_ config: FFStreamerConfig) {
        (width, height) = config.preset.size
        (videoBitrate, audioBitrate) = (config.videoBitrate, config.audioBitrate)
        (keyFrameInterval, framesPerSecond) = (config.keyFrameInterval, config.fps)
        (sampleRate, camera) = (config.sampleRate, config.cameraPos)
        (isAudioOnly, isAdaptive) = (config.audioOnly, config.adaptiveBitrate)
    }
}

/// What a feed has done so far.
public struct FeedStatistics: Sendable, Hashable {
    /// How much media waits to be sent.
    public var queue: Duration
    /// What was sent since it was connected.
    public var sentBytes: Int64

    /// Creates statistics.
    ///
    /// - Parameters:
    ///   - queue: how much media waits to be sent.
    ///   - sentBytes: what was sent since it was connected.
    public init(queue: Duration, sentBytes: Int64) { (self.queue, self.sentBytes) = (queue, sentBytes) }
}

/// The media of a broadcaster: a source, an encoder and a link to a media server.
///
/// Calls come one after the other; the ones that are not asynchronous may come at any time and must return at once.
public protocol FeedSource: AnyObject, Sendable {
    /// Opens the source.
    ///
    /// - Parameters:
    ///   - settings: how media is to be sent.
    ///   - preview: where it is shown.
    /// - Throws: ``FFError``, or another error for 80103.
    func open(_ settings: FeedSettings, preview: LiveSurface) async throws

    /// Connects to a media server and sends from now on. Has to end within a time of its own.
    ///
    /// - Parameters:
    ///   - address: the address, with the secret stream key.
    ///   - ended: is called once when the link is lost; not after ``disconnect()``.
    /// - Throws: ``FFError`` with 80100 when there is no server, 80102 when it refuses; another error for 80100.
    func connect(to address: FeedAddress, ended: @escaping @Sendable () -> Void) async throws

    /// Sends what is left, and ends the link, also one that is being made. The source stays open.
    func disconnect() async

    /// Closes the source.
    func close() async

    /// What was done since it was connected.
    var statistics: FeedStatistics { get }

    /// Changes the bitrate of the video.
    func setVideoBitrate(_ bitsPerSecond: Int)
    /// Drops what waits, up to the next key frame.
    func dropToKeyFrame()
    /// Enlarges the picture; 1 is all of it.
    func setZoom(_ factor: Double)
    /// Mirrors the picture.
    func setMirrored(_ isMirrored: Bool)
    /// Sends black.
    func muteVideo(_ isMuted: Bool)
    /// Sends silence.
    func muteAudio(_ isMuted: Bool)
    /// Chooses the source.
    func switchCamera(to camera: FFStreamerConfig.CameraPosition)

    /// Chooses the source.
    ///
    /// - Parameters:
    ///   - camera: which one.
    ///   - failed: gets the reason when it cannot be opened, and the one before is sent on.
    func switchCamera(to camera: FFStreamerConfig.CameraPosition, failed: @escaping @Sendable (FFError) -> Void)

    /// Sends a still image in place of the picture. The sound stays.
    ///
    /// - Parameters:
    ///   - path: of a file; nil sends the picture again.
    ///   - failed: gets the reason when nothing has changed.
    func showImage(_ path: String?, failed: @escaping @Sendable (FFError) -> Void)

    /// Shows the source that is not chosen small beside the other, or no longer.
    ///
    /// - Parameters:
    ///   - isOn: whether it is shown.
    ///   - failed: gets the reason when nothing has changed.
    func setPictureInPicture(_ isOn: Bool, failed: @escaping @Sendable (FFError) -> Void)

    /// Opens the source again, or gives its device back and sends black and silence.
    ///
    /// - Parameters:
    ///   - isOpen: whether it is open.
    ///   - failed: gets the reason when nothing has changed.
    func setCameraOpen(_ isOpen: Bool, failed: @escaping @Sendable (FFError) -> Void)
}

/// Media that cannot do what was added later.
extension FeedSource {
    /// Chooses the source, and cannot fail.
    public func switchCamera(
        to camera: FFStreamerConfig.CameraPosition, failed: @escaping @Sendable (FFError) -> Void
    ) { switchCamera(to: camera) }

    /// Fails with 80110.
    public func showImage(_ path: String?, failed: @escaping @Sendable (FFError) -> Void) { failed(.notPossible) }

    /// Fails with 80110.
    public func setPictureInPicture(_ isOn: Bool, failed: @escaping @Sendable (FFError) -> Void) {
        failed(.notPossible)
    }

    /// Fails with 80110.
    public func setCameraOpen(_ isOpen: Bool, failed: @escaping @Sendable (FFError) -> Void) { failed(.notPossible) }
}

extension FFError {
    fileprivate static var notPossible: FFError { FFError(.MEDIA_ERROR, "this media cannot do that") }
}

/// What happens to a picture.
public enum LivePictureEvent: Sendable, Hashable {
    /// The media can be played.
    case ready
    /// It plays, or plays again.
    case plays
    /// There is no media to go on with: the link is slow or lost, or the playlist has ended.
    case stalled
    /// It cannot be played.
    case failed(FFError)
}

/// The picture of a viewer: a player of HLS or RTMP.
public protocol LivePicture: AnyObject, Sendable {
    /// What happens; read once.
    var events: AsyncStream<LivePictureEvent> { get }
    /// Opens media in place of what was open, paused.
    ///
    /// - Parameters:
    ///   - url: http, https, rtmp or rtmps.
    ///   - view: where it is shown.
    ///   - isLowLatency: whether little is to be buffered.
    func open(url: String, view: LiveSurface, isLowLatency: Bool)
    /// Plays, now or as soon as it can.
    func play()
    /// Closes the media; another one can be opened.
    func close()
    /// Plays without sound.
    func mute(_ isMuted: Bool)
}
