public import LectureModel

/// One play of a complete lecture: permitted by its licence, and counted when it starts.
///
/// ```swift
/// let play = try await manager.licences.beginPlay(key)
/// try await play.read(range: 0..<65_536) { bytes in feed(bytes) }
/// try await play.watched(media: .seconds(10), running: .seconds(8))
/// try await play.reached(.seconds(10))
/// try await play.end()
/// ```
///
/// The bytes are those of one version of the lecture, each checked against its proof before it is returned. Play time
/// is stored at the latest after ten seconds of it, the position after two seconds, and both when the play ends; a
/// crash costs at most that.
///
/// Where the licence limits play time, the bytes that are read count, and so does what ``watched(media:running:)``
/// reports: whichever is more, never both. Up to ten seconds are charged ahead, two in a play in which only reports
/// count; ``end()`` gives back what was not used.
/// A player that reads ahead, or plays faster or slower, begins its play with ``PlayTimeCounting/reported``.
public actor Play {
    /// The lecture.
    public nonisolated let key: ContentKey
    /// The length of the media in bytes; of an adaptive lecture, of all its segments as they are kept.
    public nonisolated let byteCount: Int64
    /// How many plays are left after this one; nil for no limit.
    public nonisolated let countLeft: Int?
    private let licences: LectureManager.Licences
    private let media: PlayedMedia
    private let isLicensed: Bool
    /// Charges play time; nil where it is not limited.
    private let counter: PlayCounter?
    private var isCounted = false
    private var watchedMedia: Duration = .zero
    private var watchedRunning: Duration = .zero
    /// The player's position, when it is not stored yet.
    private var place: Duration?
    /// The position stored last.
    private var keptPlace: Duration?
    private var isOver = false

    /// The most play time that a crash may cost where the licence does not limit it.
    private static let longestUnwritten: Duration = .seconds(10)
    /// How far the position may be from the stored one.
    private static let longestWay: Duration = .seconds(2)

    init(
        _ licences: LectureManager.Licences, _ media: PlayedMedia, byteCount: UInt64, key: ContentKey,
        licence: LicenceEntry?, counter: PlayCounter?
    ) {
        self.licences = licences
        self.media = media
        self.key = key
        self.counter = counter
        isLicensed = licence != nil
        self.byteCount = Int64(clamping: byteCount)
        countLeft = licence?.record?.countLeft.map { max(0, $0 - 1) }
    }

    deinit {
        // A play that its owner has dropped keeps no time that it did not use.
        if let counter { Task { try? await counter.end() } }
    }

    /// Counts a play that was prepared with ``LectureManager/Licences/preparePlay(_:patience:counting:)``, durably. A
    /// play is counted once, however often this is called.
    ///
    /// - Throws: ``LectureError``: `closing` after the end of the play, the code of the first reason against it
    ///   (`licenceExpired`, `countUsedUp` …), `anchorUnwritable`, a store's code; then it is not counted.
    ///   `CancellationError` when the task is cancelled: then neither.
    public func start() async throws {
        guard !isOver else { throw LectureError(.closing, detail: key.text) }
        guard !isCounted else { return }
        guard isLicensed else {
            isCounted = true
            await licences.recordPlayed(key)
            return
        }
        // Before the wait, so that a second call does not count it again.
        isCounted = true
        do { try await licences.countPlay(key) } catch {
            isCounted = false
            throw error
        }
        await licences.recordPlayed(key)
    }

    /// Reads media. An adaptive lecture has no bytes of its own: all of it is the stream of its first media playlist,
    /// that is its initialisation sections and segments one after the other, decrypted and without gaps. See
    /// ``isAdaptive``.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; nil for all. Bytes beyond the end are left out.
    ///   - receive: gets the bytes in order, at most a chunk per call; an error it throws ends the reading.
    /// - Throws: ``LectureError``: `closing` after the end of the play, `damaged`, `manyFiles` for a range of an
    ///   adaptive lecture, `notComplete` for one that is still being downloaded, `playTimeUsedUp` when the licence
    ///   permits no further byte; and what `receive` throws. `CancellationError` when the task is cancelled, at the
    ///   latest after a chunk; the play continues.
    public func read(range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await read(range: range, isAll: false, receive)
    }

    /// The same; `isAll` says that nothing else will be read in this play, so that no more is charged ahead.
    func read(range: Range<Int64>?, isAll: Bool, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try requireGoingOn()
        switch media {
        case .file(let file):
            let charge = charge(isAll: isAll)
            try await MediaReader(licences.core).read(file, key, range: range, charging: charge, receive)
        case .streams(let shelf):
            guard range == nil else { throw LectureError(.manyFiles, detail: key.text) }
            // Its playlists may have more than one track, so that the rest of the play is not known.
            try await shelf.readJoined(charging: charge(isAll: false), receive)
        }
    }

    /// How reads are charged. What is read to open the media is not played yet.
    func charge(isAll: Bool) -> PlayRead? { isCounted ? counter.map { PlayRead(counter: $0, isAll: isAll) } : nil }

    /// Whether the licence limits play time, so that the bytes that are read are charged.
    package nonisolated var isCharged: Bool { counter != nil }

    /// Where the chunk ends that has a byte. A chunk is checked as a whole: a read that ends there checks none twice.
    ///
    /// - Parameter place: the byte's offset in the media.
    /// - Returns: the offset behind the chunk; nil for an adaptive lecture.
    package nonisolated func chunkEnd(at place: Int64) -> Int64? {
        guard case .file(let file) = media else { return nil }
        let (grid, total) = (file.resource.grid, file.resource.total)
        return Int64(clamping: grid.range(of: grid.chunk(at: UInt64(clamping: place)), total: total).upperBound)
    }

    /// Refuses to read after the end.
    func requireGoingOn() throws(LectureError) {
        if isOver { throw LectureError(.closing, detail: key.text) }
    }

    /// The playlists and files of an adaptive lecture.
    nonisolated var shelf: AdaptiveShelf? {
        if case .streams(let shelf) = media { shelf } else { nil }
    }

    /// Records what was watched since the last call.
    ///
    /// - Parameters:
    ///   - media: how much of the lecture, at whatever speed.
    ///   - running: how much time has passed while it played.
    /// - Throws: ``LectureError`` with `playTimeUsedUp` when this used up the play time: the play is over then; a
    ///   store's code when it could not be stored, in which case the next call stores it.
    public func watched(media: Duration, running: Duration) async throws(LectureError) {
        guard !isOver, isLicensed else { return }
        if let counter { return try await report(media, running, to: counter) }
        watchedMedia += max(.zero, media)
        watchedRunning += max(.zero, running)
        if max(watchedMedia, watchedRunning) >= Self.longestUnwritten { try await write() }
    }

    /// Records the player's position, so that the next play resumes there: see ``ContentDetails/resumePoint``. It is
    /// stored when it is two seconds or more from the last stored one, together with play time, and at the end.
    ///
    /// - Parameter position: from the start of the lecture.
    /// - Throws: a store's code when it could not be stored; then the next call stores it.
    public func reached(_ position: Duration) async throws(LectureError) {
        guard !isOver else { return }
        let reached = max(.zero, position)
        place = reached
        let distance = keptPlace.map { max(reached - $0, $0 - reached) }
        if distance ?? Self.longestWay >= Self.longestWay { try await keepPlace() }
    }

    /// Ends the play and stores play time and position; even in a cancelled task.
    ///
    /// - Throws: ``LectureError`` of the store.
    public func end() async throws(LectureError) {
        guard !isOver else { return }
        try await keepPlace()
        if watchedMedia > .zero || watchedRunning > .zero { try await write() }
        if let counter { try await LectureError.only { try await counter.end() } }
        isOver = true
        if isCounted { await licences.recordPlayed(key) }
    }

    /// Stores the position in a lecture that still exists.
    private func keepPlace() async throws(LectureError) {
        guard let kept = place else { return }
        do throws(LectureError) {
            try await LectureError.only { try await licences.keepPlace(key, kept) }
        } catch {
            guard error.code == .unknownContent else { throw error }
        }
        // Another position may have been reported during the wait.
        if place == kept { place = nil }
        keptPlace = kept
    }

    private func report(_ media: Duration, _ running: Duration, to counter: PlayCounter) async throws(LectureError) {
        let report = try await LectureError.only { try await counter.report(media: media, running: running) }
        guard let isUsedUp = report else { return }
        try await keepPlace()
        guard isUsedUp else { return }
        isOver = true
        try await LectureError.only { try await counter.end() }
        throw LectureError(.playTimeUsedUp, detail: key.text)
    }

    private func write() async throws(LectureError) {
        try await keepPlace()
        let (media, running) = (watchedMedia, watchedRunning)
        // Reset before the wait, so that a concurrent call counts nothing twice.
        (watchedMedia, watchedRunning) = (.zero, .zero)
        do throws(LectureError) {
            try await LectureError.only { try await licences.addPlayTime(key, media: media, running: running) }
        } catch {
            watchedMedia += media
            watchedRunning += running
            throw error
        }
    }
}

/// What a play reads.
enum PlayedMedia: Sendable {
    /// One file.
    case file(FinalizedMedia)
    /// The playlists and files of an adaptive lecture.
    case streams(AdaptiveShelf)
}

/// The media of a complete lecture, with its cipher.
struct FinalizedMedia: Sendable {
    let resource: ResourceRecord
    /// Opens its segments; nil when it is unsealed.
    let cipher: (any ContentCipher)?
}
