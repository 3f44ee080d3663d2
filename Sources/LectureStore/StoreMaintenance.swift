import Glibc
package import LectureModel
package import LectureSQLite

/// The facts shown by `store info`.
package struct StoreInfo: Sendable, Hashable {
    /// The database file.
    package let path: String
    /// The store's UUID, assigned at its creation.
    package let uuid: String
    /// When the store was created.
    package let created: Timestamp
    /// The applied migrations, oldest first.
    package let applied: [AppliedMigration]
    /// The migrations this program would still apply.
    package let pending: [String]
    /// The size of the database file in bytes.
    package let databaseBytes: Int64
    /// The size of the write-ahead log in bytes.
    package let logBytes: Int64
    /// `journal_mode`; `wal` when all is well.
    package let journalMode: String
    /// The SQLite library in use.
    package let libraryVersion: String
    /// Lectures by state and bytes; nil when a pending migration may change where they are stored.
    package let status: StoreStatus?

    /// The identifiers of the applied migrations, for callers that do not import the adapter below.
    package var appliedIdentifiers: [String] { applied.map(\.identifier) }
}

/// `store info`, `store check`, `store backup` and `store migrate`.
package enum StoreMaintenance {
    /// Inspects a store without changing it.
    ///
    /// - Parameter location: where the store lies.
    /// - Returns: the facts.
    /// - Throws: ``LectureError`` as ``StoreDatabase/openReader(_:)``.
    package static func info(_ location: StoreLocation) throws -> StoreInfo {
        let connection = try StoreDatabase.openReader(location)
        let schema = try StoreDatabase.migrator.state(of: connection)
        let identity = try connection.first("SELECT uuid, created_ms FROM store_identity") { row in
            (uuid: row.text(0), created: row.timestamp(1))
        }
        guard let identity else { throw LectureError(.storeDamaged, detail: connection.path, cause: "no identity") }
        let status = schema.isCompleted ? try SQLiteContentQueries(connection: connection).status() : nil
        return StoreInfo(
            path: connection.path, uuid: identity.uuid, created: identity.created, applied: schema.applied,
            pending: schema.pending, databaseBytes: bytes(connection.path), logBytes: bytes("\(connection.path)-wal"),
            journalMode: try connection.pragma("journal_mode"), libraryVersion: Connection.libraryVersion,
            status: status)
    }

    /// Checks pages, indices, definitions, references and the rules between tables.
    ///
    /// - Parameter location: where the store lies.
    /// - Returns: one sentence per finding, without user data; none when the store is sound.
    /// - Throws: ``LectureError`` when the store cannot be read at all.
    package static func check(_ location: StoreLocation) throws -> [String] {
        let connection = try StoreDatabase.openReader(location)
        return try connection.transaction(.read) {
            let findings = try connection.integrityFindings()
            // With a broken page no query can be trusted.
            guard findings.isEmpty else { return findings }
            let changed = try StoreDatabase.migrator.schemaFindings(connection)
            do {
                return try changed + connection.foreignKeyFindings() + ruleFindings(connection)
            } catch  where !changed.isEmpty {
                // Tables whose definition is changed may not be readable at all.
                return changed
            }
        }
    }

    /// Makes a consistent copy while others use the store. The copy appears whole or not at all and never replaces a
    /// file.
    ///
    /// - Parameters:
    ///   - location: where the store lies.
    ///   - path: the file to create.
    /// - Throws: ``LectureError``: `createFile` when the file exists already or cannot be created.
    package static func backup(_ location: StoreLocation, to path: String) throws {
        let source = try StoreDatabase.openReader(location)
        let cut = path.lastIndex(of: "/")
        let parent = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let directory = try StoreLocation(directory: parent).resolved() else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(ENOENT))
        }
        let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
        let target = "\(directory)/\(name)"
        let draft = "\(target).\(getpid()).part"
        guard unsafe !name.isEmpty && access(target, F_OK) != 0 else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(EEXIST))
        }
        try StoreDatabase.makeFile(draft)
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink("\(draft)\(suffix)") } }
        do {
            let copy = try Connection(path: draft, access: .readWrite)
            try source.copy(to: copy)
            guard try copy.integrityFindings().isEmpty else { throw LectureError(.storeDamaged, detail: source.path) }
        }
        try StoreDatabase.syncFile(draft)
        // A hard link, since that is the only way to set a name that fails when the name is taken.
        guard unsafe link(draft, target) == 0 else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(errno))
        }
        try StoreLocation.syncDirectory(directory)
    }

    /// Brings a store to this program's schema; creates it when there is none.
    ///
    /// - Parameters:
    ///   - location: where the store lies.
    ///   - now: the wall clock, for the records.
    /// - Returns: the migrations that were applied.
    /// - Throws: ``LectureError`` as ``StoreDatabase/openWriter(_:now:)``.
    package static func migrate(_ location: StoreLocation, now: Timestamp) throws -> [String] {
        try StoreDatabase.openWriter(location, now: now).applied
    }

    private static func bytes(_ path: String) -> Int64 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Rules that no CHECK can express, each with the query that counts violations.
    private static let rules: [(rule: String, breaks: String)] = [
        (
            "the counts by state differ from the lectures",
            """
            SELECT count(*) FROM tally LEFT JOIN (
                SELECT state, count(*) AS contents, coalesce(sum(bytes_total), 0) AS total, sum(bytes_proven) AS proven
                FROM content GROUP BY state) AS counted USING (state)
            WHERE tally.contents <> coalesce(counted.contents, 0) OR tally.bytes_total <> coalesce(counted.total, 0)
                OR tally.bytes_proven <> coalesce(counted.proven, 0)
            """
        ),
        (
            "a resource counts other chunks than it has",
            """
            SELECT count(*) FROM resource
            WHERE proven_count <> (SELECT count(*) FROM chunk WHERE resource_id = resource.id)
            """
        ),
        (
            "a committed chunk has pieces",
            "SELECT count(*) FROM chunk_piece JOIN chunk USING (resource_id, idx)"
        ),
        (
            "a resource has a chunk beyond its end",
            """
            SELECT count(*) FROM resource WHERE chunk_count > 0
                AND chunk_count <= (SELECT max(idx) FROM chunk WHERE resource_id = resource.id)
            """
        ),
        (
            "a complete lecture has no current version",
            """
            SELECT count(*) FROM content WHERE state = \(sql: ItemState.completed)
                AND NOT EXISTS (
                    SELECT 1 FROM version WHERE content_id = content.id AND state = \(sql: VersionState.current))
            """
        ),
        (
            "a lecture counts other bytes than its resources",
            """
            SELECT count(*) FROM content WHERE bytes_proven <> (
                SELECT coalesce(sum(proven_bytes), 0) FROM resource WHERE version_id = (
                    SELECT id FROM version
                    WHERE content_id = content.id AND state IN \(sql: [VersionState.building, .current])
                    ORDER BY state LIMIT 1))
            """
        ),
        (
            "a licence and the lecture of its key do not refer to each other",
            """
            SELECT count(*) FROM licence LEFT JOIN content ON content.key = licence.content_key
            WHERE licence.content_id IS NOT content.id
            """
        ),
        (
            "a lecture has another deadline than its licence",
            """
            SELECT count(*) FROM content LEFT JOIN licence ON licence.content_id = content.id
            WHERE content.deadline_ms IS NOT licence.deadline_ms
            """
        ),
        (
            "there are licences and no time ledger",
            "SELECT EXISTS (SELECT 1 FROM licence) AND NOT EXISTS (SELECT 1 FROM time_ledger)"
        ),
        (
            "a row of the time ledger does not follow from the one before",
            """
            SELECT count(*) FROM (SELECT previous, lag(code) OVER (ORDER BY id) AS code_before FROM time_ledger)
            WHERE code_before IS NOT NULL AND previous <> code_before
            """
        ),
        (
            "a renewal that was ended still wants licences",
            """
            SELECT count(*) FROM renewal JOIN renewal_run ON renewal_run.id = renewal.run_id
            WHERE renewal.state = \(sql: RenewalState.wanted) AND renewal_run.ended_ms IS NOT NULL
            """
        ),
        (
            "a renewal waits for another moment than its licence",
            """
            SELECT count(*) FROM renewal JOIN licence ON licence.id = renewal.licence_id
            WHERE renewal.state = \(sql: RenewalState.wanted)
                AND (renewal.next_attempt_ms IS NOT licence.next_attempt_ms
                    OR renewal.wait_set_ms IS NOT licence.wait_set_ms)
            """
        ),
        (
            "a sealed file is verified but its lecture has no key",
            """
            SELECT count(*) FROM resource JOIN version ON version.id = resource.version_id
            WHERE resource.seal <> \(sql: SealState.plain)
                AND resource.state IN \(sql: [ResourceRecord.State.committed, .finalized])
                AND NOT EXISTS (SELECT 1 FROM content_key WHERE content_id = version.content_id)
            """
        ),
        (
            "reports have disappeared, or were counted twice",
            """
            SELECT abs(created - pruned - erased - (SELECT count(*) FROM report)) FROM lms_account
            """
        ),
        ("there is no account of the reports", "SELECT NOT EXISTS (SELECT 1 FROM lms_account)"),
        (
            "a session counts other open reports than it has",
            """
            SELECT count(*) FROM lms_lane
            WHERE open <> (SELECT count(*) FROM report WHERE lane_id = lms_lane.id AND state \(ReportState.isOpen))
            """
        ),
        (
            "a target counts other open reports than its sessions",
            """
            SELECT count(*) FROM lms_target
            WHERE open <> (SELECT coalesce(sum(open), 0) FROM lms_lane WHERE target_id = lms_target.id)
            """
        ),
        (
            "a session and the request that holds it do not refer to each other",
            """
            SELECT (SELECT count(*) FROM report JOIN lms_lane ON lms_lane.id = report.lane_id
                    WHERE report.flight_id IS NOT NULL AND report.flight_id IS NOT lms_lane.flight_id)
                + (SELECT count(*) FROM lms_lane WHERE flight_id IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM report WHERE lane_id = lms_lane.id AND flight_id = lms_lane.flight_id))
            """
        ),
        (
            "a report is leased without an owner, or pending in a request that has one",
            """
            SELECT count(*) FROM report LEFT JOIN lms_flight ON lms_flight.id = report.flight_id
            WHERE report.state \(ReportState.isOpen)
                AND ((report.state = \(sql: ReportState.leased)) <> (\(Claim.inFlightBatch.isHeld))
                    OR (lms_flight.id IS NOT NULL AND \(Claim.inFlightBatch.isFree) AND report.is_sealed = 0))
            """
        ),
        (
            "a request goes to another target than its sessions",
            """
            SELECT count(*) FROM lms_lane JOIN lms_flight ON lms_flight.id = lms_lane.flight_id
            WHERE lms_lane.target_id IS NOT lms_flight.target_id
            """
        ),
        (
            "the streaming cache counts other blocks than it has",
            """
            SELECT count(*) FROM (
                SELECT count(*) AS blocks, coalesce(sum(bytes), 0) AS bytes FROM stream_block) AS counted
            WHERE NOT EXISTS (
                SELECT 1 FROM stream_tally WHERE blocks = counted.blocks AND bytes = counted.bytes)
            """
        ),
        (
            "a webhook counts other events than it has",
            """
            SELECT count(*) FROM webhook WHERE waiting <> (
                SELECT count(*) FROM webhook_delivery WHERE webhook_id = webhook.id
                    AND state = \(sql: WebhookDelivery.State.waiting))
                OR dead <> (SELECT count(*) FROM webhook_delivery WHERE webhook_id = webhook.id
                    AND state = \(sql: WebhookDelivery.State.dead))
                OR created <> waiting + dead + delivered + expired
            """
        ),
        (
            "an event of a webhook goes nowhere",
            """
            SELECT count(*) FROM webhook_event
            WHERE NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE event_id = webhook_event.id)
            """
        ),
        ("the store has no identity", "SELECT NOT EXISTS (SELECT 1 FROM store_identity)"),
    ]

    private static func ruleFindings(_ connection: Connection) throws -> [String] {
        try rules.compactMap { entry in
            let count = try connection.first(entry.breaks) { $0.int(0) } ?? 0
            return count == 0 ? nil : "\(entry.rule) (\(count))"
        }
    }
}
