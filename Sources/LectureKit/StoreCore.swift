import Dispatch
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// What a manager and its façades share: the open store, the core queue, and this program's registration.
///
/// `@unchecked Sendable`: what is `let` is Sendable by itself, except for the writer and its queries. These two and the
/// state are reached only through accessors that check that they run on the core queue; ``init(_:)`` uses them before
/// anything else can.
final class StoreCore: @unchecked Sendable {
    /// What changes while the manager is open.
    struct State {
        /// As passed, except for what the application has changed since.
        var configuration: LectureConfiguration
        /// Runs the loop of the store, with this program's registration at it, once work is to be done.
        var host: EngineHost?
        /// Downloads; opened with the first one.
        var service: DownloadService?
        /// Compares complete lectures with their sources, for the downloads.
        weak var checking: (any SourceChecking)?
        /// Sends reports by itself; nil unless that is configured.
        var delivery: AutomaticDelivery?
        /// Sends the events of webhooks by itself; nil for a program that ends.
        var webhooks: AutomaticWebhooks?
        /// What happens outside this process; nil unless something follows it.
        var surroundings: Surroundings?
        /// Announced lengths of media loaded by their own URL, until the download knows better. Not kept in the store,
        /// where the download is checked against a length.
        var announced: [ContentKey: Int64] = [:]
        /// Attempts of batches that do not set their own.
        var attemptsOfBatches = 5
        var isClosed = false
    }

    let executor = CoreExecutor()
    let hub = EventHub<LectureEvent>()
    let clock: any LectureClock = SystemClock()
    /// Receives log records and metrics; nil without an observer.
    let observation: Observation?
    let location: StoreLocation
    let digests: OpenSSLDigests
    let files: StoreDirectory
    let locks: OwnerLocks
    private let openWriter: SQLiteDownloadIndex
    private let openQueries: SQLiteContentQueries
    private var confined: State
    private lazy var openLicensing = LicenceAccess(self)
    private lazy var openSeals = StoreSealing(
        confined.configuration.seal, clock: clock
    ) { [weak self] in
        guard let own = try self?.licensing.deviceLedger() else { throw LectureError(.closing) }
        return own.vault
    }

    /// Opens the store, as ``LectureManager/init(_:)`` does.
    ///
    /// - Parameter configuration: where the store is and how to work.
    /// - Throws: ``LectureError``.
    init(_ configuration: LectureConfiguration) throws {
        // Before libcurl, which uses it, too.
        OpenSSLProcess.prepare()
        confined = State(configuration: configuration)
        // An unusable value is reported before anything is created.
        _ = try configuration.downloadSettings()
        location = StoreLocation(directory: configuration.storeDirectory)
        let observation = configuration.observer.map { Observation($0) }
        self.observation = observation
        do {
            let opened = try StoreDatabase.openAsPossible(
                location, now: SystemClock().now(), spendsReserve: configuration.spendsSpaceReserve)
            openWriter = SQLiteDownloadIndex(connection: opened.connection)
            openQueries = openWriter.queries
            if openWriter.whyReadOnly == nil { try configuration.share() }
            observation?.opened(migrations: opened.applied)
        } catch {
            observation?.refused(error)
            throw error
        }
        if let observation { hub.observe(hearsCostly: false) { observation.take($0) } }
        openWriter.fieldSeal = DeviceFieldSeal { () throws(LectureError) in
            do { return try configuration.deviceHome() } catch {
                throw error as? LectureError ?? LectureError(.configuration)
            }
        }
        let directory = try location.make()
        digests = try OpenSSLDigests(proofKey: openWriter.identity().proofKey)
        files = try StoreDirectory(root: directory, digests: digests)
        locks = try OwnerLocks(root: directory)
    }

    // MARK: On the core queue

    /// What changes while the manager is open.
    var state: State {
        get {
            requireQueue()
            return confined
        }
        _modify {
            requireQueue()
            yield &confined
        }
    }

    /// The writer; opened with the store.
    var writer: SQLiteDownloadIndex {
        requireQueue()
        return openWriter
    }

    /// Queries, on the writer's connection: another one would read the schema and the pages anew.
    var queries: SQLiteContentQueries {
        requireQueue()
        return openQueries
    }

    /// This device's ledger of licences.
    var licensing: LicenceAccess {
        requireQueue()
        return openLicensing
    }

    /// Decides what is sealed, and provides the ciphers.
    var seals: any ContentSealing {
        requireQueue()
        return openSeals
    }

    private func requireQueue() { dispatchPrecondition(condition: .onQueue(executor.queue)) }

    /// Runs the loop, with this program's registration at the store; created when work is to be done and not before.
    ///
    /// - Parameter isRequesting: whether requests follow soon: what they need is loaded while the program registers.
    /// - Returns: the host.
    /// - Throws: ``LectureError`` of the store or the transport; `closing` when the manager is closed.
    func openHost(isRequesting: Bool = false) throws -> EngineHost {
        if state.isClosed { throw LectureError(.closing) }
        if let host = state.host {
            if isRequesting { host.session.prepareRequests() }
            return host
        }
        let session = try StoreSession(
            state.configuration, index: writer, locks: locks, clock: clock, observation: observation,
            isRequesting: isRequesting)
        let made = EngineHost(executor, hub, session: session, index: writer)
        state.host = made
        // The registration has just dismissed the programs that are gone.
        AbandonedPlays(core: self).report()
        return made
    }

    /// Ends the registration, after everything that works for it.
    nonisolated(nonsending) func leave() async {
        if let host = state.host {
            state.host = nil
            host.end()
            await host.session.endExchanges()
            host.session.leave(writer, now: clock.now())
        }
        if writer.whyReadOnly == nil { SpaceReserve.draw(location) }
    }

    /// Runs a transaction outside the steps of the loop. If it changes licences, it ends with a row of their chain.
    ///
    /// - Parameter body: reads and writes.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; ``LectureError`` of the store.
    func transaction<Result>(_ body: (SQLiteTransaction) throws -> Result) throws -> Result {
        do {
            let (result, anchor) = try writer.transaction { transaction in
                let result = try body(transaction)
                return (result, try licensing.service?.engine.appendChanges(transaction))
            }
            licensing.service?.engine.keepSoon(anchor)
            return result
        } catch {
            licensing.service?.engine.dropChanges()
            throw error
        }
    }

    // MARK: From elsewhere

    /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
    func wait<Result>(_ body: () throws -> Result) rethrows -> Result { try executor.queue.sync(execute: body) }
}

/// A part of an open store: it works with what ``StoreCore`` holds. All of it but the constants is for the core queue.
protocol CorePart {
    /// What the parts share.
    var core: StoreCore { get }
}

extension CorePart {
    var executor: CoreExecutor { core.executor }
    var hub: EventHub<LectureEvent> { core.hub }
    var clock: any LectureClock { core.clock }
    var observation: Observation? { core.observation }
    var location: StoreLocation { core.location }
    var digests: OpenSSLDigests { core.digests }
    var files: StoreDirectory { core.files }
    var locks: OwnerLocks { core.locks }
    /// As passed, except for what the application has changed since.
    var configuration: LectureConfiguration { core.state.configuration }
    var isClosed: Bool { core.state.isClosed }
    /// The writer as the engine knows it.
    var index: SQLiteDownloadIndex { core.writer }
    /// The same, as the ledger of licences needs it: they share a connection.
    var writer: SQLiteDownloadIndex { core.writer }
    var queries: SQLiteContentQueries { core.queries }

    /// This device's ledger of licences.
    var licensing: LicenceAccess { core.licensing }
    /// Decides what is sealed, and provides the ciphers.
    var seals: any ContentSealing { core.seals }

    func openHost() throws -> EngineHost { try core.openHost() }
    func openSession() throws -> StoreSession { try core.openHost().session }
    func openService() throws -> DownloadService { try core.openService() }

    /// Stores where a player resumes, that of a viewer where one is named, and that the lecture is played when a player
    /// says so.
    func keepResumePoint(
        _ key: ContentKey, _ point: Duration, viewer: String? = nil, isPlayed: Bool = false
    ) throws {
        try index.transaction { transaction in
            let contents = transaction.index.contents
            guard let item = try contents.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
            if let viewer {
                try contents.setResumePoint(item.id, point, viewer: viewer)
            } else {
                try contents.setResumePoint(item.id, point)
            }
            if isPlayed { try transaction.index.uses.recordPlayed(item.id, now: clock.now()) }
        }
    }
}
