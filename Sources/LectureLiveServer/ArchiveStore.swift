import LectureFormats
import LectureLive
import LectureModel
import LectureSQLite

/// A lecture that was made of a room, as it is stored.
struct StoredArchive: Hashable, Sendable {
    let uuid: String
    /// The content key, wrapped.
    let wrappedKey: [UInt8]
    let archivedAt: Timestamp
    let byteCount: Int
    let sha256: [UInt8]
    let duration: Duration
    let width: Int
    let height: Int
}

/// A recording of a room.
struct StoredRecording: Hashable, Sendable {
    let sessionID: Int64
    /// The name of its file without the suffix: that of the session.
    let name: String
    /// When the media server began it.
    let recordedAt: Timestamp
}

/// The part of ``LiveStore`` about recordings and lectures.
struct ArchiveStore {
    fileprivate let connection: Connection

    // MARK: Recordings

    /// The media server records a publish from now on.
    func setRecorded(_ name: String, now: Timestamp) throws {
        try connection.execute("UPDATE session SET recorded_ms = ? WHERE name = ?", now.milliseconds, name)
    }

    /// A room starts in a session. By its number and not by the time, which may be set back meanwhile.
    func setStart(of room: Int64, session: Int) throws {
        try connection.execute("UPDATE room SET live_session = ? WHERE id = ?", session, room)
    }

    /// The recordings of a room that belong to its lecture: those that could be watched, and were not over before the
    /// room started.
    ///
    /// - Parameter room: the room.
    /// - Returns: in the order of the sessions.
    /// - Throws: `LectureError`.
    func recordings(of room: Int64) throws -> [StoredRecording] {
        try connection.query(
            """
            SELECT session.id, name, recorded_ms FROM session JOIN room ON room.id = room_id
            WHERE room_id = ? AND recorded_ms IS NOT NULL AND playable_ms IS NOT NULL
                AND number >= live_session
            ORDER BY number
            """, room
        ) { row in
            StoredRecording(
                sessionID: row.int64(0), name: row.text(1), recordedAt: Timestamp(milliseconds: row.int64(2)))
        }
    }

    /// The names of recordings that are needed: of publishes that go on, and of rooms that go on or are to be archived.
    func neededRecordings() throws -> Set<String> {
        Set(
            try connection.query(
                """
                SELECT name FROM session LEFT JOIN room ON room.id = room_id
                WHERE ended_ms IS NULL OR (is_deleted = 0 AND (state IN (2, 3) OR vod_state IN (2, 4))
                    AND number >= live_session)
                """
            ) { $0.text(0) })
    }

    // MARK: Archives

    /// Stores what becomes of the recordings of a room.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - room: the room.
    ///   - reason: why it has failed; nil for another state.
    /// - Throws: `LectureError`.
    func setArchive(_ state: ArchiveState, of room: Int64, reason: String? = nil) throws {
        try connection.execute(
            "UPDATE room SET vod_state = ?, vod_reason = ? WHERE id = ?", LiveCodes.code(state), reason, room)
    }

    /// The rooms of which a lecture is being made, the oldest first.
    func archivingRooms() throws -> [Int64] {
        try connection.query("SELECT id FROM room WHERE vod_state = 2 AND is_deleted = 0 ORDER BY id") { $0.int64(0) }
    }

    /// Stores a lecture with its key, and where its recordings are in it.
    ///
    /// - Parameters:
    ///   - lecture: what was made.
    ///   - room: the room.
    ///   - wrappedKey: its content key, wrapped.
    ///   - recordings: those of the room, as they were when the lecture was begun.
    ///   - now: the time.
    /// - Throws: `LectureError`.
    func keep(
        _ lecture: JoinedLecture, of room: StoredRoom, wrappedKey: [UInt8], recordings: [StoredRecording],
        now: Timestamp
    ) throws {
        try connection.execute(
            """
            INSERT INTO archive(room_id, uuid, content_key, archived_ms, byte_count, sha256, duration_ms, frames, width,
                height)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, room.id, room.uuid, wrappedKey, now.milliseconds, lecture.byteCount, lecture.sha256,
            lecture.duration.milliseconds, lecture.frames, lecture.width, lecture.height)
        for (recording, part) in zip(recordings, lecture.parts) {
            try connection.execute(
                "UPDATE session SET media_start_ms = ?, media_ms = ? WHERE id = ?",
                (recording.recordedAt + part.skipped).milliseconds, part.duration.milliseconds, recording.sessionID)
        }
        try setArchive(.archived, of: room.id)
    }

    /// The lecture of a room; nil when there is none, or the room is deleted.
    func archive(of room: Int64) throws -> StoredArchive? {
        try connection.first(
            """
            SELECT archive.uuid, content_key, archived_ms, byte_count, sha256, duration_ms, width, height
            FROM archive JOIN room ON room.id = room_id WHERE room_id = ? AND is_deleted = 0
            """, room
        ) { row in
            StoredArchive(
                uuid: row.text(0), wrappedKey: row.blob(1), archivedAt: Timestamp(milliseconds: row.int64(2)),
                byteCount: row.int(3), sha256: row.blob(4), duration: .milliseconds(row.int64(5)),
                width: row.int(6), height: row.int(7))
        }
    }

    /// The names of rooms whose lecture is kept, or is being made.
    func neededArchives() throws -> Set<String> {
        Set(
            try connection.query(
                """
                SELECT uuid FROM archive UNION SELECT uuid FROM room WHERE vod_state = 2 AND is_deleted = 0
                """
            ) { $0.text(0) })
    }

    /// Whether there was a lecture whose room is deleted.
    func isDeletedArchive(_ uuid: String) throws -> Bool {
        try connection.first("SELECT 1 FROM deleted_archive WHERE uuid = ?", uuid) { _ in true } ?? false
    }

    /// Where the moments of a room are in its lecture.
    func timeline(of room: Int64) throws -> BroadcastTimeline {
        BroadcastTimeline(
            parts: try connection.query(
                """
                SELECT media_start_ms, media_ms FROM session WHERE room_id = ? AND media_ms IS NOT NULL ORDER BY number
                """, room
            ) { row in
                BroadcastTimeline.Part(
                    start: Timestamp(milliseconds: row.int64(0)), duration: .milliseconds(row.int64(1)))
            })
    }

    /// Whether a room has messages of people that are not hidden.
    func hasChat(_ room: Int64) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM message LEFT JOIN hidden_message USING (channel_id, number)
            WHERE message.channel_id = ? AND origin IN (1, 2) AND text <> '' AND hidden_message.number IS NULL LIMIT 1
            """, room
        ) { _ in true } ?? false
    }
}

extension LiveStore {
    /// Recordings and lectures.
    var archives: ArchiveStore { ArchiveStore(connection: connection) }
}
