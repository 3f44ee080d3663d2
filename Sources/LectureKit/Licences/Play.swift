public import LectureModel

/// One play of a complete lecture: permitted by its licence, and counted when it began.
///
/// ```swift
/// let play = try await manager.beginPlay(key)
/// try await play.read(range: 0..<65_536) { bytes in feed(bytes) }
/// try await play.watched(media: .seconds(10), running: .seconds(8))
/// try await play.reached(.seconds(10))
/// try await play.end()
/// ```
///
/// The bytes are those of one version of the lecture, each held against its proof before it is handed out. Play time is
/// kept at the latest when ten seconds of it have gathered, and when the play ends; a crash costs at most that. So is
/// the place that was reached.
public actor Play {
    /// The content.
    public nonisolated let key: ContentKey
    /// The length of the media in bytes.
    public nonisolated let byteCount: Int64
    /// How many plays are left after this one; nil for no bound.
    public nonisolated let countLeft: Int?
    private let manager: LectureManager
    private let media: PlacedMedia
    private let isLicensed: Bool
    private var watchedMedia: Duration = .zero
    private var watchedRunning: Duration = .zero
    /// Where the player is, when that is not kept yet.
    private var place: Duration?
    /// The place that was kept last.
    private var keptPlace: Duration?
    private var isOver = false

    /// The most play time that a crash may cost.
    private static let longestUnwritten: Duration = .seconds(10)

    init(_ manager: LectureManager, _ media: PlacedMedia, key: ContentKey, licence: LicenceEntry?) {
        self.manager = manager
        self.media = media
        self.key = key
        isLicensed = licence != nil
        byteCount = Int64(clamping: media.resource.total ?? 0)
        countLeft = licence?.record?.countLeft
    }

    /// Reads media.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; nil for all. What lies beyond the end is left out.
    ///   - receive: takes the bytes in order, at most a chunk a call; what it throws ends the reading.
    /// - Throws: ``LectureError``: `closing` after the end of the play, `damaged`; and what
    ///   `receive` throws. `CancellationError` when the task is cancelled, at the latest after a chunk; the play
    ///   goes on.
    public func read(range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        guard !isOver else { throw LectureError(.closing, detail: key.text) }
        try await manager.read(media, key, range: range, receive)
    }

    /// Takes note of what was watched since the last call.
    ///
    /// - Parameters:
    ///   - media: how much of the lecture, at whatever speed.
    ///   - running: how much time has passed while it played.
    /// - Throws: ``LectureError`` with `playTimeUsedUp` when this was the last of the play time: the play is over then;
    ///   a store's code when it could not be kept, and then it is kept with the next call.
    public func watched(media: Duration, running: Duration) async throws {
        guard !isOver, isLicensed else { return }
        watchedMedia += max(.zero, media)
        watchedRunning += max(.zero, running)
        if max(watchedMedia, watchedRunning) >= Self.longestUnwritten { try await write() }
    }

    /// Takes note of where the player is, so that the next one goes on there: see ``ContentDetails/resumePoint``. It is
    /// kept when it is ten seconds or more from what was kept last, together with play time, and at the end.
    ///
    /// - Parameter position: from the beginning of the lecture.
    /// - Throws: a store's code when it could not be kept; then it is kept with the next call.
    public func reached(_ position: Duration) async throws {
        guard !isOver else { return }
        let reached = max(.zero, position)
        place = reached
        let distance = keptPlace.map { max(reached - $0, $0 - reached) }
        if distance ?? Self.longestUnwritten >= Self.longestUnwritten { try await keepPlace() }
    }

    /// Ends the play and keeps what was watched, and where; in a task that is cancelled as well.
    ///
    /// - Throws: ``LectureError`` of the store.
    public func end() async throws {
        guard !isOver else { return }
        try await keepPlace()
        if watchedMedia > .zero || watchedRunning > .zero { try await write() }
        isOver = true
    }

    /// Keeps the place of a content that is still there.
    private func keepPlace() async throws {
        guard let kept = place else { return }
        do {
            try await manager.setResumePoint(key, kept)
        } catch let error as LectureError where error.code == .unknownContent {}
        // Another place may have been told during the wait.
        if place == kept { place = nil }
        keptPlace = kept
    }

    private func write() async throws {
        // First, since the play may be over behind it.
        try await keepPlace()
        let (media, running) = (watchedMedia, watchedRunning)
        // Taken before the wait, so that a call that comes meanwhile counts nothing twice.
        (watchedMedia, watchedRunning) = (.zero, .zero)
        let left: Duration?
        do {
            left = try await manager.addPlayTime(key, media: media, running: running)
        } catch {
            watchedMedia += media
            watchedRunning += running
            throw error
        }
        if left == .zero {
            isOver = true
            throw LectureError(.playTimeUsedUp, detail: key.text)
        }
    }
}

/// The media of a complete content, with what opens it.
struct PlacedMedia: Sendable {
    let resource: ResourceRecord
    /// Opens its segments; nil when it lies in clear.
    let cipher: (any ContentCipher)?
}
