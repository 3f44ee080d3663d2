import Glibc
public import LectureKit

/// Options of a player of live streams.
public struct LiveStreamOptions: Sendable, Hashable {
    /// Where the picture is shown.
    public var surface: PlayerSurface = .none
    /// Whether sound is heard. Where there is no device for it, the stream plays without.
    public var hasSound = true
    /// A PEM file with the roots that are trusted; nil for the system's.
    public var caFile: String?
    /// How long a server may send nothing.
    public var patience: Duration = .seconds(10)
    /// Further options of mpv by name, set last.
    public var more: [String: String] = [:]

    /// Creates the default options.
    public init() {}
}

/// Something that happened to a live stream.
public enum LiveStreamEvent: Sendable, Hashable {
    /// The first picture or sound is there.
    case ready
    /// It plays, or plays on.
    case plays
    /// There is nothing to go on with: the link is slow or lost, or the stream has ended.
    case stalled
    /// The window was closed.
    case closed
    /// It cannot be played.
    case failed(LectureError)
}

/// Plays live streams by their URL, HLS or RTMP, with libmpv.
///
/// ```swift
/// let player = try LiveStreamPlayer(options)
/// try player.open("https://live.example/room/index.m3u8")
/// player.play()
/// for await event in player.events { show(event) }
/// ```
///
/// It knows nothing of lectures, licences and reports. As with ``MpvEngine``, the configuration and the scripts of the
/// user's own mpv are off; what a playlist names is read over http, https, rtmp and rtmps only, and certificates are
/// verified.
public final class LiveStreamPlayer: Sendable {
    /// What happens, in order; for one reader. It ends after ``close()``.
    public let events: AsyncStream<LiveStreamEvent>
    private let player: MpvPlayer
    private let state = Monitor(LiveStreamState())

    /// Opens libmpv and starts a player in it, without a stream.
    ///
    /// - Parameters:
    ///   - options: how it shows streams.
    ///   - environment: where a window's display is looked for.
    /// - Throws: `LectureError`: `playerMissing` without libmpv, `displayMissing` when a window is wanted and there
    ///   is no display, `playerFailed` with libmpv's reason.
    public init(_ options: LiveStreamOptions, environment: [String: String] = MpvEngine.environment)
        throws(LectureError)
    {
        if options.surface.needsDisplay, !MpvEngine.hasDisplay(environment) { throw LectureError(.displayMissing) }
        let library = try MpvLibrary.shared.get()
        let (events, report) = AsyncStream.makeStream(of: LiveStreamEvent.self)
        let (inner, innerReport) = AsyncStream.makeStream(of: VideoEvent.self)
        self.events = events
        player = try MpvPlayer(library, Self.settings(options), options.surface, whenOpen: [], innerReport)
        Task { [state] in
            for await event in inner {
                for event in state.withLock({ $0.take(event) }) { report.yield(event) }
            }
            report.finish()
        }
    }

    deinit { player.close() }

    /// What a URL may begin with.
    private static let schemes = ["http://", "https://", "rtmp://", "rtmps://"]
    /// What a playlist may name (`protocol_whitelist`, libavformat): the schemes and what carries them.
    private static let protocols = "http,https,rtmp,rtmps,tcp,tls,crypto,httpproxy"

    private static func settings(_ options: LiveStreamOptions) -> [(String, String)] {
        var engine = MpvOptions()
        (engine.surface, engine.hasSound) = (options.surface, options.hasSound)
        let settings =
            MpvEngine.settings(engine).filter { $0.0 != "osc" } + [
                ("osc", "no"),
                // Not mpv's own playlists: their entries would be opened as if the user had named them.
                ("demuxer", "lavf"), ("cache", "yes"), ("cache-pause", "yes"), ("tls-verify", "yes"),
                ("network-timeout", MpvPlayer.text(options.patience)), ("user-agent", "LectureKit"),
                ("demuxer-max-bytes", "16MiB"), ("demuxer-max-back-bytes", "0"),
            ]
        // A machine without a sound device plays as well. With neither picture nor sound something must keep the time.
        let isSilent = options.surface == .none && !options.hasSound
        let sound = [("audio-fallback-to-null", "yes")] + (isSilent ? [("aid", "auto"), ("ao", "null")] : [])
        let file = options.caFile.map { [("tls-ca-file", $0)] } ?? []
        return settings + sound + file + options.more.sorted { $0.key < $1.key }
    }

    /// Opens a stream, paused, in place of the one that was open. ``LiveStreamEvent/ready`` follows, or a failure.
    ///
    /// - Parameters:
    ///   - url: http or https for HLS, rtmp or rtmps.
    ///   - isLowLatency: whether as little as possible is read ahead: with HLS, it begins with the newest segment.
    /// - Throws: `LectureError`: `urlScheme` for other schemes, `urlInvalid` with control characters or spaces.
    public func open(_ url: String, isLowLatency: Bool = false) throws(LectureError) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw LectureError(.urlInvalid) }
        guard Self.schemes.contains(where: { url.lowercased().hasPrefix($0) }) else {
            throw LectureError(.urlScheme, cause: "streams may be rtmp and rtmps as well")
        }
        let list = "protocol_whitelist=%\(Self.protocols.utf8.count)%\(Self.protocols)"
        let isRTMP = url.lowercased().hasPrefix("rtmp")
        // FFmpeg's demuxer begins three segments before the end of a playlist without an end (libavformat/hls.c).
        let begin = isLowLatency && !isRTMP ? ",live_start_index=-1" : ""
        let flags = isLowLatency ? ",fflags=+nobuffer" : ""
        state.withLock { state in
            state.open()
            player.run(["set", "pause", "yes"])
            player.run(["set", "demuxer-lavf-o", list + begin + flags])
            // What is waited for once delays all that follows: over RTMP that is one picture, and no less, or a
            // standstill would be reported again and again.
            player.run(["set", "cache-pause-wait", isLowLatency ? (isRTMP ? "0.01" : "0.2") : "1"])
            player.run(["set", "cache-secs", isLowLatency ? "3" : "30"])
            // RTMP names a stream only with its first packet, which may be a key frame away. It ends earlier with both.
            player.run(["set", "demuxer-lavf-analyzeduration", isLowLatency ? "3" : "0"])
            player.run(["set", "stream-buffer-size", isLowLatency ? "4KiB" : "128KiB"])
            // Of mpv's own profile 'low-latency': decoders and the window keep no pictures back, nor the device sound.
            player.run(["set", "vd-lavc-threads", isLowLatency ? "1" : "0"])
            player.run(["set", "video-latency-hacks", isLowLatency ? "yes" : "no"])
            player.run(["set", "audio-buffer", isLowLatency ? "0" : "0.2"])
            player.run(["loadfile", url, "replace"])
        }
    }

    /// Opens pictures that are made while they are shown, paused, in place of the stream that was open. Each is shown
    /// as soon as it is there, and there is no sound.
    ///
    /// - Parameter pictures: what is shown; it is cancelled when the player is closed.
    public func open(_ pictures: any RawPictures) {
        state.withLock { state in
            state.open()
            player.run(["set", "pause", "yes"])
            player.load(pictures)
        }
    }

    /// Plays, now or as soon as it can.
    public func play() { player.setPaused(false) }

    /// Pauses. What comes meanwhile is kept up to some seconds.
    public func pause() { player.setPaused(true) }

    /// Plays without sound, or with it.
    ///
    /// - Parameter isMuted: whether without.
    public func mute(_ isMuted: Bool) { player.run(["set", "mute", isMuted ? "yes" : "no"]) }

    /// Closes the stream; another one can be opened. Nothing more is reported of it.
    public func stop() {
        state.withLock { state in
            state.close()
            player.run(["stop"])
        }
    }

    /// Ends the player: its window closes, nothing more is read.
    public func close() { player.close() }
}

/// What is known of a stream. Only the newest one is reported.
struct LiveStreamState {
    /// How many streams were opened: libmpv counts them too.
    private var opened = 0
    private var isCurrent = false
    private var isOpen = false
    private var isReady = false
    private var isPaused = true
    private var isBuffering = false
    private var plays = false

    mutating func open() {
        opened += 1
        (isOpen, isCurrent, isReady, isBuffering, plays) = (true, false, false, false, false)
    }

    mutating func close() { isOpen = false }

    /// Takes an event of the engine.
    ///
    /// - Parameter event: the event.
    /// - Returns: what is reported of it.
    mutating func take(_ event: VideoEvent) -> [LiveStreamEvent] {
        if event == .closed { return [.closed] }
        // Pausing is a property of the engine, not of a stream.
        if case .paused(let isPaused) = event { self.isPaused = isPaused }
        if case .opening(let number) = event { isCurrent = number == opened }
        guard isOpen, isCurrent else { return [] }
        var reports: [LiveStreamEvent] = []
        switch event {
        case .ready where !isReady:
            isReady = true
            reports.append(.ready)
        case .buffering(let isBuffering): self.isBuffering = isBuffering
        case .ended, .failed:
            (isReady, plays) = (false, false)
            if case .failed(let error) = event { return [.failed(error)] }
            return [.stalled]
        default: break
        }
        let now = isReady && !isPaused && !isBuffering
        guard now != plays else { return reports }
        plays = now
        // A pause that was asked for is no standstill.
        if now { reports.append(.plays) } else if !isPaused { reports.append(.stalled) }
        return reports
    }
}
