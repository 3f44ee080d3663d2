package import LectureModel
import LectureSQLite

// Queries of a running command about its own items.

extension OwnerRows {
    /// The counts of a run.
    package func summary(_ run: RunID) throws -> RunSummary {
        var summary = RunSummary()
        let rows = try connection.query(
            """
            SELECT content.state, content.stop_reason, count(*), sum(content.bytes_proven),
                coalesce(sum(content.bytes_total), 0)
            FROM run_item CROSS JOIN content ON content.id = run_item.content_id
            WHERE run_item.run_id = ? GROUP BY content.state, content.stop_reason
            """, run
        ) { row in
            (
                state: try row.enumeration(0, ItemState.self),
                reason: row.isNull(1) ? nil : try row.enumeration(1, StopReason.self), count: row.int(2),
                committed: row.int64(3), total: row.int64(4)
            )
        }
        for row in rows {
            summary.counts[row.state, default: 0] += row.count
            if let reason = row.reason { summary.stops[reason, default: 0] += row.count }
            summary.committedBytes += row.committed
            summary.bytesTotal += row.total
        }
        return summary
    }

    /// Contents of a run in one state, in queue order.
    package func contents(_ run: RunID, state: ItemState, limit: Int) throws -> [Content] {
        try connection.query(
            """
            SELECT \(ContentColumns.list)
            FROM run_item CROSS JOIN content ON content.id = run_item.content_id
            WHERE run_item.run_id = ? AND content.state = ?
            ORDER BY content.priority DESC, content.position, content.id LIMIT ?
            """, run, state, limit
        ) { try ContentColumns.content($0) }
    }
}
