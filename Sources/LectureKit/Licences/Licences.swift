import LectureDownload
import LectureFiles
import LectureLicence
public import LectureModel
import LectureStore

extension LectureManager {
    /// Licences: what permits a play, and how they are kept valid.
    ///
    /// Evaluating licences, starting plays, renewing licences with their servers, licence files and keys belong here.
    ///
    /// ```swift
    /// let result = try await manager.licences.renew(.all)
    /// let play = try await manager.licences.beginPlay(key)
    /// ```
    ///
    /// It works as long as its manager is open.
    ///
    /// ## Topics
    /// ### Queries
    /// - ``status(of:)``
    /// - ``statuses(of:)``
    /// - ``list(expiringWithin:from:limit:)``
    /// - ``attempts(of:)``
    /// - ``time()``
    /// - ``trustedNow()``
    /// ### Playing
    /// - ``beginPlay(_:patience:counting:)``
    /// - ``preparePlay(_:patience:counting:)``
    /// ### Renewing
    /// - ``renew(_:options:)``
    /// - ``planRenewal(of:)``
    /// - ``stopRenewal()``
    /// - ``setParameter(_:)``
    /// ### Another device, another key
    /// - ``acceptDevice()``
    /// - ``regrant(_:options:)``
    /// - ``planRegrant(of:)``
    /// - ``import(_:trust:)``
    /// - ``changeGrantingKeys(by:trust:)``
    /// ### Callbacks
    /// - ``pendingCallbacks()``
    /// - ``sendPendingCallbacks()``
    public actor Licences: CorePart {
        nonisolated let core: StoreCore

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

        init(_ core: StoreCore) { self.core = core }

        /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
        package nonisolated func wait<Result: Sendable>(
            _ body: @Sendable (isolated LectureManager.Licences) throws -> Result
        ) rethrows -> Result {
            try core.wait { try assumeIsolated { try body($0) } }
        }
    }
}

extension LectureManager.Licences {
    // MARK: Queries

    /// The licence of a lecture, evaluated now as for a play. Nothing is counted or stored and no server is asked.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: nil when the lecture needs none.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's code.
    public func status(of key: ContentKey) throws(LectureError) -> LicenceStatus? {
        try LectureError.only {
            guard try writer.hasLicence(key) || isSealedForLicence(key) else { return nil }
            let entry =
                try licensing.deviceLedger().ledger.entry(key) ?? LicenceEntry(key: key, source: LicenceSource())
            return try licensing.judge().status(entry, isPlayable: try isPlayable(key))
        }
    }

    /// Requests made to a licence server about a lecture, latest first.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: at most 20.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func attempts(of key: ContentKey) throws(LectureError) -> [LicenceQuestion] {
        try LectureError.only {
            try licensing.queriesOfLicences().licenceAttempts(key, limit: 20).map(LicenceQuestion.init)
        }
    }

    /// A page of licences, each evaluated as for a play, also where the store is not the one this device last wrote.
    /// Licences of removed lectures are left out.
    ///
    /// - Parameters:
    ///   - time: only those that end or have to be checked within this time, or already had to, the soonest first; nil
    ///     for all, in the order of their keys.
    ///   - place: the ``LicencePage/next`` of the page before; nil for the first page.
    ///   - limit: the page size; one to a thousand.
    /// - Returns: the licences with the titles of their lectures.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func list(
        expiringWithin time: Duration? = nil, from place: LicencePage.Place? = nil, limit: Int = 1000
    ) throws(LectureError) -> LicencePage {
        try LectureError.only {
            guard try writer.hasLicences() else { return LicencePage(rows: [], next: nil) }
            let judge = try licensing.judge()
            let limit = max(1, min(limit, Self.licencesInPage))
            let page: [ListedLicence]
            var next = place ?? LicencePage.Place()
            let isAsStored = judge.isAsStored
            let before = time.map { (judge.time.noEarlierThan ?? clock.now()) + $0 }
            if let before, isAsStored {
                let last = next.last.flatMap { key in next.deadline.map { ($0, key) } }
                page = try licensing.queriesOfLicences().licences(deadlineBefore: before, after: last, limit: limit)
            } else {
                page = try licensing.queriesOfLicences().licences(after: next.last, limit: limit)
            }
            (next.last, next.deadline) = (page.last?.entry.key, page.last?.entry.deadline)
            let rows = try page.map { row in
                let status = try judge.status(row.entry, isPlayable: try isPlayable(row.entry.key))
                return LicencePage.Row(licence: status, title: row.title)
            }.filter { row in
                guard let before, !isAsStored else { return true }
                // In an untrusted ledger every licence needs attention at once.
                return row.licence.deadline.map { judge.suspicion != nil || $0 < before } ?? false
            }
            return LicencePage(rows: rows, next: page.count < limit ? nil : next)
        }
    }

    private static let licencesInPage = 1000

    /// The time used to evaluate licences: the best guess, whatever the clock says.
    ///
    /// - Returns: the clock's time where nothing better is known.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func time() throws(LectureError) -> Timestamp {
        try LectureError.only {
            guard try writer.hasLicences() else { return clock.now() }
            return try licensing.judge().time.noEarlierThan ?? clock.now()
        }
    }

    /// The time for checking an application's key: the wall clock's, or a later one that licences have proven.
    ///
    /// - Returns: a time that a clock set back does not change in a store with licences.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, or a store's code.
    public func trustedNow() throws(LectureError) -> Timestamp { max(clock.now(), try time()) }

    /// The licences of some lectures, evaluated as for a play; for lists.
    ///
    /// - Parameter contents: a page of them.
    /// - Returns: those that need one.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func statuses(of contents: [Content]) throws(LectureError) -> [ContentKey: LicenceStatus] {
        try LectureError.only {
            guard try writer.hasLicences() else { return [:] }
            let (judge, queries) = (try licensing.judge(), try licensing.queriesOfLicences())
            var found: [ContentKey: LicenceStatus] = [:]
            for content in contents {
                guard let entry = try queries.licence(content.key) else { continue }
                found[content.key] = try judge.status(entry, isPlayable: content.isPlayable)
            }
            return found
        }
    }

    // MARK: Playing

    /// Starts a play: the licence is evaluated, and the play is counted, durably, before a byte is returned. Where a
    /// check is due its server is asked first; if there is no answer the stored licence decides.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - patience: how long to wait for a licence server.
    ///   - counting: what counts as play time, where it is limited. The bytes that are read, unless the application
    ///     reports what it plays; see ``Play/watched(media:running:)``.
    /// - Returns: the play.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, or the code of the first reason against it
    ///   (`licenceExpired`, `countUsedUp`, `clockUntrusted` …); `playRefused` with the server's sentence.
    ///   `CancellationError` when the task is cancelled: then no play is counted. The server's answer to a request
    ///   already sent is still stored.
    public func beginPlay(
        _ key: ContentKey, patience: Duration = .seconds(10), counting: PlayTimeCounting = .reading
    ) async throws -> Play {
        let play = try await namingTheStore(key) { try await judgedPlay(key, patience: patience, counting: counting) }
        try await play.start()
        return play
    }

    /// Prepares a play: the licence is evaluated as for ``beginPlay(_:patience:counting:)``, but the play is not
    /// counted before ``Play/start()``. For a player that has to open the media first, so that a lecture which cannot
    /// be shown costs nothing. Play time is what the player reports, from the start on, unless the bytes count.
    ///
    /// What a server has just permitted has to be started within a minute; after that a check is due again.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - patience: how long to wait for a licence server.
    ///   - counting: what counts as play time, where it is limited; bytes count from ``Play/start()`` on.
    /// - Returns: the play, which can be read.
    /// - Throws: as ``beginPlay(_:patience:counting:)``.
    public func preparePlay(
        _ key: ContentKey, patience: Duration = .seconds(10), counting: PlayTimeCounting = .reported
    ) async throws -> Play {
        try await namingTheStore(key) { try await judgedPlay(key, patience: patience, counting: counting) }
    }

    /// Counts a play that was prepared.
    ///
    /// - Parameter key: its lecture.
    /// - Throws: ``LectureError`` with the code of the first reason against it, `anchorUnwritable`, or a store's code.
    func countPlay(_ key: ContentKey) async throws {
        try await namingTheStore(key) {
            try Task.checkCancellation()
            do { _ = try licensing.open().engine.takePlay(key) } catch let error as LectureError {
                throw LectureError(error.code, detail: key.text, cause: error.cause)
            }
        }
    }

    /// Adds to an error of the store that plays are counted there.
    private func namingTheStore<Result>(_ key: ContentKey, _ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as LectureError
            where error.code == .storeReadOnly || error.code == .storageFull
        {
            throw LectureError(
                error.code, detail: key.text, cause: "its plays are counted in the store; \(error.cause)")
        }
    }

    private func judgedPlay(
        _ key: ContentKey, patience: Duration, counting: PlayTimeCounting
    ) async throws -> Play {
        try Task.checkCancellation()
        let candidate = try await candidate(key)
        guard try writer.hasLicence(key) || isSealedForLicence(key) else {
            return Play(
                self, try candidate.opened(in: self, key), byteCount: try candidate.byteCount(in: self), key: key,
                licence: nil, counter: nil)
        }
        let service = try licensing.open()
        let verdict = try service.engine.judge(key, forPlay: true)
        var refusal: LectureError?
        if verdict.reasons.contains(where: Self.isCuredByServer),
            try service.ledger.entry(key)?.source.callbackURL.isEmpty == false
        {
            let waiter = Waiter<CheckOutcome>()
            service.check(key, within: patience, waiter)
            defer { service.forget(waiter) }
            let outcome = try await waiter.value()
            if case .refused(let error) = outcome, error.code == .licenceDeleted { try await untilRemoved() }
            if case .refused(let error) = outcome {
                throw LectureError(error.code, detail: key.text, cause: error.cause)
            }
            if case .unreachable(let error) = outcome { refusal = error }
            // A caller that was cancelled meanwhile is not charged for a play.
            try Task.checkCancellation()
        }
        let (byteCount, duration) = try await extent(of: candidate, key, service)
        if let reason = try service.engine.judge(key, forPlay: true).reasons.first {
            throw LectureError(reason.code, detail: key.text, cause: refusal?.message ?? "")
        }
        let entry = try service.ledger.entry(key) ?? LicenceEntry(key: key, source: LicenceSource())
        let counter = counter(entry, byteCount: byteCount, duration: duration, counting: counting)
        return Play(
            self, try candidate.opened(in: self, key), byteCount: byteCount, key: key, licence: entry, counter: counter)
    }

    private func candidate(_ key: ContentKey) async throws -> PlayCandidate {
        guard let version = try queries.streams.streamVersion(key) else { return .file(try finalizedMedia(key)) }
        let shelf = AdaptiveShelf(core, key, version)
        try await shelf.checkBeginning()
        return .streams(shelf)
    }

    /// How many bytes a lecture has, and how long it plays, where its licence limits that and permits a play now.
    /// Before the play is taken, so that media which cannot be read costs none.
    private func extent(
        of candidate: PlayCandidate, _ key: ContentKey, _ service: LicenceService
    ) async throws -> (bytes: UInt64, duration: Duration) {
        let bytes = try candidate.byteCount(in: self)
        guard try service.ledger.entry(key)?.record?.policy.playTimeLimit != nil,
            try service.engine.judge(key, forPlay: true).isPlayable
        else { return (bytes, PlayingTime.of(byteCount: bytes, contained: nil, recorded: nil)) }
        switch candidate {
        case .file(let media): return (bytes, try await MediaReader(core).playingTime(of: media, key))
        case .streams(let shelf): return try await shelf.extent()
        }
    }

    /// Whether a licence server can resolve a reason.
    private static func isCuredByServer(_ reason: LicenceReason) -> Bool {
        switch reason {
        case .checkDue, .expired, .forceExpired, .clockUntrusted, .ledgerForged, .storeRolledBack, .storeCopied,
            .countUsedUp, .playTimeUsedUp:
            true
        case .deleted, .mediaIncomplete, .missing, .unverified, .otherDevice, .notYetValid, .otherKey,
            .anchorUnwritable:
            false
        }
    }

    /// Makes the store this device's, whichever device wrote it last. Its licences are not trusted until their servers
    /// have granted them again (``regrant(_:options:)``); media that another device sealed stays unreadable until
    /// that device's key is imported. A store that is already this device's stays as it is.
    ///
    /// - Throws: ``LectureError``: `deviceKeyRefused`, `configuration`, a store's or a disk's code.
    public func acceptDevice() throws(LectureError) {
        try LectureError.only {
            guard try writer.hasLicences() else { return }
            try licensing.open(accepting: true)
        }
    }

    // MARK: Pending callbacks

    /// Callbacks still to be sent to licence servers, the oldest first.
    ///
    /// - Returns: all of them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func pendingCallbacks() throws(LectureError) -> [PendingCallbackStatus] {
        try LectureError.only {
            guard try writer.hasLicences() else { return [] }
            return try licensing.queriesOfLicences().pendingCallbacks(limit: .max).map(PendingCallbackStatus.init)
        }
    }

    /// Sends the pending callbacks to licence servers, also those waiting for a later attempt, and returns when each
    /// was tried once.
    ///
    /// - Throws: ``LectureError`` when the store cannot be written, or `configuration`; `CancellationError` when the
    ///   task is cancelled: the callbacks are still sent.
    public func sendPendingCallbacks() async throws {
        try Task.checkCancellation()
        guard try writer.hasLicences() else { return }
        let service = try licensing.open()
        try service.ledger.hastenCallbacks()
        service.engine.checkPendingCallbacks()
        let waiter = Waiter<Void>()
        service.untilIdle(waiter)
        defer { service.forget(waiter) }
        try await waiter.value()
        try await untilRemoved()
    }

}

/// A request to a licence server, kept for `why`.
public struct LicenceQuestion: Sendable, Hashable {
    /// When it was asked.
    public let at: Timestamp
    /// The kind of request: `grant`, `completion` or `check`.
    public let question: String
    /// The HTTP status; nil without one.
    public let status: Int?
    /// `permitted`, `refused`, `missing`, `failed`, `ended`, `deleted` or `reset`.
    public let outcome: String
    /// What went wrong; nil when nothing did.
    public let error: LectureError?

    /// Creates a request that was answered, or not.
    package init(at: Timestamp, question: String, outcome: String) {
        (self.at, self.question, self.outcome) = (at, question, outcome)
        (status, error) = (nil, nil)
    }

    init(_ attempt: LicenceAttempt) {
        (at, status, outcome, error) = (attempt.at, attempt.status, attempt.outcome, attempt.error)
        question = attempt.kind == 1 ? "grant" : attempt.kind == 2 ? "completion" : "check"
    }
}
