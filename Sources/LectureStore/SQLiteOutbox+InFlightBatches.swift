package import LectureModel
import LectureSQLite

// Planning and requests.

extension SQLiteOutbox {
    // MARK: Planning

    /// The oldest session queues in no request.
    static let readyQueues = """
        SELECT id, client_user_id, session FROM lms_lane INDEXED BY lms_lane_ready
        WHERE target_id = ? AND (open > 0 AND flight_id IS NULL) = 1 ORDER BY id LIMIT ?
        """

    /// The open rows of a session queue with the lowest numbers.
    static let openRows = """
        SELECT id, sequence, bytes, state, is_sealed, is_cumulative FROM report INDEXED BY report_lane
        WHERE lane_id = ? AND state \(ReportState.isOpen) ORDER BY sequence, id LIMIT ?
        """

    /// The rows for planning a target.
    package func planRows(_ target: TargetID, queues: Int, rows: Int) throws -> [PlanRow] {
        let ready = try connection.query(Self.readyQueues, target, max(0, queues)) { row in
            (id: row.int64(0), queue: SessionQueue(target: target, user: row.text(1), session: row.text(2)))
        }
        return try ready.flatMap { ready in
            try connection.query(Self.openRows, ready.id, max(0, rows)) { try Self.planRow($0, ready.queue) }
        }
    }

    private static func planRow(_ row: borrowing Row, _ queue: SessionQueue) throws -> PlanRow {
        PlanRow(
            id: row.id(0), queue: queue, sequence: row.int64(1), bytes: row.int(2),
            state: try row.enumeration(3, ReportState.self), isSealed: row.bool(4), isCumulative: row.bool(5))
    }

    /// Reports, in the requested order; those that no longer exist are left out.
    package func reports(_ ids: [OutboxID]) throws -> [ReportRecord] {
        var targets: [TargetID: ReportRecord.Target] = [:]
        return try ids.compactMap { try rows.record($0, &targets) }
    }

    /// Marks pending reports that are in no frozen body as superseded.
    package func supersede(_ reports: [OutboxID], now: Timestamp) throws {
        try connection.atomically {
            for report in reports {
                try connection.execute(ReportStatements.markSuperseded, now, report)
            }
        }
    }

    /// Marks the reports of a session queue that a new one makes unnecessary: cumulative ones that wait, and are in no
    /// request.
    ///
    /// - Parameters:
    ///   - id: the new report's.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func supersede(before id: String, now: Timestamp) throws {
        try connection.execute(ReportStatements.supersedeOlder, id, now)
    }

    /// The rows of the session queues of these reports that may be cumulative or superseded.
    package func queueRows(of reports: [OutboxID]) throws -> [PlanRow] {
        var queues: [(id: Int64, queue: SessionQueue)] = []
        var known: Set<Int64> = []
        for report in reports {
            let found = try connection.first(
                """
                SELECT lms_lane.id, lms_lane.target_id, lms_lane.client_user_id, lms_lane.session
                FROM report CROSS JOIN lms_lane ON lms_lane.id = report.lane_id WHERE report.id = ?
                """, report
            ) { row in
                (
                    id: row.int64(0),
                    queue: SessionQueue(target: row.id(1), user: row.text(2), session: row.text(3))
                )
            }
            if let found, known.insert(found.id).inserted { queues.append(found) }
        }
        return try queues.flatMap { queue in
            try connection.query(ReportStatements.cumulativeRows, queue.id) { try Self.planRow($0, queue.queue) }
        }
    }

    /// Makes superseded reports pending again.
    package func restore(_ reports: [OutboxID]) throws {
        try connection.atomically {
            for report in reports { try connection.execute(ReportStatements.restoreSuperseded, report) }
        }
    }

    // MARK: Requests

    private var batches: InFlightBatchRows { InFlightBatchRows(connection: connection) }

    /// Starts a request.
    ///
    /// - Throws: ``LectureError/Code/leaseLost`` with nothing changed when a report is no longer free, its session
    ///   queue is held, or it goes to another target.
    package func begin(
        _ frozen: FrozenRequest, rest: [OutboxID], target: TargetID, owner: OwnerID, now: Timestamp
    ) throws -> InFlightBatchID {
        try connection.atomically {
            // Before anything is written, since the caller's transaction may continue after the error.
            let reports = frozen.reports + rest
            let free = try ReportStatements.countFree.count(reports, on: connection, [target.sqliteValue])
            guard free == reports.count else { throw LectureError(.leaseLost) }
            try connection.execute(
                """
                INSERT INTO lms_flight(target_id, owner_id, uuid, method, sealed_ms, media_type, encoding, query, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, target, owner, frozen.id, frozen.method, now, frozen.mediaType, frozen.encoding, frozen.query,
                frozen.body)
            let inFlightBatch = InFlightBatchID(connection.lastInsertedID)
            for (reports, isSealed) in [(frozen.reports, true), (rest, false)] {
                try ReportStatements.markLeased.execute(
                    reports, on: connection, [inFlightBatch.sqliteValue, isSealed.sqliteValue])
            }
            return inFlightBatch
        }
    }

    /// Replaces the current body by the next one.
    package func advance(_ inFlightBatch: InFlightBatchID, to frozen: FrozenRequest, owner: OwnerID, now: Timestamp)
        throws
    {
        try connection.atomically {
            try requireInFlightBatch(inFlightBatch, owner)
            for report in frozen.reports {
                let isHeld = try connection.first(ReportStatements.isHeld, inFlightBatch, report) { $0.bool(0) }
                guard isHeld == true else { throw LectureError(.leaseLost) }
            }
            // What is still frozen was refused together, and divided: that was an attempt too.
            try connection.execute(
                "UPDATE report SET is_sealed = 0, attempts = attempts + 1 WHERE flight_id = ? AND is_sealed = 1",
                inFlightBatch
            )
            for report in frozen.reports {
                try connection.execute("UPDATE report SET is_sealed = 1 WHERE id = ?", report)
            }
            try connection.execute(
                """
                UPDATE lms_flight SET uuid = ?, method = ?, sealed_ms = ?, media_type = ?, encoding = ?, query = ?,
                    body = ?, tries = 0, bounded_tries = 0, next_attempt_ms = NULL, wait_set_ms = NULL,
                    trouble_ms = NULL, trouble_status = NULL, trouble_reason = NULL, trouble_text = '' WHERE id = ?
                """, frozen.id, frozen.method, now, frozen.mediaType, frozen.encoding, frozen.query, frozen.body,
                inFlightBatch)
        }
    }

    private func requireInFlightBatch(_ inFlightBatch: InFlightBatchID, _ owner: OwnerID) throws {
        guard try holds(inFlightBatch, owner) else { throw LectureError(.leaseLost) }
    }

    private func holds(_ inFlightBatch: InFlightBatchID, _ owner: OwnerID) throws -> Bool {
        try connection.first(ClaimStatements.holdsInFlightBatch, inFlightBatch, owner) { _ in true } ?? false
    }

    /// Records an inconclusive attempt to send the current body.
    package func keep(_ inFlightBatch: InFlightBatchID, _ attempt: InFlightBatchAttempt, owner: OwnerID) throws {
        try connection.atomically {
            try requireInFlightBatch(inFlightBatch, owner)
            let before =
                try connection.first("SELECT tries FROM lms_flight WHERE id = ?", inFlightBatch) { $0.int(0) } ?? 0
            try connection.execute(
                "UPDATE report SET attempts = attempts + ? WHERE flight_id = ? AND is_sealed = 1",
                max(0, attempt.tries - before), inFlightBatch)
            let answer = attempt.answer
            try connection.execute(
                """
                UPDATE lms_flight SET tries = ?, bounded_tries = ?, next_attempt_ms = ?, wait_set_ms = ?,
                    trouble_ms = ?, trouble_status = ?, trouble_reason = ?, trouble_text = ? WHERE id = ?
                """, attempt.tries, attempt.boundedTries, attempt.wait?.due, attempt.wait?.setAt, answer.at,
                answer.status, answer.reason?.rawValue, AnswerLimit.text(answer.text), inFlightBatch)
        }
    }

    /// Settles reports of a request. An acceptance is valid whatever happened to the request; a refusal only for
    /// reports still in it.
    package func settle(
        _ inFlightBatch: InFlightBatchID, _ reports: [OutboxID], dead reason: DeadReason?, answer: SendAnswer,
        now: Timestamp
    ) throws {
        try connection.atomically {
            guard let reason else {
                try ReportStatements.markDelivered.execute(reports, on: connection, [now.sqliteValue])
                return
            }
            for report in reports {
                try connection.execute(
                    ReportStatements.markDead, reason.rawValue, now, answer.at, answer.status,
                    AnswerLimit.text(answer.text), report, inFlightBatch)
            }
        }
    }

    /// Ends a request: what it had leased and never frozen is pending again. Does nothing when another owner has it.
    package func end(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws {
        try connection.atomically {
            // Nearly always it has no reports left: one statement instead of four.
            if try connection.execute(ClaimStatements.endInFlightBatch, inFlightBatch, owner) == 1 { return }
            guard try holds(inFlightBatch, owner) else { return }
            let sealed = try connection.first(
                "SELECT 1 FROM report WHERE flight_id = ? AND is_sealed = 1 LIMIT 1", inFlightBatch
            ) { _ in true }
            if sealed == true { throw LectureError(.bug, detail: "a request ends with reports in its bytes") }
            try batches.dissolve(inFlightBatch)
        }
    }

    /// Releases a request; a trigger handles it as for an owner that is gone. Does nothing when another owner has it.
    package func release(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws {
        try connection.execute(ClaimStatements.releaseInFlightBatch, inFlightBatch, owner)
    }

    /// Unclaimed requests whose wait is over.
    static let dueInFlightBatches = """
        SELECT id FROM lms_flight INDEXED BY lms_flight_target WHERE target_id = ?1
            AND \(Claim.inFlightBatch.isDue("?2")) ORDER BY id LIMIT ?3
        """

    /// Claims unclaimed requests.
    package func claim(_ target: TargetID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [StoredInFlightBatch] {
        guard limit > 0 else { return [] }
        return try connection.atomically {
            let due: [InFlightBatchID] = try connection.query(Self.dueInFlightBatches, target, now, limit) { $0.id(0) }
            return try due.compactMap { inFlightBatch in
                guard try connection.execute(ClaimStatements.takeInFlightBatch, owner, inFlightBatch) == 1 else {
                    return nil
                }
                try connection.execute(ReportStatements.leaseAgain, inFlightBatch)
                return try batches.inFlightBatch(inFlightBatch)
            }
        }
    }

    /// The first unclaimed request to become due.
    static let nextInFlightBatch = """
        SELECT next_attempt_ms, wait_set_ms FROM lms_flight INDEXED BY lms_flight_target
        WHERE target_id = ? AND \(Claim.inFlightBatch.isFree) ORDER BY next_attempt_ms LIMIT 1
        """

    /// When the next unclaimed request is due; one that does not wait has been due since the epoch.
    package func nextInFlightBatch(_ target: TargetID) throws -> RetryWait? {
        try connection.first(Self.nextInFlightBatch, target) { row in
            let epoch = Timestamp(milliseconds: 0)
            return ReportRows.wait(row, due: 0, set: 1) ?? RetryWait(setAt: epoch, due: epoch)
        }
    }
}
