import LectureCrypto
import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

extension LectureManager {
    /// Downloads: what is requested from this manager, and the queue of the store.
    ///
    /// Requests, the queue, waiting, course lists, and comparing lectures with their sources belong here.
    ///
    /// ```swift
    /// let answers = try await manager.downloads.enqueue(addresses.map { DownloadRequest(url: $0) })
    /// try await manager.downloads.waitUntilIdle()
    /// ```
    ///
    /// It works as long as its manager is open.
    ///
    /// ## Topics
    /// ### Fetching
    /// - ``load(_:)``
    /// - ``enqueue(_:)``
    /// - ``enqueue(_:check:origin:)``
    /// - ``start(_:)``
    /// - ``continueUnfinished()``
    /// - ``waitUntilIdle(longestWait:deadline:)``
    /// - ``active``
    /// - ``fetched(in:limit:)``
    /// ### Controlling
    /// - ``pause(_:)``
    /// - ``resume(_:)``
    /// - ``cancel(_:)``
    /// - ``remove(_:)-(ContentKey)``
    /// - ``remove(_:)-([ContentKey])``
    /// - ``setPriority(_:of:)``
    /// - ``move(_:to:)``
    /// ### Planning and comparing
    /// - ``plan(_:check:)``
    /// - ``finishEstimate(bytes:)``
    /// - ``refresh(_:)``
    /// ### Course lists
    /// - ``finishCourseList(_:)``
    /// - ``lecturesGone(from:for:assuming:)``
    public actor Downloads: CorePart {
        nonisolated let core: StoreCore
        /// Compares complete lectures with what is requested, and with their sources.
        nonisolated let comparer: SourceComparer
        /// Requests from which on a group is large.
        private static let largeGroup = 256
        /// What was enqueued from each course list.
        var named: [String: ContentSet] = [:]

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }
        /// Downloads; opened with the first one.
        var service: DownloadService? { core.state.service }

        init(_ core: StoreCore) {
            let comparer = SourceComparer(core)
            (self.core, self.comparer) = (core, comparer)
            core.wait { core.state.checking = comparer }
        }

        /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
        package nonisolated func wait<Result: Sendable>(
            _ body: @Sendable (isolated LectureManager.Downloads) throws -> Result
        ) rethrows -> Result {
            try core.wait { try assumeIsolated { try body($0) } }
        }
    }
}

/// Requests and their results.
extension LectureManager.Downloads {
    /// Registers a request and starts downloading it.
    ///
    /// - Parameter request: the request.
    /// - Returns: the identity of the lecture.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, `headerInvalid`, `headerReserved`, `outputRefused`,
    ///   `outputExists`.
    @discardableResult
    public func enqueue(_ request: DownloadRequest) throws(LectureError) -> ContentKey {
        try LectureError.only {
            try enqueue([request])[0].get().key
        }
    }

    /// Registers many requests in one transaction and starts downloading them.
    ///
    /// A lecture that is complete is compared with its request; see ``EnqueueOutcome`` for what may follow.
    ///
    /// - Parameters:
    ///   - requests: the requests; their order is the order of the queue.
    ///   - check: how far lectures that are complete are compared with their requests.
    ///   - origin: where the requests come from. It is recorded together with them: what a list names is known even if
    ///     the program ends before the list is read to its end. Nil records nothing.
    /// - Returns: for each request, in order, the outcome, or why it was refused; the others continue.
    /// - Throws: ``LectureError`` when the store cannot be written, and `parameter` for an empty name of a list; then
    ///   none is registered.
    public func enqueue(
        _ requests: [DownloadRequest], check: SourceCheck = .list, origin: RequestOrigin? = nil
    ) throws(LectureError) -> [Result<Enqueued, LectureError>] {
        try LectureError.only { try register(requests, check: check, origin: origin) }
    }

    private func register(
        _ requests: [DownloadRequest], check: SourceCheck, origin: RequestOrigin?
    ) throws -> [Result<Enqueued, LectureError>] {
        let list = try origin?.name()
        let service = try openService()
        // A file that has reappeared is not downloaded again.
        try markFound()
        if requests.count >= Self.largeGroup { try index.fitToSize() }
        var registration = RequestRegistration(core, service, comparer, check: check)
        try index.transaction { transaction in
            try registration.register(requests)
            if let list {
                try transaction.index.courseLists.add(to: list, contents: registration.registered.map(\.id))
            }
        }
        if let list { named[list, default: []].insert(registration.registered.lazy.map(\.id)) }
        try reportQueued(registration.registered)
        comparer.assumeIsolated { $0.start(registration.due) }
        try follow()
        return registration.results
    }

    /// Reports what was added to the queue, after the commit; nothing is read without listeners.
    private func reportQueued(_ requests: [RegisteredRequest]) throws {
        guard hub.hasListeners else { return }
        for request in requests {
            switch request.outcome {
            case .alreadyQueued, .alreadyComplete, .checking: continue
            case .added, .resumed, .damaged, .outdated:
                guard let content = try request.added ?? index.contents.item(request.id)?.content,
                    content.state == .queued
                else { continue }
                if request.outcome == .outdated { hub.send(.outdated(content)) }
                hub.send(.queued(content))
            }
        }
    }

    /// Continues everything in the store that is not complete, not paused and not cancelled. Lectures whose files are
    /// missing or damaged are included.
    ///
    /// The head of the queue is downloaded before the others are known to be requested.
    ///
    /// - Returns: how many lectures that are; fewer when the manager is closed meanwhile.
    /// - Throws: ``LectureError`` when the store cannot be written. What was continued before is downloaded.
    @discardableResult
    public func continueUnfinished() async throws(LectureError) -> Int {
        var (service, filling) = try LectureError.only {
            let service = try core.openService(continuing: true)
            try markFound()
            try markMissing(isQueued: true)
            return (service, try RunFilling(service.run, in: index))
        }
        service.startRequested(filling.count)
        while self.service === service, try LectureError.only({ try filling.addGroup(in: index) }) {
            // The engine's next step, and what others request, come between two groups.
            await Task.yield()
        }
        if self.service === service { service.startRequested(filling.count) }
        return filling.count
    }

    /// Waits until everything requested from this manager is complete or has a final reason.
    ///
    /// Delays requested by a server and the timetable are waited for; a network that is down, a full disk, a store that
    /// cannot be written and an exhausted quota are final for this call.
    ///
    /// A cancelled task stops waiting at once; the downloads continue. ``LectureManager/close()`` ends them.
    ///
    /// - Parameters:
    ///   - longestWait: longer delays requested by a server are not waited for.
    ///   - deadline: stop waiting after this time; nil never stops.
    /// - Returns: whether everything became idle before the deadline; false also when the manager was closed.
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    @discardableResult
    public func waitUntilIdle(longestWait: Duration = .seconds(600), deadline: Duration? = nil) async throws -> Bool {
        try await core.waitUntilIdle(longestWait: longestWait, deadline: deadline)
    }

    /// The lectures this manager is working on, in the order they were started.
    public var active: [DownloadProgress] { service?.engine.progressOfActive ?? [] }

    /// Lectures requested from this manager that are in one state, in the order of the queue.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - limit: how many at the most.
    /// - Returns: the lectures.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func fetched(in state: ItemState, limit: Int = .max) throws(LectureError) -> [Content] {
        try LectureError.only {
            guard let service else { return [] }
            return try index.owners.contents(service.run, state: state, limit: limit)
        }
    }

    // MARK: Sources

    /// Asks the source what it is and registers it, without downloading it. The target state of a known lecture (fetch,
    /// paused, cancelled) stays as it was; a source that cannot be loaded leaves nothing behind.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the lecture; the same source always gives the same lecture.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a transfer's or the server's code, `notMedia`,
    ///   `descriptorUnreadable`, `playlistUnsupported`. `CancellationError` when the task is cancelled; then nothing is
    ///   registered.
    public func load(_ url: String) async throws -> Content {
        try await SourceLoader(core).load(url, asksForIt: true)
    }

    /// As ``load(_:)``.
    ///
    /// - Parameters:
    ///   - url: a media file or a gateway link, http or https.
    ///   - asksForIt: whether a new lecture counts as requested, so that ``continueUnfinished()`` continues it, here or
    ///     in another process.
    /// - Returns: the lecture.
    /// - Throws: as ``load(_:)``.
    package func load(_ url: String, asksForIt: Bool) async throws -> Content {
        try await SourceLoader(core).load(url, asksForIt: asksForIt)
    }

    /// What an adaptive lecture (HLS, DASH) offers, and what a request would keep of it. Its playlists are read into
    /// memory; nothing is stored.
    ///
    /// - Parameter request: the URL of a playlist, or a gateway's link that leads to one, with the selection.
    /// - Returns: the outline.
    /// - Throws: ``LectureError``: `playlistDamaged`, also for a link that leads to a file, `streamLive`,
    ///   `streamProtected`, or a transfer's or the server's code. `CancellationError` when the task is cancelled, which
    ///   also ends the request.
    public func streams(of request: DownloadRequest) async throws -> StreamOutline {
        try await StreamOutliner(core).outline(request)
    }

    /// As ``streams(of:)``, for a link of which nothing shows whether it leads to a playlist.
    ///
    /// - Parameter request: any link.
    /// - Returns: nil when it leads to a file, or cannot be asked.
    /// - Throws: as ``streams(of:)``, where it leads to a playlist.
    package func streams(behind request: DownloadRequest) async throws -> StreamOutline? {
        try await StreamOutliner(core).outline(behind: request)
    }

    /// What requests would do, without doing it: nothing is stored and nothing is downloaded.
    ///
    /// - Parameters:
    ///   - requests: the requests.
    ///   - check: how far complete lectures are compared; with `head` the sources of those that need it are asked, and
    ///     those of new ones for their length.
    /// - Returns: for each request, in order, what it would do, or why it would be refused.
    /// - Throws: ``LectureError`` when the store cannot be read; `CancellationError` when the task is cancelled, which
    ///   also ends the running request.
    public func plan(
        _ requests: [DownloadRequest], check: SourceCheck = .list
    ) async throws -> [Result<PlannedDownload, LectureError>] {
        try await DownloadPlanner(core, comparer).plan(requests, check: check)
    }

    /// When downloads would be done, by the speed of those of the last thirty days and the configured limits.
    ///
    /// - Parameter bytes: what is to be downloaded.
    /// - Returns: nil where too little was downloaded to estimate a speed, or where the timetable never allows it.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func finishEstimate(bytes: Int64) throws(LectureError) -> FinishEstimate? {
        try LectureError.only {
            try DownloadPlanner(core, comparer).assumeIsolated { try $0.finishEstimate(bytes: bytes) }
        }
    }

    /// Asks the sources of complete lectures whether they have newer versions, and queues those.
    ///
    /// The media is not read: validators, length and announced digests are compared. A lecture whose source cannot be
    /// asked stays as it is.
    ///
    /// - Parameter keys: complete lectures.
    /// - Returns: for each lecture the outcome, or why it could not be determined: `unknownContent`, `notComplete`,
    ///   `sourceUnknown`, a transfer's or the server's code.
    /// - Throws: ``LectureError`` when the store cannot be written; `CancellationError` when the task is cancelled:
    ///   running requests are completed, and their results are still queued.
    public func refresh(_ keys: [ContentKey]) async throws -> [ContentKey: Result<RefreshOutcome, LectureError>] {
        try await comparer.refresh(keys)
    }
}

/// A registered request.
public struct Enqueued: Sendable, Hashable {
    /// The identity of the lecture.
    public let key: ContentKey
    /// The outcome of the request.
    public let outcome: EnqueueOutcome
}
