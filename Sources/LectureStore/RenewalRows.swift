package import LectureModel
import LectureSQLite

/// Batch renewals that survive kills. Tables renewal_run and renewal.
///
/// Confined to the owner of the store's writer, like its connection.
package final class RenewalRows: RenewalBatches {
    private let connection: Connection
    private let rows: LicenceRows
    private let memory: SQLiteLicenceLedger.Memory

    /// Shares the connection of the ledger.
    init(_ rows: LicenceRows, _ memory: SQLiteLicenceLedger.Memory) {
        (connection, self.rows, self.memory) = (rows.connection, rows, memory)
    }

    /// The sort key of licences without an end in the order of urgency.
    static let never = Int64.max

    /// Continues the unfinished run of the same selection, or starts one. New candidates are added; what the run has
    /// renewed, or what has failed in it, stays so.
    package func begin(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> (run: RenewalRunID, total: Int, done: Int, isContinued: Bool) {
        try connection.atomically {
            let open: RenewalRunID? = try connection.first(
                "SELECT id FROM renewal_run WHERE selection = ? AND ended_ms IS NULL", kind.text(selection)
            ) { $0.id(0) }
            let run = try open ?? makeRun(kind.text(selection), now: now)
            for part in LicenceRows.parts(selection, kind, now: now) {
                try connection.execute(
                    """
                    INSERT INTO renewal(run_id, licence_id, urgency_ms, next_attempt_ms, wait_set_ms)
                    SELECT \(run.value), id, coalesce(deadline_ms, \(Self.never)), next_attempt_ms, wait_set_ms
                    FROM licence WHERE \(part.condition) ON CONFLICT (run_id, licence_id) DO NOTHING
                    """, values: part.values)
            }
            let counts = try counts(run)
            return (run, counts.wanted + counts.renewed + counts.failed, counts.renewed + counts.failed, open != nil)
        }
    }

    private func makeRun(_ selection: String, now: Timestamp) throws -> RenewalRunID {
        try connection.execute("INSERT INTO renewal_run(selection, begun_ms) VALUES (?, ?)", selection, now)
        return RenewalRunID(connection.lastInsertedID)
    }

    /// Claims wanted licences of a run that are due and not claimed by a live owner: the earliest deadline first among
    /// untried ones, the longest due first among the others.
    package func claim(
        _ run: RenewalRunID, owner: OwnerID, limit: Int, now: Timestamp
    ) throws -> [LicenceEntry] {
        memory.claimants.insert(owner)
        guard limit > 0 else { return [] }
        return try connection.atomically {
            var found = try due(run, .fresh, limit: limit, now: now) + due(run, .over, limit: limit, now: now)
            if found.count < limit { found += try due(run, .setBack, limit: limit - found.count, now: now) }
            found.sort { ($0.urgency, $0.licence) < ($1.urgency, $1.licence) }
            var chosen = found.prefix(limit).map(\.licence)
            let taken = try ClaimStatements.takeRenewals.execute(
                chosen, on: connection, [owner.sqliteValue, run.sqliteValue])
            if taken < chosen.count {
                // One was not free any more; to claim the others again changes nothing.
                chosen = try chosen.filter {
                    try connection.execute(ClaimStatements.takeRenewal, owner, run, $0) == 1
                }
            }
            return try chosen.compactMap { row in
                guard let known = try rows.known(row: row) else { return nil }
                if try memory.read.begin(connection) { memory.read.read(known) }
                return known.entry
            }
        }
    }

    private func due(
        _ run: RenewalRunID, _ condition: Waiting, limit: Int, now: Timestamp
    ) throws -> [(licence: Int64, urgency: Int64)] {
        let values = (condition.takesNow ? [now.sqliteValue] : []) + [limit.sqliteValue]
        return try connection.query(Self.dueRenewals(run, condition), values: values) { ($0.int64(0), $0.int64(1)) }
    }

    static func dueRenewals(_ run: RenewalRunID, _ condition: Waiting) -> String {
        let index = condition == .fresh ? "renewal_fresh" : "renewal_waiting"
        let order = condition == .fresh ? "urgency_ms, licence_id" : "next_attempt_ms"
        return """
            SELECT licence_id, urgency_ms FROM renewal INDEXED BY \(index)
            WHERE run_id = \(run.value) AND state = \(sql: RenewalState.wanted)
                AND \(Claim.renewal.isDue(condition))
            ORDER BY \(order) LIMIT ?
            """
    }

    /// Records that a licence of a run is renewed, or has failed for this run.
    package func settle(_ run: RenewalRunID, _ key: ContentKey, error: LectureError?) throws {
        let state: RenewalState = error == nil ? .renewed : .failed
        let isKnown = try memory.read.begin(connection)
        if isKnown, let row = memory.read.row(key) {
            try connection.execute(
                Self.settleRow, state.rawValue, error?.code.number, error?.detail ?? "", run, row)
        } else {
            try connection.execute(
                Self.settleKey, state.rawValue, error?.code.number, error?.detail ?? "", run, key)
        }
    }

    private static let settled =
        "UPDATE renewal SET state = ?, \(Claim.renewal.freed), error_code = ?, error_detail = ?"
    private static let settleRow = "\(settled) WHERE run_id = ? AND licence_id = ?"
    private static let settleKey =
        "\(settled) WHERE run_id = ? AND licence_id = (SELECT id FROM licence WHERE content_key = ?)"

    /// The licences that a run has renewed.
    package func renewedKeys(_ run: RenewalRunID) throws -> [ContentKey] {
        try connection.query(
            """
            SELECT licence.content_key FROM renewal CROSS JOIN licence ON licence.id = renewal.licence_id
            WHERE renewal.run_id = ? AND renewal.state = \(sql: RenewalState.renewed) ORDER BY licence.id
            """, run
        ) { ContentKey(stored: $0.text(0)) }
    }

    /// Returns a licence of a run to the wanted ones.
    package func release(_ run: RenewalRunID, _ key: ContentKey) throws {
        try connection.execute(
            """
            UPDATE renewal SET \(Claim.renewal.freed)
            WHERE run_id = ? AND licence_id = (SELECT id FROM licence WHERE content_key = ?)
                AND state = \(sql: RenewalState.wanted)
            """, run, key)
    }

    /// The progress of a run. What this process has claimed and not settled is neither wanted nor elsewhere.
    package func progress(_ run: RenewalRunID) throws -> RenewalProgress {
        let counts = try counts(run)
        let taken: [(owner: OwnerID, count: Int)] = try connection.query(
            """
            SELECT owner_id, count(*) FROM renewal INDEXED BY renewal_owner
            WHERE \(Claim.renewal.isHeld) AND run_id = ? AND state = \(sql: RenewalState.wanted) GROUP BY owner_id
            """, run
        ) { ($0.id(0), $0.int(1)) }
        var progress = RenewalProgress()
        progress.wanted = counts.wanted - taken.reduce(0) { $0 + $1.count }
        (progress.renewed, progress.failed) = (counts.renewed, counts.failed)
        progress.elsewhere = taken.filter { !memory.claimants.contains($0.owner) }.reduce(0) { $0 + $1.count }
        let unowned = "run_id = ? AND state = \(sql: RenewalState.wanted) AND \(Claim.renewal.isFree)"
        let isDueNow = try connection.first(
            "SELECT 1 FROM renewal INDEXED BY renewal_fresh WHERE \(unowned) AND next_attempt_ms IS NULL LIMIT 1", run
        ) { _ in true }
        progress.nextDue =
            isDueNow == true
            ? Timestamp(milliseconds: 0)
            : try connection.first(
                """
                SELECT next_attempt_ms FROM renewal INDEXED BY renewal_waiting
                WHERE \(unowned) AND next_attempt_ms IS NOT NULL ORDER BY next_attempt_ms LIMIT 1
                """, run
            ) { $0.timestamp(0) }
        return progress
    }

    private func counts(_ run: RenewalRunID) throws -> (wanted: Int, renewed: Int, failed: Int) {
        var counts = (wanted: 0, renewed: 0, failed: 0)
        _ = try connection.query(
            "SELECT state, count(*) FROM renewal INDEXED BY renewal_state WHERE run_id = ? GROUP BY state", run
        ) { row in
            switch RenewalState(rawValue: row.int(0)) {
            case .wanted: counts.wanted = row.int(1)
            case .renewed: counts.renewed = row.int(1)
            case .failed, nil: counts.failed = row.int(1)
            }
        }
        return counts
    }

    /// Ends a run that wants nothing more and deletes those that ended before it. A run that still wants something
    /// stays.
    package func end(_ run: RenewalRunID, now: Timestamp) throws {
        try connection.atomically {
            let ended = try connection.execute(
                """
                UPDATE renewal_run SET ended_ms = ?2 WHERE id = ?1 AND ended_ms IS NULL
                    AND NOT EXISTS (SELECT 1 FROM renewal WHERE run_id = ?1 AND state = \(sql: RenewalState.wanted))
                """, run, now)
            guard ended == 1 else { return }
            try connection.execute("DELETE FROM renewal_run WHERE ended_ms IS NOT NULL AND id <> ?", run)
        }
    }
}
