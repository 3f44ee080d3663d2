import Glibc
public import LectureKit

/// Where a lecture is shown.
public enum PlayerSurface: Sendable, Hashable {
    /// A window of its own.
    case window(title: String, isFullscreen: Bool)
    /// A window of an application, by its X11 id.
    case x11(UInt32)
    /// In memory, for an application that draws it.
    case frames(PlayerFrames)
    /// Nowhere: only sound.
    case none

    var needsDisplay: Bool {
        switch self {
        case .window, .x11: true
        case .frames, .none: false
        }
    }
}

/// Options of the video engine.
public struct MpvOptions: Sendable, Hashable {
    /// Where the lecture is shown.
    public var surface: PlayerSurface = .window(title: "", isFullscreen: false)
    /// Whether sound is heard.
    public var hasSound = true
    /// A subtitle file to show.
    public var subtitlePath: String?
    /// Whether keys that are typed in the process's terminal are obeyed as in mpv.
    public var readsTerminal = false
    /// How much of a stream is read ahead; it waits when there is nothing. Nil for media on the disk.
    public var readAhead: Duration?
    /// Further options of mpv by name, set last.
    public var more: [String: String] = [:]

    /// Creates the default options.
    public init() {}
}

/// A video engine of libmpv, which is opened at run time.
///
/// It reads the bytes of a lecture through callbacks: no file has them in clear, and memory use does not grow with the
/// length. libmpv's configuration, scripts and network access are off.
public final class MpvEngine: VideoEngine {
    /// What happens in libmpv, in order.
    public let events: AsyncStream<VideoEvent>
    private let player: MpvPlayer

    /// Opens libmpv and starts a player in it.
    ///
    /// - Parameters:
    ///   - options: how it shows a lecture.
    ///   - environment: where a window's display is looked for.
    /// - Throws: `LectureError`: `playerMissing` without libmpv, `displayMissing` when a window is wanted and there
    ///   is no display, `playerFailed` with libmpv's reason.
    public init(_ options: MpvOptions = MpvOptions(), environment: [String: String] = MpvEngine.environment)
        throws(LectureError)
    {
        if options.surface.needsDisplay, !Self.hasDisplay(environment) { throw LectureError(.displayMissing) }
        let library = try MpvLibrary.shared.get()
        let (events, report) = AsyncStream.makeStream(of: VideoEvent.self)
        self.events = events
        player = try MpvPlayer(
            library, Self.settings(options), options.surface,
            whenOpen: options.subtitlePath.map { [["sub-add", $0, "select"]] } ?? [], report)
        // Not `keybind`: libmpv 0.35 changes its table without a lock while a window looks keys up in it, and crashes.
        player.run(["define-section", "lecture", "ENTER script-message lecture-skip-intro", "force"])
        player.run(["enable-section", "lecture"])
    }

    deinit { player.close() }

    /// The environment of the process, as far as displays are concerned.
    public static var environment: [String: String] {
        var found: [String: String] = [:]
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] {
            found[name] = unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        return found
    }

    static func hasDisplay(_ environment: [String: String]) -> Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    }

    static func settings(_ options: MpvOptions) -> [(String, String)] {
        var settings = [
            // Nothing of the user's own mpv, and nothing from the network.
            ("config", "no"), ("load-scripts", "no"), ("ytdl", "no"), ("osc", "yes"), ("save-position-on-quit", "no"),
            ("load-osd-console", "no"), ("load-stats-overlay", "no"), ("sub-auto", "no"), ("audio-file-auto", "no"),
            ("cover-art-auto", "no"), ("autoload-files", "no"),
            ("idle", "yes"), ("pause", "yes"), ("keep-open", "no"), ("hr-seek", "yes"),
            // A lecture of ten hours must not fill the memory.
            ("demuxer-max-bytes", "32MiB"), ("demuxer-max-back-bytes", "8MiB"), ("audio-client-name", "LectureKit"),
        ]
        // Only outputs with a window: mpv would fall back to letters on the terminal, or to nothing.
        if options.surface.needsDisplay { settings.append(("vo", "gpu,xv,x11,wlshm")) }
        switch options.surface {
        case .window(let title, let isFullscreen):
            // At once: without a window the media must not be opened.
            settings.append(("force-window", "immediate"))
            settings += [("input-default-bindings", "yes"), ("input-vo-keyboard", "yes")]
            settings += [("title", title.isEmpty ? "LectureKit" : title), ("fullscreen", isFullscreen ? "yes" : "no")]
        case .x11(let id): settings += [("wid", "\(id)"), ("force-window", "immediate")]
        case .frames: settings += [("vo", "libmpv"), ("osc", "no")]
        case .none: settings += [("vid", "no"), ("vo", "null")]
        }
        if options.readsTerminal {
            // Keys only: what mpv would print is the command's.
            settings += [("terminal", "yes"), ("really-quiet", "yes"), ("input-terminal", "yes")]
            settings += [("input-default-bindings", "yes")]
        } else {
            settings.append(("terminal", "no"))
        }
        if !options.hasSound { settings.append(("aid", "no")) }
        if let time = options.readAhead {
            settings += [("cache", "yes"), ("cache-secs", MpvPlayer.text(time)), ("cache-pause-wait", "2")]
        }
        return settings + options.more.sorted { $0.key < $1.key }
    }

    /// Opens media, paused; see ``VideoEngine/load(_:with:from:to:)``.
    public func load(_ media: any MediaSource, with tracks: PlayerTracks, from start: Duration, to end: Duration?) {
        player.load(media, with: tracks, from: start, to: end)
    }

    /// Draws a text over the picture, or removes it.
    public func show(_ overlay: TextOverlay?) { player.show(overlay) }

    /// Pauses, or plays on.
    public func setPaused(_ isPaused: Bool) { player.setPaused(isPaused) }

    /// Jumps to a position, exactly.
    public func seek(to position: Duration) { player.run(["seek", MpvPlayer.text(position), "absolute+exact"]) }

    /// Changes the speed.
    public func setRate(_ rate: Double) { player.setRate(rate) }

    /// Plays a part again and again; nil plays on.
    public func setRepeat(_ part: Range<Duration>?) { player.setRepeat(part) }

    /// Shows a message in the picture for four seconds.
    public func notify(_ message: String) { player.run(["show-text", message, "4000"]) }

    /// Sets an option of mpv while it plays. One that mpv does not know changes nothing.
    ///
    /// - Parameters:
    ///   - option: its name.
    ///   - value: as on mpv's command line.
    public func set(_ option: String, to value: String) { player.run(["set", option, value]) }

    /// A number that mpv knows about what it plays.
    ///
    /// - Parameter property: its name, for instance `track-list/count`.
    /// - Returns: nil when there is none at the moment.
    public func number(_ property: String) -> Double? { player.number(property) }

    /// Shows a subtitle file from now on.
    ///
    /// - Parameter path: of the file.
    public func showSubtitles(_ path: String) { player.run(["sub-add", path, "select"]) }

    /// Shows a subtitle file beside the first one, at the top of the picture, from now on.
    ///
    /// - Parameter path: of the file.
    public func showSecondSubtitles(_ path: String) { player.showSecondSubtitles(path) }

    /// Ends the engine; its window closes.
    public func close() { player.close() }
}
