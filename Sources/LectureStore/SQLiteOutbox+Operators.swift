package import LectureModel
import LectureSQLite

// Changes to reports made by operators and by time.

extension SQLiteOutbox {
    // MARK: Another target

    /// Redirects everything open to another target.
    ///
    /// A request whose result is unknown moves with its id and its bytes when the format is the same, unless the new
    /// target has such a request with reports of the same session: a session queue is held by one request. Then it
    /// stays where it is, and so do its reports.
    package func readdress(to target: TargetID) throws -> Int {
        try atomically {
            let format = try connection.first("SELECT format FROM lms_target WHERE id = ?", target) { $0.int(0) }
            guard let format else { throw LectureError(.bug, detail: "there is no such target") }
            let others = try connection.query("SELECT id, format FROM lms_target WHERE id <> ? ORDER BY id", target) {
                (id: $0.id(0, TargetTable.self), format: $0.int(1))
            }
            var moved = 0
            for other in others {
                let inFlightBatches: [(id: InFlightBatchID, isFree: Bool)] = try connection.query(
                    "SELECT id, owner_id IS NULL FROM lms_flight WHERE target_id = ? ORDER BY id", other.id
                ) { ($0.id(0), $0.bool(1)) }
                for inFlightBatch in inFlightBatches {
                    if inFlightBatch.isFree, other.format != format {
                        try dissolve(inFlightBatch.id)
                    } else if inFlightBatch.isFree {
                        moved += try readdress(inFlightBatch.id, to: target)
                    }
                    for queue in try queues(of: inFlightBatch.id, but: target) {
                        moved += try readdress(queue, to: target)
                    }
                }
            }
            for source in others.map({ Optional($0.id) }) + [nil] {
                let ready = try connection.query(Self.readyQueuesOf, source) { row in
                    QueueRow(id: row.int64(0), user: row.text(1), session: row.text(2), target: source)
                }
                for queue in ready { moved += try readdress(queue, to: target) }
            }
            return moved
        }
    }

    /// Every session queue of a target, or of none, that is in no request and has open reports.
    static let readyQueuesOf = """
        SELECT id, client_user_id, session FROM lms_lane INDEXED BY lms_lane_ready
        WHERE target_id IS ? AND (open > 0 AND flight_id IS NULL) = 1 ORDER BY id
        """

    /// A session queue to be moved.
    private struct QueueRow {
        let id: Int64
        let user: String
        let session: String
        let target: TargetID?
    }

    /// The session queues of a request that go to another target than this.
    private func queues(of inFlightBatch: InFlightBatchID, but target: TargetID) throws -> [QueueRow] {
        try connection.query(
            """
            SELECT id, client_user_id, session, target_id FROM lms_lane
            WHERE flight_id = ? AND target_id IS NOT ? ORDER BY id
            """, inFlightBatch, target
        ) { row in
            QueueRow(
                id: row.int64(0), user: row.text(1), session: row.text(2),
                target: row.optionalInt64(3).map { TargetID($0) })
        }
    }

    /// Moves what is pending in a session queue and in no request.
    private func readdress(_ queue: QueueRow, to target: TargetID) throws -> Int {
        let other = try self.queue(queue.user, queue.session, target)
        let count = try connection.execute(
            ReportStatements.moveFreeRows, other, queue.target, queue.id)
        try deleteEmptyQueues([queue.id, other])
        return count
    }

    /// Moves an unclaimed request with all its reports, unless a session queue of the target is held by another.
    private func readdress(_ inFlightBatch: InFlightBatchID, to target: TargetID) throws -> Int {
        let queues = try queues(of: inFlightBatch, but: target)
        let places = try queues.map { try self.queue($0.user, $0.session, target) }
        for place in places {
            let isHeld = try connection.first("SELECT flight_id IS NOT NULL FROM lms_lane WHERE id = ?", place) {
                $0.bool(0)
            }
            if isHeld == true {
                try deleteEmptyQueues(places)
                return 0
            }
        }
        var count = 0
        for (queue, place) in zip(queues, places) {
            count += try connection.execute(
                """
                UPDATE report INDEXED BY report_flight
                SET lane_id = ?, first_target = coalesce(first_target, ?) WHERE flight_id = ? AND lane_id = ?
                """, place, queue.target, inFlightBatch, queue.id)
        }
        // Waits requested by the old target do not apply to the new one.
        try connection.execute(
            """
            UPDATE lms_flight SET target_id = ?, tries = 0, bounded_tries = 0, next_attempt_ms = NULL,
                wait_set_ms = NULL
            WHERE id = ?
            """, target, inFlightBatch)
        for queue in queues { count += try readdress(queue, to: target) }
        return count
    }

    // MARK: Time

    /// Corrects the time of reports created since one boot of the machine.
    package func correct(bootID: String, epoch: Timestamp) throws -> Int {
        try atomically {
            try connection.execute(
                """
                UPDATE report INDEXED BY report_uncorrected SET corrected_ms = ? + boot_ns / 1000000
                WHERE boot_id = ? AND corrected_ms IS NULL AND boot_id IS NOT NULL AND boot_ns IS NOT NULL
                """, epoch, bootID)
        }
    }

    // MARK: The end of reports

    /// Makes dead letters pending again, and returns how many; their last answers are kept.
    package func revive(_ selection: ReportSelection, now: Timestamp) throws -> Int {
        guard selection.states.isEmpty || selection.states.contains(.dead) else { return 0 }
        var dead = selection
        dead.states = [.dead]
        return try atomically {
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
        return try atomically {
            let ended = try connection.query(Self.endedRows, before, limit) {
                ($0.id(0, OutboxTable.self), $0.int64(1))
            }
            for (report, _) in ended { try connection.execute("DELETE FROM report WHERE id = ?", report) }
            try deleteEmptyQueues(Set(ended.map(\.1)))
            try connection.execute("UPDATE lms_account SET pruned = pruned + ?", ended.count)
            return ended.count
        }
    }

    /// Expires reports that have waited since before a time and also happened before it: a report with a wrong clock,
    /// or a dead letter to be sent again, is not lost at once.
    package func expire(before: Timestamp, now: Timestamp) throws -> Int {
        try atomically {
            try connection.execute(
                """
                UPDATE report INDEXED BY report_state SET state = \(sql: ReportState.expired), changed_ms = ?1
                WHERE state = \(sql: ReportState.pending) AND flight_id IS NULL AND is_sealed = 0
                    AND changed_ms < ?2 AND coalesce(corrected_ms, wall_ms) < ?2
                """, now, before)
        }
    }
}
