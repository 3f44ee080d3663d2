import LectureModel
import LectureSQLite

/// Redirects what is open to another target: reports change their session queue, requests whose result is unknown their
/// target.
struct ReportRedirection {
    let connection: Connection
    private var queues: SessionQueues { SessionQueues(connection: connection) }

    /// Redirects everything open to another target, except for changes of bookmarks.
    ///
    /// A request whose result is unknown moves with its id and its bytes when the format is the same, unless the new
    /// target has such a request with reports of the same session: a session queue is held by one request. Then it
    /// stays where it is, and so do its reports.
    func readdress(to target: TargetID) throws -> Int {
        try connection.atomically {
            let format = try connection.first("SELECT format FROM lms_target WHERE id = ?", target) { $0.int(0) }
            guard let format else { throw LectureError(.bug, detail: "there is no such target") }
            // Changes of bookmarks mean nothing to an LMS: they wait for their own server.
            let others = try connection.query(
                "SELECT id, format FROM lms_target WHERE id <> ? AND instr(parameters, ?) = 0 ORDER BY id", target,
                "{\(ReportRecord.Target.bookmarks)}"
            ) { (id: $0.id(0, TargetTable.self), format: $0.int(1)) }
            var moved = 0
            for other in others {
                let inFlightBatches: [(id: InFlightBatchID, isFree: Bool)] = try connection.query(
                    """
                    SELECT id, \(Claim.inFlightBatch.isFree) FROM lms_flight WHERE target_id = ? ORDER BY id
                    """, other.id
                ) { ($0.id(0), $0.bool(1)) }
                for inFlightBatch in inFlightBatches {
                    if inFlightBatch.isFree, other.format != format {
                        try InFlightBatchRows(connection: connection).dissolve(inFlightBatch.id)
                    } else if inFlightBatch.isFree {
                        moved += try readdress(inFlightBatch.id, to: target)
                    }
                    for queue in try heldQueues(of: inFlightBatch.id, but: target) {
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
    private func heldQueues(of inFlightBatch: InFlightBatchID, but target: TargetID) throws -> [QueueRow] {
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
        let other = try queues.queue(queue.user, queue.session, target)
        let count = try connection.execute(
            ReportStatements.moveFreeRows, other, queue.target, queue.id)
        try queues.deleteEmpty([queue.id, other])
        return count
    }

    /// Moves an unclaimed request with all its reports, unless a session queue of the target is held by another.
    private func readdress(_ inFlightBatch: InFlightBatchID, to target: TargetID) throws -> Int {
        let held = try heldQueues(of: inFlightBatch, but: target)
        let places = try held.map { try queues.queue($0.user, $0.session, target) }
        for place in places {
            let isHeld = try connection.first("SELECT flight_id IS NOT NULL FROM lms_lane WHERE id = ?", place) {
                $0.bool(0)
            }
            if isHeld == true {
                try queues.deleteEmpty(places)
                return 0
            }
        }
        var count = 0
        for (queue, place) in zip(held, places) {
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
        for queue in held { count += try readdress(queue, to: target) }
        return count
    }
}
