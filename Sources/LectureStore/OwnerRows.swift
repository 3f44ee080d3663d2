package import LectureModel
import LectureSQLite

/// Processes and what they work on. Tables owner, run and run_item, and the lease columns of content.
///
/// Confined to the owner of the store's writer, like its connection.
package struct OwnerRows: ClaimStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// Creates a row for this run of this program. The number identifies its byte in the lock file.
    package func registerOwner(pid: Int, bootID: String, command: String, now: Timestamp) throws -> OwnerID {
        try connection.execute(
            "INSERT INTO owner(pid, boot_id, command, started_ms) VALUES (?, ?, ?, ?)", pid, bootID, command, now)
        return OwnerID(connection.lastInsertedID)
    }

    /// Deletes an owner and its runs; items it had leased go back to `queued`.
    package func dismissOwner(_ owner: OwnerID, now: Timestamp) throws {
        try connection.atomically {
            try requeueLeases(of: owner, now: now)
            try connection.execute("DELETE FROM owner WHERE id = ?", owner)
        }
    }

    /// Releases all leases of an owner; active items become queued, or stopped when requested: a pause requested while
    /// no process was running.
    package func requeueLeases(of owner: OwnerID, now: Timestamp) throws {
        try connection.atomically {
            try connection.execute(
                """
                UPDATE content SET state = \(sql: ItemState.stopped), stop_reason = \(sql: StopReason.user),
                    next_attempt_ms = NULL, wait_set_ms = NULL,
                    error_code = CASE desire WHEN \(sql: TargetState.cancel) THEN ? END, error_detail = '',
                    error_cause = '', updated_ms = ?
                WHERE \(Claim.content.isHeld(by: "?"))
                    AND state IN \(sql: [ItemState.queued, .loading, .downloading, .verifying])
                    AND desire IN \(sql: [TargetState.pause, .cancel])
                """, LectureError.Code.cancelled.number, now, owner)
            // Removals stay as they are: their target state brings them to the next reconciler.
            try connection.execute(
                """
                UPDATE content SET state = \(sql: ItemState.queued), updated_ms = ?
                WHERE \(Claim.content.isHeld(by: "?"))
                    AND state IN \(sql: [ItemState.loading, .downloading, .verifying])
                """, now, owner)
            try connection.execute(
                "UPDATE content SET \(Claim.content.freed) WHERE \(Claim.content.isHeld(by: "?"))", owner)
        }
    }

    /// All owners with a row, this one included.
    package func all() throws -> [OwnerID] {
        try connection.query("SELECT id FROM owner ORDER BY id") { $0.id(0) }
    }

    /// Creates a run: the set of lectures that one command requests.
    package func beginRun(owner: OwnerID, command: String, now: Timestamp) throws -> RunID {
        try connection.execute("INSERT INTO run(owner_id, command, started_ms) VALUES (?, ?, ?)", owner, command, now)
        return RunID(connection.lastInsertedID)
    }

    /// Adds a lecture to a run.
    package func join(_ run: RunID, content: ContentID) throws {
        try connection.execute("INSERT OR IGNORE INTO run_item(run_id, content_id) VALUES (?, ?)", run, content)
    }

    /// Adds lectures to a run.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - contents: the first and the last of lectures whose rows follow each other.
    /// - Throws: ``LectureError``.
    package func join(_ run: RunID, contents: ClosedRange<ContentID>) throws {
        try connection.execute(
            """
            INSERT OR IGNORE INTO run_item(run_id, content_id)
            SELECT ?, id FROM content WHERE id BETWEEN ? AND ?
            """, run, contents.lowerBound, contents.upperBound)
    }

    /// Adds every lecture that is not complete, not cancelled and not paused to a run; returns how many. Those stopped
    /// for lack of a network or of space are tried at once, as when requested again, and damaged ones are repaired.
    package func joinUnfinished(_ run: RunID) throws -> Int {
        try connection.atomically {
            try retryStopped()
            return try joinUnfinished(run, ids: ContentID(0)...(try lastContent()))
        }
    }

    /// Queues what was stopped for lack of a network or of space, and what was found damaged, as when it is requested
    /// again.
    ///
    /// - Throws: ``LectureError``.
    func retryStopped() throws {
        try connection.execute(
            """
            UPDATE content SET state = \(sql: ItemState.queued), stop_reason = NULL, attempts = 0,
                next_attempt_ms = NULL, wait_set_ms = NULL
            WHERE desire = \(sql: TargetState.fetch) AND \(Claim.content.isFree)
                AND (state = \(sql: ItemState.stopped) AND stop_reason IN (?, ?, ?)
                    OR state = \(sql: ItemState.failed) AND error_code IN (?, ?))
            """, StopReason.network, StopReason.space, StopReason.quota, LectureError.Code.damaged.number,
            LectureError.Code.mediaMissing.number)
    }

    /// Adds the lectures at the head of the queue to a run: what it downloads first.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - limit: at most this many.
    /// - Returns: how many were added.
    /// - Throws: ``LectureError``.
    func joinHead(of run: RunID, limit: Int) throws -> Int {
        try connection.execute(
            """
            INSERT OR IGNORE INTO run_item(run_id, content_id)
            SELECT ?1, id FROM content INDEXED BY content_state_priority
            WHERE state = \(sql: ItemState.queued) AND desire = \(sql: TargetState.fetch)
            ORDER BY priority DESC, position, id LIMIT ?2
            """, run, limit)
    }

    /// Adds those of some lectures to a run that are not complete, not cancelled and not paused.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - ids: the lectures.
    /// - Returns: how many were added; those that had been in the run are not counted.
    /// - Throws: ``LectureError``.
    func joinUnfinished(_ run: RunID, ids: ClosedRange<ContentID>) throws -> Int {
        try connection.execute(
            """
            INSERT OR IGNORE INTO run_item(run_id, content_id)
            SELECT ?1, id FROM content
            WHERE id BETWEEN ?2 AND ?3 AND state NOT IN \(sql: [ItemState.completed, .removing])
                AND desire = \(sql: TargetState.fetch)
            """, run, ids.lowerBound, ids.upperBound)
    }

    /// The lecture that was added last; 0 when there is none.
    ///
    /// - Throws: ``LectureError``.
    func lastContent() throws -> ContentID {
        try connection.first("SELECT coalesce(max(id), 0) FROM content") { $0.id(0) } ?? ContentID(0)
    }

    /// Leases up to `limit` lectures of the run that are due now, priority first, then position.
    package func claim(run: RunID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [ItemRecord] {
        guard limit > 0 else { return [] }
        return try connection.atomically {
            var due = try dueAtHead(of: run, limit: limit, now: now)
            if due.found.count < limit, due.isCut { due.found = try dueAnywhere(in: run, limit: limit, now: now) }
            return try due.found.compactMap { try take($0, owner: owner, now: now) }
        }
    }

    /// Leases one lecture whatever its position in the queue, unless another owner has it.
    package func claim(content: ContentID, owner: OwnerID, now: Timestamp) throws -> ItemRecord? {
        try connection.atomically { try take(content, owner: owner, now: now) }
    }

    /// Releases a lease.
    package func release(_ lease: ContentLease) throws {
        let changed = try connection.execute(ClaimStatements.releaseContent, lease.content, lease.fence)
        guard changed == 1 else { throw LectureError(.leaseLost) }
    }

    /// Queues stopped lectures of the run again whose reason is transient and whose `next_attempt` is due.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - now: the wall clock.
    /// - Returns: how many.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func requeueDue(run: RunID, now: Timestamp) throws -> Int {
        let source = try unleased(.stopped, of: run)
        // Queried before writing: most of the time nothing is due, and then no write lock is taken.
        let due: [ContentID] = try connection.query(
            """
            SELECT content.id FROM \(source) AND content.stop_reason NOT IN \(QueueStatements.lasting)
              AND content.next_attempt_ms IS NOT NULL AND \(QueueStatements.isDue("?2"))
            """, run, now
        ) { $0.id(0) }
        guard !due.isEmpty else { return 0 }
        return try connection.atomically {
            try due.reduce(0) { count, content in
                try count + connection.execute(QueueStatements.requeue, now, content)
            }
        }
    }

    /// Ends the waits of the run's lectures that a broken network has caused; waits of servers stay.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - now: the wall clock.
    /// - Returns: how many.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func endNetworkWaits(run: RunID, now: Timestamp) throws -> Int {
        let stopped: [ContentID] = try connection.query(
            "SELECT content.id FROM \(try unleased(.stopped, of: run)) AND content.stop_reason = ?2", run,
            StopReason.network
        ) { $0.id(0) }
        // Codes of transfers: no header came, so no server has asked for the wait.
        let queued: [ContentID] = try connection.query(
            """
            SELECT content.id FROM \(try unleased(.queued, of: run)) AND content.next_attempt_ms IS NOT NULL
              AND content.error_code BETWEEN ?2 AND ?3
            """, run, -8099, -8001
        ) { $0.id(0) }
        guard !stopped.isEmpty || !queued.isEmpty else { return 0 }
        return try connection.atomically {
            try (stopped + queued).reduce(0) { count, content in
                try count + connection.execute(QueueStatements.endNetworkWait, now, content)
            }
        }
    }

    /// The earliest `next_attempt` among lectures of the run that are queued, or stopped for a transient reason, and
    /// not leased; nil when there is none. A queued lecture without one has been due since the epoch.
    package func nextDue(run: RunID) throws -> Timestamp? {
        let queued = try connection.first(
            "SELECT min(coalesce(content.next_attempt_ms, 0)) FROM \(try unleased(.queued, of: run))", run
        ) { $0.optionalTimestamp(0) }
        let stopped = try connection.first(
            """
            SELECT min(content.next_attempt_ms) FROM \(try unleased(.stopped, of: run))
              AND content.stop_reason NOT IN \(QueueStatements.lasting)
            """, run
        ) { $0.optionalTimestamp(0) }
        return [queued, stopped].compactMap { $0 ?? nil }.min()
    }

    /// Whether any lecture is queued to be downloaded, in whichever run.
    ///
    /// - Returns: false when a run that continues what was requested needs no connection at once.
    /// - Throws: ``LectureError``.
    package func hasRequested() throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM content INDEXED BY content_state_priority
            WHERE state = \(sql: ItemState.queued) AND desire = \(sql: TargetState.fetch) LIMIT 1
            """
        ) { _ in true } ?? false
    }

    /// Whether lectures of the run are queued without a lease. The first one is enough: this is asked at every step
    /// while nothing can be downloaded, and a million may wait.
    package func hasQueued(run: RunID) throws -> Bool {
        try connection.first("SELECT 1 FROM \(try unleased(.queued, of: run)) LIMIT 1", run) { _ in true } ?? false
    }

    /// How many lectures of the run another owner has leased.
    package func leasedElsewhere(run: RunID, owner: OwnerID) throws -> Int {
        try connection.first(
            """
            SELECT count(*) FROM content INDEXED BY content_lease
            WHERE \(Claim.content.isHeld(byOtherThan: "?"))
              AND EXISTS (SELECT 1 FROM run_item WHERE run_id = ? AND content_id = content.id)
            """, owner, run
        ) { $0.int(0) } ?? 0
    }

    /// The target states of lectures this owner has leased whose target state is not `fetch`.
    package func changedTargetStates(owner: OwnerID) throws -> [(ContentID, TargetState)] {
        try connection.query(
            """
            SELECT id, desire FROM content
            WHERE \(Claim.content.isHeld(by: "?")) AND desire <> \(sql: TargetState.fetch) ORDER BY id
            """, owner
        ) { row in (row.id(0), try row.enumeration(1, TargetState.self)) }
    }

    // MARK: How a claim finds its rows

    /// How many rows of the queue are checked before the run's own items.
    private static let headLength = 256

    /// Searches the head of the whole queue, where the run's items usually are: at most a fixed number of rows, however
    /// long the queue is.
    private func dueAtHead(
        of run: RunID, limit: Int, now: Timestamp
    ) throws -> (found: [ContentID], isCut: Bool) {
        let (found, rows) = try connection.search(
            for: limit, QueueStatements.headOfQueue, now, run, Self.headLength
        ) { row -> ContentID? in row.bool(1) ? row.id(0) : nil }
        return (found, rows == Self.headLength)
    }

    /// Searches every item of the run.
    private func dueAnywhere(in run: RunID, limit: Int, now: Timestamp) throws -> [ContentID] {
        try connection.query(QueueStatements.dueItems, now, run, limit) { $0.id(0) }
    }

    private func take(_ content: ContentID, owner: OwnerID, now: Timestamp) throws -> ItemRecord? {
        let changed = try connection.execute(ClaimStatements.takeContent, owner, content, now)
        return changed == 1 ? try connection.item(id: content).map(store.contents.opened) : nil
    }

    /// A run with more lectures than this is not counted to find the shorter side.
    private static let countedLength = 100_000

    /// A FROM and WHERE clause for the run's wanted, unleased items in a state, with the run as its first parameter. It
    /// starts at the shorter side: the run or the state.
    private func unleased(_ state: ItemState, of run: RunID) throws -> String {
        let inState = try connection.first("SELECT contents FROM tally WHERE state = ?", state) { $0.int(0) } ?? 0
        let counted = min(inState, Self.countedLength)
        let items = try connection.first(
            "SELECT count(*) FROM (SELECT 1 FROM run_item WHERE run_id = ? LIMIT ?)", run, counted + 1
        ) { $0.int(0) }
        let isWanted = """
            content.state = \(sql: state) AND content.desire = \(sql: TargetState.fetch) \
            AND \(Claim.content.isFree)
            """
        if (items ?? 0) <= counted {
            return """
                run_item CROSS JOIN content ON content.id = run_item.content_id
                WHERE run_item.run_id = ?1 AND \(isWanted)
                """
        }
        return """
            content INDEXED BY content_state
            WHERE EXISTS (SELECT 1 FROM run_item WHERE run_id = ?1 AND content_id = content.id) AND \(isWanted)
            """
    }
}
