package import LectureModel
import LectureSQLite

// Changes to reports made by operators and by time.

extension SQLiteOutbox {
    // MARK: Another target

    /// Redirects everything open to another target.
    ///
    /// A request whose result is unknown moves with its id and its bytes when the format is the same, unless the new
    /// target has such a request with reports of the same session: a session lane is held by one request. Then it stays
    /// where it is, and so do its reports.
    package func readdress(to target: TargetID) throws -> Int {
        try atomically {
            let format = try connection.first("SELECT format FROM lms_target WHERE id = ?", target) { $0.int(0) }
            guard let format else { throw LectureError(.bug, detail: "there is no such target") }
            let others = try connection.query("SELECT id, format FROM lms_target WHERE id <> ? ORDER BY id", target) {
                (id: $0.id(0, TargetTable.self), format: $0.int(1))
            }
            var moved = 0
            for other in others {
                let flights: [(id: FlightID, isFree: Bool)] = try connection.query(
                    "SELECT id, owner_id IS NULL FROM lms_flight WHERE target_id = ? ORDER BY id", other.id
                ) { ($0.id(0), $0.bool(1)) }
                for flight in flights {
                    if flight.isFree, other.format != format {
                        try dissolve(flight.id)
                    } else if flight.isFree {
                        moved += try readdress(flight.id, to: target)
                    }
                    for lane in try lanes(of: flight.id, but: target) { moved += try readdress(lane, to: target) }
                }
            }
            for source in others.map({ Optional($0.id) }) + [nil] {
                let ready = try connection.query(Self.readyLanesOf, source) { row in
                    Lane(id: row.int64(0), user: row.text(1), session: row.text(2), target: source)
                }
                for lane in ready { moved += try readdress(lane, to: target) }
            }
            return moved
        }
    }

    /// Every session lane of a target, or of none, that is in no request and has open reports.
    static let readyLanesOf = """
        SELECT id, client_user_id, session FROM lms_lane INDEXED BY lms_lane_ready
        WHERE target_id IS ? AND (open > 0 AND flight_id IS NULL) = 1 ORDER BY id
        """

    /// A session lane to be moved.
    private struct Lane {
        let id: Int64
        let user: String
        let session: String
        let target: TargetID?
    }

    /// The session lanes of a request that go to another target than this.
    private func lanes(of flight: FlightID, but target: TargetID) throws -> [Lane] {
        try connection.query(
            """
            SELECT id, client_user_id, session, target_id FROM lms_lane
            WHERE flight_id = ? AND target_id IS NOT ? ORDER BY id
            """, flight, target
        ) { row in
            Lane(
                id: row.int64(0), user: row.text(1), session: row.text(2),
                target: row.optionalInt64(3).map { TargetID($0) })
        }
    }

    /// Moves what is pending in a session lane and in no request.
    private func readdress(_ lane: Lane, to target: TargetID) throws -> Int {
        let other = try self.lane(lane.user, lane.session, target)
        let count = try connection.execute(
            """
            UPDATE report INDEXED BY report_lane SET lane_id = ?, first_target = coalesce(first_target, ?)
            WHERE lane_id = ? AND state < 2 AND state = 0 AND flight_id IS NULL
            """, other, lane.target, lane.id)
        try forgetLanes([lane.id, other])
        return count
    }

    /// Moves an unclaimed request with all its reports, unless a session lane of the target is held by another.
    private func readdress(_ flight: FlightID, to target: TargetID) throws -> Int {
        let lanes = try lanes(of: flight, but: target)
        let places = try lanes.map { try self.lane($0.user, $0.session, target) }
        for place in places {
            let isHeld = try connection.first("SELECT flight_id IS NOT NULL FROM lms_lane WHERE id = ?", place) {
                $0.bool(0)
            }
            if isHeld == true {
                try forgetLanes(places)
                return 0
            }
        }
        var count = 0
        for (lane, place) in zip(lanes, places) {
            count += try connection.execute(
                """
                UPDATE report INDEXED BY report_flight
                SET lane_id = ?, first_target = coalesce(first_target, ?) WHERE flight_id = ? AND lane_id = ?
                """, place, lane.target, flight, lane.id)
        }
        // Waits requested by the old target do not apply to the new one.
        try connection.execute(
            """
            UPDATE lms_flight SET target_id = ?, tries = 0, bounded_tries = 0, next_attempt_ms = NULL,
                wait_set_ms = NULL
            WHERE id = ?
            """, target, flight)
        for lane in lanes { count += try readdress(lane, to: target) }
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

    /// Makes dead letters pending again; their last answers are kept.
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
                    count += try connection.execute(
                        "UPDATE report SET state = 0, dead_reason = NULL, changed_ms = ? WHERE id = ? AND state = 3",
                        now, report)
                }
            }
            return count
        }
    }

    /// Reports that ended before a time. Superseded ones are kept while a report of their session lane is open: if that
    /// is refused, they become pending again.
    static let endedRows = """
        SELECT report.id, report.lane_id FROM report INDEXED BY report_ended
        CROSS JOIN lms_lane ON lms_lane.id = report.lane_id
        WHERE report.state IN (2, 4, 5) AND report.changed_ms < ? AND (report.state <> 4 OR lms_lane.open = 0)
        ORDER BY report.changed_ms LIMIT ?
        """

    /// Deletes delivered, superseded and expired reports, the oldest first, and session lanes that become empty.
    package func prune(before: Timestamp, limit: Int) throws -> Int {
        guard limit > 0 else { return 0 }
        return try atomically {
            let ended = try connection.query(Self.endedRows, before, limit) {
                ($0.id(0, OutboxTable.self), $0.int64(1))
            }
            for (report, _) in ended { try connection.execute("DELETE FROM report WHERE id = ?", report) }
            try forgetLanes(Set(ended.map(\.1)))
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
                UPDATE report INDEXED BY report_state SET state = 5, changed_ms = ?1
                WHERE state = 0 AND flight_id IS NULL AND is_sealed = 0
                    AND changed_ms < ?2 AND coalesce(corrected_ms, wall_ms) < ?2
                """, now, before)
        }
    }
}
