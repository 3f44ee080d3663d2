import LectureKit

/// The text of mpv's edit decision lists (edl-mpv.rst).
enum EditList {
    /// A text that may have any character.
    static func quoted(_ text: String) -> String { "%\(text.utf8.count)%\(text)" }

    /// The URL of a list.
    static func url(_ entries: [String]) -> String { "edl://" + entries.joined(separator: ";") }
}

/// The windows over the media that a player has open: one file, or the files of a timeline. libmpv opens each of them
/// when it needs it.
///
/// To libmpv, bytes that cannot be read are the end of a track. So when one file cannot be read, no other is read on.
final class MediaWindows: Sendable {
    private struct State {
        var windows: [Opened] = []
        var failure: LectureError?
        var isCancelled = false
    }

    /// A window as long as libmpv has it.
    private struct Opened {
        weak var window: MediaWindow?
    }

    /// The URL of the media that is one file; those of a timeline begin with it.
    private static let name = "lecture://media"
    /// The most files whose windows have their whole length; the others share that memory.
    private static let mostLong = 4

    private let source: any MediaSource
    private let timeline: MediaTimeline?
    private let state = Monitor(State())

    /// Creates nothing that is open.
    init(_ source: any MediaSource) { (self.source, timeline) = (source, source.timeline) }

    /// What libmpv opens: a URL, or a timeline (edl-mpv.rst). Also of one file: its length is that of the playlist.
    var location: String {
        guard let timeline else { return Self.name }
        let quoted = EditList.quoted
        let tracks = timeline.tracks.enumerated().map { number, track in
            var fields: [String] = []
            if !track.language.isEmpty { fields.append("lang=\(quoted(track.language))") }
            if !track.name.isEmpty { fields.append("title=\(quoted(track.name))") }
            let parts = timeline.parts.enumerated().map { part, place in
                "\(quoted(Self.name(number, part))),start=\(Self.text(place.start)),length=\(Self.text(place.length))"
            }
            let meta = fields.isEmpty ? [] : [(["!track_meta"] + fields).joined(separator: ",")]
            return (["!new_stream", "!no_chapters"] + meta + parts).joined(separator: ";")
        }
        return EditList.url(tracks)
    }

    private static func name(_ track: Int, _ part: Int) -> String { "\(name)/\(track)/\(part)" }

    /// Seconds, to the nanosecond.
    private static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let digits = String(attoseconds / 1_000_000_000)
        return "\(seconds).\(String(repeating: "0", count: 9 - digits.count))\(digits)"
    }

    /// Opens a file.
    ///
    /// - Parameter name: its URL.
    /// - Returns: a window for one reader; nil when there is no such file, or it is over.
    func open(_ name: String) -> MediaWindow? {
        guard let (source, length) = file(name) else { return nil }
        let window = MediaWindow(source, length: length) { [weak self] error in self?.fail(error) }
        return state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.windows.removeAll { $0.window == nil }
            state.windows.append(Opened(window: window))
            return window
        }
    }

    private func file(_ name: String) -> (any MediaSource, Int64)? {
        guard let timeline else { return name == Self.name ? (source, MediaWindow.longest) : nil }
        let numbers = name.dropFirst(Self.name.count).split(separator: "/").map { Int($0) }
        guard name.hasPrefix(Self.name), numbers.count == 2, let track = numbers[0], let part = numbers[1],
            timeline.tracks.indices.contains(track), timeline.tracks[track].files.indices.contains(part)
        else { return nil }
        let count = timeline.tracks.reduce(0) { $0 + $1.files.count }
        let length = max(MediaWindow.longest / 8, MediaWindow.longest * Int64(Self.mostLong) / Int64(count))
        return (timeline.tracks[track].files[part], min(MediaWindow.longest, length))
    }

    /// Why a file cannot be read; nil while they can.
    var error: LectureError? { state.withLock(\.failure) }

    /// Ends each read, now and from now on.
    func cancel() {
        let windows = state.withLock { state in
            state.isCancelled = true
            return state.windows.compactMap(\.window)
        }
        for window in windows { window.cancel() }
    }

    private func fail(_ error: LectureError) {
        let windows: [MediaWindow] = state.withLock { state in
            guard state.failure == nil, !state.isCancelled else { return [] }
            state.failure = error
            return state.windows.compactMap(\.window)
        }
        for window in windows { window.fail(error) }
    }
}
