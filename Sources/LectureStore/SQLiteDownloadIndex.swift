package import LectureModel
package import LectureSQLite

/// The store's writer: the only connection of this process that makes changes.
///
/// Confined to its owner, like its connection. The rows of each subject have a type of their own, which uses those of
/// other subjects through this one: all share the connection, so that one transaction can change several.
///
/// Several processes may each have one on the same store. The lease of a lecture separates them: `claim` writes the
/// owner and raises the fencing number in one immediate transaction; every later write names the fencing number and is
/// refused (`leaseLost`, nothing changed) once the lease is released, dismissed or taken by another.
///
/// Within a transaction it is its ``SQLiteTransaction`` that has the rows: the same types, which end with it. Those of
/// the writer itself are for reading at other times, and for single changes, each in a transaction of its own.
package final class SQLiteDownloadIndex: DownloadIndex, StoreWriter {
    /// The writer's connection.
    let connection: Connection
    /// Why it can only read; nil for a store that can be written.
    package var whyReadOnly: LectureError? { connection.whyReadOnly }
    /// Seals header fields before they are stored; without it they are stored unchanged.
    package var fieldSeal: (any FieldSealing)?
    /// The ledger of licences that was opened last.
    var ledger: SQLiteLicenceLedger?

    /// Takes over a connection.
    ///
    /// - Parameter connection: from ``StoreDatabase/openWriter(_:now:)``; not used elsewhere.
    package init(connection: Connection) { self.connection = connection }

    /// Opens the store's writer; creates or migrates the store when needed.
    ///
    /// - Parameters:
    ///   - location: where the store is.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError`` as ``StoreDatabase/openWriter(_:now:)``.
    package convenience init(opening location: StoreLocation, now: Timestamp) throws {
        self.init(connection: try StoreDatabase.openWriter(location, now: now).connection)
    }

    /// Ends the running statement from another thread.
    package var interrupter: Interrupter { connection.interrupter }

    /// Runs `body` as one durable transaction, for all subjects. One that changed licences must have ended with a row
    /// of their chain.
    ///
    /// - Parameter body: committed when it returns, rolled back when it throws.
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, and what `body` throws.
    package func transaction<Result>(_ body: (SQLiteTransaction) throws -> Result) throws -> Result {
        try connection.transaction(.immediate) {
            let result = try body(try SQLiteTransaction(of: self))
            try ledger?.requireAppended()
            return result
        }
    }

    /// Runs `body`, which changes nothing, on one snapshot: in the open transaction when there is one.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, and what `body` throws.
    package func read<Result>(_ body: (SQLiteTransaction) throws -> Result) throws -> Result {
        if connection.isInTransaction { return try body(try SQLiteTransaction(of: self)) }
        return try connection.transaction(.read) { try body(try SQLiteTransaction(of: self)) }
    }

    /// Fits the log and the page cache to the size of the store, before many rows are added.
    ///
    /// - Throws: ``LectureError``.
    package func fitToSize() throws { try connection.fitToSize() }

    // MARK: Subjects

    /// Queries on the writer's connection, which is open already.
    package var queries: SQLiteContentQueries { SQLiteContentQueries(connection: connection) }

    /// The rows of lectures.
    package var contents: ContentRows { ContentRows(store: self) }
    /// Requests, which become rows of lectures.
    package var requests: ContentRequests { ContentRequests(store: self) }
    /// Target states, and the order of the queue.
    package var targets: TargetRows { TargetRows(store: self) }
    /// Processes, their runs, and what they have leased.
    package var owners: OwnerRows { OwnerRows(store: self) }
    /// The versions of lectures.
    package var versions: VersionRows { VersionRows(store: self) }
    /// The files of versions and their chunks.
    package var resources: ResourceRows { ResourceRows(store: self) }
    /// Where finished files are also due, outside the store.
    package var outputs: OutputRows { OutputRows(connection: connection) }
    /// Plays that are being recorded.
    package var plays: PlaySessionRows { PlaySessionRows(connection: connection) }
    /// Bookmarks.
    package var bookmarks: BookmarkRows { BookmarkRows(connection: connection) }
    /// Adaptive lectures: the files that follow from a version's playlists.
    package var adaptive: AdaptiveRows { AdaptiveRows(store: self) }
    /// URLs, attempts and servers.
    package var servers: ServerRows { ServerRows(connection: connection) }
    /// Which lectures a course list names.
    package var courseLists: CourseListRows { CourseListRows(connection: connection) }
    /// Media files of a lost database that become lectures again.
    package var rebuilt: RebuiltRows { RebuiltRows(store: self) }
    /// Pins, and when lectures were played.
    package var uses: UseRows { UseRows(connection: connection) }
    /// Webhooks: endpoints, and the events on their way.
    package var webhooks: WebhookRows { WebhookRows(connection: connection) }
    /// Settings that every process on the store shares.
    package var settings: SettingRows { SettingRows(connection: connection) }

    // MARK: The whole store

    /// Changes when another connection has committed (`PRAGMA data_version`).
    package func dataVersion() throws -> Int64 { try connection.dataVersion() }

    /// How many rows this writer has inserted, changed or deleted, also in transactions that were rolled back.
    package var changeCount: Int64 { connection.changeCount }

    /// The key of the proofs of chunks and the identity of the store.
    ///
    /// - Returns: the store's UUID and the 32 bytes of the key.
    /// - Throws: ``LectureError``.
    package func identity() throws -> (uuid: String, proofKey: [UInt8]) {
        let identity = try connection.first("SELECT uuid, proof_key FROM store_identity") { row in
            (uuid: row.text(0), proofKey: row.blob(1))
        }
        guard let identity else { throw LectureError(.storeDamaged, cause: "the store has no identity") }
        return identity
    }
}

extension Connection {
    /// Refuses the holder of an old lease. Must be called inside the transaction that writes.
    func requireLease(_ lease: ContentLease) throws {
        let holds = try first(
            ClaimStatements.holdsContent, lease.content, lease.fence
        ) { _ in true }
        guard holds == true else { throw LectureError(.leaseLost) }
    }
}
