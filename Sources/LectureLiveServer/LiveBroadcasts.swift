import LectureFormats
import LectureLive
import LectureModel

/// Rooms, stream keys and feeds. Part of ``LiveService``, on its actor. Their states are those of ``RoomMachine``;
/// every change is stored with the message that reports it.
final class LiveBroadcasts {
    /// A feed that arrives.
    struct Feed: Hashable {
        /// nginx's number of the broadcaster's connection.
        let client: String
        /// The name under which it is repeated.
        let name: String
        var isPlayable = false
        /// Whether nginx has closed its files already: hooks of the two applications come in any order.
        var isFinished = false
    }

    /// A key that is no longer valid.
    struct Ended {
        let key: StoredKey
        /// What arrived under it, if anything: its broadcaster is to be dropped.
        let feed: Feed?
    }

    let store: LiveStore
    let channels: LiveChannels
    let archives: LiveArchives
    let options: LiveOptions
    /// By member.
    private(set) var feeds: [Int64: Feed] = [:]
    /// Names of feeds that are over, of which nginx still writes the last fragment.
    private(set) var unfinished: Set<String> = []

    init(_ store: LiveStore, _ channels: LiveChannels, _ archives: LiveArchives, _ options: LiveOptions) {
        (self.store, self.channels, self.archives, self.options) = (store, channels, archives, options)
    }

    private var now: Timestamp { options.now() }

    // MARK: Changes

    /// Runs an event of a member's machine in a transaction.
    ///
    /// - Parameters:
    ///   - event: what happens.
    ///   - member: whose key it is.
    ///   - roomID: the room that is meant; nil for the open one, if there is one.
    ///   - extra: what belongs to the same transaction; it gets the room, which may be changed.
    /// - Throws: ``LiveRefusal``, errors of the store, and what `extra` throws.
    private func take(
        _ event: RoomMachine.Event, of member: Int64, room roomID: Int64? = nil,
        _ extra: (inout StoredRoom?) throws -> Void = { _ in }
    ) throws {
        let now = now
        try channels.commit { batch in
            var (machine, room) = try store.machine(of: member)
            if let roomID, room?.id != roomID {
                // Another room of the member: it is over.
                guard let other = try store.room(roomID), other.ownerID == member else { throw LiveRefusal.noRoom }
                throw LiveRefusal(event == .end ? .notInactive : .notScheduled)
            }
            do throws(RoomMachine.Refusal) { try machine.take(event) } catch { throw LiveRefusal(error) }
            try store.setKey(machine.key, of: member)
            try extra(&room)
            guard var room, let state = machine.room else { return }
            if state == .live, room.liveStartedAt == nil {
                room.liveStartedAt = now
                try store.archives.setStart(of: room.id, session: room.lastSession)
            }
            if state == .ended { room.liveEndedAt = now }
            if state == .cancelled { room.cancelledAt = now }
            room.state = state
            try store.update(room, now: now)
            if state == .ended { try archives.end(room, isTerminated: event == .terminate) }
            var message = StoredMessage(channelID: room.id, sentAt: now, origin: .system)
            message.customType = LiveMessage.Word.change
            (message.roomState, message.keyState) = (state, machine.key)
            if state == .live { message.session = room.lastSession }
            try batch.append(message)
        }
    }

    // MARK: Rooms

    /// The key of a member.
    func streamKey(of member: LiveMember) throws -> (key: StoredKey, room: StoredRoom?) {
        try store.transaction { (try store.streamKey(of: member.id, now: now), try store.openRoom(of: member.id)) }
    }

    /// Makes a room. A feed that is there already belongs to it.
    func create(_ member: LiveMember, title: String, description: String, scheduledAt: Timestamp?) throws -> StoredRoom
    {
        let now = now
        return try store.transaction {
            guard try store.openRoom(of: member.id) == nil else { throw LiveRefusal.openRoom }
            _ = try store.streamKey(of: member.id, now: now)
            let id = try store.createRoom(
                member.id, title: title, description: description, scheduledAt: scheduledAt, now: now)
            if let session = try store.openSession(of: member.id), var room = try store.room(id) {
                try store.adopt(session, by: &room)
                try store.update(room, now: now)
            }
            guard let room = try store.room(id) else { throw LiveRefusal.fault }
            return room
        }
    }

    /// Renames a room.
    func rename(_ id: Int64, of member: LiveMember, title: String?, description: String?) throws -> StoredRoom {
        var room = try own(id, member)
        if let title { room.title = title }
        if let description { room.description = description }
        try store.update(room, now: now)
        return try own(id, member)
    }

    /// Deletes a room: one that is scheduled is cancelled first, one on the air must be ended first.
    func delete(_ id: Int64, of member: LiveMember) throws {
        let room = try own(id, member)
        if room.state == .scheduled { try take(.cancel, of: member.id, room: id) }
        guard room.state == .scheduled || room.state.isFinal else { throw LiveRefusal(.notScheduled) }
        try store.deleteRoom(id)
        try archives.roomsChanged()
    }

    /// Starts a room.
    func start(_ id: Int64, of member: LiveMember) throws -> StoredRoom {
        _ = try own(id, member)
        guard try store.existingKey(of: member.id) != nil else { throw LiveRefusal.noKey }
        try take(.start, of: member.id, room: id)
        return try own(id, member)
    }

    /// Ends a room.
    func end(_ id: Int64, of member: LiveMember) throws -> StoredRoom {
        _ = try own(id, member)
        guard try store.existingKey(of: member.id) != nil else { throw LiveRefusal.noKey }
        try take(.end, of: member.id, room: id)
        try archives.advance()
        return try own(id, member)
    }

    /// A room of a member.
    func own(_ id: Int64, _ member: LiveMember) throws -> StoredRoom {
        guard let room = try store.room(id), room.ownerID == member.id else { throw LiveRefusal.noRoom }
        return room
    }

    /// Ends whatever a member broadcasts, and gives it another key.
    ///
    /// - Returns: the former key; nil when there was none.
    func terminate(_ member: LiveMember) throws -> Ended? {
        guard let key = try store.existingKey(of: member.id) else { return nil }
        let now = now
        try take(.terminate, of: member.id) { _ in
            try store.endSession(of: member.id, now: now)
            try store.issueKey(of: member.id, now: now)
        }
        let feed = forget(member.id)
        try archives.roomsChanged()
        return Ended(key: key, feed: feed)
    }

    /// Deletes a member with all that it has.
    ///
    /// - Returns: as ``terminate(_:)``.
    func delete(_ member: LiveMember) throws -> Ended? {
        let ended = try terminate(member)
        try channels.dismiss(member)
        try store.delete(member.id)
        try archives.roomsChanged()
        return ended
    }

    // MARK: Feeds

    /// A broadcaster is admitted. There must be no feed of the member: see ``feeds``.
    ///
    /// - Parameters:
    ///   - member: whose key it has.
    ///   - client: nginx's number of its connection.
    /// - Returns: the name under which the feed is to be repeated.
    /// - Throws: ``LiveRefusal``, and errors of the store.
    func begin(_ member: Int64, client: String) throws -> String {
        let name = try LiveStore.secret()
        let now = now
        try take(.publishBegan, of: member) { room in
            try store.beginSession(member, &room, name: name, now: now)
        }
        feeds[member] = Feed(client: client, name: name)
        return name
    }

    /// Whether a feed is expected to be repeated under a name.
    func isExpected(_ name: String) -> Bool { feeds.values.contains { $0.name == name } }

    /// The feeds that cannot be watched yet: member and name.
    var preparing: [(member: Int64, name: String)] {
        feeds.filter { !$0.value.isPlayable }.map { ($0.key, $0.value.name) }
    }

    /// The first fragments of a feed are there.
    func playable(_ member: Int64, name: String) throws {
        guard let feed = feeds[member], feed.name == name, !feed.isPlayable,
            let session = try store.openSession(of: member)
        else { return }
        let now = now
        try take(.playable, of: member) { _ in try store.setPlayable(session, now: now) }
        feeds[member]?.isPlayable = true
    }

    /// A broadcaster is gone.
    ///
    /// - Parameter client: nginx's number of its connection; of another one than the present, nothing happens.
    /// - Throws: errors of the store.
    func lost(client: String) throws {
        guard let member = feeds.first(where: { $0.value.client == client })?.key else { return }
        try lost(member: member)
    }

    /// The feed of a member is gone.
    func lost(member: Int64) throws {
        let now = now
        try take(.publishEnded, of: member) { _ in try store.endSession(of: member, now: now) }
        forget(member)
    }

    @discardableResult
    private func forget(_ member: Int64) -> Feed? {
        guard let feed = feeds.removeValue(forKey: member) else { return nil }
        archives.isOver(feed.name)
        if feed.isPlayable, !feed.isFinished { unfinished.insert(feed.name) }
        return feed
    }

    /// nginx has closed the files of a feed.
    func finished(_ name: String) {
        unfinished.remove(name)
        if let member = feeds.first(where: { $0.value.name == name })?.key { feeds[member]?.isFinished = true }
    }

    /// The media server is gone, and with it all feeds; or this process was, and closes what it had open.
    func recover() throws {
        for session in try store.openSessions() { try lost(member: session.memberID) }
        (feeds, unfinished) = ([:], [])
    }
}
