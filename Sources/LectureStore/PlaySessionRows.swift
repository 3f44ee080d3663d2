import LectureFormats
package import LectureModel
import LectureSQLite

/// Plays that are being recorded. Tables play_session and play_interval.
///
/// Confined to the owner of the store's writer, like its connection.
package struct PlaySessionRows {
    let connection: Connection

    /// A play whose program is gone.
    package struct Abandoned {
        /// Its row.
        package let id: PlaySessionID
        /// What its reports are made from.
        package let record: PlaySessionRecord
        /// When it was last stored.
        package let updated: Timestamp
    }

    /// Creates the row of a play.
    ///
    /// - Parameters:
    ///   - record: what its reports are made from.
    ///   - owner: the program that records it.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func begin(_ record: PlaySessionRecord, owner: OwnerID, now: Timestamp) throws {
        let targets = record.targets.map { JSONValue.array($0.map(\.json)).text }
        try connection.execute(
            """
            INSERT INTO play_session(owner_id, start_s, duration_ms, blocks, updated_ms, session, content_key,
                client_user_id, source, targets)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO NOTHING
            """, owner, record.startAt, record.duration, record.blocks, now, record.session, record.content,
            record.user, record.source, targets)
    }

    /// Stores what happened in a play.
    ///
    /// - Parameters:
    ///   - session: its name.
    ///   - number: the place of the first of the intervals; what is stored from there on is replaced.
    ///   - intervals: in order.
    ///   - now: the wall clock.
    /// - Returns: false when the play has no row any more: its learner was erased.
    /// - Throws: ``LectureError``.
    package func extend(
        _ session: String, from number: Int, _ intervals: [PlayIntervalRecord], now: Timestamp
    ) throws -> Bool {
        guard let id = try row(session) else { return false }
        try connection.execute("UPDATE play_session SET updated_ms = ? WHERE id = ?", now, id)
        for (place, interval) in intervals.enumerated() {
            try connection.execute(
                """
                INSERT INTO play_interval(session_id, number, activity, from_ms, to_ms, speed_permille, lasting_ns)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (session_id, number) DO UPDATE SET to_ms = excluded.to_ms, lasting_ns = excluded.lasting_ns
                """, id, number + place, interval.activity, interval.from, interval.to, interval.speedPermille,
                interval.nanoseconds)
        }
        return true
    }

    /// Deletes the row of a play: its last report is stored.
    ///
    /// - Parameter session: its name.
    /// - Throws: ``LectureError``.
    package func end(_ session: String) throws {
        try connection.execute("DELETE FROM play_session WHERE session = ?", session)
    }

    /// The plays whose programs are gone, the oldest first.
    ///
    /// - Throws: ``LectureError``.
    package func abandoned() throws -> [Abandoned] {
        try connection.query(
            """
            SELECT id, session, content_key, client_user_id, start_s, duration_ms, blocks, source, targets, updated_ms
            FROM play_session WHERE owner_id IS NULL ORDER BY id
            """
        ) { row in
            Abandoned(
                id: row.id(0),
                record: PlaySessionRecord(
                    session: row.text(1), content: row.text(2), user: row.text(3), startAt: row.int64(4),
                    duration: row.int64(5), blocks: row.int(6), source: row.text(7),
                    targets: try row.optionalText(8).map(Self.targets)),
                updated: row.timestamp(9))
        }
    }

    /// What happened in a play, in order.
    ///
    /// - Parameter id: its row.
    /// - Returns: its intervals.
    /// - Throws: ``LectureError``.
    package func intervals(of id: PlaySessionID) throws -> [PlayIntervalRecord] {
        try connection.query(
            """
            SELECT activity, from_ms, to_ms, speed_permille, lasting_ns FROM play_interval
            WHERE session_id = ? ORDER BY number
            """, id
        ) { row in
            PlayIntervalRecord(
                activity: row.int(0), from: row.int64(1), to: row.int64(2), speedPermille: row.int(3),
                nanoseconds: row.int64(4))
        }
    }

    private func row(_ session: String) throws -> PlaySessionID? {
        try connection.first("SELECT id FROM play_session WHERE session = ?", session) { $0.id(0) }
    }

    private static func targets(_ text: String) throws -> [ReportRecord.Target] {
        let value = try JSONScanner.value(of: Array(text.utf8), limits: JSONScanner.Limits(depth: 8, items: 10_000))
        return try value.elements?.map { try ReportRecord.Target(json: $0) } ?? []
    }
}
