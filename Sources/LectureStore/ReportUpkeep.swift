package import LectureModel
import LectureSQLite

/// Changes to reports made by operators and by time: dead letters are sent again, old reports expire, ended ones are
/// deleted.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ReportUpkeep {
    let connection: Connection

    /// Makes dead letters pending again, and returns how many; their last answers are kept.
    package func revive(_ selection: ReportSelection, now: Timestamp) throws -> Int {
        guard selection.states.isEmpty || selection.states.contains(.dead) else { return 0 }
        var dead = selection
        dead.states = [.dead]
        return try connection.atomically {
            var count = 0
            for search in ReportSearch.searches(dead, after: nil) {
                let found: [OutboxID] = try connection.query(
                    search.sql("report.id", limit: false), values: search.values
                ) { $0.id(0) }
                for report in found {
                    count += try connection.execute(ReportStatements.reviveRow, now, report)
                }
            }
            return count
        }
    }

    /// Reports that ended before a time. Superseded ones are kept while a report of their session queue is open: if
    /// that is refused, they become pending again.
    static let endedRows = """
        SELECT report.id, report.lane_id FROM report INDEXED BY report_ended
        CROSS JOIN lms_lane ON lms_lane.id = report.lane_id
        WHERE report.state IN \(sql: [ReportState.delivered, .superseded, .expired]) AND report.changed_ms < ?
            AND (report.state <> \(sql: ReportState.superseded) OR lms_lane.open = 0)
        ORDER BY report.changed_ms LIMIT ?
        """

    /// Deletes delivered, superseded and expired reports, the oldest first, and session queues that become empty.
    package func prune(before: Timestamp, limit: Int) throws -> Int {
        guard limit > 0 else { return 0 }
        return try connection.atomically {
            let ended = try connection.query(Self.endedRows, before, limit) {
                ($0.id(0, OutboxTable.self), $0.int64(1))
            }
            for (report, _) in ended { try connection.execute("DELETE FROM report WHERE id = ?", report) }
            try SessionQueues(connection: connection).deleteEmpty(Set(ended.map(\.1)))
            try connection.execute("UPDATE lms_account SET pruned = pruned + ?", ended.count)
            return ended.count
        }
    }

    /// Expires reports that have waited since before a time and also happened before it: a report with a wrong clock,
    /// or a dead letter to be sent again, is not lost at once.
    package func expire(before: Timestamp, now: Timestamp) throws -> Int {
        try connection.atomically {
            try connection.execute(
                """
                UPDATE report INDEXED BY report_state SET state = \(sql: ReportState.expired), changed_ms = ?1
                WHERE state = \(sql: ReportState.pending) AND flight_id IS NULL AND is_sealed = 0
                    AND changed_ms < ?2 AND coalesce(corrected_ms, wall_ms) < ?2
                """, now, before)
        }
    }
}
