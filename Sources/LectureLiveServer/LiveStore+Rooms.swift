import LectureCrypto
import LectureFormats
import LectureLive
import LectureModel
import LectureSQLite

/// A room as it is stored.
struct StoredRoom: Hashable, Sendable {
    let id: Int64
    let uuid: String
    let ownerID: Int64
    var state: VideoRoomState
    var title: String
    var description: String
    var scheduledAt: Timestamp?
    var createdAt: Timestamp
    var modifiedAt: Timestamp
    var liveStartedAt: Timestamp?
    var liveEndedAt: Timestamp?
    var cancelledAt: Timestamp?
    var slowSeconds: Int
    var lastSession: Int
    var lastMessage: Int64
    /// What became of its recordings.
    let archive: ArchiveState
    /// Why that has failed.
    let archiveReason: String?
}

/// A stream key as it is stored.
struct StoredKey: Hashable, Sendable {
    let id: Int64
    let memberID: Int64
    let key: String
    var state: StreamKeyState
}

/// A publish as it is stored.
struct StoredSession: Hashable, Sendable {
    let id: Int64
    let memberID: Int64
    let roomID: Int64?
    let number: Int?
    /// The name of its fragments' directory, which nothing but links leads to.
    let name: String
    let playableAt: Timestamp?
    let endedAt: Timestamp?
}

extension LiveStore {
    // MARK: Stream keys

    /// The key of a member, made when there is none.
    func streamKey(of member: Int64, now: Timestamp) throws -> StoredKey {
        if let key = try existingKey(of: member) { return key }
        try issueKey(of: member, now: now)
        guard let key = try existingKey(of: member) else { throw LiveRefusal.fault }
        return key
    }

    /// The key of a member; nil when there is none.
    func existingKey(of member: Int64) throws -> StoredKey? {
        try connection.first("SELECT id, member_id, key, state FROM stream_key WHERE member_id = ?", member) { row in
            try Self.key(row)
        }
    }

    /// Gives a member a new key; the former one no longer works.
    func issueKey(of member: Int64, now: Timestamp) throws {
        let key = try Self.secret()
        try connection.execute(
            """
            INSERT INTO stream_key(member_id, key, digest, state, issued_ms) VALUES (?1, ?2, ?3, 1, ?4)
            ON CONFLICT (member_id) DO UPDATE SET key = ?2, digest = ?3, issued_ms = ?4
            """, member, key, digest(key), now.milliseconds)
    }

    /// The key that a broadcaster has sent.
    func find(key: String) throws -> StoredKey? {
        let digest = try digest(key)
        return try connection.first(
            "SELECT id, member_id, key, state, digest FROM stream_key WHERE digest = ?", digest
        ) { row in OpenSSLDigests.equal(row.blob(4), digest) ? try Self.key(row) : nil } ?? nil
    }

    private static func key(_ row: borrowing Row) throws -> StoredKey {
        guard let state = LiveCodes.key(row.int(3)) else { throw LectureError(.storeDamaged) }
        return StoredKey(id: row.int64(0), memberID: row.int64(1), key: row.text(2), state: state)
    }

    // MARK: Rooms

    private static let columns = """
        id, uuid, member_id, state, title, description, scheduled_ms, created_ms, modified_ms, live_started_ms,
        live_ended_ms, cancelled_ms, slow_seconds, last_session, last_message, vod_state, vod_reason
        """

    private static func room(_ row: borrowing Row) throws -> StoredRoom {
        guard let state = LiveCodes.room(row.int(3)), let archive = LiveCodes.archive(row.int(15)) else {
            throw LectureError(.storeDamaged)
        }
        func time(_ value: Int64?) -> Timestamp? { value.map { Timestamp(milliseconds: $0) } }
        return StoredRoom(
            id: row.int64(0), uuid: row.text(1), ownerID: row.int64(2), state: state, title: row.text(4),
            description: row.text(5), scheduledAt: time(row.optionalInt64(6)),
            createdAt: Timestamp(milliseconds: row.int64(7)), modifiedAt: Timestamp(milliseconds: row.int64(8)),
            liveStartedAt: time(row.optionalInt64(9)), liveEndedAt: time(row.optionalInt64(10)),
            cancelledAt: time(row.optionalInt64(11)), slowSeconds: row.int(12), lastSession: row.int(13),
            lastMessage: row.int64(14), archive: archive, archiveReason: row.optionalText(16))
    }

    /// A room that is not deleted.
    func room(_ id: Int64) throws -> StoredRoom? {
        try connection.first("SELECT \(Self.columns) FROM room WHERE id = ? AND is_deleted = 0", id) { row in
            try Self.room(row)
        }
    }

    /// A room that is not deleted, by its other name.
    func room(uuid: String) throws -> StoredRoom? {
        try connection.first("SELECT \(Self.columns) FROM room WHERE uuid = ? AND is_deleted = 0", uuid) { row in
            try Self.room(row)
        }
    }

    /// The room of a member's broadcast that is not over.
    func openRoom(of member: Int64) throws -> StoredRoom? {
        try connection.first("SELECT \(Self.columns) FROM room WHERE member_id = ? AND state IN (1, 2, 3)", member) {
            try Self.room($0)
        }
    }

    /// A page of the rooms of a member.
    ///
    /// - Parameters:
    ///   - member: the owner.
    ///   - state: of which state; nil for all.
    ///   - order: a column with its direction.
    ///   - page: from 0.
    ///   - size: how many a page has.
    /// - Returns: the rooms, and how many there are on all pages.
    /// - Throws: `LectureError`.
    func rooms(
        of member: Int64, _ state: VideoRoomState?, order: RoomOrder, page: Int, size: Int
    ) throws -> (rooms: [StoredRoom], total: Int) {
        let filter = "member_id = ?1 AND is_deleted = 0 AND (?2 IS NULL OR state = ?2)"
        let code = state.map(LiveCodes.code)
        let total =
            try connection.first("SELECT count(*) FROM room WHERE \(filter)", member, code) { $0.int(0) } ?? 0
        let rooms = try connection.query(
            "SELECT \(Self.columns) FROM room WHERE \(filter) ORDER BY \(order.sql) LIMIT ?3 OFFSET ?4", member, code,
            size, page * size
        ) { try Self.room($0) }
        return (rooms, total)
    }

    /// The orders of the service.
    enum RoomOrder: String {
        case createdAscending = "CREATED_AT_ASC"
        case createdDescending = "CREATED_AT_DESC"
        case modifiedAscending = "LAST_MODIFIED_AT_ASC"
        case modifiedDescending = "LAST_MODIFIED_AT_DESC"

        fileprivate var sql: String {
            switch self {
            case .createdAscending: "created_ms, id"
            case .createdDescending: "created_ms DESC, id DESC"
            case .modifiedAscending: "modified_ms, id"
            case .modifiedDescending: "modified_ms DESC, id DESC"
            }
        }
    }

    /// Makes a room.
    func createRoom(
        _ member: Int64, title: String, description: String, scheduledAt: Timestamp?, now: Timestamp
    ) throws -> Int64 {
        var random = SystemRandomNumberGenerator()
        try connection.execute(
            """
            INSERT INTO room(uuid, member_id, state, title, description, scheduled_ms, created_ms, modified_ms)
            VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?6)
            """, UUIDv7.text(at: now) { random.next() }, member, title, description, scheduledAt?.milliseconds,
            now.milliseconds)
        return connection.lastInsertedID
    }

    /// Stores what may have changed in a room.
    func update(_ room: StoredRoom, now: Timestamp) throws {
        try connection.execute(
            """
            UPDATE room SET state = ?, title = ?, description = ?, modified_ms = ?, live_started_ms = ?,
                live_ended_ms = ?, cancelled_ms = ?, slow_seconds = ?, last_session = ? WHERE id = ?
            """, LiveCodes.code(room.state), room.title, room.description, now.milliseconds,
            room.liveStartedAt?.milliseconds, room.liveEndedAt?.milliseconds, room.cancelledAt?.milliseconds,
            room.slowSeconds, room.lastSession, room.id)
    }

    /// Hides a room that is over, and forgets the key of its lecture.
    func deleteRoom(_ id: Int64) throws {
        try transaction {
            try connection.execute("UPDATE room SET is_deleted = 1 WHERE id = ?", id)
            try connection.execute("DELETE FROM archive WHERE room_id = ?", id)
        }
    }

    // MARK: Machines

    /// The machine of a member's key, and its room.
    func machine(of member: Int64) throws -> (machine: RoomMachine, room: StoredRoom?) {
        let room = try openRoom(of: member)
        let state = try existingKey(of: member)?.state ?? .inactive
        guard let machine = RoomMachine(room: room?.state, key: state) else {
            throw LectureError(.storeDamaged, cause: "a stream key and its room do not fit")
        }
        return (machine, room)
    }

    /// Stores the state of a key.
    func setKey(_ state: StreamKeyState, of member: Int64) throws {
        try connection.execute("UPDATE stream_key SET state = ? WHERE member_id = ?", LiveCodes.code(state), member)
    }

    // MARK: Sessions

    private static func session(_ row: borrowing Row) -> StoredSession {
        StoredSession(
            id: row.int64(0), memberID: row.int64(1), roomID: row.optionalInt64(2), number: row.optionalInt(3),
            name: row.text(4), playableAt: row.optionalInt64(5).map { Timestamp(milliseconds: $0) },
            endedAt: row.optionalInt64(6).map { Timestamp(milliseconds: $0) })
    }

    private static let sessionColumns = "id, member_id, room_id, number, name, playable_ms, ended_ms"

    /// The publish of a member that is not over.
    func openSession(of member: Int64) throws -> StoredSession? {
        try connection.first(
            "SELECT \(Self.sessionColumns) FROM session WHERE member_id = ? AND ended_ms IS NULL", member
        ) { Self.session($0) }
    }

    /// A publish of a room.
    func session(_ number: Int, of room: Int64) throws -> StoredSession? {
        try connection.first(
            "SELECT \(Self.sessionColumns) FROM session WHERE room_id = ? AND number = ?", room, number
        ) { Self.session($0) }
    }

    /// All publishes of a room, in order.
    func sessions(of room: Int64) throws -> [StoredSession] {
        try connection.query(
            "SELECT \(Self.sessionColumns) FROM session WHERE room_id = ? ORDER BY number", room
        ) { Self.session($0) }
    }

    /// All publishes that are not over.
    func openSessions() throws -> [StoredSession] {
        try connection.query("SELECT \(Self.sessionColumns) FROM session WHERE ended_ms IS NULL") { Self.session($0) }
    }

    /// The names of publishes whose fragments a link may lead to.
    ///
    /// - Parameter since: what ended before this is not needed, unless its room goes on.
    /// - Returns: the names.
    /// - Throws: `LectureError`.
    func neededSessionNames(since: Timestamp) throws -> Set<String> {
        Set(
            try connection.query(
                """
                SELECT name FROM session LEFT JOIN room ON room.id = room_id
                WHERE ended_ms IS NULL OR ended_ms >= ?1 OR state IN (2, 3) OR live_ended_ms >= ?1
                """, since.milliseconds
            ) { $0.text(0) })
    }

    /// Begins a publish; of a room where there is one.
    func beginSession(_ member: Int64, _ room: inout StoredRoom?, name: String, now: Timestamp) throws {
        if room != nil { room?.lastSession += 1 }
        try connection.execute(
            "INSERT INTO session(member_id, room_id, number, name, began_ms) VALUES (?, ?, ?, ?, ?)", member, room?.id,
            room?.lastSession, name, now.milliseconds)
    }

    /// Gives a publish that came first to its room.
    func adopt(_ session: StoredSession, by room: inout StoredRoom) throws {
        room.lastSession += 1
        try connection.execute(
            "UPDATE session SET room_id = ?, number = ? WHERE id = ?", room.id, room.lastSession, session.id)
    }

    /// A publish can be watched.
    func setPlayable(_ session: StoredSession, now: Timestamp) throws {
        try connection.execute("UPDATE session SET playable_ms = ? WHERE id = ?", now.milliseconds, session.id)
    }

    /// A publish is over.
    func endSession(of member: Int64, now: Timestamp) throws {
        try connection.execute(
            "UPDATE session SET ended_ms = ? WHERE member_id = ? AND ended_ms IS NULL", now.milliseconds, member)
    }
}
