import LectureFormats
import LectureLive
import LectureModel
import LectureSQLite

/// A message as it is stored: the same for all members.
struct StoredMessage: Hashable, Sendable {
    var channelID: Int64
    var number: Int64 = 0
    var sentAt: Timestamp
    var origin: LiveMessage.Origin
    var userID = ""
    var userName = ""
    var customType = ""
    var text = ""
    var participants: Int64?
    var roomState: VideoRoomState?
    var keyState: StreamKeyState?
    /// The session that can be watched.
    var session: Int?
    /// The message that this one hides.
    var hides: Int64?
    /// Whether another one hides it.
    var isHidden = false

    init(channelID: Int64, sentAt: Timestamp, origin: LiveMessage.Origin) {
        (self.channelID, self.sentAt, self.origin) = (channelID, sentAt, origin)
    }

    /// The message for a member.
    ///
    /// - Parameters:
    ///   - playURL: where the member can watch.
    ///   - isOwner: whether the member has the room.
    /// - Returns: without the text when it is hidden, so that the numbers have no gap.
    func message(playURL: String?, isOwner: Bool) -> LiveMessage {
        var message = LiveMessage(
            id: UInt64(number), channelID: UInt64(channelID), sentAt: sentAt, origin: origin)
        (message.userID, message.userName, message.customType) = (userID, userName, customType)
        message.participants = participants.map { UInt64($0) }
        message.hiddenID = hides.map { UInt64($0) }
        if isHidden {
            (message.customType, message.hiddenID) = (LiveMessage.Word.hidden, message.id)
        } else {
            message.text = text
        }
        if let roomState {
            message.change = LiveMessage.RoomChange(
                roomID: UInt64(channelID), state: roomState, playURL: playURL, keyState: isOwner ? keyState : nil)
        }
        return message
    }
}

extension LiveStore {
    /// Adds a message to its channel, with the next number. Inside the transaction of what it reports.
    ///
    /// - Parameter message: without a number.
    /// - Returns: the message with its number.
    /// - Throws: ``LiveRefusal`` without the channel, and errors of the store.
    func append(_ message: StoredMessage) throws -> StoredMessage {
        var message = message
        guard
            let number = try connection.first(
                "UPDATE room SET last_message = last_message + 1 WHERE id = ? RETURNING last_message",
                message.channelID, read: { $0.int64(0) })
        else { throw LiveRefusal.noChannel }
        message.number = number
        try connection.execute(
            """
            INSERT INTO message(channel_id, number, sent_ms, origin, user_id, user_name, custom_type, text,
                participants, room_state, key_state, session, hides)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values: [
                .integer(message.channelID), .integer(number), .integer(message.sentAt.milliseconds),
                LiveCodes.code(message.origin).sqliteValue, .text(message.userID), .text(message.userName),
                .text(message.customType), .text(message.text), message.participants.sqliteValue,
                message.roomState.map(LiveCodes.code).sqliteValue, message.keyState.map(LiveCodes.code).sqliteValue,
                message.session.sqliteValue, message.hides.sqliteValue,
            ])
        return message
    }

    /// Messages of a channel.
    ///
    /// - Parameters:
    ///   - channel: the channel.
    ///   - number: beyond which.
    ///   - isAscending: greater numbers, the lowest first; else lower ones, the highest first.
    ///   - limit: how many at most.
    /// - Returns: the messages.
    /// - Throws: `LectureError`.
    func messages(
        _ channel: Int64, beyond number: Int64, isAscending: Bool = true, limit: Int
    ) throws -> [StoredMessage] {
        let condition = isAscending ? "> ?2 ORDER BY message.number" : "< ?2 ORDER BY message.number DESC"
        return try connection.query(
            """
            SELECT message.number, sent_ms, origin, user_id, user_name, custom_type, text, participants, room_state,
                key_state, session, hides, hidden_message.number IS NOT NULL
            FROM message LEFT JOIN hidden_message USING (channel_id, number)
            WHERE message.channel_id = ?1 AND message.number \(condition) LIMIT ?3
            """, channel, number, limit
        ) { row in
            guard let origin = LiveCodes.origin(row.int(2)) else { throw LectureError(.storeDamaged) }
            var message = StoredMessage(
                channelID: channel, sentAt: Timestamp(milliseconds: row.int64(1)), origin: origin)
            message.number = row.int64(0)
            (message.userID, message.userName) = (row.text(3), row.text(4))
            (message.customType, message.text) = (row.text(5), row.text(6))
            message.participants = row.optionalInt64(7)
            message.roomState = row.optionalInt(8).flatMap(LiveCodes.room)
            message.keyState = row.optionalInt(9).flatMap(LiveCodes.key)
            (message.session, message.hides, message.isHidden) = (
                row.optionalInt(10), row.optionalInt64(11), row.bool(12)
            )
            return message
        }
    }

    /// Hides a message of a member.
    ///
    /// - Returns: false when there is none, or it is hidden already.
    func hide(_ number: Int64, in channel: Int64, now: Timestamp) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO hidden_message(channel_id, number, hidden_ms)
            SELECT channel_id, number, ?3 FROM message WHERE channel_id = ?1 AND number = ?2 AND origin = 2
            ON CONFLICT DO NOTHING
            """, channel, number, now.milliseconds) > 0
    }

    // MARK: Members of a channel

    /// Whether a member is in a channel.
    func isJoined(_ channel: Int64, _ member: Int64) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM membership WHERE channel_id = ? AND member_id = ?", channel, member
        ) { _ in true } ?? false
    }

    /// The channels of a member, each with the number of the message that said so and of its latest one.
    func channels(of member: Int64) throws -> [(channel: Int64, joined: Int64, last: Int64)] {
        try connection.query(
            """
            SELECT channel_id, joined_message, last_message FROM membership JOIN room ON room.id = channel_id
            WHERE membership.member_id = ? AND is_deleted = 0 ORDER BY channel_id
            """, member
        ) { ($0.int64(0), $0.int64(1), $0.int64(2)) }
    }

    /// How many members are in a channel.
    func participants(_ channel: Int64) throws -> Int64 {
        try connection.first("SELECT count(*) FROM membership WHERE channel_id = ?", channel) { $0.int64(0) } ?? 0
    }

    /// A member is in a channel from a message on.
    func join(_ channel: Int64, _ member: Int64, message: Int64) throws {
        try connection.execute(
            "INSERT INTO membership(channel_id, member_id, joined_message) VALUES (?, ?, ?)", channel, member, message)
    }

    /// A member is no longer in a channel.
    ///
    /// - Returns: whether it was.
    func leave(_ channel: Int64, _ member: Int64) throws -> Bool {
        try connection.execute(
            "DELETE FROM membership WHERE channel_id = ? AND member_id = ?", channel, member) > 0
    }

    // MARK: Moderation

    /// Whether a member is banned from a channel.
    func isBanned(_ channel: Int64, _ member: Int64) throws -> Bool {
        try connection.first("SELECT 1 FROM ban WHERE channel_id = ? AND member_id = ?", channel, member) { _ in
            true
        } ?? false
    }

    /// Bans a member from a channel, or permits it again.
    func setBan(_ channel: Int64, _ member: Int64, isBanned: Bool, now: Timestamp) throws {
        if isBanned {
            try connection.execute(
                "INSERT INTO ban(channel_id, member_id, banned_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", channel,
                member, now.milliseconds)
        } else {
            try connection.execute("DELETE FROM ban WHERE channel_id = ? AND member_id = ?", channel, member)
        }
    }

    /// When a member wrote last.
    func lastPost(_ channel: Int64, _ member: Int64) throws -> Timestamp? {
        try connection.first(
            "SELECT sent_ms FROM last_post WHERE channel_id = ? AND member_id = ?", channel, member
        ) { Timestamp(milliseconds: $0.int64(0)) }
    }

    /// A member writes.
    func setLastPost(_ channel: Int64, _ member: Int64, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO last_post(channel_id, member_id, sent_ms) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET sent_ms = ?3
            """, channel, member, now.milliseconds)
    }
}
