import LectureModel
import LectureSQLite

/// Reads and deletes requests whose result is unknown. Table lms_flight.
struct InFlightBatchRows {
    let connection: Connection

    /// A request as stored, its reports in the order of its bytes.
    func inFlightBatch(_ id: InFlightBatchID) throws -> StoredInFlightBatch? {
        // A request is filled one session queue after the other, each in order; the order in the bytes does not matter
        // for its result, which is the same for all.
        let reports: [OutboxID] = try connection.query(
            "SELECT id FROM report WHERE flight_id = ? AND is_sealed = 1 ORDER BY lane_id, sequence, id", id
        ) { $0.id(0) }
        return try connection.first(
            """
            SELECT target_id, uuid, method, query, media_type, encoding, body, tries, bounded_tries, next_attempt_ms,
                wait_set_ms FROM lms_flight WHERE id = ?
            """, id
        ) { row in
            StoredInFlightBatch(
                id: id, target: row.id(0),
                frozen: FrozenRequest(
                    id: row.text(1), reports: reports, method: row.text(2), query: row.text(3),
                    mediaType: row.text(4), encoding: row.text(5), body: row.blob(6)),
                tries: row.int(7), boundedTries: row.int(8), wait: ReportRows.wait(row, due: 9, set: 10))
        }
    }

    /// Dissolves a request: its reports are pending again, its id and its bytes are deleted.
    func dissolve(_ inFlightBatch: InFlightBatchID) throws {
        try connection.execute(
            """
            UPDATE report SET state = \(sql: ReportState.pending), is_sealed = 0, flight_id = NULL WHERE flight_id = ?
            """, inFlightBatch)
        try connection.execute("DELETE FROM lms_flight WHERE id = ?", inFlightBatch)
    }
}
