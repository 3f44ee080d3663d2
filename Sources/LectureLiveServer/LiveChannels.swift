import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// A reader of events: a member's event stream.
final class LiveReader {
    let id: UInt64
    let member: LiveMember
    let stream: HTTPEventStream
    /// For each channel, the last message that was sent.
    var cursors: [Int64: Int64] = [:]
    /// Whether messages of the store come before new ones.
    var isBehind = true

    init(id: UInt64, _ member: LiveMember, _ stream: HTTPEventStream) {
        (self.id, self.member, self.stream) = (id, member, stream)
    }

    /// What `Last-Event-ID` says then: `CHANNEL-MESSAGE` for each channel, with commas.
    var position: String {
        cursors.sorted { $0.key < $1.key }.map { "\($0.key)-\($0.value)" }.joined(separator: ",")
    }
}

/// Channels: messages, who is in them, and the event streams that deliver them. Part of ``LiveService``, on its actor.
///
/// ```
/// reader   behind ──the store has no more──▶ level ──a message──▶ level, sent at once
///            │ a page is sent                  │ it does not read, and its buffer is full
///            ▼                                 ▼
///          waits until it was read           ended; it comes again with `Last-Event-ID`
/// ```
final class LiveChannels {
    /// How many event streams a member may have; the oldest one makes room.
    private static let mostReaders = 4
    /// How many bytes of the store are sent before the reader has read them.
    private static let pageBytes = 64 << 10

    let store: LiveStore
    let options: LiveOptions
    let links: PlaybackLinks
    private var readers: [UInt64: LiveReader] = [:]
    private var lastReader: UInt64 = 0
    private var buckets: [Int64: RateBucket] = [:]

    init(_ store: LiveStore, _ options: LiveOptions, _ links: PlaybackLinks) {
        (self.store, self.options, self.links) = (store, options, links)
    }

    private var now: Timestamp { options.now() }

    // MARK: Messages

    /// Messages of one transaction.
    final class Batch {
        private let store: LiveStore
        fileprivate var messages: [StoredMessage] = []

        fileprivate init(_ store: LiveStore) { self.store = store }

        /// Adds a message; it is sent when the transaction is stored.
        @discardableResult
        func append(_ message: StoredMessage) throws -> StoredMessage {
            messages.append(try store.append(message))
            return messages[messages.count - 1]
        }
    }

    /// Runs a transaction, and sends its messages once they are on the disk.
    func commit<Result>(_ body: (Batch) throws -> Result) throws -> Result {
        let batch = Batch(store)
        let result = try store.transaction { try body(batch) }
        for message in batch.messages { try deliver(message) }
        return result
    }

    private func deliver(_ message: StoredMessage) throws {
        var plain: [UInt8]?
        for reader in readers.values where !reader.isBehind {
            // One that is not the next is fetched from the store.
            guard let last = reader.cursors[message.channelID], message.number == last + 1 else { continue }
            let json = try plain ?? json(message, for: reader.member)
            if message.roomState == nil { plain = json }
            send(message, json, to: reader)
        }
    }

    private func send(_ message: StoredMessage, _ json: [UInt8], to reader: LiveReader) {
        reader.cursors[message.channelID] = message.number
        if !reader.stream.send(Array("id: \(reader.position)\ndata: ".utf8) + json + [0x0A, 0x0A]) {
            readers[reader.id] = nil
        }
    }

    /// A message as a member gets it.
    func json(_ message: StoredMessage, for member: LiveMember) throws -> [UInt8] {
        var (url, isOwner) = (String?.none, false)
        if message.roomState != nil, let room = try store.room(message.channelID) {
            isOwner = room.ownerID == member.id
            if let session = message.session { url = try playURL(room, session: session, for: member) }
        }
        var writer = JSONWriter(reserving: 400)
        writer.object { message.message(playURL: url, isOwner: isOwner).write(&$0) }
        return writer.bytes
    }

    /// Where a member can watch a session of a room; nil where nothing can be watched.
    func playURL(_ room: StoredRoom, session: Int, for member: LiveMember) throws -> String? {
        guard let playable = try store.session(session, of: room.id)?.playableAt else { return nil }
        return try links.url(room: room.id, session: session, member: member.id, playableAt: playable, now: now)
    }

    /// Where a member finds all that was made since a room began; nil before that.
    func eventURL(_ room: StoredRoom, for member: LiveMember) throws -> String? {
        guard let started = room.liveStartedAt else { return nil }
        return try links.url(room: room.id, session: 0, member: member.id, playableAt: started, now: now)
    }

    /// Messages of the history.
    func history(
        _ channel: Int64, of member: LiveMember, beyond number: Int64?, isAscending: Bool, limit: Int
    ) throws -> [StoredMessage] {
        guard let room = try store.room(channel) else { throw LiveRefusal.noChannel }
        guard try !store.isBanned(channel, member.id) else { throw LiveRefusal.banned }
        // Who was there may read it after the end as well.
        guard try room.ownerID == member.id || room.state.isFinal || store.isJoined(channel, member.id) else {
            throw LiveRefusal.notJoined
        }
        let start = number ?? (isAscending ? 0 : Int64.max)
        return try store.messages(channel, beyond: start, isAscending: isAscending, limit: limit)
    }

    /// Accepts a message of a member.
    func post(_ text: String, customType: String, by member: LiveMember, in channel: Int64) throws -> StoredMessage {
        guard let room = try store.room(channel) else { throw LiveRefusal.noChannel }
        guard try !store.isBanned(channel, member.id) else { throw LiveRefusal.banned }
        guard !room.state.isFinal else { throw LiveRefusal.channelClosed }
        guard try store.isJoined(channel, member.id) else { throw LiveRefusal.notJoined }
        if let refusal = options.chat.refusal(of: text) { throw refusal }
        let reserved = [
            LiveMessage.Word.joined, LiveMessage.Word.left, LiveMessage.Word.count, LiveMessage.Word.change,
            LiveMessage.Word.hidden, "LEFTED",
        ]
        guard customType.utf8.count <= options.chat.longestType, !reserved.contains(customType),
            customType.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { throw LiveRefusal.invalidMessage }
        let now = now
        if room.slowSeconds > 0, room.ownerID != member.id, let last = try store.lastPost(channel, member.id),
            now < last + .seconds(room.slowSeconds)
        {
            throw LiveRefusal.slow
        }
        var bucket = buckets[member.id] ?? RateBucket(options.chat, now: now)
        let isPermitted = bucket.take(options.chat, now: now)
        buckets[member.id] = bucket
        guard isPermitted else { throw LiveRefusal.tooMany }
        var message = StoredMessage(channelID: channel, sentAt: now, origin: .member)
        (message.userID, message.userName) = (member.userID, member.userName)
        (message.customType, message.text) = (customType, text)
        return try commit { batch in
            try store.setLastPost(channel, member.id, now: now)
            return try batch.append(message)
        }
    }

    // MARK: Members

    /// A member comes; again is the same as once.
    ///
    /// - Returns: whether the member was not there before.
    func join(_ channel: Int64, _ member: LiveMember) throws -> Bool {
        guard let room = try store.room(channel) else { throw LiveRefusal.noRoom }
        guard try !store.isBanned(channel, member.id) else { throw LiveRefusal.banned }
        guard !room.state.isFinal else { throw LiveRefusal.channelClosed }
        guard try !store.isJoined(channel, member.id) else { return false }
        let number = try commit { batch in
            let count = try store.participants(channel) + 1
            let message = try batch.append(presence(LiveMessage.Word.joined, channel, member, count))
            try store.join(channel, member.id, message: message.number)
            try batch.append(countMessage(channel, count))
            return message.number
        }
        // The member's own streams get the channel from its own message on.
        for reader in readers.values where reader.member.id == member.id {
            reader.cursors[channel] = number - 1
            if !reader.isBehind {
                reader.isBehind = true
                try pump(reader)
            }
        }
        return true
    }

    /// A member goes; again is the same as once.
    func leave(_ channel: Int64, _ member: LiveMember) throws {
        guard try store.room(channel) != nil else { throw LiveRefusal.noRoom }
        try commit { try leave(channel, member, $0) }
        for reader in readers.values where reader.member.id == member.id { reader.cursors[channel] = nil }
    }

    private func leave(_ channel: Int64, _ member: LiveMember, _ batch: Batch) throws {
        guard try store.leave(channel, member.id) else { return }
        let count = try store.participants(channel)
        try batch.append(presence(LiveMessage.Word.left, channel, member, count))
        try batch.append(countMessage(channel, count))
    }

    private func presence(
        _ word: String, _ channel: Int64, _ member: LiveMember, _ count: Int64
    ) -> StoredMessage {
        var message = StoredMessage(channelID: channel, sentAt: now, origin: .system)
        (message.userID, message.userName, message.customType) = (member.userID, member.userName, word)
        message.participants = count
        return message
    }

    private func countMessage(_ channel: Int64, _ count: Int64) -> StoredMessage {
        var message = StoredMessage(channelID: channel, sentAt: now, origin: .system)
        (message.customType, message.participants) = (LiveMessage.Word.count, count)
        return message
    }

    /// A member is deleted, or its tokens are: its streams end.
    func dismiss(_ member: LiveMember) throws {
        for channel in try store.channels(of: member.id) {
            try commit { try leave(channel.channel, member, $0) }
        }
        buckets[member.id] = nil
        for reader in readers.values where reader.member.id == member.id { end(reader) }
    }

    // MARK: Moderation

    private func ownRoom(_ channel: Int64, _ owner: LiveMember) throws -> StoredRoom {
        guard let room = try store.room(channel) else { throw LiveRefusal.noChannel }
        guard room.ownerID == owner.id else { throw LiveRefusal.notOwner }
        return room
    }

    /// Hides a message of a member; again is the same as once.
    func hide(_ number: Int64, in channel: Int64, by owner: LiveMember) throws {
        _ = try ownRoom(channel, owner)
        let found = try store.messages(channel, beyond: number - 1, limit: 1).first
        guard let found, found.number == number, found.origin == .member else { throw LiveRefusal.noMessage }
        let now = now
        try commit { batch in
            guard try store.hide(number, in: channel, now: now) else { return }
            var message = StoredMessage(channelID: channel, sentAt: now, origin: .system)
            (message.customType, message.hides) = (LiveMessage.Word.hidden, number)
            try batch.append(message)
        }
    }

    /// Bans a member from a channel, or permits it again.
    func setBan(_ userID: String, in channel: Int64, isBanned: Bool, by owner: LiveMember) throws {
        _ = try ownRoom(channel, owner)
        guard let member = try store.member(userID: userID) else { throw LiveRefusal.noMember }
        guard member.id != owner.id else { throw LiveRefusal.ownerStays }
        try commit { batch in
            try store.setBan(channel, member.id, isBanned: isBanned, now: now)
            if isBanned { try leave(channel, member, batch) }
        }
        guard isBanned else { return }
        for reader in readers.values where reader.member.id == member.id { reader.cursors[channel] = nil }
    }

    /// How many seconds are between two messages of a member; 0 for no slow mode.
    func setSlowMode(_ seconds: Int, in channel: Int64, by owner: LiveMember) throws {
        var room = try ownRoom(channel, owner)
        guard (0...3600).contains(seconds) else { throw LiveRefusal.parameter }
        room.slowSeconds = seconds
        try store.update(room, now: now)
    }

    // MARK: Event streams

    /// Opens an event stream of all channels of a member.
    ///
    /// - Parameters:
    ///   - member: whose.
    ///   - lastEventID: what the client has: a ``LiveReader/position``, or the number of a message for a member of one
    ///     channel; nil for new messages only.
    ///   - exchange: the request.
    ///   - drained: called with the reader's number when it has read everything.
    ///   - ended: called with it when the client is gone.
    /// - Throws: ``LiveRefusal``, and errors of the store.
    func open(
        _ member: LiveMember, lastEventID: String?, on exchange: HTTPExchange,
        drained: @escaping @Sendable (UInt64) -> Void, ended: @escaping @Sendable (UInt64) -> Void
    ) throws {
        let channels = try store.channels(of: member.id)
        guard !channels.isEmpty else { throw LiveRefusal.notJoined }
        var known: [Int64: Int64] = [:]
        if let lastEventID, !lastEventID.isEmpty {
            if let number = Int64(lastEventID), channels.count == 1 {
                known[channels[0].channel] = number
            } else {
                for word in lastEventID.split(separator: ",") {
                    let numbers = word.split(separator: "-").map { Int64($0) }
                    guard numbers.count == 2, let channel = numbers[0], let number = numbers[1], number >= 0 else {
                        throw LiveRefusal.parameter
                    }
                    known[channel] = number
                }
            }
        }
        let own = readers.values.filter { $0.member.id == member.id }.sorted { $0.id < $1.id }
        for reader in own.prefix(max(0, own.count + 1 - Self.mostReaders)) { end(reader) }
        lastReader += 1
        let id = lastReader
        let stream = HTTPEventStream(drained: { drained(id) }, ended: { ended(id) })
        let reader = LiveReader(id: id, member, stream)
        for (channel, joined, last) in channels {
            let start = known.isEmpty ? last : known[channel] ?? joined - 1
            reader.cursors[channel] = min(max(0, start), last)
        }
        readers[id] = reader
        stream.start(on: exchange)
        // A client that is cut before the first message knows where it was.
        stream.send(Array("retry: 1000\nid: \(reader.position)\n\n".utf8))
        try pump(reader)
    }

    /// A reader has read everything.
    func drained(_ id: UInt64) throws {
        if let reader = readers[id], reader.isBehind { try pump(reader) }
    }

    /// A reader is gone.
    func ended(_ id: UInt64) { readers[id] = nil }

    /// How many event streams are open.
    var readerCount: Int { readers.count }

    private func end(_ reader: LiveReader) {
        readers[reader.id] = nil
        reader.stream.end()
    }

    /// Sends a page of what a reader has missed.
    private func pump(_ reader: LiveReader) throws {
        guard reader.isBehind, reader.stream.waiting < Self.pageBytes else { return }
        var bytes = 0
        for channel in reader.cursors.keys.sorted() {
            while bytes < Self.pageBytes, let last = reader.cursors[channel] {
                let page = try store.messages(channel, beyond: last, limit: 20)
                for message in page {
                    let json = try json(message, for: reader.member)
                    bytes += json.count
                    send(message, json, to: reader)
                }
                if page.count < 20 { break }
            }
        }
        if bytes < Self.pageBytes { reader.isBehind = false }
    }

    /// Forgets what is no longer needed.
    func tidy() {
        let now = now
        buckets = buckets.filter { !$0.value.isFull(options.chat, now: now) }
    }
}
