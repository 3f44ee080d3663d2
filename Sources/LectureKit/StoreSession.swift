import LectureEngine
import LectureFiles
import LectureModel
import LectureStore
import LectureTransport

/// This program's registration at the store: its row among the owners, its byte in the lock file, and its connections
/// to servers. Downloads and licence renewals share one.
final class StoreSession: Sendable {
    /// Its row, under which lectures and renewals are claimed.
    let owner: OwnerID
    /// Performs every exchange of this program, observed if the application wants that.
    let transport: any Transport
    /// The numbers of its exchanges.
    let numbers = TransferNumbers()
    /// The times that servers name.
    let dates: ServerDates
    /// Receives log records and metrics; nil without an observer.
    let observation: Observation?
    private let curl: CurlTransport
    private let isPrepared: Guarded<Bool>
    private let lastLivenessCheck = Guarded<BootInstant?>(nil)
    /// The lock file.
    let locks: OwnerLocks

    /// Creates the row, locks the byte, and dismisses dead owners.
    ///
    /// - Parameters:
    ///   - configuration: names the program, and how it reaches servers.
    ///   - index: the store's writer; on its executor.
    ///   - locks: the lock file.
    ///   - clock: wall time for the rows.
    ///   - observation: receives log records and metrics; nil without an observer.
    ///   - isRequesting: whether requests follow soon, as for ``prepareRequests()``.
    /// - Throws: ``LectureError`` of the store or the transport.
    init(
        _ configuration: LectureConfiguration, index: SQLiteDownloadIndex, locks: OwnerLocks, clock: any LectureClock,
        observation: Observation?, isRequesting: Bool = false
    ) throws {
        (self.locks, self.observation, isPrepared) = (locks, observation, Guarded(isRequesting))
        // Unusable settings are reported before a row is created, and what requests need is loaded while it is.
        let curl = try CurlTransport(try configuration.transport(), clock: clock)
        if isRequesting { curl.prepare() }
        self.curl = curl
        owner = try Self.register(configuration, index, locks, curl, now: clock.now())
        dates = ServerDates(clock: clock)
        let dated = DatedTransport(base: curl, dates: dates)
        let observed: any Transport = observation.map { ObservedTransport(base: dated, observation: $0) } ?? dated
        let nearby = configuration.nearby.map { NearbyTransport($0, over: observed, clock: clock) }
        let near: any Transport = nearby ?? observed
        let roads = TransferRoads(internet: near, peers: curl, clock: clock, numbers: numbers)
        transport = configuration.detour.map { $0.transport(roads) } ?? near
    }

    private static func register(
        _ configuration: LectureConfiguration, _ index: SQLiteDownloadIndex, _ locks: OwnerLocks,
        _ curl: CurlTransport, now: Timestamp
    ) throws -> OwnerID {
        // The row and its lock become visible together: a new owner cannot be taken for a dead one.
        do {
            return try index.transaction { transaction in
                let index = transaction.index
                for owner in try index.owners.all() where !locks.isAlive(owner) {
                    try index.owners.dismissOwner(owner, now: now)
                }
                let owner = try index.owners.registerOwner(
                    pid: Int(ProcessIdentity.pid), bootID: Machine.bootID(), command: configuration.programName,
                    now: now)
                try locks.hold(owner)
                return owner
            }
        } catch {
            // Its thread keeps it.
            Task { await curl.shutdown() }
            throw error
        }
    }

    /// Requests follow soon: what they need is loaded on another thread meanwhile.
    func prepareRequests() {
        let isFirst = isPrepared.withLock { isPrepared in
            defer { isPrepared = true }
            return !isPrepared
        }
        if isFirst { curl.prepare() }
    }

    /// Ends all exchanges and closes all connections; returns when it is done.
    func endExchanges() async { await curl.shutdown() }

    /// Releases the claims of killed programs, at the latest two seconds after their death. Does nothing when called
    /// again earlier.
    ///
    /// - Parameters:
    ///   - index: the store's writer; on its executor.
    ///   - clock: both clocks.
    func dismissDeadOwners(_ index: SQLiteDownloadIndex, _ clock: any LectureClock) {
        let boot = clock.boot()
        let isDue = lastLivenessCheck.withLock { last in
            if let last, boot - last < .seconds(2) { return false }
            last = boot
            return true
        }
        guard isDue else { return }
        try? index.transaction { transaction in
            let index = transaction.index
            for other in try index.owners.all() where other != owner && !locks.isAlive(other) {
                try index.owners.dismissOwner(other, now: clock.now())
            }
        }
    }

    /// Ends the registration; on the executor of the store's writer. Nothing of this program may still be working.
    func leave(_ index: SQLiteDownloadIndex, now: Timestamp) {
        try? index.owners.dismissOwner(owner, now: now)
        locks.release(owner)
    }
}
