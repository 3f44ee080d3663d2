import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// The member API: `/v2/members/me/…`. Lives for one request, on the actor of ``LiveService``.
struct MemberRoutes {
    private let options: LiveOptions
    private let ingestURL: String
    private let store: LiveStore
    private let channels: LiveChannels
    private let broadcasts: LiveBroadcasts
    private let lectures: LiveLectures
    private let relays: LiveRelays

    init(_ service: isolated LiveService) {
        (options, ingestURL, store) = (service.options, service.ingestURL, service.store)
        (channels, broadcasts, lectures) = (service.channels, service.broadcasts, service.lectures)
        relays = service.relays
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - path: after `/v2/members/me/`.
    ///   - member: who asks.
    ///   - head: the request.
    ///   - body: its body.
    /// - Returns: the answer.
    /// - Throws: ``LiveRefusal``, and errors of the store.
    func answer(_ path: [String], _ member: LiveMember, _ head: HTTPRequestHead, _ body: [UInt8]) throws -> HTTPAnswer {
        switch path.first {
        case "stream-key" where path.count == 1:
            guard head.method == "GET" else { throw LiveRefusal.method }
            return try streamKey(member)
        case "video-rooms": return try rooms(Array(path.dropFirst()), member, head, body)
        case "channels" where path.count > 2:
            guard let channel = Self.number(path[1]) else { throw LiveRefusal.noChannel }
            return try inChannel(channel, Array(path.dropFirst(2)), member, head, body)
        default: throw LiveRefusal.noPath
        }
    }

    static func number(_ text: String) -> Int64? {
        text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    // MARK: Stream keys and rooms

    private func streamKey(_ member: LiveMember) throws -> HTTPAnswer {
        let stored = try broadcasts.streamKey(of: member)
        var key = StreamKey(
            id: UInt64(stored.key.id), state: stored.key.state, ingestURL: ingestURL, key: stored.key.key)
        key.room = try stored.room.map { try videoRoom($0, for: member) }
        return .json(200) { key.write(&$0) }
    }

    private func rooms(
        _ path: [String], _ member: LiveMember, _ head: HTTPRequestHead, _ body: [UInt8]
    ) throws -> HTTPAnswer {
        guard let first = path.first else {
            switch head.method {
            case "GET": return try list(member, head)
            case "POST": return try create(member, body)
            default: throw LiveRefusal.method
            }
        }
        if first == "uuid", path.count == 2 {
            guard head.method == "GET" else { throw LiveRefusal.method }
            guard let room = try store.room(uuid: path[1]) else { throw LiveRefusal.noRoom }
            return try answer(room, member)
        }
        guard let id = Self.number(first) else { throw LiveRefusal.noRoom }
        switch (head.method, path.dropFirst().joined(separator: "/")) {
        case ("GET", ""):
            guard let room = try store.room(id) else { throw LiveRefusal.noRoom }
            return try answer(room, member)
        case ("PATCH", ""):
            let object = try RequestBody(body)
            let (title, description) = (try object.text("title"), try object.text("description"))
            try check(title, description)
            return try answer(broadcasts.rename(id, of: member, title: title, description: description), member)
        case ("DELETE", ""):
            try broadcasts.delete(id, of: member)
            return HTTPAnswer(204)
        case ("POST", "start"): return try answer(broadcasts.start(id, of: member), member)
        case ("POST", "end"): return try answer(broadcasts.end(id, of: member), member)
        case ("POST", "channel/join"):
            let isNew = try channels.join(id, member)
            return try channelAnswer(id, wasJoined: !isNew)
        case ("POST", "channel/leave"):
            try channels.leave(id, member)
            return try channelAnswer(id)
        case (_, ""), (_, "start"), (_, "end"), (_, "channel/join"), (_, "channel/leave"): throw LiveRefusal.method
        default: throw LiveRefusal.noPath
        }
    }

    private func check(_ title: String?, _ description: String?) throws {
        guard title.map({ $0.utf8.count <= 200 }) ?? true, description.map({ $0.utf8.count <= 2000 }) ?? true else {
            throw LiveRefusal.title
        }
    }

    private func create(_ member: LiveMember, _ body: [UInt8]) throws -> HTTPAnswer {
        let object = try RequestBody(body)
        guard try object.text("type") == VideoRoom.broadcast else { throw LiveRefusal.roomType }
        let (title, description) = (try object.text("title"), try object.text("description"))
        try check(title, description)
        var scheduled: Timestamp?
        if let text = try object.text("scheduledAt") {
            guard let moment = MomentText.moment(text) else { throw LiveRefusal.body }
            scheduled = moment
        }
        let room = try broadcasts.create(
            member, title: title ?? "", description: description ?? "", scheduledAt: scheduled)
        return try answer(room, member, 201)
    }

    private func list(_ member: LiveMember, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        func number(_ name: String, _ fallback: Int, _ range: ClosedRange<Int>) throws -> Int {
            guard let text = head.parameter(name) else { return fallback }
            guard let value = Int(text), range.contains(value) else { throw LiveRefusal.parameter }
            return value
        }
        let page = try number("page", 0, 0...1_000_000)
        let size = try number("pageSize", 20, 1...100)
        var state: VideoRoomState?
        if let text = head.parameter("videoRoomState") {
            guard let named = VideoRoomState(rawValue: text) else { throw LiveRefusal.parameter }
            state = named
        }
        if let type = head.parameter("type"), type != VideoRoom.broadcast { throw LiveRefusal.roomType }
        guard let order = LiveStore.RoomOrder(rawValue: head.parameter("sortBy") ?? "CREATED_AT_DESC") else {
            throw LiveRefusal.parameter
        }
        let (rooms, total) = try store.rooms(of: member.id, state, order: order, page: page, size: size)
        let described = try rooms.map { (try Described($0, store), try videoRoom($0, for: member)) }
        let pages = (total + size - 1) / size
        return .json(200) { json in
            json.array("content") { array in
                for (stored, room) in described { array.object { write(stored, room, member, &$0) } }
            }
            json.object("pageable") { pageable in
                pageable.member("pageNumber", page)
                pageable.member("pageSize", size)
                pageable.member("offset", page * size)
            }
            json.member("totalPages", pages)
            json.member("totalElements", total)
            json.member("number", page)
            json.member("size", size)
            json.member("numberOfElements", rooms.count)
            json.member("first", page == 0)
            json.member("last", page + 1 >= pages)
            json.member("empty", rooms.isEmpty)
        }
    }

    private func answer(_ room: StoredRoom, _ member: LiveMember, _ status: Int = 200) throws -> HTTPAnswer {
        let described = try videoRoom(room, for: member)
        let stored = try Described(room, store)
        return .json(status) { write(stored, described, member, &$0) }
    }

    private func videoRoom(_ stored: StoredRoom, for member: LiveMember) throws -> VideoRoom {
        var room = VideoRoom(
            id: UInt64(stored.id), state: stored.state, title: stored.title, channelID: UInt64(stored.id))
        room.session = stored.lastSession
        (room.liveStartedAt, room.liveEndedAt) = (stored.liveStartedAt, stored.liveEndedAt)
        if [.live, .inactive].contains(stored.state), try !store.isBanned(stored.id, member.id) {
            room.eventURL = try channels.eventURL(stored, for: member)
            if stored.state == .live, let session = try store.session(stored.lastSession, of: stored.id) {
                room.playURL = try channels.playURL(stored, session: stored.lastSession, for: member)
                room.rtmpPlayURL = try relays.url(session, of: stored, for: member)
            }
        }
        room.archiveState = stored.archive
        if stored.archive == .archived, let archive = try store.archives.archive(of: stored.id) {
            room.archiveURL = try lectures.url(stored, archive, for: member)
        }
        return room
    }

    /// A room with what its answer needs besides.
    private struct Described {
        let room: StoredRoom
        let archivedAt: Timestamp?

        init(_ room: StoredRoom, _ store: LiveStore) throws {
            self.room = room
            archivedAt = room.archive == .archived ? try store.archives.archive(of: room.id)?.archivedAt : nil
        }
    }

    private func write(_ described: Described, _ room: VideoRoom, _ member: LiveMember, _ json: inout JSONWriter) {
        let stored = described.room
        room.write(&json)
        if let time = described.archivedAt { json.member("vodArchivedAt", MomentText.utc(time)) }
        // What went wrong on this machine is for who can do something about it.
        if stored.ownerID == member.id, let reason = stored.archiveReason { json.member("vodReason", reason) }
        json.member("uuid", stored.uuid)
        json.member("protocol", "RTMP")
        json.member("format", "CMAF")
        json.member("description", stored.description)
        json.member("creatorType", "MEMBER")
        json.member("creatorId", stored.ownerID)
        for (name, time) in [
            ("scheduledAt", stored.scheduledAt), ("cancelledAt", stored.cancelledAt), ("createdAt", stored.createdAt),
            ("lastModifiedAt", stored.modifiedAt),
        ] {
            if let time { json.member(name, MomentText.utc(time)) }
        }
    }

    // MARK: Channels

    private func channelAnswer(_ id: Int64, wasJoined: Bool? = nil) throws -> HTTPAnswer {
        let (count, room) = (try store.participants(id), try store.room(id))
        return .json(200) { json in
            json.member("id", id)
            json.member("channelState", room?.state.isFinal ?? true ? "CLOSED" : "OPENED")
            json.member("participantCount", count)
            json.member("lastMessageId", room?.lastMessage ?? 0)
            if let wasJoined { json.member("wasJoined", wasJoined) }
        }
    }

    private func inChannel(
        _ channel: Int64, _ path: [String], _ member: LiveMember, _ head: HTTPRequestHead, _ body: [UInt8]
    ) throws -> HTTPAnswer {
        switch (path[0], path.count) {
        case ("messages", 1) where head.method == "GET": return try history(channel, member, head)
        case ("messages", 1) where head.method == "POST": return try post(channel, member, body)
        case ("messages", 3) where path[2] == "hide" && head.method == "POST":
            guard let number = Self.number(path[1]) else { throw LiveRefusal.noMessage }
            try channels.hide(number, in: channel, by: member)
        case ("bans", 1) where head.method == "POST":
            guard let user = try RequestBody(body).text("appUserId") else { throw LiveRefusal.emptyUser }
            try channels.setBan(user, in: channel, isBanned: true, by: member)
        case ("bans", 2) where head.method == "DELETE":
            try channels.setBan(path[1], in: channel, isBanned: false, by: member)
        case ("slow-mode", 1) where head.method == "PUT":
            guard let seconds = try RequestBody(body).value["seconds"]?.integer else { throw LiveRefusal.body }
            try channels.setSlowMode(Int(clamping: seconds), in: channel, by: member)
        case ("messages", 1), ("messages", 3), ("bans", 1), ("bans", 2), ("slow-mode", 1): throw LiveRefusal.method
        default: throw LiveRefusal.noPath
        }
        return HTTPAnswer(204)
    }

    private func history(_ channel: Int64, _ member: LiveMember, _ head: HTTPRequestHead) throws -> HTTPAnswer {
        var number: Int64?
        if let text = head.parameter("channelMessageId"), !text.isEmpty {
            guard let value = Self.number(text) else { throw LiveRefusal.parameter }
            number = value
        }
        // The interface of the vendor's client has the first word of each pair, the documents of rooms the second.
        let isAscending: Bool
        switch head.parameter("sortBy") ?? "GREATER_THAN" {
        case "GREATER_THAN", "CREATED_AT_ASC": isAscending = true
        case "LESS_THAN", "CREATED_AT_DESC": isAscending = false
        default: throw LiveRefusal.parameter
        }
        let limit = head.parameter("limit").map { Int($0) ?? 0 } ?? 100
        guard (1...100).contains(limit) else { throw LiveRefusal.parameter }
        let messages = try channels.history(
            channel, of: member, beyond: number, isAscending: isAscending, limit: limit)
        var bytes = Array("{\"content\":[".utf8)
        for (place, message) in messages.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += try channels.json(message, for: member)
        }
        bytes += Array("],\"last\":\(messages.count < limit)}".utf8)
        return HTTPAnswer(200, [("Content-Type", "application/json")], body: .bytes(bytes))
    }

    private func post(_ channel: Int64, _ member: LiveMember, _ body: [UInt8]) throws -> HTTPAnswer {
        let object = try RequestBody(body)
        guard let text = try object.text("message") else { throw LiveRefusal.body }
        let message = try channels.post(
            text, customType: object.text("customType") ?? "", by: member, in: channel)
        return HTTPAnswer(
            201, [("Content-Type", "application/json")], body: .bytes(try channels.json(message, for: member)))
    }
}
