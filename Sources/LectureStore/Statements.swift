import LectureModel

// SQL texts that are made once, since they run for each row.

extension RetryWait {
    /// Whether the wait of a row is over, or there is none: the rule of ``remaining(at:)`` in SQL.
    ///
    /// - Parameters:
    ///   - now: the parameter with the wall clock.
    ///   - table: the table of the columns, where it has to be named.
    /// - Returns: a condition in parentheses.
    static func isOver(_ now: String, of table: String? = nil) -> String {
        let (due, set) = (column("next_attempt_ms", table), column("wait_set_ms", table))
        return "(\(due) IS NULL OR \(due) <= \(now) OR \(set) - \(now) > \(due) - \(set))"
    }

    private static func column(_ name: String, _ table: String?) -> String { table.map { "\($0).\(name)" } ?? name }
}

/// What finds and changes lectures in the queue of a run.
enum QueueStatements {
    /// The permanent stop reasons.
    static let lasting = "\(sql: [StopReason.user, .licenceRefused])"

    /// When a waiting row is due.
    static func isDue(_ now: String) -> String { RetryWait.isOver(now, of: "content") }

    /// Queues a stopped lecture again.
    static let requeue = """
        UPDATE content SET state = \(sql: ItemState.queued), stop_reason = NULL, updated_ms = ?
        WHERE id = ? AND state = \(sql: ItemState.stopped) AND stop_reason NOT IN \(lasting)
            AND desire = \(sql: TargetState.fetch) AND \(Claim.content.isFree)
        """

    /// Makes a lecture due that waits for the network.
    static let endNetworkWait = """
        UPDATE content SET state = \(sql: ItemState.queued), stop_reason = NULL, attempts = 0, next_attempt_ms = NULL,
            wait_set_ms = NULL, updated_ms = ?
        WHERE id = ? AND state IN \(sql: [ItemState.queued, .stopped]) AND desire = \(sql: TargetState.fetch)
            AND \(Claim.content.isFree)
        """

    /// The first rows of the whole queue, each with whether the run may have it now.
    static let headOfQueue = """
        SELECT content.id,
               content.desire = \(sql: TargetState.fetch) AND \(Claim.content.isDue("?1"))
               AND EXISTS (SELECT 1 FROM run_item WHERE run_id = ?2 AND content_id = content.id)
        FROM content INDEXED BY content_state_priority
        WHERE content.state = \(sql: ItemState.queued)
        ORDER BY content.priority DESC, content.position, content.id LIMIT ?3
        """

    /// What is due in a run, wherever it is in the queue.
    static let dueItems = """
        SELECT content.id FROM run_item CROSS JOIN content ON content.id = run_item.content_id
        WHERE run_item.run_id = ?2 AND content.state = \(sql: ItemState.queued)
          AND content.desire = \(sql: TargetState.fetch) AND \(Claim.content.isDue("?1"))
        ORDER BY content.priority DESC, content.position, content.id LIMIT ?3
        """
}

/// What stores the state of a lecture. The parameters are the state, the reason, three of the error, three of the
/// attempts, the wall clock, whether it is loaded, and the lease.
enum StatusStatements {
    private static let columns = """
        state = ?1, stop_reason = ?2, error_code = ?3, error_detail = ?4, error_cause = ?5, attempts = ?6,
        next_attempt_ms = ?7, wait_set_ms = ?8, updated_ms = ?9, is_loaded = max(is_loaded, ?10)
        """
    private static let row = "WHERE id = ?11 AND \(Claim.isHeld(under: "?12"))"

    /// For a lecture that is not complete, and was not. Names no column of the index on completed lectures.
    static let setUnfinished = "UPDATE content SET \(columns) \(row) AND completed_ms IS NULL"
    /// For one that is no longer complete.
    static let setBack = "UPDATE content SET \(columns), completed_ms = NULL \(row)"
    /// For one that is complete.
    static let setComplete = "UPDATE content SET \(columns), completed_ms = coalesce(completed_ms, ?9) \(row)"
}

/// What counts and lists versions.
enum VersionStatements {
    /// Recounts what a lecture has of its version.
    static let recount = "UPDATE content SET \(counters(of: counted(of: "?1"))) WHERE id = ?1"

    /// What a lecture has of a version: follows `SET`.
    private static func counters(of version: String) -> String {
        """
        (bytes_total, bytes_proven, chunks_total, chunks_proven) = (
            SELECT sum(total_bytes), coalesce(sum(proven_bytes), 0), coalesce(sum(chunk_count), 0),
                   coalesce(sum(proven_count), 0)
            FROM resource WHERE version_id = \(version))
        """
    }

    /// The version that a lecture's counters count: the one being built or, without one, the current one. One look-up
    /// in an index for each: `ORDER BY state LIMIT 1` would sort in a table of its own, for every group of chunks.
    private static func counted(of content: String) -> String {
        """
        coalesce(
            (SELECT id FROM version WHERE content_id = \(content) AND state = \(sql: VersionState.building)),
            (SELECT id FROM version WHERE content_id = \(content) AND state = \(sql: VersionState.current)))
        """
    }

    /// Raises what a lecture will have of its version. Run for each file that gets a length.
    static let raiseTotals = """
        UPDATE content SET bytes_total = coalesce(bytes_total, 0) + ?3, chunks_total = chunks_total + ?4
        WHERE id = ?2 AND ?1 = \(counted(of: "?2"))
        """

    /// Raises what a lecture has of its version. Run for every group of chunks that is committed.
    static let raiseCommitted = """
        UPDATE content SET chunks_proven = chunks_proven + ?3, bytes_proven = bytes_proven + ?4,
            updated_ms = coalesce(?5, updated_ms)
        WHERE id = ?2 AND ?1 = \(counted(of: "?2"))
        """

    /// Forgets what a lecture had of an earlier version: one that begins has nothing. The condition spares the indexes
    /// of a lecture that never had one.
    static let countNothing = """
        UPDATE content SET bytes_total = NULL, bytes_proven = 0, chunks_total = 0, chunks_proven = 0
        WHERE id = ? AND (bytes_total IS NOT NULL OR bytes_proven <> 0 OR chunks_total <> 0 OR chunks_proven <> 0)
        """

    /// Makes a version current that is being built, or was complete before.
    static let makeCurrent = """
        UPDATE version SET state = \(sql: VersionState.current), sha256 = coalesce(?, sha256), completed_ms = ?,
            is_outdated = 0
        WHERE id = ? AND content_id = ?
            AND (state = \(sql: VersionState.building) OR state = \(sql: VersionState.current))
        """

    /// The current version of a lecture, where it is another one than `?2`.
    static let otherCurrent = """
        SELECT id FROM version WHERE content_id = ?1 AND state = \(sql: VersionState.current) AND id <> ?2
        """

    /// The version of a lecture that is being built.
    static let building = "SELECT id FROM version WHERE content_id = ? AND state = \(sql: VersionState.building)"

    /// Begins the next version of a lecture. Not with `SELECT`: SQLite first copies its result into a table of its own
    /// where it reads what is inserted into.
    static let begin = """
        INSERT INTO version(content_id, number, state, created_ms, source_url, source_identity)
        VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM version WHERE content_id = ?1),
            \(sql: VersionState.building), ?2,
            (SELECT source_url FROM content WHERE id = ?1), (SELECT source_identity FROM content WHERE id = ?1))
        """

    /// Completes a lecture with the version `?4`, ends its claim, and counts what that has, in one change of its row:
    /// each of them writes a dozen indexes. The header fields may be credentials, and nothing needs them any more;
    /// SQLite overwrites them (`secure_delete`).
    static let completeContent = """
        UPDATE content SET state = \(sql: ItemState.completed), stop_reason = NULL, error_code = NULL,
            error_detail = '', error_cause = '', attempts = 0, next_attempt_ms = NULL, wait_set_ms = NULL,
            sha256 = coalesce(?2, sha256), completed_ms = ?3, updated_ms = ?3, headers = '{}',
            \(Claim.content.freed), \(counters(of: "?4"))
        WHERE id = ?1
        """

    /// Versions whose files may still exist.
    static let versionsLeft = """
        SELECT id FROM version
        WHERE state = \(sql: VersionState.superseded) OR state = \(sql: VersionState.discarded) ORDER BY id
        """
}

/// What changes the reports of requests.
enum ReportStatements {
    /// Supersedes a pending report that is in no request.
    static let markSuperseded = """
        UPDATE report SET state = \(sql: ReportState.superseded), changed_ms = ?
        WHERE id = ? AND state = \(sql: ReportState.pending) AND is_sealed = 0 AND flight_id IS NULL
        """

    /// Supersedes what waits in the session queue of a cumulative report before it.
    static let supersedeOlder = """
        UPDATE report SET state = \(sql: ReportState.superseded), changed_ms = ?2
        WHERE lane_id = (SELECT lane_id FROM report WHERE uuid = ?1) AND uuid <> ?1 AND is_cumulative = 1
            AND state \(ReportState.isOpen) AND state = \(sql: ReportState.pending) AND is_sealed = 0
            AND flight_id IS NULL
        """

    /// The rows of a session queue that are cumulative or superseded.
    static let cumulativeRows = """
        SELECT id, sequence, bytes, state, is_sealed, is_cumulative FROM report INDEXED BY report_session
        WHERE lane_id = ? AND (is_cumulative = 1 OR state = \(sql: ReportState.superseded)) ORDER BY sequence, id
        """

    /// Makes a superseded report pending again.
    static let restoreSuperseded = """
        UPDATE report SET state = \(sql: ReportState.pending) WHERE id = ? AND state = \(sql: ReportState.superseded)
        """

    /// How many of some reports are in no request, and neither are their session queues, which go to a target.
    static let countFree = ListedStatement { list in
        """
        SELECT count(*) FROM report CROSS JOIN lms_lane ON lms_lane.id = report.lane_id
        WHERE report.state = \(sql: ReportState.pending) AND report.flight_id IS NULL AND lms_lane.flight_id IS NULL
            AND lms_lane.target_id = ? AND report.id IN \(list)
        """
    }

    /// Puts reports into a request.
    static let markLeased = ListedStatement { list in
        "UPDATE report SET state = \(sql: ReportState.leased), flight_id = ?, is_sealed = ? WHERE id IN \(list)"
    }

    /// Whether a request has a report.
    static let isHeld = """
        SELECT flight_id = ? AND state = \(sql: ReportState.leased) FROM report WHERE id = ?
        """

    /// Makes a report of a request a dead letter.
    static let markDead = """
        UPDATE report SET state = \(sql: ReportState.dead), dead_reason = ?, is_sealed = 0, flight_id = NULL,
            attempts = attempts + 1, changed_ms = ?, answer_ms = ?, answer_status = ?, answer_text = ?
        WHERE id = ? AND flight_id = ? AND state = \(sql: ReportState.leased)
        """

    /// Makes reports delivered.
    static let markDelivered = ListedStatement { list in
        """
        UPDATE report SET state = \(sql: ReportState.delivered), dead_reason = NULL, is_sealed = 0,
            flight_id = NULL, attempts = attempts + 1, changed_ms = ?, answer_ms = NULL, answer_status = NULL,
            answer_text = NULL
        WHERE state <> \(sql: ReportState.delivered) AND id IN \(list)
        """
    }

    /// Leases what is pending in a claimed request.
    static let leaseAgain = """
        UPDATE report SET state = \(sql: ReportState.leased) WHERE flight_id = ? AND state = \(sql: ReportState.pending)
        """

    /// Moves what is pending in a session queue and in no request to another queue.
    static let moveFreeRows = """
        UPDATE report INDEXED BY report_lane SET lane_id = ?, first_target = coalesce(first_target, ?)
        WHERE lane_id = ? AND state \(ReportState.isOpen) AND state = \(sql: ReportState.pending) AND flight_id IS NULL
        """

    /// Makes a dead letter pending again.
    static let reviveRow = """
        UPDATE report SET state = \(sql: ReportState.pending), dead_reason = NULL, changed_ms = ?
        WHERE id = ? AND state = \(sql: ReportState.dead)
        """
}
