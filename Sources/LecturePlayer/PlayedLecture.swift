public import LectureKit
import LectureLoopback

/// What a player plays.
public enum PlayerMedia: Sendable, Hashable {
    /// A complete lecture of the store.
    case lecture(ContentKey)
    /// The media at a URL, or the one that a gateway link leads to. It is read through the streaming cache, and no
    /// lecture is registered.
    case stream(String)
}

/// The media of a session: its bytes, its licence, and where it is counted what was watched.
protocol PlayedLecture: MediaSource {
    /// The lecture.
    var key: ContentKey { get }
    /// The title that its gateway sent with it; nil for what the store has.
    var title: String? { get }

    /// Whether an intro is played before it.
    var hasIntro: Bool { get }

    /// Its subtitles.
    func subtitles() async throws -> [PlayerSubtitle]
    /// What its description lists.
    func outline() async throws -> ContentOutline
    /// What its licence says now; nil when it needs none.
    func licence() async throws -> LicenceStatus?
    /// What the server of a stream permits; nil where it was not asked.
    var permission: PlayPermission? { get }
    /// Counts the play. A failure that does not prevent it is passed to `notify`.
    func start(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async throws
    /// About a second has passed: servers are asked what is due, without waiting for them.
    func beat(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async
    /// Starts recording what is watched.
    func recorder(user: String?, length: Duration?) async throws -> PlayRecorder
    /// Adds to the play time that the licence counts; `playTimeUsedUp` ends the play.
    func watched(media: Duration, running: Duration) async throws(LectureError)
    /// Stores the position.
    func reached(_ position: Duration) async throws(LectureError)
    /// Ends the play.
    func end() async throws(LectureError)
}

/// A play of a complete lecture.
struct KeptLecture: PlayedLecture {
    private let manager: LectureManager
    private let play: Play
    /// Serves the playlists of an adaptive lecture to the video library, which reads nothing else than URLs.
    private let carrier: Carrier?
    /// The files of an adaptive lecture in fragments of MP4: the video library cannot jump in its playlists.
    let timeline: MediaTimeline?

    /// A server for one play.
    private struct Carrier {
        let server: LoopbackServer
        let carried: LoopbackPlay
        /// The names of the playlists of its parts.
        let parts: [String]

        init(_ manager: LectureManager, _ play: Play) async throws {
            server = try LoopbackServer(manager)
            do {
                carried = try await server.carry(play)
                parts = try await play.partNames()
            } catch {
                await server.stop()
                throw error
            }
        }

        var urls: [String] {
            let base = carried.url.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            return parts.map { "\(base.joined(separator: "/"))/\($0)" }
        }
    }

    /// Asks the licence for a play, which is not counted yet.
    init(_ manager: LectureManager, _ key: ContentKey, patience: Duration) async throws {
        play = try await manager.licences.preparePlay(key, patience: patience)
        self.manager = manager
        do {
            timeline = try await play.joinedStreams().map { [play] in MediaTimeline($0, of: play) }
            carrier = play.isAdaptive && timeline == nil ? try await Carrier(manager, play) : nil
        } catch {
            try? await play.end()
            throw error
        }
    }

    var key: ContentKey { play.key }
    var title: String? { nil }
    // An intro is not downloaded with a lecture.
    var hasIntro: Bool { false }
    var byteCount: Int64 { play.byteCount }
    var playlist: PlaylistAddress? {
        carrier.map { carrier in
            PlaylistAddress(
                urls: carrier.urls, userAgent: LoopbackServer.ownAgent,
                failure: { [carried = carrier.carried] in carried.failure })
        }
    }

    func licence() async throws -> LicenceStatus? { try await manager.licences.status(of: key) }

    func subtitles() async throws -> [PlayerSubtitle] {
        try await manager.contents.subtitles(of: key).map {
            PlayerSubtitle(name: $0.name, language: $0.language, bytes: $0.bytes)
        }
    }

    func outline() async throws -> ContentOutline { try await manager.contents.outline(of: key) }

    // What its server permits is in its licence.
    var permission: PlayPermission? { nil }
    func start(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async throws { try await play.start() }
    func beat(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async {}

    func recorder(user: String?, length: Duration?) async throws -> PlayRecorder {
        try await manager.reports.recordPlay(of: key, user: user, duration: length)
    }

    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await play.read(range: range, receive)
    }

    func watched(media: Duration, running: Duration) async throws(LectureError) {
        try await play.watched(media: media, running: running)
    }

    func reached(_ position: Duration) async throws(LectureError) { try await play.reached(position) }

    func end() async throws(LectureError) {
        await carrier?.server.stop()
        try await play.end()
    }
}

/// A joined file of an adaptive lecture.
private struct JoinedFile: MediaSource {
    let play: Play
    let stream: JoinedStream

    var byteCount: Int64 { stream.byteCount }

    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await play.read(joined: stream, range: range, receive)
    }
}

extension MediaTimeline {
    fileprivate init(_ streams: JoinedStreams, of play: Play) {
        let tracks = streams.tracks.map { track in
            Track(
                name: track.name, language: track.language,
                files: track.files.map { JoinedFile(play: play, stream: $0) })
        }
        self.init(parts: streams.parts.map { Part(start: $0.start, length: $0.length) }, tracks: tracks)
    }
}

/// A play of a stream, permitted by its play callback where its gateway names one. Where the store has the same lecture
/// under a licence that limits play time, the bytes that are read count.
struct StreamedLecture: PlayedLecture {
    private let manager: LectureManager
    private let stream: LectureStream
    private let keeper: PermissionKeeper?
    let permission: PlayPermission?

    /// Opens the stream, and asks whether it may be played.
    ///
    /// - Parameters:
    ///   - manager: the store's manager.
    ///   - url: a media file or a gateway link.
    ///   - patience: how long to wait for its servers; nil for an intro, which needs no permission.
    /// - Throws: `LectureError`, `CancellationError`.
    init(_ manager: LectureManager, _ url: String, patience: Duration?) async throws {
        stream = try await manager.streams.open(url)
        self.manager = manager
        guard let patience else {
            (permission, keeper) = (nil, nil)
            return
        }
        do {
            permission = try await stream.permission(patience: patience)
        } catch {
            await stream.end()
            throw error
        }
        keeper = permission.map { [stream] in PermissionKeeper(stream, $0, patience: patience) }
    }

    var key: ContentKey { stream.key }
    var title: String? { stream.title }
    var hasIntro: Bool { true }
    var byteCount: Int64 { stream.byteCount }

    func subtitles() async throws -> [PlayerSubtitle] { [] }
    func outline() async throws -> ContentOutline { stream.outline }

    // What is streamed needs no licence here: its servers have permitted it.
    func licence() async throws -> LicenceStatus? { nil }

    func start(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async throws {
        try await keeper?.start(notify)
    }

    func beat(_ notify: @escaping @Sendable (PermissionNotice) -> Void) async { await keeper?.beat(notify) }

    func recorder(user: String?, length: Duration?) async throws -> PlayRecorder {
        try await manager.reports.recordPlay(of: stream, user: user, duration: length)
    }

    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await stream.read(range: range, receive)
    }

    // Its bytes were charged when they were read.
    func watched(media: Duration, running: Duration) async throws(LectureError) {}

    /// The recorder stores the position of a lecture that the store has. What is left is the start, after a stream that
    /// was played to its end.
    func reached(_ position: Duration) async throws(LectureError) {
        guard position == .zero else { return }
        do throws(LectureError) { try await manager.contents.setResumePoint(.zero, of: key) } catch {
            guard error.code == .unknownContent else { throw error }
        }
    }

    func end() async throws(LectureError) {
        await keeper?.end()
        await stream.end()
    }
}
