import Foundation
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// The store, links and small parts, without a socket.
struct LiveStoreTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func store(_ directory: TemporaryDirectory) throws -> LiveStore {
        try LiveStore(path: directory.file("live.sqlite"), now: Self.start)
    }

    private func member(_ id: String, _ store: LiveStore) throws -> LiveMember {
        var profile = LiveStore.Profile()
        (profile.userID, profile.userName) = (id, id)
        return try store.logIn(profile, now: Self.start, lifetime: .seconds(60)).member
    }

    private func text(_ text: String, _ channel: Int64) -> StoredMessage {
        var message = StoredMessage(channelID: channel, sentAt: Self.start, origin: .member)
        message.text = text
        return message
    }

    @Test func `numbers of messages have no gap, also after a transaction that was undone`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let store = try store(directory)
        let host = try member("host", store)
        let room = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        let first = try store.transaction { try store.append(text("a", room)) }
        #expect(first.number == 1)
        #expect(throws: LiveRefusal.self) {
            try store.transaction {
                _ = try store.append(text("undone", room))
                throw LiveRefusal.fault
            }
        }
        let second = try store.transaction { try store.append(text("b", room)) }
        #expect(second.number == 2)
        #expect(try store.messages(room, beyond: 0, limit: 10).map(\.text) == ["a", "b"])
        #expect(throws: LiveRefusal.noChannel) { try store.append(text("x", 99)) }
        #expect(try store.room(room)?.lastMessage == 2)
    }

    @Test func `a store that is opened again has everything, and the same key for links`() throws {
        let directory = try TemporaryDirectory.inMemory()
        var claim: String?
        var token = ""
        for round in 0..<2 {
            let store = try store(directory)
            let links = PlaybackLinks(key: store.linkKey, base: "http://x", lifetime: .seconds(100))
            let url = try links.url(room: 1, session: 1, member: 1, playableAt: Self.start, now: Self.start)
            if round == 0 {
                var profile = LiveStore.Profile()
                profile.userID = "kim"
                token = try store.logIn(profile, now: Self.start, lifetime: .seconds(60)).access
                claim = url
            }
            #expect(url == claim)
            #expect(try store.member(token: token, .access, now: Self.start)?.userID == "kim")
            #expect(try store.member(token: token, .streaming, now: Self.start) == nil)
            #expect(try store.member(token: token, .access, now: Self.start + .seconds(60)) == nil)
            #expect(try store.connection.integrityFindings().isEmpty)
            #expect(try LiveStore.migrator.schemaFindings(store.connection).isEmpty)
        }
    }

    @Test func `a member has one open room and one open session, and a key whose form is known`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let store = try store(directory)
        let host = try member("host", store)
        #expect(try store.existingKey(of: host.id) == nil)
        let key = try store.streamKey(of: host.id, now: Self.start)
        #expect(try store.streamKey(of: host.id, now: Self.start) == key)
        #expect(try store.find(key: key.key)?.memberID == host.id)
        try store.issueKey(of: host.id, now: Self.start)
        #expect(try store.find(key: key.key) == nil)
        _ = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        #expect(throws: LectureError.self) {
            try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        }
        var room = try store.openRoom(of: host.id)
        try store.beginSession(host.id, &room, name: "one", now: Self.start)
        #expect(room?.lastSession == 1)
        #expect(throws: LectureError.self) { try store.beginSession(host.id, &room, name: "two", now: Self.start) }
        #expect(try store.openSessions().map(\.name) == ["one"])
        try store.endSession(of: host.id, now: Self.start)
        #expect(try store.openSession(of: host.id) == nil)
    }

    @Test func `fragments are kept as long as a link may lead to them`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let store = try store(directory)
        let host = try member("host", store)
        let id = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        var room = try store.room(id)
        try store.beginSession(host.id, &room, name: "first", now: Self.start)
        #expect(try store.neededSessionNames(since: Self.start + .seconds(99)) == ["first"])
        try store.endSession(of: host.id, now: Self.start + .seconds(10))
        // Of a room on the air everything, of one that is over what ended lately.
        let cases: [(VideoRoomState, Int64?, Int64, Bool)] = [
            (.live, nil, 99, true), (.inactive, nil, 99, true), (.ended, 20, 15, true), (.ended, 20, 21, false),
            (.ended, 20, 9, true), (.cancelled, nil, 9, true), (.cancelled, nil, 11, false),
        ]
        for (state, ended, since, isNeeded) in cases {
            room?.state = state
            room?.liveEndedAt = ended.map { Self.start + .seconds($0) }
            try store.update(#require(room), now: Self.start)
            let names = try store.neededSessionNames(since: Self.start + .seconds(since))
            #expect(names == (isNeeded ? ["first"] : []), "\(state) since \(since)")
        }
    }

    @Test func `a link is the same for a while, and only what was signed is accepted`() throws {
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        let links = PlaybackLinks(key: key, base: "https://live.example/x", lifetime: .seconds(1000))
        func words(_ after: Int64) throws -> [String] {
            let url = try links.url(
                room: 4, session: 2, member: 9, playableAt: Self.start, now: Self.start + .seconds(after))
            #expect(url.hasPrefix("https://live.example/x/live/4/2/9/") && url.hasSuffix("/index.m3u8"))
            return url.split(separator: "/").suffix(6).dropLast().map(String.init)
        }
        func claim(_ words: [String], _ after: Int64) throws -> PlaybackLinks.Claim? {
            try links.claim(words[...], now: Self.start + .seconds(after))
        }
        let first = try words(0)
        #expect(try words(499) == first && words(500) != first && words(-5) == first)
        #expect(try claim(first, 999) == .init(room: 4, session: 2, member: 9, expiry: 1_800_001_000))
        #expect(try claim(first, 1000) == nil)
        for place in first.indices {
            var changed = first
            changed[place] = changed[place].first == "1" ? "2\(changed[place].dropFirst())" : "1\(changed[place])"
            #expect(try claim(changed, 0) == nil, "\(place)")
            changed[place] = ""
            #expect(try claim(changed, 0) == nil, "\(place)")
        }
        #expect(try claim(Array(first.dropLast()), 0) == nil && claim(first + ["x"], 0) == nil)
        let other = PlaybackLinks(key: try SecretBytes.random(32), base: "", lifetime: .seconds(1000))
        #expect(try other.claim(first[...], now: Self.start) == nil)
    }

    @Test func `names of files are those that nginx gives`() {
        let cases: [(String, Bool)] = [
            ("index.m3u8", true), ("0.ts", true), ("123456789012.ts", true), ("1234567890123.ts", false),
            (".ts", false),
            ("-1.ts", false), ("+1.ts", false), ("1.ts ", false), ("a.ts", false), ("..", false), ("", false),
            ("../1.ts", false), ("1.m4s", false), ("index.m3u8~", false), ("INDEX.M3U8", false), ("٣.ts", false),
        ]
        for (name, isName) in cases { #expect(LivePlayback.isName(name) == isName, "\(name)") }
    }

    @Test func `forms are read as hooks send them, and broken ones never fail`() {
        let cases: [(String, String, String?)] = [
            ("name=abc&app=live", "name", "abc"), ("name=a%2Fb%20c+d", "name", "a/b c d"), ("name=", "name", ""),
            ("name", "name", ""), ("", "name", nil), ("name=1&name=2", "name", "1"), ("name=%", "name", "%"),
            ("name=%4", "name", "%4"), ("name=%zz", "name", "%zz"), ("name=a=b", "name", "a=b"), ("&&=x&", "", "x"),
            ("n%61me=x", "name", "x"), ("name=%EB%8C%80", "name", "대"), ("name=%FF", "name", "\u{FFFD}"),
        ]
        for (body, name, value) in cases { #expect(FormFields(Array(body.utf8))[name] == value, "\(body)") }
    }

    @Test func `bodies are JSON objects, and members of the right kind`() throws {
        for body in ["[]", "1", "{", "\u{FEFF}{}", "{} {}", "null", "\"x\""] {
            #expect(throws: LiveRefusal.body, "\(body)") { try RequestBody(Array(body.utf8)) }
        }
        let body = try RequestBody(Array(#"{"a":"x","b":null,"c":1}"#.utf8))
        #expect(try body.text("a") == "x" && body.text("b") == nil && body.text("d") == nil)
        #expect(throws: LiveRefusal.body) { try body.text("c") }
        #expect(try RequestBody([]).text("a") == nil)
    }

    @Test func `credentials are one line with a secret that is long enough`() {
        let cases: [(String, Bool)] = [
            ("key:0123456789abcdef", true), ("key:0123456789abcdef\n", true), ("\nkey:0123456789abcdef\r\n", true),
            ("key:0123456789abcde", false), (":0123456789abcdef", false), ("key 0123456789abcdef", false),
            ("key:0123456789abcdef\nother:0123456789abcdef", false), ("key:0123456789 abcdef", false), ("", false),
            ("key:비밀비밀비밀비밀비밀비밀비밀비밀", false), ("key:" + String(repeating: "x", count: 500), false),
        ]
        for (text, isAccepted) in cases { #expect((LiveCredentials(text) != nil) == isAccepted, "\(text)") }
    }

    @Test func `a message is written for its reader`() {
        var message = StoredMessage(channelID: 3, sentAt: Self.start, origin: .system)
        (message.number, message.customType) = (5, "CHANGE_DATA_CAPTURE")
        (message.roomState, message.keyState) = (.live, .live)
        let (owner, viewer) = (
            message.message(playURL: "http://a", isOwner: true), message.message(playURL: "http://b", isOwner: false)
        )
        #expect(owner.change == .init(roomID: 3, state: .live, playURL: "http://a", keyState: .live))
        #expect(viewer.change == .init(roomID: 3, state: .live, playURL: "http://b"))
        var chat = text("secret", 3)
        (chat.number, chat.isHidden, chat.customType) = (6, true, "question")
        let hidden = chat.message(playURL: nil, isOwner: true)
        #expect(hidden.text.isEmpty && hidden.customType == "MESSAGE_HIDDEN" && hidden.hiddenID == 6)
        var writer = JSONWriter()
        writer.object { hidden.write(&$0) }
        #expect(!writer.text.contains("secret") && !writer.text.contains("question"))
    }

    @Test func `the numbers of states in the store are frozen`() {
        #expect([1, 2, 3, 4, 5].map(LiveCodes.room) == [.scheduled, .live, .inactive, .ended, .cancelled])
        #expect(
            [1, 2, 3, 4, 5, 6].map(LiveCodes.key) == [
                .inactive, .preparing, .active, .live, .liveWithoutFeed, .livePreparing,
            ])
        #expect([1, 2, 3].map(LiveCodes.origin) == [.app, .member, .system])
        for state in VideoRoomState.allCases { #expect(LiveCodes.room(LiveCodes.code(state)) == state) }
        for state in StreamKeyState.allCases { #expect(LiveCodes.key(LiveCodes.code(state)) == state) }
        for origin in LiveMessage.Origin.allCases { #expect(LiveCodes.origin(LiveCodes.code(origin)) == origin) }
        #expect(LiveCodes.room(0) == nil && LiveCodes.key(7) == nil && LiveCodes.origin(4) == nil)
    }

    @Test func `the configuration of nginx has three applications, and plays one of them`() {
        let setup = NginxServer.Setup(
            program: "/usr/sbin/nginx", modules: "/m", directory: "/s/run", fragments: "/s/hls", address: "0.0.0.0",
            port: 1936, hooks: "http://127.0.0.1:8088/hooks/SECRET", filesApplication: "files-SECRET",
            fragmentMilliseconds: 2000)
        let text = NginxServer(setup, died: {}).configuration
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for line in [
            "listen 0.0.0.0:1936;", "application live {", "application egress {", "application files-SECRET {",
            "drop_idle_publisher 5s;", "push rtmp://127.0.0.1:1936/egress;",
            "idle_streams off;", "allow publish 127.0.0.1;", "deny publish all;", "hls_path \"/s/hls\";",
            "hls_fragment 2000ms;", "on_publish \"http://127.0.0.1:8088/hooks/SECRET/publish\";",
            "on_publish \"http://127.0.0.1:8088/hooks/SECRET/egress\";", "listen \"unix:/s/run/nginx.sock\";",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(lines.count { $0 == "deny play all;" } == 2)
        #expect(lines.count { $0 == "access_log off;" } == 2)
    }

    @Test func `arguments become options`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let file = try directory.write("key:0123456789abcdef", to: "credentials")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let options = try LiveArguments(
            [
                "--state", "/s", "--credentials", file, "--listen", "0.0.0.0:90", "--rtmp-port", "1936", "--nginx",
                "/n",
                "--nginx-modules", "/m", "--public-url", "https://live.example", "--token-lifetime", "60",
                "--end-grace", "0", "--fragment", "500", "--ingest-url", "rtmp://live.example/live",
            ]
        ).options()
        #expect(options.stateDirectory == "/s" && options.address == "0.0.0.0" && options.port == 90)
        #expect(options.rtmpPort == 1936 && options.nginx == "/n" && options.nginxModules == "/m")
        #expect(options.publicURL == "https://live.example" && options.tokenLifetime == .seconds(60))
        #expect(options.ingestURL == "rtmp://live.example/live")
        #expect(options.endGrace == .zero && options.fragment == .milliseconds(500))
        let plain = try LiveArguments(["--state", "/s", "--credentials", file]).options()
        #expect((plain.address, plain.port, plain.rtmpPort) == ("127.0.0.1", 8088, 1935))
        #expect(plain.ingestURL == nil)
        let wrong: [(String, String)] = [
            ("--listen", "a:b"), ("--listen", "1:2:3"), ("--rtmp-port", "70000"), ("--token-lifetime", "0"),
            ("--end-grace", "-1"), ("--fragment", "x"),
        ]
        for (name, value) in wrong {
            #expect(throws: LiveArguments.Problem.self, "\(name) \(value)") {
                try LiveArguments(["--state", "/s", "--credentials", file, name, value]).options()
            }
        }
    }

    @Test func `errors of a start have the statuses of sysexits`() {
        let cases: [(LectureError.Code, Int32)] = [
            (.createDirectory, 73), (.loopbackFailed, 73), (.storeBusy, 75), (.storeNewer, 65), (.storeForeign, 65),
            (.storeExposed, 77), (.configuration, 78), (.loopbackMissing, 78), (.storageFull, 74), (.bug, 70),
        ]
        for (code, status) in cases { #expect(LiveServerProgram.status(of: LectureError(code)) == status, "\(code)") }
    }

    @Test func `heads answer for their fields, their query and their segments`() {
        let head = HTTPRequestHead(
            method: "GET", path: "/a//b/",
            fields: [.init(name: "Host", value: "x"), .init(name: "hOST", value: "y")],
            query: [.init(name: "q", value: "1"), .init(name: "Q", value: "2"), .init(name: "q", value: "3")])
        #expect(head.values("host") == ["x", "y"] && head.value("none") == nil)
        #expect(head.parameter("q") == "1" && head.parameter("Q") == "2" && head.parameter("x") == nil)
        #expect(head.segments == ["a", "", "b", ""])
        let paths: [(String, [String]?)] = [("/", [""]), ("", nil), ("*", nil), ("a/b", nil), ("/..", [".."])]
        for (path, segments) in paths {
            #expect(HTTPRequestHead(method: "GET", path: path).segments == segments, "\(path)")
        }
    }
}
