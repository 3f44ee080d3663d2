package import LectureModel
import LectureSQLite

/// How lectures are used. Tables pin and last_play, and what others say of plays.
///
/// Confined to the owner of the store's writer, like its connection.
package struct UseRows {
    let connection: Connection

    /// How often a play that goes on is written.
    private static let grain = Duration.seconds(60)

    /// Pins a lecture, or takes its pin away. One that is pinned keeps the time of its first pin.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - time: when; nil takes the pin away.
    /// - Throws: ``LectureError``.
    package func setPin(_ content: ContentID, _ time: Timestamp?) throws {
        guard let time else {
            try connection.execute("DELETE FROM pin WHERE content_id = ?", content)
            return
        }
        try connection.execute(
            "INSERT INTO pin(content_id, pinned_ms) VALUES (?, ?) ON CONFLICT (content_id) DO NOTHING", content, time)
    }

    /// Every pin, in the order of registration.
    package func pins() throws -> [(key: ContentKey, time: Timestamp)] {
        try connection.query(
            "SELECT content.key, pinned_ms FROM pin JOIN content ON content.id = pin.content_id ORDER BY content.id"
        ) { (ContentKey(stored: $0.text(0)), $0.timestamp(1)) }
    }

    /// Notes that a lecture is played. Within a minute of the last time nothing is written; a time in the future, from
    /// before the clock was set back, is replaced.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func recordPlayed(_ content: ContentID, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO last_play(content_id, played_ms) VALUES (?1, ?2)
            ON CONFLICT (content_id) DO UPDATE SET played_ms = excluded.played_ms
            WHERE abs(excluded.played_ms - played_ms) >= ?3
            """, content, now, Self.grain.milliseconds)
    }

    /// How a lecture is used.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - isAlive: whether a process that records a play is still running.
    /// - Returns: its current key and its use; nil for an unknown key.
    /// - Throws: ``LectureError``.
    package func use(
        of key: ContentKey, isAlive: (OwnerID) -> Bool
    ) throws -> (key: ContentKey, use: LectureUse)? {
        guard let item = try connection.item(key: key) else { return nil }
        let players: [OwnerID?] = try connection.query(
            "SELECT owner_id FROM play_session WHERE content_key = ?", item.content.key
        ) { $0.isNull(0) ? nil : $0.id(0) }
        let use = try connection.first(Self.question, item.id) { row in
            var use = LectureUse()
            (use.pinned, use.lastPlayed) = (row.optionalTimestamp(0), row.optionalTimestamp(1))
            use.resumePoint = .milliseconds(row.optionalInt64(2) ?? 0)
            (use.isListed, use.isSettled) = (row.bool(3), row.bool(4))
            use.isPlaying = players.contains { $0.map(isAlive) ?? false }
            use.hasOpenPlay = !players.isEmpty
            return use
        }
        return use.map { (item.content.key, $0) }
    }

    private static let question = """
        SELECT (SELECT pinned_ms FROM pin WHERE pin.content_id = content.id),
            (SELECT played_ms FROM last_play WHERE last_play.content_id = content.id),
            (SELECT position_ms FROM resume_point WHERE resume_point.content_id = content.id),
            EXISTS (SELECT 1 FROM course_entry JOIN course_list ON course_list.id = course_entry.list_id
                WHERE course_entry.content_id = content.id AND gone_ms IS NULL AND course_list.name <> ''),
            content.state = \(sql: ItemState.completed) AND content.desire <> \(sql: TargetState.remove)
                AND \(Claim.content.isFree)
        FROM content WHERE content.id = ?
        """
}

extension TargetRows {
    /// Requests the removal of those lectures that nothing uses, in the transaction that finds that out.
    ///
    /// - Parameters:
    ///   - keys: which ones.
    ///   - now: the wall clock.
    ///   - isAlive: whether a process that records a play is still running.
    /// - Returns: for each, in order, its current key, and why it stays; nil for one whose removal is requested.
    /// - Throws: ``LectureError``.
    package func requestRemovalOfUnused(
        _ keys: [ContentKey], now: Timestamp, isAlive: (OwnerID) -> Bool
    ) throws -> [(key: ContentKey, obstacle: LectureUse.Obstacle?)] {
        try connection.atomically {
            try keys.map { key in
                guard let found = try store.uses.use(of: key, isAlive: isAlive) else { return (key, .gone) }
                if let obstacle = found.use.obstacle(at: now) { return (found.key, obstacle) }
                _ = try setTargetState(found.key, .remove, now: now)
                return (found.key, nil)
            }
        }
    }
}
