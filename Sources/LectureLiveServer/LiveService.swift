import Dispatch
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// The server's state, and what its requests do. One request at a time is at it.
actor LiveService: HTTPHandler {
    let options: LiveOptions
    let store: LiveStore
    let channels: LiveChannels
    let broadcasts: LiveBroadcasts
    let playback: LivePlayback
    let archives: LiveArchives
    let lectures: LiveLectures
    let relays: LiveRelays
    /// What is before the stream key in the address of a feed.
    let ingestURL: String
    /// What is in the path of hooks.
    let hookSecret: String
    private var nginx: NginxServer?
    private var watch: Ticker?
    private var upkeep: Ticker?
    private var drops = NginxDrops()
    private var dropping: Ticker?

    /// Opens the store, and closes what a former process left open.
    ///
    /// - Parameters:
    ///   - options: the options.
    ///   - base: what is before the paths of this server in links.
    ///   - ingestURL: what is before the stream key in the address of a feed.
    ///   - hookSecret: what is in the path of hooks.
    /// - Throws: what opening the store throws.
    init(_ options: LiveOptions, base: String, ingestURL: String, hookSecret: String) throws {
        (self.options, self.ingestURL, self.hookSecret) = (options, ingestURL, hookSecret)
        store = try LiveStore(path: "\(options.stateDirectory)/live.sqlite", now: options.now())
        let keys = try LiveKeys(options)
        let reports = Guarded<(@Sendable (Int64, ArchiveJoiner.Outcome) -> Void)?>(nil)
        archives = LiveArchives(store, options, keys) { room, outcome in
            reports.withLock(\.self)?(room, outcome)
        }
        lectures = LiveLectures(store, options, keys, archives, base: base)
        let links = PlaybackLinks(key: store.linkKey, base: base, lifetime: options.linkLifetime)
        channels = LiveChannels(store, options, links)
        let host = Self.rtmpHost(options)
        relays = LiveRelays(store, options, links, base: "rtmp://\(host):\(options.rtmpPort ?? 0)/egress")
        broadcasts = LiveBroadcasts(store, channels, archives, options)
        playback = LivePlayback(broadcasts, links, options, directory: "\(options.stateDirectory)/hls")
        try broadcasts.recover()
        reports.withLock { report in
            report = { [weak self] room, outcome in Task { await self?.joined(room, outcome) } }
        }
    }

    /// Begins what happens by itself.
    func begin(_ nginx: NginxServer?) {
        self.nginx = nginx
        logged("recover_archives") { try archives.recover() }
        upkeep = Ticker(milliseconds: 10_000) { [weak self] in await self?.tidy() }
        tidy()
    }

    /// Ends that, and all feeds.
    func end() async {
        (watch, upkeep, dropping) = (nil, nil, nil)
        await nginx?.stop()
        nginx = nil
        await archives.close().stop()
        logged("close_feeds") { try broadcasts.recover() }
    }

    private func tidy() {
        channels.tidy()
        logged("tidy_fragments") { try playback.tidy() }
        logged("tidy_archives") { try archives.tidy() }
    }

    /// Does what no request waits for.
    private func logged(_ event: String, _ body: () throws -> Void) {
        do { try body() } catch { options.log.failure(event, error) }
    }

    private func joined(_ room: Int64, _ outcome: ArchiveJoiner.Outcome) {
        logged("keep_archive") { try archives.finished(room, outcome) }
    }

    /// nginx has died: all feeds are lost.
    func mediaServerDied() {
        (watch, dropping) = (nil, nil)
        relays.clear()
        drops.clear()
        logged("close_feeds") {
            try broadcasts.recover()
            try archives.allClosed()
        }
    }

    /// How many event streams are open.
    var readerCount: Int { channels.readerCount }

    /// How many players nginx serves over RTMP.
    var playerCount: Int { relays.relays.count }

    /// How many connections nginx has not dropped yet.
    var droppingCount: Int { drops.waiting.count }

    // MARK: Requests

    /// Answers a request later, on this actor.
    nonisolated func handle(_ exchange: HTTPExchange) { Task { await respond(exchange) } }

    private func respond(_ exchange: HTTPExchange) async {
        do {
            if let answer = try await answer(exchange) { exchange.answer(answer) }
        } catch let refusal as LiveRefusal {
            exchange.answer(refusal.answer)
        } catch {
            options.log.failure("request_failed", error)
            exchange.answer(LiveRefusal.fault.answer)
        }
    }

    /// - Returns: nil for an answer that stays open.
    private func answer(_ exchange: HTTPExchange) async throws -> HTTPAnswer? {
        let head = exchange.head
        guard let path = head.segments else { throw LiveRefusal.noPath }
        switch path.first {
        case "live": return try playback.answer(path.dropFirst(), head)
        case "lectures": return try lectures.answer(path.dropFirst(), head, exchange.body)
        case "hooks": return try await hook(path.dropFirst(), exchange)
        default: break
        }
        guard path.count > 3, path[0] == "v2" else { throw LiveRefusal.noPath }
        if path[1] == "apps", path[2] == "me" {
            try requireApplication(head)
            return try await application(Array(path[3...]), exchange)
        }
        guard path[1] == "members", path[2] == "me" else { throw LiveRefusal.noPath }
        let member = try member(of: head)
        let rest = Array(path[3...])
        if rest == ["event-sources"] {
            guard head.method == "GET" else { throw LiveRefusal.method }
            try openEvents(member, exchange)
            return nil
        }
        let answer = try MemberRoutes(self).answer(rest, member, head, exchange.body)
        if rest.contains("bans") { await dropUnwantedPlayers() }
        return answer
    }

    private func openEvents(_ member: LiveMember, _ exchange: HTTPExchange) throws {
        try channels.open(
            member, lastEventID: exchange.head.value("last-event-id"), on: exchange,
            drained: { [weak self] id in Task { await self?.drained(id) } },
            ended: { [weak self] id in Task { await self?.ended(id) } })
    }

    private func drained(_ id: UInt64) { logged("send_events") { try channels.drained(id) } }

    private func ended(_ id: UInt64) { channels.ended(id) }

    // MARK: Who asks

    private func requireApplication(_ head: HTTPRequestHead) throws {
        guard let field = head.value("authorization") else { throw LiveRefusal.noCredentials }
        guard field.lowercased().hasPrefix("basic "), let bytes = Base64.bytes(FieldText.trimmed(field.dropFirst(6)))
        else { throw LiveRefusal.credentials }
        // Digests have one length, so that not even the length of the secret shows.
        let sent = try store.digest(String(decoding: bytes, as: UTF8.self))
        let known = try store.digest(options.credentials.text)
        guard OpenSSLDigests.equal(sent, known) else { throw LiveRefusal.credentials }
    }

    private func member(of head: HTTPRequestHead) throws -> LiveMember {
        guard let field = head.value("authorization"), field.lowercased().hasPrefix("bearer "),
            let member = try store.member(
                token: String(FieldText.trimmed(field.dropFirst(7))), .access, now: options.now())
        else { throw LiveRefusal.token }
        return member
    }

    // MARK: The application's server

    private func application(_ path: [String], _ exchange: HTTPExchange) async throws -> HTTPAnswer {
        let method = exchange.head.method
        if path == ["members", "login"] {
            guard method == "POST" else { throw LiveRefusal.method }
            return try logIn(exchange.body)
        }
        if path.count == 2, path[0] == "members" {
            guard method == "DELETE" else { throw LiveRefusal.method }
            let members = try path[1].split(separator: ",").map { id in
                guard let member = try store.member(userID: String(id)) else { throw LiveRefusal.noMember }
                return member
            }
            guard !members.isEmpty else { throw LiveRefusal.noMember }
            for member in members {
                if let ended = try broadcasts.delete(member) { await drop(ended) }
            }
            await dropUnwantedPlayers()
            return HTTPAnswer(204)
        }
        if path.count == 4, path[0] == "members", Array(path[2...]) == ["stream-key", "force-terminate"] {
            guard method == "POST" else { throw LiveRefusal.method }
            guard let member = try store.member(userID: path[1]) else { throw LiveRefusal.noMember }
            guard let ended = try broadcasts.terminate(member) else { throw LiveRefusal.noKey }
            await drop(ended)
            return HTTPAnswer(204)
        }
        if path.count == 3, path[0] == "video-rooms", path[2] == "archive" {
            guard method == "POST" else { throw LiveRefusal.method }
            return try archiveAgain(path[1])
        }
        throw LiveRefusal.noPath
    }

    private func archiveAgain(_ id: String) throws -> HTTPAnswer {
        guard let id = MemberRoutes.number(id), let room = try store.room(id) else { throw LiveRefusal.noRoom }
        try archives.retry(room)
        return .json(202) { json in
            json.member("id", id)
            json.member("vodState", ArchiveState.archiving.rawValue)
        }
    }

    private func logIn(_ body: [UInt8]) throws -> HTTPAnswer {
        let object = try RequestBody(body)
        let userID = try object.text("appUserId") ?? ""
        guard !userID.isEmpty else { throw LiveRefusal.emptyUser }
        let isPlain = userID.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-@".utf8.contains(byte)
        }
        guard isPlain, userID.utf8.count <= 50, userID != ".", userID != ".." else { throw LiveRefusal.userFormat }
        var profile = LiveStore.Profile()
        profile.userID = userID
        profile.userName = try object.text("appUserName") ?? userID
        profile.profileURL = try object.text("appUserProfileImgUrl") ?? ""
        profile.email = try object.text("email") ?? ""
        profile.customType = try object.text("customType") ?? ""
        let custom = object.value["customData"] ?? .object([])
        guard let members = custom.members, members.count <= 10, profile.customType.count <= 50,
            members.allSatisfy({ $0.name.count <= 50 && ($0.value.string?.count ?? 51) <= 50 }),
            profile.userName.utf8.count <= 200, profile.profileURL.utf8.count <= 2000, profile.email.utf8.count <= 320
        else { throw LiveRefusal.customLimit }
        profile.customData = custom.text
        let login = try store.logIn(profile, now: options.now(), lifetime: options.tokenLifetime)
        return .json(200) { json in
            json.member("accessToken", login.access)
            json.member("accessTokenExpiresAt", MomentText.utc(options.now() + options.tokenLifetime))
            json.member("streamingToken", login.streaming)
            json.object("member") { member in
                member.member("id", login.member.id)
                member.member("appUserId", login.member.userID)
                member.member("appUserName", login.member.userName)
            }
        }
    }

    // MARK: Hooks of nginx

    private func hook(_ path: ArraySlice<String>, _ exchange: HTTPExchange) async throws -> HTTPAnswer {
        let words = Array(path)
        guard words.count == 2, exchange.head.method == "POST",
            exchange.peer?.isLoopback ?? false
                || exchange.peer?.address == HTTPPeer.address(options.address),
            OpenSSLDigests.equal(Array(words[0].utf8), Array(hookSecret.utf8))
        else { throw LiveRefusal.noPath }
        let form = FormFields(exchange.body)
        let (name, client) = (form["name"] ?? "", form["clientid"] ?? "")
        switch words[1] {
        case "publish": return try await publish(name, client: client)
        case "publish-done":
            drops.ended(client: client)
            try broadcasts.lost(client: client)
        case "egress": return HTTPAnswer(broadcasts.isExpected(name) ? 200 : 403)
        case "files-done": broadcasts.finished(name)
        case "recorded": try archives.closed(name)
        case "play": return HTTPAnswer(try relays.admit(form) ? 200 : 403)
        case "play-done":
            drops.ended(client: client)
            relays.ended(client: client)
        default: throw LiveRefusal.noPath
        }
        return HTTPAnswer(200)
    }

    /// A broadcaster connects. One that still has the key, for instance because its link broke without an end, is
    /// dropped from here, so that the first attempt to reconnect succeeds.
    private func publish(_ name: String, client: String) async throws -> HTTPAnswer {
        guard let key = try store.find(key: name) else { return HTTPAnswer(403) }
        var patience = 3
        while let feed = broadcasts.feeds[key.memberID] {
            guard patience > 0 else { return HTTPAnswer(403) }
            patience -= 1
            _ = await nginx?.drop(.publisher(key: key.key, client: feed.client))
            // Its hook may have come meanwhile.
            if broadcasts.feeds[key.memberID] != nil { try broadcasts.lost(member: key.memberID) }
        }
        // The key may have been replaced meanwhile.
        guard try store.find(key: name) != nil else { return HTTPAnswer(403) }
        let repeated = try broadcasts.begin(key.memberID, client: client)
        // nginx opens its files as soon as it has this answer.
        try archives.began(repeated)
        watchFeeds()
        return HTTPAnswer(302, [("Location", "\(filesURL)/\(repeated)")])
    }

    /// Drops the players whose right has ended.
    private func dropUnwantedPlayers() async {
        do {
            for relay in try relays.takeUnwanted() { drops.add(.player(name: relay.name, client: relay.client)) }
        } catch { options.log.failure("drop_players", error) }
        await orderDrops()
    }

    /// Drops the broadcaster of a key that is no longer valid, if there is one.
    private func drop(_ ended: LiveBroadcasts.Ended) async {
        guard let feed = ended.feed else { return }
        drops.add(.publisher(key: ended.key.key, client: feed.client))
        await orderDrops()
    }

    private func orderDrops() async {
        for connection in drops.waiting {
            guard let nginx else { return }
            drops.ordered(connection, wasFound: await nginx.drop(connection))
        }
        if drops.waiting.isEmpty {
            dropping = nil
        } else if dropping == nil, nginx != nil {
            dropping = Ticker(milliseconds: 100) { [weak self] in await self?.orderDrops() }
        }
    }

    /// Where others reach nginx: at the host of the public URL, if there is one.
    static func rtmpHost(_ options: LiveOptions) -> String {
        let authority = options.publicURL.flatMap { try? URLParts(parsing: $0) }?.authority ?? ""
        let host = authority.split(separator: "@").last?.prefix { $0 != ":" } ?? ""
        return host.isEmpty ? options.localAddress : String(host)
    }

    /// The application of nginx that makes files; its name is a secret, as that of the hooks.
    static func filesApplication(_ hookSecret: String) -> String { "files-\(hookSecret)" }

    /// Where nginx sends feeds on to: itself.
    private var filesURL: String {
        "rtmp://\(options.localAddress):\(options.rtmpPort ?? 0)/\(Self.filesApplication(hookSecret))"
    }

    /// Looks for the first fragments, as long as there is a feed without.
    private func watchFeeds() {
        guard watch == nil else { return }
        watch = Ticker(milliseconds: 100) { [weak self] in await self?.lookForFragments() }
    }

    private func lookForFragments() {
        for (member, name) in broadcasts.preparing where playback.isPlayable(name) {
            logged("begin_session") { try broadcasts.playable(member, name: name) }
        }
        if broadcasts.preparing.isEmpty { watch = nil }
    }
}

/// Calls a function again and again, until it is released; never while the last call is under way.
final class Ticker: Sendable {
    private let timer: Guarded<any DispatchSourceTimer>

    /// Starts.
    ///
    /// - Parameters:
    ///   - milliseconds: between two calls.
    ///   - call: the function.
    init(milliseconds: Int, _ call: @escaping @Sendable () async -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecture.live.ticker"))
        timer.schedule(deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        let isBusy = Guarded(false)
        timer.setEventHandler {
            let isFree = isBusy.withLock { busy in
                defer { busy = true }
                return !busy
            }
            guard isFree else { return }
            Task {
                await call()
                isBusy.withLock { $0 = false }
            }
        }
        timer.activate()
        self.timer = Guarded(timer)
    }

    deinit { timer.withLock { $0.cancel() } }
}
