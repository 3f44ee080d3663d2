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
/// let answers = try await manager.downloads.enqueue(addresses.map { DownloadRequest(url: $0) })
/// try await manager.downloads.waitUntilIdle()
/// ```
///
/// The full example is in <doc:PrecachingACourse>.
///
/// ## Topics
/// ### Downloads
/// - ``downloads``
/// - ``Downloads``
/// ### Licences
/// - ``licences``
/// - ``Licences``
/// ### Learning reports, webhooks
/// - ``reports``
/// - ``Reports``
/// - ``webhooks``
/// ### Bookmarks
/// - ``bookmarks``
/// - ``Bookmarks``
/// ### Streaming
/// - ``streams``
/// - ``Streams``
/// ### Queries
/// - ``contents``
/// - ``Contents``
/// - ``status()``
/// - ``overview(licencesWithin:)``
/// - ``metrics(courses:)``
/// - ``events``
public actor LectureManager: CorePart {
    nonisolated let core: StoreCore
    /// Downloads: what is requested, and the queue.
    public nonisolated let downloads: Downloads
    /// Learning reports.
    public nonisolated let reports: Reports
    /// Licences.
    public nonisolated let licences: Licences
    /// Contents: lectures that the store knows, and their media.
    public nonisolated let contents: Contents
    /// Streams.
    public nonisolated let streams: Streams
    /// Bookmarks.
    public nonisolated let bookmarks: Bookmarks
    /// Webhooks.
    public nonisolated let webhooks: Webhooks
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
    public init(_ configuration: LectureConfiguration) throws(LectureError) {
        self.init(try LectureError.only { try StoreCore(configuration) })
        core.followSurroundings(delivering: reports, webhooks)
    }

    init(_ core: StoreCore) {
        self.core = core
        downloads = Downloads(core)
        reports = Reports(core)
        licences = Licences(core)
        contents = Contents(core, licences)
        streams = Streams(core, licences)
        bookmarks = Bookmarks(core, reports)
        webhooks = Webhooks(core)
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
    public func document(at url: String, headers: [String: String] = [:], limit: Int = 64 << 20) async throws -> [UInt8]
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
        core.ignoreSurroundings()
        await downloads.comparer.endAll()
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
        await webhooks.stopSending()
        await core.leave()
        hub.finish()
        await observation?.flush()
    }
}
