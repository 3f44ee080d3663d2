import CMpv
import Dispatch
import Glibc
import LectureKit

/// One player of libmpv, and the thread that takes its events.
@safe final class MpvPlayer: Sendable {
    /// The properties that are observed, by the number that libmpv returns with a change.
    private enum Property: UInt64, CaseIterable {
        case position = 1
        case pause
        case speed
        case waits
        case duration
        case buffered
        case width
        case height
        case caption
        case secondCaption

        var name: String {
            switch self {
            case .position: "time-pos"
            case .pause: "pause"
            case .speed: "speed"
            case .waits: "paused-for-cache"
            case .duration: "duration"
            case .buffered: "demuxer-cache-duration"
            case .width: "dwidth"
            case .height: "dheight"
            case .caption: "sub-text"
            case .secondCaption: "secondary-sub-text"
            }
        }

        var format: mpv_format {
            switch self {
            case .position, .speed, .duration, .buffered: MPV_FORMAT_DOUBLE
            case .pause, .waits: MPV_FORMAT_FLAG
            case .width, .height: MPV_FORMAT_INT64
            case .caption, .secondCaption: MPV_FORMAT_STRING
            }
        }
    }

    /// What may be used as long as the player exists.
    ///
    /// `@unchecked Sendable`: libmpv's functions may be called from any thread (client.h, "Event loop").
    @safe private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let library: MpvLibrary
    /// Where the media is read that has no window.
    private let playlist = Monitor<PlaylistAddress?>(nil)
    /// Nil once it is destroyed.
    private let handle: Monitor<Handle?>
    private let windows = Monitor<MediaWindows?>(nil)
    /// What is shown in place of a lecture's media.
    private let pictures = Monitor<PictureStream?>(nil)
    private let tracks = Monitor(PlayerTracks())
    /// Whether media was opened, for which libmpv needs to know its streams.
    private let hasStreams = Monitor(false)
    private let renderer = Monitor<FrameRenderer?>(nil)
    /// The number of the first subtitles while second ones are added.
    private let first = Monitor<Int?>(nil)
    private let report: AsyncStream<VideoEvent>.Continuation
    private let whenOpen: [[String]]

    /// Starts a player without media.
    ///
    /// - Parameters:
    ///   - library: libmpv.
    ///   - settings: its options, by name.
    ///   - surface: where it is shown, as the settings say.
    ///   - whenOpen: commands to run when the media is open.
    ///   - report: where events go.
    /// - Throws: `LectureError`: `displayMissing`, `playerFailed`.
    init(
        _ library: MpvLibrary, _ settings: [(String, String)], _ surface: PlayerSurface, whenOpen: [[String]],
        _ report: AsyncStream<VideoEvent>.Continuation
    ) throws(LectureError) {
        // libmpv refuses to start where numbers have another decimal point (client.h, "Basic environment
        // requirements").
        unsafe setlocale(LC_NUMERIC, "C")
        guard let made = unsafe library.create() else { throw LectureError(.playerFailed) }
        let raw = unsafe Handle(pointer: made)
        (self.library, self.report, self.whenOpen) = (library, report, whenOpen)
        handle = Monitor(raw)
        do throws(LectureError) {
            try start(raw, settings, hasWindow: surface.needsDisplay)
            if case .frames(let frames) = surface {
                let made = try unsafe FrameRenderer(library, raw.pointer, frames)
                renderer.withLock { $0 = made }
            }
        } catch {
            unsafe library.destroy(made)
            throw error
        }
        // Its own thread: it waits for libmpv as long as the player exists.
        DispatchQueue(label: "lecture.player.mpv").async { self.takeEvents(raw) }
    }

    private func start(_ handle: Handle, _ settings: [(String, String)], hasWindow: Bool) throws(LectureError) {
        for (name, value) in settings { try check(unsafe library.setOption(handle.pointer, name, value), name) }
        let result = unsafe library.initialize(handle.pointer)
        // With a window that has to be there at once, that is what fails.
        if result < 0, hasWindow { throw LectureError(.displayMissing, cause: library.text(result)) }
        try check(result, "initialize")
        for property in Property.allCases {
            let (number, name, format) = (property.rawValue, property.name, property.format)
            try check(unsafe library.observe(handle.pointer, number, name, format), name)
        }
    }

    /// Opens media, paused.
    func load(_ media: any MediaSource, with tracks: PlayerTracks, from start: Duration, to end: Duration?) {
        self.tracks.withLock { $0 = tracks }
        let windows = MediaWindows(media)
        let before = self.windows.withLock { last in
            defer { last = windows }
            return last
        }
        before?.cancel()
        let playlist = media.timeline == nil ? media.playlist : nil
        self.playlist.withLock { $0 = playlist }
        guard registersStreams() else { return }
        run(["set", "chapters-file", tracks.chapters.isEmpty ? "" : Self.chapters])
        run(["set", "start", start > .zero ? Self.text(start) : "none"])
        run(["set", "end", end.map(Self.text) ?? "none"])
        if let playlist { return run(["loadfile", Self.location(playlist), "replace", Self.options(playlist)]) }
        run(["loadfile", windows.location, "replace"] + (media.timeline == nil ? [] : [Self.timelineOptions]))
    }

    /// Opens pictures that are made while they are shown, paused.
    func load(_ pictures: any RawPictures) {
        let stream = PictureStream(pictures)
        self.pictures.withLock { $0 = stream }
        if registersStreams() { run(["loadfile", PictureStream.location, "replace", stream.options]) }
    }

    /// Makes libmpv ask this player for the bytes of streams; false when it refuses, which is reported.
    private func registersStreams() -> Bool {
        let isFirst = hasStreams.withLock { hasStreams in
            defer { hasStreams = true }
            return !hasStreams
        }
        let added = handle.withLock { handle -> Int32? in
            guard let handle, isFirst else { return nil }
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            return unsafe library.addStream(handle.pointer, "lecture", context, openStream)
        }
        guard let added, added < 0 else { return true }
        report(.failed(failure(added)))
        return false
    }

    /// A URL, or several as one timeline (edl-mpv.rst).
    private static func location(_ playlist: PlaylistAddress) -> String {
        guard playlist.urls.count > 1 else { return playlist.urls.first ?? "" }
        return EditList.url(playlist.urls.map(EditList.quoted))
    }

    /// How a playlist is read, beside what is set for all media.
    private static func options(_ playlist: PlaylistAddress) -> String {
        let options = [
            // Nothing is far: what is read ahead would only be unsealed earlier.
            ("cache", "no"), ("user-agent", playlist.userAgent),
            // FFmpeg's demuxer begins with a playlist that grows near its end (libavformat/hls.c of FFmpeg 5.1).
            ("demuxer-lavf-o", "live_start_index=0"),
        ]
        return options.map { "\($0)=\($1)" }.joined(separator: ",")
    }

    /// An index has the times of segments as the playlist gives them, which may be rounded, or not those of the first
    /// picture: a jump begins to decode earlier, and is exact then.
    private static let timelineOptions = "hr-seek-demuxer-offset=0.5"

    /// Runs a command, without waiting for it.
    ///
    /// - Parameters:
    ///   - words: the command and its arguments.
    ///   - reply: the number of libmpv's event about its end.
    func run(_ words: [String], reply: UInt64 = 0) {
        handle.withLock { handle in
            guard let handle else { return }
            let strings = unsafe words.map { unsafe strdup($0) }
            defer { _ = unsafe strings.map { unsafe free($0) } }
            var arguments = unsafe strings.map { unsafe UnsafePointer<CChar>($0) } + [nil]
            _ = unsafe library.command(handle.pointer, reply, &arguments)
        }
    }

    /// Draws a text over the picture, or removes it (input.rst, `osd-overlay`).
    func show(_ overlay: TextOverlay?) {
        guard let overlay else { return run(["osd-overlay", "1", "none", ""]) }
        run(["osd-overlay", "1", "ass-events", AdvancedSubstation.text(overlay), "0", "720"])
    }

    /// A property that is a number; nil when it has no value.
    func number(_ property: String) -> Double? {
        // With the lock: until it returns, the player must not be destroyed.
        handle.withLock { handle in handle.flatMap { number(property, $0) } }
    }

    /// Pauses, or plays on, and reports what it does then: libmpv reports no change where the next command undid it.
    func setPaused(_ isPaused: Bool) { run(["set", "pause", isPaused ? "yes" : "no"], reply: Self.pauseReply) }

    func setRate(_ rate: Double) { run(["set", "speed", "\(rate)"]) }

    /// Plays a part again and again, or plays on.
    func setRepeat(_ part: Range<Duration>?) {
        // The end first: with both, libmpv jumps at once where the position is behind them.
        run(["set", "ab-loop-b", part.map { Self.text($0.upperBound) } ?? "no"])
        run(["set", "ab-loop-a", part.map { Self.text($0.lowerBound) } ?? "no"])
    }

    /// Ends the player. Its thread destroys it.
    func close() {
        windows.withLock(\.self)?.cancel()
        pictures.withLock(\.self)?.cancel()
        run(["quit"])
    }

    /// A time as libmpv reads it.
    static func text(_ time: Duration) -> String { "\(max(0, time / .seconds(1)))" }

    // MARK: Streams

    private static let chapters = "lecture://chapters"
    private static let subtitle = "lecture://subtitle/"

    /// A small file that belongs to the lecture.
    private func file(_ name: String) -> [UInt8]? {
        tracks.withLock { tracks in
            if name == Self.chapters { return Array(ChapterFile.text(tracks.chapters).utf8) }
            guard name.hasPrefix(Self.subtitle), let number = Int(name.dropFirst(Self.subtitle.count)),
                tracks.subtitles.indices.contains(number)
            else { return nil }
            return tracks.subtitles[number].bytes
        }
    }

    /// Adds the subtitles to media that is open.
    ///
    /// Only the newest one that was selected has a known number, so the second ones are added first.
    private func addSubtitles() {
        guard let second = tracks.withLock({ $0.subtitles.firstIndex(where: \.isSecond) }) else {
            return addSubtitles(except: nil)
        }
        add(second, flag: "select", reply: Self.secondSubtitleReply)
    }

    /// The second subtitles are there, and selected as the first ones.
    ///
    /// - Parameters:
    ///   - handle: the player.
    ///   - isFile: whether an application has added them, beside those of the lecture.
    private func addedSecondSubtitle(_ handle: Handle, isFile: Bool) {
        let before = first.withLock(\.self)
        if let number = number("sid", handle).map({ Int($0) }), number != before {
            run(["set", "sid", before.map { "\($0)" } ?? "no"])
            run(["set", "secondary-sid", "\(number)"])
        }
        if !isFile { addSubtitles(except: tracks.withLock { $0.subtitles.firstIndex(where: \.isSecond) }) }
    }

    /// Shows a file as the second subtitles.
    func showSecondSubtitles(_ path: String) {
        let shown = number("sid").map { Int($0) }
        first.withLock { $0 = shown }
        run(["sub-add", path, "select"], reply: Self.secondSubtitleFileReply)
    }

    private func addSubtitles(except added: Int?) {
        for (number, subtitle) in tracks.withLock(\.subtitles).enumerated() where number != added {
            add(number, flag: subtitle.isShown ? "select" : "auto")
        }
    }

    private func add(_ number: Int, flag: String, reply: UInt64 = 0) {
        guard let subtitle = tracks.withLock({ $0.subtitles.indices.contains(number) ? $0.subtitles[number] : nil })
        else { return }
        run(["sub-add", "\(Self.subtitle)\(number)", flag, subtitle.name, subtitle.language], reply: reply)
    }

    private static let secondSubtitleReply: UInt64 = 1
    private static let secondSubtitleFileReply: UInt64 = 2
    private static let pauseReply: UInt64 = 3

    /// Opens the media, its chapters, or subtitles by their number, for libmpv.
    fileprivate func open(_ name: String, _ info: UnsafeMutablePointer<mpv_stream_cb_info>) -> Int32 {
        if name == PictureStream.location, let stream = pictures.withLock(\.self) {
            unsafe stream.open(info)
            return 0
        }
        let small = file(name).map { MediaWindow(MemorySource(bytes: $0)) }
        guard let window = small ?? windows.withLock(\.self)?.open(name) else {
            return MPV_ERROR_LOADING_FAILED.rawValue
        }
        unsafe window.open(info)
        return 0
    }

    // MARK: Events

    /// What libmpv has reported last.
    private struct Latest {
        // It has no position between two files, and after gaps in the sound.
        var place: Duration = .zero
        /// How long the media is that is open.
        var length: Duration?
        var width = 0
        var height = 0
        var caption = ""
        var secondCaption = ""
    }

    private func takeEvents(_ handle: Handle) {
        var latest = Latest()
        while let event = unsafe library.waitEvent(handle.pointer, -1) {
            if unsafe event.pointee.event_id == MPV_EVENT_SHUTDOWN { break }
            unsafe take(event, handle, &latest)
        }
        report.yield(.closed)
        windows.withLock(\.self)?.cancel()
        pictures.withLock(\.self)?.cancel()
        self.handle.withLock { $0 = nil }
        renderer.withLock(\.self)?.close()
        unsafe library.destroy(handle.pointer)
        report.finish()
    }

    private func take(_ event: UnsafeMutablePointer<mpv_event>, _ handle: Handle, _ latest: inout Latest) {
        switch unsafe event.pointee.event_id {
        case MPV_EVENT_START_FILE:
            guard let data = unsafe event.pointee.data else { return }
            latest.length = nil
            // Each `loadfile` makes one entry, and entries are counted (client.h).
            let entry = unsafe data.assumingMemoryBound(to: mpv_event_start_file.self).pointee.playlist_entry_id
            report.yield(.opening(Int(clamping: entry)))
        case MPV_EVENT_PROPERTY_CHANGE:
            guard let property = unsafe Property(rawValue: event.pointee.reply_userdata),
                let data = unsafe event.pointee.data
            else { return }
            unsafe change(property, data.assumingMemoryBound(to: mpv_event_property.self).pointee, &latest)
        case MPV_EVENT_FILE_LOADED:
            addSubtitles()
            for words in whenOpen { run(words) }
        case MPV_EVENT_SEEK: report.yield(.seeking)
        case MPV_EVENT_PLAYBACK_RESTART:
            // libmpv reports changes of properties after everything else: the length is known before the picture.
            if let length = number(Property.duration.name, handle) { reportLength(length, &latest) }
            latest.place = position(handle) ?? latest.place
            // Without a track, the media is over by now: its end is the next event.
            if number("track-list/count", handle) ?? 0 > 0 { report.yield(.ready(latest.place)) }
        case MPV_EVENT_COMMAND_REPLY where unsafe event.pointee.reply_userdata == Self.pauseReply:
            if let isPaused = isPaused(handle) { report.yield(.paused(isPaused)) }
        case MPV_EVENT_COMMAND_REPLY where unsafe event.pointee.reply_userdata == Self.secondSubtitleReply:
            addedSecondSubtitle(handle, isFile: false)
        case MPV_EVENT_COMMAND_REPLY where unsafe event.pointee.reply_userdata == Self.secondSubtitleFileReply:
            addedSecondSubtitle(handle, isFile: true)
        case MPV_EVENT_CLIENT_MESSAGE: report.yield(.skip)
        case MPV_EVENT_END_FILE:
            guard let data = unsafe event.pointee.data else { return }
            unsafe ended(data.assumingMemoryBound(to: mpv_event_end_file.self).pointee)
        default: break
        }
    }

    private func change(_ property: Property, _ changed: mpv_event_property, _ latest: inout Latest) {
        // Without a value: there is no media.
        guard let data = unsafe changed.data, unsafe changed.format == property.format else { return }
        switch property {
        case .position:
            latest.place = Self.time(unsafe data.load(as: Double.self))
            report.yield(.position(latest.place))
        case .duration: reportLength(unsafe data.load(as: Double.self), &latest)
        case .buffered: report.yield(.buffered(Self.time(unsafe data.load(as: Double.self))))
        case .speed: report.yield(.rate(unsafe data.load(as: Double.self)))
        case .pause: report.yield(.paused(unsafe data.load(as: CInt.self) != 0))
        case .width: latest.width = Int(unsafe data.load(as: Int64.self))
        case .height:
            // The width is reported first.
            latest.height = Int(unsafe data.load(as: Int64.self))
            report.yield(.pictureSize(width: latest.width, height: latest.height))
        case .caption:
            let text = unsafe Self.text(data)
            guard text != latest.caption else { return }
            latest.caption = text
            report.yield(.caption(text))
        case .secondCaption:
            let text = unsafe Self.text(data)
            guard text != latest.secondCaption else { return }
            latest.secondCaption = text
            report.yield(.secondCaption(text))
        case .waits: report.yield(.buffering(unsafe data.load(as: CInt.self) != 0))
        }
    }

    private func reportLength(_ seconds: Double, _ latest: inout Latest) {
        let length = Self.time(seconds)
        guard length != latest.length else { return }
        latest.length = length
        report.yield(.duration(length))
    }

    private static func text(_ data: UnsafeMutableRawPointer) -> String {
        unsafe data.load(as: UnsafePointer<CChar>?.self).map { unsafe String(cString: $0) } ?? ""
    }

    private func position(_ handle: Handle) -> Duration? { number(Property.position.name, handle).map(Self.time) }

    private func number(_ property: String, _ handle: Handle) -> Double? {
        var number = 0.0
        let result = unsafe library.getProperty(handle.pointer, property, MPV_FORMAT_DOUBLE, &number)
        return result < 0 ? nil : number
    }

    private func isPaused(_ handle: Handle) -> Bool? {
        var flag: CInt = 0
        let result = unsafe library.getProperty(handle.pointer, Property.pause.name, MPV_FORMAT_FLAG, &flag)
        return result < 0 ? nil : flag != 0
    }

    private func ended(_ end: mpv_event_end_file) {
        // To libmpv, bytes that cannot be read are the end of the media. Those that nothing has needed are no failure.
        let unread = playlist.withLock(\.self)?.failure() ?? windows.withLock(\.self)?.error
        switch end.reason {
        case MPV_END_FILE_REASON_EOF: report(unread.map(VideoEvent.failed) ?? .ended)
        case MPV_END_FILE_REASON_ERROR: report(.failed(unread ?? failure(end.error)))
        case MPV_END_FILE_REASON_QUIT: report(.closed)
        // Other media takes its place.
        default: break
        }
    }

    private func report(_ event: VideoEvent) { report.yield(event) }

    private static func time(_ seconds: Double) -> Duration { .seconds(max(0, seconds.isFinite ? seconds : 0)) }

    // MARK: Errors

    private func failure(_ result: Int32) -> LectureError {
        let cause = library.text(result)
        return switch mpv_error(rawValue: result) {
        case MPV_ERROR_VO_INIT_FAILED: LectureError(.displayMissing, cause: cause)
        case MPV_ERROR_NOTHING_TO_PLAY, MPV_ERROR_UNKNOWN_FORMAT, MPV_ERROR_LOADING_FAILED:
            LectureError(.mediaUnsupported, cause: cause)
        default: LectureError(.playerFailed, cause: cause)
        }
    }

    private func check(_ result: Int32, _ what: String) throws(LectureError) {
        guard result < 0 else { return }
        throw LectureError(.playerFailed, detail: what, cause: library.text(result))
    }
}

// What libmpv calls on its threads (stream_cb.h).

private func openStream(
    _ context: UnsafeMutableRawPointer?, _ uri: UnsafeMutablePointer<CChar>?,
    _ info: UnsafeMutablePointer<mpv_stream_cb_info>?
) -> CInt {
    guard let context = unsafe context, let uri = unsafe uri, let info = unsafe info else {
        return MPV_ERROR_LOADING_FAILED.rawValue
    }
    // The player outlives libmpv's threads: it destroys them before it goes.
    let player = unsafe Unmanaged<MpvPlayer>.fromOpaque(context).takeUnretainedValue()
    return unsafe player.open(String(cString: uri), info)
}
