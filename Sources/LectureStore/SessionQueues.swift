import LectureModel
import LectureSQLite

/// The session queues: the reports of one session of one learner for one target, in their order. Table lms_lane.
struct SessionQueues {
    let connection: Connection

    /// The queue of a session, which is created when it is new.
    func queue(_ user: String, _ session: String, _ target: TargetID?) throws -> Int64 {
        let known = try connection.first(
            "SELECT id FROM lms_lane WHERE client_user_id = ? AND session = ? AND coalesce(target_id, 0) = ?", user,
            session, target?.value ?? 0
        ) { $0.int64(0) }
        if let known { return known }
        try connection.execute(
            "INSERT INTO lms_lane(target_id, client_user_id, session) VALUES (?, ?, ?)", target, user, session)
        return connection.lastInsertedID
    }

    /// Deletes queues without reports: they name learners.
    func deleteEmpty(_ queues: some Sequence<Int64>) throws {
        for queue in queues {
            try connection.execute(
                "DELETE FROM lms_lane WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM report WHERE lane_id = ?1)", queue)
        }
    }

    /// The next number in a session, whatever target its reports go to.
    func nextSequence(_ user: String, _ session: String) throws -> Int64 {
        let last = try connection.first(
            """
            SELECT max((SELECT max(sequence) FROM report WHERE lane_id = lms_lane.id)) FROM lms_lane
            WHERE client_user_id = ? AND session = ?
            """, user, session
        ) { $0.optionalInt64(0) }
        guard let last = last ?? nil else { return 1 }
        let (next, isOver) = last.addingReportingOverflow(1)
        if isOver { throw LectureError(.reportInvalid, detail: "seq") }
        return next
    }
}
