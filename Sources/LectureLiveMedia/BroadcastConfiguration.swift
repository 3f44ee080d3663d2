/// Where the pictures and the sound of a broadcast come from.
public enum BroadcastSource: Sendable, Hashable {
    /// A test picture whose number ``FrameCounterReader`` reads, with a tone and a beep each second.
    case testPicture
    /// A media file, with its sound.
    ///
    /// - Parameters:
    ///   - path: of anything that FFmpeg decodes.
    ///   - loops: whether it begins again at its end; otherwise ``BroadcastEvent/sourceEnded`` is reported there.
    case file(_ path: String, loops: Bool)
    /// What an X11 display shows.
    ///
    /// - Parameters:
    ///   - display: for instance `:0`.
    ///   - microphone: an ALSA device such as `default`; nil for silence.
    case screen(_ display: String, microphone: String? = nil)
    /// A V4L2 camera.
    ///
    /// - Parameters:
    ///   - device: for instance `/dev/video0`.
    ///   - microphone: an ALSA device such as `default`; nil for silence.
    case camera(_ device: String, microphone: String? = nil)
    /// Black pictures and silence: what is sent while a device is given back.
    case black
}

/// How much time the encoder takes for a frame. The names are those of libx264's presets.
public enum EncodingSpeed: String, Sendable, CaseIterable {
    /// The least work and the worst picture.
    case ultrafast
    /// Between the two.
    case superfast
    /// What live services use.
    case veryfast
    /// A little better, for machines with time to spare.
    case faster
}

/// How a broadcast is encoded and sent.
public struct BroadcastConfiguration: Sendable {
    /// In pixels: even, from 176 to 7680.
    public var width = 1280
    /// In pixels: even, from 96 to 4320.
    public var height = 720
    /// From 1 to 120.
    public var framesPerSecond = 30
    /// Bits a second, from 10,000 to 200,000,000.
    public var videoBitrate = 2_048_000
    /// Bits a second, from 8,000 to 512,000.
    public var audioBitrate = 128_000
    /// Seconds from one key frame to the next.
    public var keyFrameInterval = 2.0
    /// Samples a second, from 8,000 to 96,000. There are two channels.
    public var sampleRate = 44_100
    /// Where the pictures come from.
    public var source: BroadcastSource
    /// How much work the encoder does.
    public var speed = EncodingSpeed.veryfast
    /// How long a connection may accept nothing before it counts as broken; also the limit for connecting.
    public var writeDeadline = Duration.seconds(5)
    /// When more media than this waits to be sent, all of it up to a key frame is dropped.
    public var queueLimit = Duration.milliseconds(1500)

    /// 1280 × 720 at 30 frames a second, 2 Mb/s.
    ///
    /// - Parameter source: where the pictures come from.
    public init(source: BroadcastSource) { self.source = source }
}
