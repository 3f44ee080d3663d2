import LectureFiles
import LectureModel
import LectureTransport

/// This program's place at the store: its row among the owners, its byte in the lock file, and its connections to
/// servers. What downloads and what renews licences share one.
final class Seat: Sendable {
    /// Its row, under which contents and renewals are claimed.
    let owner: OwnerID
    /// Carries out every exchange of this program, and has it observed where the application wants that.
    let transport: any Transport
    /// Gets what is logged and counted; nil when nobody wants it.
    let observation: Observation?
    private let curl: CurlTransport
    /// The lock file.
    let locks: OwnerLocks

    /// Makes the row, holds the byte, and dismisses owners that are dead.
    ///
    /// - Parameters:
    ///   - configuration: names the program, and how it reaches servers.
    ///   - index: the store's writer; on its executor.
    ///   - locks: the lock file.
    ///   - clock: wall time for the rows.
    ///   - observation: gets what is logged and counted; nil when nobody wants it.
    /// - Throws: ``LectureError`` of the store or the transport.
    init(
        _ configuration: LectureConfiguration, index: any DownloadIndex, locks: OwnerLocks, clock: any LectureClock,
        observation: Observation?
    ) throws {
        (self.locks, self.observation) = (locks, observation)
        // What cannot be used is said before a row is made.
        let settings = try configuration.transport()
        let now = clock.now()
        // The row and its lock become visible together: nobody can take a new owner for a dead one.
        owner = try index.transaction {
            for owner in try index.owners() where !locks.isAlive(owner) { try index.dismissOwner(owner, now: now) }
            let owner = try index.registerOwner(
                pid: Int(ProcessIdentity.pid), bootID: Machine.bootID(), command: configuration.programName, now: now)
            try locks.hold(owner)
            return owner
        }
        let curl = try CurlTransport(settings, clock: clock)
        self.curl = curl
        transport = observation.map { ObservedTransport(base: curl, observation: $0) } ?? curl
    }

    /// Ends all exchanges and closes all connections; returns when it is done.
    func endExchanges() async { await curl.shutdown() }

    /// What killed programs had claimed is free again.
    func dismissDeadOwners(_ index: any DownloadIndex, now: Timestamp) {
        try? index.transaction {
            for other in try index.owners() where other != owner && !locks.isAlive(other) {
                try index.dismissOwner(other, now: now)
            }
        }
    }

    /// Gives the place up; on the executor of the store's writer. Nothing of this program may be at work any more.
    func leave(_ index: any DownloadIndex, now: Timestamp) {
        try? index.dismissOwner(owner, now: now)
        locks.release(owner)
    }
}
