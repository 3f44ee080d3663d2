import LectureCrypto
import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore
import LectureTransport

/// The door of the library: keeps lectures usable without a network.
///
/// One manager works on one store. Several processes may each have a manager on the same store at the same time: no
/// content is fetched twice, and what a killed process had in work is taken up by the others.
///
/// ```swift
/// let manager = try LectureManager(LectureConfiguration(storeDirectory: directory))
/// // A stream tells what becomes true after it was asked for, so it comes before the wishes.
/// let events = manager.events
/// let listener = Task {
///     for await event in events { tell(event) }
/// }
/// let answers = try await manager.enqueue(addresses.map { DownloadRequest(url: $0) })
/// try await manager.untilRest()
/// ```
///
/// The whole of it is in <doc:PrecachingACourse>.
///
/// ## Topics
/// ### Fetching
/// - ``load(_:)``
/// - ``download(_:)-(DownloadRequest)``
/// - ``download(_:)-(ContentKey)``
/// - ``enqueue(_:check:)``
/// - ``downloadUnfinished()``
/// - ``untilRest(longestWait:deadline:)``
/// ### Steering
/// - ``pause(_:)``
/// - ``resume(_:)``
/// - ``cancel(_:)``
/// - ``remove(_:)``
/// ### Licences
/// - ``licence(_:)``
/// - ``beginPlay(_:patience:)``
/// - ``renewLicences(_:_:)``
/// - ``regrantLicences(_:_:)``
/// - ``acceptDevice()``
/// - ``planRenewal(_:)``
/// - ``importLicence(_:trust:)``
/// - ``debts()``
/// ### Learning reports
/// - ``addReport(_:)``
/// - ``addReports(_:)``
/// - ``recordPlay(of:user:duration:blocks:target:)``
/// - ``sendReports(_:)``
/// - ``retryReports(_:)``
/// - ``reports(_:from:limit:)``
/// - ``reportSummary()``
/// ### Streaming
/// - ``openStream(_:)``
/// - ``setStreamCacheLimit(_:)``
/// - ``streamCacheBytes()``
/// - ``clearStreamCache()``
/// ### Asking
/// - ``events``
/// - ``contents(_:sort:page:)``
/// - ``content(_:)``
/// - ``why(_:)``
public actor LectureManager {
    let executor: CoreExecutor
    /// As it was given, but for what the application has changed since.
    var configuration: LectureConfiguration
    let location: StoreLocation
    let hub = EventHub<LectureEvent>()
    /// Gets what is logged and counted; nil when nobody wants it.
    let observation: Observation?
    let clock: any LectureClock = SystemClock()
    /// The writer; opened with the manager.
    let index: any DownloadIndex
    /// The same, as the ledger of licences needs it: they share a connection.
    let writer: SQLiteDownloadIndex
    /// The reader, on a connection of its own.
    let queries: any ContentQueries
    let digests: OpenSSLDigests
    let files: any PartFiles
    /// Decides what is sealed, and hands the ciphers out.
    private(set) lazy var seals: any ContentSealing = StoreSealing(
        configuration.seal, index: writer, clock: clock
    ) { [unowned self] in
        let own = try self.assumeIsolated { try $0.deviceLedger() }
        return (own.ledger, own.vault)
    }
    let locks: OwnerLocks
    var seat: Seat?
    var room: EngineRoom?
    /// The ledger of licences; opened with the first content that needs one.
    var licences: LicenceRoom?
    /// The reader of licences, with the device's key.
    var openedLicenceQueries: SQLiteContentQueries?
    var openedAuthenticator: (any RowAuthenticator)?
    /// The ledger with the device's key, for a look and for the ciphers.
    var openedLedger: DeviceLedger?
    /// What sends reports; made with the first sending.
    var statistics: StatisticsRoom?
    /// Reports on the writer's connection; made when first needed.
    var openedOutbox: SQLiteOutbox?
    /// The reader of reports, on a connection of its own.
    var openedStatisticsQueries: (any StatisticsQueries)?
    /// What streams media; made with the first stream.
    var streams: StreamRoom?
    /// How often a target may be asked at the most, for the sending that was asked for last.
    let sendRate = Guarded<Int?>(nil)
    /// What the application adds to every question to licence servers.
    var licenceParameter: String?
    /// How often batches ask that do not say it themselves.
    var attemptsOfBatches = 5
    /// How long media is that was loaded by its own address, until its download knows better. Not kept in the store,
    /// where a length is a promise that the download is held against.
    var announced: [ContentKey: Int64] = [:]
    /// Complete lectures that are being compared with their sources.
    var checks = SourceChecks()
    var isClosed = false
    /// What was fetched until the manager was closed.
    var finalSummary = FetchSummary()

    /// The store's writer and the engine run on a dispatch queue of their own, because SQLite blocks.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the store; makes it when there is none, migrates one that an older version made.
    ///
    /// - Parameter configuration: where the store lies and how to work.
    /// - Throws: ``LectureError``: `storeOwner`, `storeForeign`, `storeNewer`, `storeDamaged`, `storeReadOnly`,
    ///   `migrationChanged`, `createDirectory`, `openStore`; a refused file is unchanged.
    public init(_ configuration: LectureConfiguration) throws {
        self.configuration = configuration
        // A value that cannot be used is told before anything is made.
        _ = try configuration.downloadSettings()
        let executor = CoreExecutor()
        self.executor = executor
        location = StoreLocation(directory: configuration.storeDirectory)
        let observation = configuration.observer.map { Observation($0) }
        self.observation = observation
        do {
            let opened = try StoreDatabase.openWriter(location, now: SystemClock().now())
            writer = SQLiteDownloadIndex(connection: opened.connection)
            observation?.opened(migrations: opened.applied)
        } catch {
            observation?.refused(error)
            throw error
        }
        index = writer
        if let observation { hub.observe(hearsCostly: false) { observation.take($0) } }
        writer.fieldSeal = DeviceFieldSeal { () throws(LectureError) in
            do { return try configuration.deviceHome() } catch {
                throw error as? LectureError ?? LectureError(.configuration)
            }
        }
        queries = try SQLiteContentQueries(opening: location)
        let directory = try location.make()
        digests = try OpenSSLDigests(proofKey: writer.identity().proofKey)
        files = try StoreDirectory(root: directory, digests: digests)
        locks = try OwnerLocks(root: directory)
    }

    // MARK: Fetching

    /// Registers a wish and begins to fetch it.
    ///
    /// - Parameter request: the wish.
    /// - Returns: the identity of the content.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, `headerInvalid`, `outputRefused`.
    @discardableResult
    public func download(_ request: DownloadRequest) throws -> ContentKey {
        try enqueue([request])[0].get().key
    }

    /// Registers many requests in one transaction and begins to download them.
    ///
    /// A lecture that is complete is compared with its request; see ``EnqueueOutcome`` for what may follow.
    ///
    /// - Parameters:
    ///   - requests: the requests; their order is the order of the queue.
    ///   - check: how far lectures that are complete are compared with their requests.
    /// - Returns: for each request, in order, what became of it, or why it was refused; the others continue.
    /// - Throws: ``LectureError`` when the store cannot be written; then none is registered.
    public func enqueue(
        _ requests: [DownloadRequest], check: SourceCheck = .list
    ) throws -> [Result<Enqueued, LectureError>] {
        let room = try openRoom()
        var results: [Result<Enqueued, LectureError>] = []
        var due: [CheckRequest] = []
        results.reserveCapacity(requests.count)
        try index.transaction {
            for request in requests { results.append(try enqueue(request, check: check, in: room, due: &due)) }
        }
        try reportQueued(results)
        start(due)
        room.engine.poke()
        room.wake()
        return results
    }

    /// Reports what has joined the queue, after the commit; nothing is read when nobody listens.
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
        _ request: DownloadRequest, check: SourceCheck, in room: EngineRoom, due: inout [CheckRequest]
    ) throws -> Result<Enqueued, LectureError> {
        do {
            let request = try prepared(request)
            let source = try source(of: request)
            var (id, key, outcome) = try index.enqueue(request, source: source, check: check, now: clock.now())
            try index.join(room.run, content: id)
            if outcome == .alreadyComplete || outcome == .checking, let record = try index.item(id),
                let error = try mediaFault(of: record)
            {
                try requireMediaDirectory()
                try writer.markMissing(id, error, isQueued: true, now: clock.now())
                outcome = .damaged
            }
            switch outcome {
            case .alreadyComplete: try room.engine.publish(id)
            case .checking: due.append(CheckRequest(content: id, key: key, request: request, source: source))
            case .added, .resumed, .alreadyQueued, .outdated, .damaged:
                if check == .head { checks.headIsWanted.insert(id) }
            }
            return .success(Enqueued(key: key, outcome: outcome))
        } catch let error as LectureError where error.code.isRefusedInput {
            return .failure(error)
        }
    }

    /// Continues everything in the store that is not complete, not paused and not cancelled. Lectures whose files are
    /// missing or damaged are among them.
    ///
    /// - Returns: how many contents that are.
    /// - Throws: ``LectureError`` when the store cannot be written.
    @discardableResult
    public func downloadUnfinished() throws -> Int {
        let room = try openRoom()
        try markFound()
        try markMissing(isQueued: true)
        let count = try index.transaction { try index.joinUnfinished(room.run) }
        room.engine.poke()
        room.wake()
        return count
    }

    /// Waits until everything this manager was asked for is complete or has a final reason.
    ///
    /// A server that asks to wait and a timetable are waited for; a network that is down, a full disk, a store that
    /// cannot be written and a used-up quota are final for this call.
    ///
    /// A task that is cancelled stops waiting at once; the downloads go on. ``close()`` ends them.
    ///
    /// - Parameters:
    ///   - longestWait: a server that asks to wait longer than this is not waited for.
    ///   - deadline: give up after this time; nil never gives up.
    /// - Returns: whether everything came to rest before the deadline; false also when the manager was closed.
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    @discardableResult
    public func untilRest(longestWait: Duration = .seconds(600), deadline: Duration? = nil) async throws -> Bool {
        try Task.checkCancellation()
        guard let room else { return true }
        let waiter = Waiter<Bool>()
        room.rest(longestWait: longestWait, deadline: deadline.map { clock.boot() + $0 }, waiter)
        defer { room.forget(waiter) }
        return try await waiter.value()
    }

    /// Fetches a document such as a course list into memory; nothing of it is stored.
    ///
    /// - Parameters:
    ///   - url: an http or https URL.
    ///   - headers: request headers for its own server.
    ///   - limit: how many bytes at the most.
    /// - Returns: the bytes.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, `tooLarge`, `notMedia` for an HTML page, or a transfer's
    ///   or the server's code. `CancellationError` when the task is cancelled, which also ends the request.
    public func document(_ url: String, headers: [String: String] = [:], limit: Int = 64 << 20) async throws -> [UInt8]
    {
        let room = try openRoom()
        return try await SourceProbe(room: room, clock: clock, configuration: configuration)
            .document(url, headers, limit: limit)
    }

    // MARK: Events and end

    /// What becomes true from now on, in the order of the commits. Every call gives a stream of its own.
    public nonisolated var events: AsyncStream<LectureEvent> { hub.stream() }

    /// Ends all work cleanly: what was received is made durable, unfinished contents go back to the queue, listeners
    /// end. The manager must not be used afterwards. Calling it again does nothing.
    ///
    /// It runs to its end in a task that is cancelled as well, so a service that is being stopped may await it. Calls
    /// that still wait end: with `closing`, or with what was done until then.
    public func close() async {
        isClosed = true
        await endChecks()
        await endStreams()
        if let room {
            await withCheckedContinuation { room.stop($0) }
            finalSummary.fetchedBytes = room.engine.statistics.bytesFetched
            finalSummary.reusedBytes = room.engine.statistics.bytesReused
            observation?.fetched(finalSummary.fetchedBytes, isExact: true)
            self.room = nil
        }
        await stopRenewal()
        await stopSending()
        if let seat {
            self.seat = nil
            await seat.endExchanges()
            seat.leave(index, now: clock.now())
        }
        hub.finish()
        await observation?.flush()
    }

    /// This program's place at the store; taken when something is to be done and not before.
    func openSeat() throws -> Seat {
        if isClosed { throw LectureError(.closing) }
        if let seat { return seat }
        let made = try Seat(configuration, index: index, locks: locks, clock: clock, observation: observation)
        seat = made
        return made
    }

    /// The part of the manager that moves; made when first needed.
    func openRoom() throws -> EngineRoom {
        if isClosed { throw LectureError(.closing) }
        if let room { return room }
        let made = try EngineRoom(
            configuration, index: index, files: files, digests: digests, seals: seals, executor: executor,
            hub: hub, seat: try openSeat(), licensing: makeDesk())
        // Outside of every transaction, since an older copy of a store is noted at once. Where neither a licence nor a
        // device's key is there is nothing to be found.
        if try writer.hasLicences() {
            // What needs no licence is fetched and removed in another device's store as well.
            do { try openLicences() } catch let error as LectureError where error.code == .storeCopied {}
        } else if let home = try? configuration.deviceHome(), home.isInUse() {
            // What needs no licence is fetched whatever is wrong with the key; what needs one tells it then.
            _ = try? openLicences()
        }
        room = made
        licences?.downloads = made.engine.inbox
        made.licences = { [weak self] in self?.assumeIsolated { $0.licences } }
        made.isChecking = { [weak self] in self?.assumeIsolated { $0.checks.isBusy } ?? false }
        made.linkLedTo = { [weak self] id, digest in self?.assumeIsolated { $0.linkLed(to: id, digest: digest) } }
        made.wake()
        return made
    }
}

/// A request that was registered.
public struct Enqueued: Sendable, Hashable {
    /// The identity of the content.
    public let key: ContentKey
    /// What became of the request.
    public let outcome: EnqueueOutcome
}
