public import FlipFlopLiteSDK
import LectureModel
public import LecturePlayer

/// Pictures in memory, under a name for applications that do not import `LecturePlayer`.
public typealias LiveFrames = PlayerFrames
/// A picture in memory.
public typealias LiveFrame = PlayerFrame

/// Where a picture is shown, for applications that give it as a `view`.
public final class LiveWindow: Sendable {
    /// The surface.
    public let surface: PlayerSurface

    /// Shows pictures on a surface: in a window of its own, in one of the application's, or nowhere.
    ///
    /// - Parameter surface: the surface.
    public init(_ surface: PlayerSurface) { self.surface = surface }

    /// Shows pictures in a window of its own.
    ///
    /// - Parameter title: its title.
    public convenience init(title: String) { self.init(.window(title: title, isFullscreen: false)) }
}

/// The picture of a viewer: HLS and RTMP by libmpv.
///
/// A `view` is a `PlayerFrames`, for pictures in memory, or a ``LiveWindow``. Any other object, and none, is a window
/// of its own where there is a display, and sound alone where there is none.
public final class PlayerPicture: LivePicture {
    /// How streams are played.
    public struct Options: Sendable {
        /// Whether sound is decoded and heard.
        public var hasSound = true
        /// The title of a window of its own.
        public var title = ""
        /// A PEM file with the roots that are trusted; nil for the system's.
        public var caFile: String?
        /// The environment, as far as displays are concerned.
        public var environment = MpvEngine.environment

        /// Creates the default options.
        public init() {}
    }

    private struct State {
        var player: LiveStreamPlayer?
        var surface = PlayerSurface.none
        var isMuted = false
        /// Of the media that was opened last.
        var isRTMP = false
    }

    /// What happens; read once.
    public let events: AsyncStream<LivePictureEvent>
    private let report: AsyncStream<LivePictureEvent>.Continuation
    private let options: Options
    private let state = Guarded(State())

    /// Creates a picture without media.
    ///
    /// - Parameter options: how streams are played.
    public init(_ options: Options = Options()) {
        (events, report) = AsyncStream.makeStream(of: LivePictureEvent.self)
        self.options = options
    }

    deinit {
        state.withLock { $0.player }?.close()
        report.finish()
    }

    /// Opens media in place of what was open, paused.
    public func open(url: String, view: LiveSurface, isLowLatency: Bool) {
        let isRTMP = url.lowercased().hasPrefix("rtmp")
        do throws(LectureError) {
            let player = try player(options.surface(view.object))
            state.withLock { $0.isRTMP = isRTMP }
            try player.open(url, isLowLatency: isLowLatency || isRTMP)
        } catch { report.yield(.failed(Self.failure(error, isRTMP: isRTMP))) }
    }

    /// The player that is there, or another one for another surface.
    private func player(_ surface: PlayerSurface) throws(LectureError) -> LiveStreamPlayer {
        try state.withLock { state throws(LectureError) in
            if let player = state.player, state.surface == surface { return player }
            state.player?.close()
            state.player = nil
            var stream = LiveStreamOptions()
            (stream.surface, stream.hasSound, stream.caFile) = (surface, options.hasSound, options.caFile)
            let player = try LiveStreamPlayer(stream, environment: options.environment)
            (state.player, state.surface) = (player, surface)
            player.mute(state.isMuted)
            follow(player)
            return player
        }
    }

    private func follow(_ player: LiveStreamPlayer) {
        Task { [weak self] in
            for await event in player.events { self?.take(event, of: player) }
        }
    }

    private func take(_ event: LiveStreamEvent, of player: LiveStreamPlayer) {
        state.withLock { state in
            // What a player reports that was closed meanwhile is of no interest.
            guard state.player === player else { return }
            switch event {
            case .ready: report.yield(.ready)
            case .plays: report.yield(.plays)
            case .stalled: report.yield(.stalled)
            case .failed(let error): report.yield(.failed(Self.failure(error, isRTMP: state.isRTMP)))
            case .closed:
                state.player = nil
                report.yield(.failed(FFError(.STREAMING_INVALID_VIEW, "the window was closed")))
            }
        }
    }

    /// The number that an application gets. Addresses of media are in no text of libmpv's.
    private static func failure(_ error: LectureError, isRTMP: Bool) -> FFError {
        switch error.code {
        case .displayMissing, .playerMissing: FFError(.STREAMING_INVALID_VIEW, error.message)
        default: FFError(isRTMP ? .RTMP_PLAYER_ERROR : .HLS_PLAYER_PLAY_FAILED, error.message)
        }
    }

    /// Plays, now or as soon as it can.
    public func play() { state.withLock { $0.player }?.play() }

    /// Closes the media and its window; another one can be opened.
    public func close() {
        let player = state.withLock { state in
            defer { state.player = nil }
            return state.player
        }
        player?.close()
    }

    /// Plays without sound.
    public func mute(_ isMuted: Bool) {
        let player = state.withLock { state in
            state.isMuted = isMuted
            return state.player
        }
        player?.mute(isMuted)
    }
}

extension PlayerPicture.Options {
    /// Where an object of an application is shown.
    func surface(_ object: AnyObject?) -> PlayerSurface {
        if let frames = object as? PlayerFrames { return .frames(frames) }
        if let window = object as? LiveWindow { return window.surface }
        let hasDisplay = environment.values.contains { !$0.isEmpty }
        return hasDisplay ? .window(title: title, isFullscreen: false) : .none
    }
}
