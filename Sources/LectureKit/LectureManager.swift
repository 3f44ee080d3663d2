import LectureCrypto
import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore
import LectureTransport

/// The entry point of the library: keeps lectures usable without a network.
///
/// One manager works on one store. Several processes may each have a manager on the same store at the same time: no
/// lecture is downloaded twice, and the work of a killed process is continued by the others.
///
/// ```swift
/// let manager = try LectureManager(LectureConfiguration(storeDirectory: directory))
/// // Subscribe before enqueuing; events are not replayed.
/// let events = manager.events
/// let listener = Task {
///     for await event in events { report(event) }
/// }
/// let answers = try await manager.enqueue(addresses.map { DownloadRequest(url: $0) })
/// try await manager.waitUntilIdle()
/// ```
///
/// The full example is in <doc:PrecachingACourse>.
///
/// ## Topics
/// ### Fetching
/// - ``load(_:)``
/// - ``download(_:)-(DownloadRequest)``
/// - ``download(_:)-(ContentKey)``
/// - ``enqueue(_:check:origin:)``
/// - ``downloadUnfinished()``
/// - ``waitUntilIdle(longestWait:deadline:)``
/// ### Controlling
/// - ``pause(_:)``
/// - ``resume(_:)``
/// - ``cancel(_:)``
/// - ``remove(_:)-(ContentKey)``
/// - ``remove(_:)-([ContentKey])``
/// ### Licences
/// - ``licences``
/// - ``Licences``
/// ### Learning reports
/// - ``reports``
/// - ``Reports``
/// ### Streaming
/// - ``streams``
/// - ``Streams``
/// ### Queries
/// - ``contents``
/// - ``Contents``
/// - ``status()``
/// - ``overview(licencesWithin:)``
/// - ``events``
public actor LectureManager: CorePart {
    nonisolated let core: StoreCore
    /// Learning reports.
    public nonisolated let reports: Reports
    /// Licences.
    public nonisolated let licences: Licences
    /// Contents: lectures that the store knows, and their media.
    public nonisolated let contents: Contents
    /// Streams.
    public nonisolated let streams: Streams
    /// What was enqueued from each course list.
    var named: [String: Set<ContentID>] = [:]
    /// Complete lectures that are being compared with their sources.
    var checks = SourceChecks()
    /// The summary when the manager was closed.
    var finalSummary = FetchSummary()

    /// Downloads; opened with the first one.
    var service: DownloadService? { core.state.service }

    /// The store's writer and the engine run on a dispatch queue of their own, because SQLite blocks.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    /// Opens the store; creates it when there is none, migrates one of an older version.
    ///
    /// On a read-only medium, and on a full disk where even its reserve is used up, it can only be read: whatever would
    /// write it throws `storeReadOnly` or `storageFull`.
    ///
    /// - Parameter configuration: where the store is and how to work.
    /// - Throws: ``LectureError``: `storeOwner`, `storeExposed`, `storeForeign`, `storeNewer`, `storeDamaged`,
    ///   `storeReadOnly`, `migrationChanged`, `createDirectory`, `openStore`, and `configuration` for a
    ///   ``LectureConfiguration/sharedGroup`` that cannot be used; a refused file is unchanged.
    public init(_ configuration: LectureConfiguration) throws {
        core = try StoreCore(configuration)
        reports = Reports(core)
        licences = Licences(core)
        contents = Contents(core, licences)
        streams = Streams(core, licences)
        core.wait { core.state.checking = self }
    }

    // MARK: Fetching

    /// Registers a request and starts downloading it.
    ///
    /// - Parameter request: the request.
    /// - Returns: the identity of the lecture.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, `headerInvalid`, `headerReserved`, `outputRefused`,
    ///   `outputExists`.
    @discardableResult
    public func download(_ request: DownloadRequest) throws -> ContentKey {
        try enqueue([request])[0].get().key
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
    ) throws -> [Result<Enqueued, LectureError>] {
        let list = try origin?.name()
        let service = try openService()
        // A file that has reappeared is not downloaded again.
        try markFound()
        var results: [Result<Enqueued, LectureError>] = []
        var due: [CheckRequest] = []
        var contents: [ContentID] = []
        results.reserveCapacity(requests.count)
        try index.transaction {
            for request in requests {
                do {
                    let (id, entry) = try enqueue(request, check: check, in: service, due: &due)
                    contents.append(id)
                    results.append(.success(entry))
                } catch let error as LectureError where error.code.isRefusedInput {
                    results.append(.failure(error))
                }
            }
            if let list { try writer.addToCourseList(list, contents: contents) }
        }
        if let list { named[list, default: []].formUnion(contents) }
        try reportQueued(results)
        start(due)
        service.engine.setNeedsStep()
        service.wake()
        return results
    }

    /// Reports what was added to the queue, after the commit; nothing is read without listeners.
    private func reportQueued(_ results: [Result<Enqueued, LectureError>]) throws {
        guard hub.hasListeners else { return }
        for case .success(let entry) in results {
            switch entry.outcome {
            case .alreadyQueued, .alreadyComplete, .checking: continue
            case .added, .resumed, .damaged, .outdated:
                guard let content = try index.item(entry.key)?.content, content.state == .queued else { continue }
                if entry.outcome == .outdated { hub.send(.outdated(content)) }
                hub.send(.queued(content))
            }
        }
    }

    private func enqueue(
        _ request: DownloadRequest, check: SourceCheck, in service: DownloadService, due: inout [CheckRequest]
    ) throws -> (ContentID, Enqueued) {
        let request = try prepared(request)
        let source = try source(of: request)
        try checkOutput(of: request, source)
        var (id, key, outcome) = try index.enqueue(request, source: source, check: check, now: clock.now())
        try index.join(service.run, content: id)
        if outcome == .alreadyComplete || outcome == .checking, let record = try index.item(id),
            let error = try mediaFault(of: record)
        {
            try requireMediaDirectory()
            try writer.markMissing(id, error, isQueued: true, now: clock.now())
            outcome = .damaged
        }
        switch outcome {
        case .alreadyComplete: try service.engine.publish(id)
        case .checking: due.append(CheckRequest(content: id, key: key, request: request, source: source))
        case .added, .resumed, .alreadyQueued, .outdated, .damaged:
            if check == .head { checks.headIsWanted.insert(id) }
        }
        return (id, Enqueued(key: key, outcome: outcome))
    }

    /// Continues everything in the store that is not complete, not paused and not cancelled. Lectures whose files are
    /// missing or damaged are included.
    ///
    /// - Returns: how many lectures that are.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func downloadUnfinished() throws -> Int {
        let service = try openService()
        try markFound()
        try markMissing(isQueued: true)
        let count = try index.transaction { try index.joinUnfinished(service.run) }
        service.engine.setNeedsStep()
        service.wake()
        return count
    }

    /// Waits until everything requested from this manager is complete or has a final reason.
    ///
    /// Delays requested by a server and the timetable are waited for; a network that is down, a full disk, a store that
    /// cannot be written and an exhausted quota are final for this call.
    ///
    /// A cancelled task stops waiting at once; the downloads continue. ``close()`` ends them.
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

    /// Downloads a document such as a course list into memory; nothing is stored.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - headers: request headers for its own server.
    ///   - limit: the maximum number of bytes.
    /// - Returns: the bytes.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, `tooLarge`, `notMedia` for an HTML page, or a transfer's
    ///   or the server's code. `CancellationError` when the task is cancelled, which also ends the request.
    public func document(_ url: String, headers: [String: String] = [:], limit: Int = 64 << 20) async throws -> [UInt8]
    {
        let service = try openService()
        return try await SourceProbe(service.session, clock: clock, configuration: configuration)
            .document(url, headers, limit: limit)
    }

    // MARK: Events and end

    /// Events from now on, in the order of the commits. Every call returns a separate stream.
    public nonisolated var events: AsyncStream<LectureEvent> { hub.stream() }

    /// Ends all work cleanly: received bytes are made durable, unfinished lectures go back to the queue, event streams
    /// end. The manager must not be used afterwards. Calling it again does nothing.
    ///
    /// It completes even in a cancelled task, so a service that is being stopped may await it. Calls that still wait
    /// end with `closing`, or with what was done so far.
    public func close() async {
        core.state.isClosed = true
        await endChecks()
        await streams.endAll()
        if let service {
            await withCheckedContinuation { service.stop($0) }
            finalSummary.fetchedBytes = service.engine.statistics.bytesFetched
            finalSummary.reusedBytes = service.engine.statistics.bytesReused
            observation?.fetched(finalSummary.fetchedBytes, isExact: true)
            core.state.service = nil
        }
        await licences.stopRenewal()
        await reports.stopSending()
        await core.leave()
        hub.finish()
        await observation?.flush()
    }

}

/// A registered request.
public struct Enqueued: Sendable, Hashable {
    /// The identity of the lecture.
    public let key: ContentKey
    /// The outcome of the request.
    public let outcome: EnqueueOutcome
}
