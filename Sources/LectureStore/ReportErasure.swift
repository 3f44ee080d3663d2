import Glibc
package import LectureModel
import LectureSQLite

/// Erases a learner: the rows, traces in other reports, the bytes that deleting leaves in the file, and the same in
/// copies of the store.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ReportErasure {
    let connection: Connection

    /// Deletes everything about a learner. ``scrub()`` removes what remains in the bytes of the file.
    package func erase(user: String, isForced: Bool) throws -> ErasedReports {
        try connection.atomically {
            var erased = ErasedReports()
            let inFlightBatches: [InFlightBatchID] = try connection.query(
                """
                SELECT DISTINCT report.flight_id FROM lms_lane
                CROSS JOIN report INDEXED BY report_session ON report.lane_id = lms_lane.id
                WHERE lms_lane.client_user_id = ? AND report.flight_id IS NOT NULL
                """, user
            ) { $0.id(0) }
            guard inFlightBatches.isEmpty || isForced else { throw LectureError(.reportsUnderWay) }
            for inFlightBatch in inFlightBatches {
                try InFlightBatchRows(connection: connection).dissolve(inFlightBatch)
            }
            erased.inFlightBatches = inFlightBatches.count
            erased.sessions =
                try connection.first("SELECT count(DISTINCT session) FROM lms_lane WHERE client_user_id = ?", user) {
                    $0.int(0)
                } ?? 0
            let counts = try connection.query(
                """
                SELECT report.state, count(*) FROM lms_lane
                CROSS JOIN report INDEXED BY report_session ON report.lane_id = lms_lane.id
                WHERE lms_lane.client_user_id = ? GROUP BY report.state
                """, user
            ) { (try $0.enumeration(0, ReportState.self), $0.int(1)) }
            erased.reports = Dictionary(uniqueKeysWithValues: counts)
            let deleted = try connection.execute(
                "DELETE FROM report WHERE lane_id IN (SELECT id FROM lms_lane WHERE client_user_id = ?)", user)
            try connection.execute("DELETE FROM lms_lane WHERE client_user_id = ?", user)
            try connection.execute("UPDATE lms_account SET erased = erased + ?", deleted)
            // A copy of the store may be older than these tables.
            for table in ["play_session", "bookmark_list", "viewer_resume_point"]
            where try connection.hasTable(table) {
                try connection.execute("DELETE FROM \(table) WHERE client_user_id = ?", user)
            }
            try forgetAnswers(naming: user)
            return erased
        }
    }

    /// Empties servers' answers about others that name the learner.
    private func forgetAnswers(naming user: String) throws {
        let name = LearnerName(user)
        for (table, column) in [
            ("report", "answer_text"), ("lms_target", "trouble_text"), ("lms_flight", "trouble_text"),
        ] {
            let naming = try connection.query("SELECT id, \(column) FROM \(table) WHERE \(column) <> ''") { row in
                name.isIn(row.text(1)) ? row.int64(0) : nil
            }
            for row in naming.compactMap(\.self) {
                try connection.execute("UPDATE \(table) SET \(column) = '' WHERE id = ?", row)
            }
        }
    }

    /// Rewrites the whole database, without deleted data, and empties the log.
    ///
    /// Deleted rows stay readable in free pages and in the gaps of others; SQLite's `secure_delete` would not reach the
    /// gaps that a split page leaves. Takes time and space in proportion to the database; may be repeated.
    ///
    /// - Returns: false when a reader or another program blocks the log, so that deleted bytes may still be in it.
    /// - Throws: ``LectureError``: a full disk, for example.
    package func scrub() throws -> Bool {
        do { try connection.execute("VACUUM") } catch let error as LectureError where error.code == .storeBusy {
            return false
        }
        let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.bool(0) }
        return isBusy == false
    }

    /// Deletes everything about a learner in a copy of a store, and rewrites the copy. Requests in it have no owner and
    /// are dissolved.
    ///
    /// - Parameters:
    ///   - path: a file that `store backup` made, of this program's schema or an older one; it is not migrated.
    ///   - user: the learner, byte by byte.
    /// - Returns: what was deleted, and where else the copy names the learner.
    /// - Throws: ``LectureError``: `openStore` when there is no such file, `storeForeign`, `storeNewer`,
    ///   `storeDamaged`, `storeReadOnly`, and `storeBusy` when another program has it open, so that deleted bytes may
    ///   remain.
    package static func erase(inBackup path: String, user: String) throws -> (erased: ErasedReports, traces: [String]) {
        let cut = path.lastIndex(of: "/")
        let parent = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let directory = try StoreLocation(directory: parent).resolved() else {
            throw LectureError(.openStore, detail: path, cause: StoreLocation.reason(ENOENT))
        }
        let file = "\(directory)/\(cut.map { String(path[path.index(after: $0)...]) } ?? path)"
        guard unsafe access(file, F_OK) == 0 else {
            throw LectureError(.openStore, detail: path, cause: StoreLocation.reason(errno))
        }
        guard case .usable = try StoreDatabase.migrator.inspect(path: file) else {
            throw LectureError(.storeForeign, detail: path)
        }
        let connection = try Connection(path: file, access: .readWrite)
        guard !connection.isReadOnly else { throw LectureError(.storeReadOnly, detail: path) }
        try connection.requireDurability()
        try StoreDatabase.migrator.requireUsable(connection)
        var erased = ErasedReports()
        let erasure = ReportErasure(connection: connection)
        if try connection.hasTable("report") { erased = try erasure.erase(user: user, isForced: true) }
        guard try erasure.scrub() else { throw LectureError(.storeBusy, detail: path) }
        return (erased, try LearnerTraces(connection: connection).places(of: user))
    }
}
