public import LectureKit

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
    /// Its title; nil when it is unknown.
    var title: String? { get }

    /// Where it was left; nil for its start.
    func resumePoint() async throws -> Duration?
    /// Its subtitles.
    func subtitles() async throws -> [PlayerSubtitle]
    /// What its description lists.
    func outline() async throws -> ContentOutline
    /// What its licence says now; nil when it needs none.
    func licence() async throws -> LicenceStatus?
    /// Counts the play.
    func start() async throws
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
    let title: String?

    /// Asks the licence for a play, which is not counted yet.
    init(_ manager: LectureManager, _ key: ContentKey, patience: Duration) async throws {
        play = try await manager.licences.preparePlay(key, patience: patience)
        title = try await manager.contents.find(key)?.title
        self.manager = manager
    }

    var key: ContentKey { play.key }
    var byteCount: Int64 { play.byteCount }

    func resumePoint() async throws -> Duration? { try await manager.contents.details(of: key)?.resumePoint }
    func licence() async throws -> LicenceStatus? { try await manager.licences.status(of: key) }

    func subtitles() async throws -> [PlayerSubtitle] {
        try await manager.contents.subtitles(of: key).map {
            PlayerSubtitle(name: $0.name, language: $0.language, bytes: $0.bytes)
        }
    }

    func outline() async throws -> ContentOutline { try await manager.contents.outline(of: key) }

    func start() async throws { try await play.start() }

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
    func end() async throws(LectureError) { try await play.end() }
}

/// A play of a stream. Where the store has the same lecture under a licence that limits play time, the bytes that are
/// read count.
struct StreamedLecture: PlayedLecture {
    private let manager: LectureManager
    private let stream: LectureStream

    /// Opens the stream.
    init(_ manager: LectureManager, _ url: String) async throws {
        stream = try await manager.streams.open(url)
        self.manager = manager
    }

    var key: ContentKey { stream.key }
    var title: String? { stream.title }
    var byteCount: Int64 { stream.byteCount }

    func resumePoint() async throws -> Duration? { try await manager.contents.details(of: key)?.resumePoint }

    func subtitles() async throws -> [PlayerSubtitle] { [] }
    func outline() async throws -> ContentOutline { stream.outline }

    // What is streamed needs no licence here: its server has permitted it by sending it.
    func licence() async throws -> LicenceStatus? { nil }
    func start() async throws {}

    func recorder(user: String?, length: Duration?) async throws -> PlayRecorder {
        try await manager.reports.recordPlay(of: stream, user: user, duration: length)
    }

    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await stream.read(range: range, receive)
    }

    // Its bytes were charged when they were read, and a stream has no position of its own.
    func watched(media: Duration, running: Duration) async throws(LectureError) {}
    func reached(_ position: Duration) async throws(LectureError) {}
    func end() async throws(LectureError) { await stream.end() }
}
