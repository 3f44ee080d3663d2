import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// Who may play over RTMP, without nginx: the hooks are those that it sends.
struct RelayStoreTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    /// A room that is live, and a member.
    private final class Desk {
        let store: LiveStore
        let relays: LiveRelays
        let clock = StageClock()
        let viewer: LiveMember
        let host: LiveMember
        let room: Int64
        private let directory: TemporaryDirectory

        init(rtmpPort: UInt16? = 1935) throws {
            directory = try TemporaryDirectory.inMemory()
            store = try LiveStore(path: directory.file("live.sqlite"), now: clock.now)
            func member(_ id: String, _ store: LiveStore, _ now: Timestamp) throws -> LiveMember {
                var profile = LiveStore.Profile()
                (profile.userID, profile.userName) = (id, id)
                return try store.logIn(profile, now: now, lifetime: .seconds(60)).member
            }
            (host, viewer) = (try member("host", store, clock.now), try member("viewer", store, clock.now))
            room = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: clock.now)
            var options = LiveOptions(
                stateDirectory: directory.path, credentials: try #require(LiveCredentials("a:0123456789abcdef")))
            let clock = clock
            (options.now, options.rtmpPort) = ({ clock.now }, rtmpPort)
            let links = PlaybackLinks(key: store.linkKey, base: "http://x", lifetime: .seconds(100))
            relays = LiveRelays(store, options, links, base: "rtmp://x:1935/egress")
            try begin("one")
        }

        /// Begins a session that can be watched.
        func begin(_ name: String, isPlayable: Bool = true) throws {
            var stored = try store.room(room)
            try store.beginSession(host.id, &stored, name: name, now: clock.now)
            stored?.state = .live
            if let stored { try store.update(stored, now: clock.now) }
            if isPlayable, let session = try store.openSession(of: host.id) {
                try store.setPlayable(session, now: clock.now)
            }
        }

        func url(session: Int = 1) throws -> String? {
            let (room, session) = (
                try #require(try store.room(room)), try #require(try store.session(session, of: room))
            )
            return try relays.url(session, of: room, for: viewer)
        }

        /// The form of nginx's hook for an address.
        func form(_ url: String, client: String = "1", name: String? = nil) -> FormFields {
            let parts = url.split(separator: "?", maxSplits: 1).map(String.init)
            let name = name ?? parts[0].split(separator: "/").last.map(String.init) ?? ""
            return FormFields(
                Array("app=egress&call=play&clientid=\(client)&name=\(name)&\(parts.dropFirst().first ?? "")".utf8))
        }
    }

    @Test func `an address admits its member once for each connection, until it expires`() throws {
        let desk = try Desk()
        let url = try #require(try desk.url())
        #expect(url.hasPrefix("rtmp://x:1935/egress/one?room=1&session=1&member="))
        #expect(try desk.relays.admit(desk.form(url)))
        #expect(try !desk.relays.admit(desk.form(url)), "the same connection")
        #expect(try desk.relays.admit(desk.form(url, client: "2")) && desk.relays.relays.count == 2)
        desk.relays.ended(client: "1")
        desk.relays.ended(client: "none")
        #expect(desk.relays.relays.keys.sorted() == ["2"])
        // The same address for half of its time, and never less than that.
        desk.clock.advance(.seconds(49))
        #expect(try desk.url() == url && desk.relays.admit(desk.form(url, client: "3")))
        desk.clock.advance(.seconds(2))
        let next = try #require(try desk.url())
        #expect(next != url)
        desk.clock.advance(.seconds(49))
        #expect(try !desk.relays.admit(desk.form(url, client: "4")) && desk.relays.admit(desk.form(next, client: "5")))
        desk.relays.clear()
        #expect(desk.relays.relays.isEmpty)
    }

    @Test func `what is not exactly the address is refused`() throws {
        let desk = try Desk()
        let url = try #require(try desk.url())
        let forms = [
            desk.form(url, name: "two"), desk.form(url, name: ""), desk.form(url + "x"),
            desk.form(url.replacing("room=1", with: "room=2")), desk.form(url.replacing("room=1", with: "room=01")),
            desk.form(url.replacing("room=1", with: "room=+1")),
            desk.form(url.replacing("session=1", with: "session=0")),
            desk.form(url.replacing("expiry=", with: "expiry=9")),
            desk.form(url.replacing("expiry=", with: "expiry=-")),
            desk.form(url.replacing("member=", with: "member=1")), desk.form("x/one?"), FormFields([]),
            FormFields(Array("clientid=1&name=one".utf8)),
            FormFields(Array("name=one&\(url.split(separator: "?")[1])".utf8)),
        ]
        for (place, form) in forms.enumerated() { #expect(try !desk.relays.admit(form), "\(place)") }
        #expect(desk.relays.relays.isEmpty)
        // A link for HLS has the same claim under another signature.
        let links = PlaybackLinks(key: desk.store.linkKey, base: "http://x", lifetime: .seconds(100))
        let hls = try links.url(
            room: 1, session: 1, member: desk.viewer.id, playableAt: desk.clock.now, now: desk.clock.now)
        let signature = hls.split(separator: "/")[hls.split(separator: "/").count - 2]
        let other = url.split(separator: "&").dropLast().joined(separator: "&") + "&signature=\(signature)"
        #expect(try !desk.relays.admit(desk.form(other)))
        #expect(try desk.relays.admit(desk.form(url)))
    }

    @Test func `sessions that are over, not yet there, or of a server without RTMP have no address`() throws {
        let desk = try Desk()
        let url = try #require(try desk.url())
        try desk.store.endSession(of: desk.host.id, now: desk.clock.now)
        #expect(try desk.url() == nil && !desk.relays.admit(desk.form(url)))
        try desk.begin("two", isPlayable: false)
        #expect(try desk.url(session: 2) == nil)
        let session = try #require(try desk.store.openSession(of: desk.host.id))
        try desk.store.setPlayable(session, now: desk.clock.now)
        let second = try #require(try desk.url(session: 2))
        #expect(second.contains("/two?") && second != url)
        #expect(try desk.relays.admit(desk.form(second)) && !desk.relays.admit(desk.form(url, client: "2")))
        #expect(try Desk(rtmpPort: nil).url() == nil)
    }

    @Test func `rooms that are not live admit no player`() throws {
        for state in VideoRoomState.allCases where state != .live {
            let desk = try Desk()
            let url = try #require(try desk.url())
            var room = try #require(try desk.store.room(desk.room))
            room.state = state
            try desk.store.update(room, now: desk.clock.now)
            #expect(try !desk.relays.admit(desk.form(url)), "\(state)")
        }
    }

    @Test func `who is banned or deleted is unwanted, once, and is not admitted again`() throws {
        let desk = try Desk()
        let url = try #require(try desk.url())
        #expect(try desk.relays.admit(desk.form(url)) && desk.relays.admit(desk.form(url, client: "2")))
        #expect(try desk.relays.takeUnwanted().isEmpty)
        try desk.store.setBan(desk.room, desk.viewer.id, isBanned: true, now: desk.clock.now)
        let unwanted = try desk.relays.takeUnwanted()
        #expect(unwanted.map(\.client).sorted() == ["1", "2"] && unwanted.allSatisfy { $0.name == "one" })
        #expect(try desk.relays.takeUnwanted().isEmpty && desk.relays.relays.isEmpty)
        #expect(try !desk.relays.admit(desk.form(url)))
        try desk.store.setBan(desk.room, desk.viewer.id, isBanned: false, now: desk.clock.now)
        #expect(try desk.relays.admit(desk.form(url)))
    }
}
