import LectureKit
import LecturePlayer

/// libmpv's engine for a view, which sees what happens in it before the player does.
final class PlayerEngine: VideoEngine {
    let events: AsyncStream<VideoEvent>
    private let mpv: MpvEngine
    private let loads = Guarded(MediaLoads())

    /// Takes an engine.
    ///
    /// - Parameters:
    ///   - mpv: the engine; it belongs to this one.
    ///   - watch: gets the events first, in order, but those of media that was replaced.
    init(_ mpv: MpvEngine, watch: @escaping @Sendable (VideoEvent, PlayerEngine?) -> Void) {
        let (events, forward) = AsyncStream.makeStream(of: VideoEvent.self)
        (self.events, self.mpv) = (events, mpv)
        let (source, loads) = (mpv.events, loads)
        // Its own task ends with the engine, which libmpv's last event reports.
        Task { [weak self] in
            for await event in source {
                if loads.withLock({ $0.admits(event) }) { watch(event, self) }
                forward.yield(event)
            }
            forward.finish()
        }
    }

    func load(_ media: any MediaSource, with tracks: PlayerTracks, from start: Duration, to end: Duration?) {
        loads.withLock { $0.ask() }
        mpv.load(media, with: tracks, from: start, to: end)
    }

    func show(_ overlay: TextOverlay?) { mpv.show(overlay) }
    func setPaused(_ isPaused: Bool) { mpv.setPaused(isPaused) }
    func seek(to position: Duration) { mpv.seek(to: position) }
    func setRate(_ rate: Double) { mpv.setRate(rate) }
    func setRepeat(_ part: Range<Duration>?) { mpv.setRepeat(part) }
    func notify(_ message: String) { mpv.notify(message) }
    func close() { mpv.close() }

    /// Whether it starts over at the end of a part, or of the whole.
    func setRepeats(_ repeats: Bool, _ section: Range<Duration>?) {
        for (name, value) in Self.repeating(repeats, section).sorted(by: { $0.key < $1.key }) {
            mpv.set(name, to: value)
        }
    }

    /// The same as options of mpv. The start of the whole is not where it was opened, so a part has options of its own.
    static func repeating(_ repeats: Bool, _ section: Range<Duration>?) -> [String: String] {
        guard repeats else { return ["loop-file": "no", "ab-loop-a": "no", "ab-loop-b": "no"] }
        guard let section else { return ["loop-file": "inf"] }
        return [
            "ab-loop-a": "\(section.lowerBound / .seconds(1))", "ab-loop-b": "\(section.upperBound / .seconds(1))",
        ]
    }

    /// Shows the picture at its place.
    func show(_ picture: PlayerPicture) {
        for (name, value) in picture.options.sorted(by: { $0.key < $1.key }) { mpv.set(name, to: value) }
    }

    /// Shows a subtitle file.
    func showSubtitle(_ path: String, isSecond: Bool) {
        if isSecond { mpv.showSecondSubtitles(path) } else { mpv.showSubtitles(path) }
    }

    /// The picture's track: its size in pixels and pictures per second; nil without a picture.
    var pictureTrack: (width: Double, height: Double, rate: Double?)? {
        for track in 0..<Int(mpv.number("track-list/count") ?? 0) {
            let name = "track-list/\(track)/demux-"
            guard let width = mpv.number(name + "w"), let height = mpv.number(name + "h"), width > 0 else { continue }
            return (width, height, mpv.number(name + "fps"))
        }
        return nil
    }
}
