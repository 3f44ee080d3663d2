import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel

/// Who plays sessions over RTMP: admitted by signed addresses, and dropped with their rights. Part of ``LiveService``,
/// on its actor.
///
/// An address is `rtmp://HOST:PORT/egress/NAME?room=…&session=…&member=…&expiry=…&signature=…`, with the claim of a
/// playback link under a signature of its own. nginx passes its query to the hook.
final class LiveRelays {
    /// A player that nginx serves.
    struct Relay: Hashable {
        /// nginx's number of the connection.
        let client: String
        /// The name of the session.
        let name: String
        let room: Int64
        let member: Int64
    }

    private let store: LiveStore
    private let options: LiveOptions
    private let links: PlaybackLinks
    /// What is before the names of sessions.
    private let base: String
    /// By nginx's number of the connection.
    private(set) var relays: [String: Relay] = [:]

    init(_ store: LiveStore, _ options: LiveOptions, _ links: PlaybackLinks, base: String) {
        (self.store, self.options, self.links, self.base) = (store, options, links, base)
    }

    /// Where a member plays a session over RTMP.
    ///
    /// - Parameters:
    ///   - session: a session that can be watched.
    ///   - room: its room.
    ///   - member: who it is for.
    /// - Returns: the address; nil where nothing can be played.
    /// - Throws: `LectureError` with `cryptography`.
    func url(_ session: StoredSession, of room: StoredRoom, for member: LiveMember) throws -> String? {
        guard options.rtmpPort != nil, let number = session.number, let playable = session.playableAt,
            session.endedAt == nil
        else { return nil }
        let expiry = links.expiry(from: playable, now: options.now())
        let claim = PlaybackLinks.Claim(room: room.id, session: number, member: member.id, expiry: expiry)
        let query = "room=\(claim.room)&session=\(claim.session)&member=\(claim.member)&expiry=\(claim.expiry)"
        return "\(base)/\(session.name)?\(query)&signature=\(try links.signature(claim, .rtmp))"
    }

    /// A player wants a session.
    ///
    /// - Parameter form: the hook's, with the query of the address.
    /// - Returns: whether it is admitted.
    /// - Throws: errors of the store.
    func admit(_ form: FormFields) throws -> Bool {
        let words = ["room", "session", "member", "expiry", "signature"].map { form[$0] ?? "" }
        guard let client = form["clientid"], let name = form["name"], relays[client] == nil,
            let claim = try links.claim(words[...], .rtmp, now: options.now()),
            let room = try store.room(claim.room), room.state == .live,
            let session = try store.session(claim.session, of: room.id), session.name == name, session.endedAt == nil,
            try store.member(id: claim.member) != nil, try !store.isBanned(room.id, claim.member)
        else { return false }
        relays[client] = Relay(client: client, name: name, room: room.id, member: claim.member)
        return true
    }

    /// A player is gone.
    func ended(client: String) { relays[client] = nil }

    /// nginx has died, and all players with it.
    func clear() { relays = [:] }

    /// The players that may not go on: of members who were banned or deleted.
    ///
    /// - Returns: them; they are no longer known here.
    /// - Throws: errors of the store.
    func takeUnwanted() throws -> [Relay] {
        let unwanted = try relays.values.filter { relay in
            try store.member(id: relay.member) == nil || store.isBanned(relay.room, relay.member)
        }
        for relay in unwanted { relays[relay.client] = nil }
        return unwanted
    }
}
