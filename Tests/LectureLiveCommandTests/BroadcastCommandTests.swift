import Foundation
import Glibc
import LectureCommand
import LectureFiles
import LectureFormats
import LectureKit
import LectureLive
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// Broadcasts with nginx and real encoders, viewers, and recordings.
@Suite(.timeLimit(.minutes(2)))
struct BroadcastCommandTests {
    private static let small = ["--size", "640x360", "--fps", "10", "--bitrate", "400K"]

    @Test func `a broadcast makes a room, is watched and chatted in, and ends its room`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        for user in ["kim", "lee"] { try await stage.login(user) }
        let words = ["broadcast", "--title", "Algebra", "--duration", "4s", "--json"] + Self.small
        let broadcast = stage.start("kim", words)
        try await broadcast.output.wait(for: #""part":"broadcast","state":"active""#)
        let room = try await stage.client("kim") { try await $0.streamKey() }
        let id = try #require(room.room?.id)
        try await stage.client("lee") { client in
            try await client.join(id)
            try await client.send("I see it", channelID: room.room?.channelID ?? 0)
        }
        try await broadcast.output.wait(for: #""text":"I see it""#)
        let end = try await broadcast.end()
        #expect(end.code == 0, "\(end.diagnostics)")
        for state in ["prepared", "started", "stopped", "closed"] {
            #expect(end.output.contains("{\"event\":\"live_state\",\"part\":\"broadcaster\",\"state\":\"\(state)\""))
        }
        #expect(end.output.contains(#""viewers":2"#) && end.output.contains(#""title":"Algebra""#))
        #expect(end.output.contains(#""state":"ENDED""#))
        #expect(end.diagnostics.contains("'lecture-live archive \(id)'"))
        #expect(!(end.output + end.diagnostics).contains(room.key))
        #expect(try await stage.client("lee") { try await $0.room(id).state } == .ended)
        // What is over cannot be watched; its chat can still be read where the server permits it.
        let feed = MediaFactories.standard([:]).feed
        let media = MediaFactories(feed: feed, picture: { _ in TestPicture(LiveJournal()) })
        let watch = try await stage.start("lee", ["watch", "\(id)", "--no-video"], media: media).end()
        #expect(watch.code == 1 && watch.diagnostics.contains("has ended: 'lecture-live archive \(id)'"))
        #expect(try await stage.run("kim", "rooms", "end", "\(id)").code == 0)
        await stage.server.stop()
    }

    @Test func `a lecture is kept while it is watched, and what is watched waits for the LMS`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        for user in ["kim", "lee"] { try await stage.login(user) }
        let broadcast = stage.start("kim", ["broadcast", "--title", "Algebra", "--duration", "6s"] + Self.small)
        try await broadcast.diagnostics.wait(for: "broadcast: active")
        let id = try #require(try await stage.client("kim") { try await $0.streamKey() }.room?.id)
        let store = stage.directory.file("store")
        let empty = try InputPipe()
        empty.close()
        let journal = LiveJournal()
        let media = MediaFactories(feed: MediaFactories.standard([:]).feed, picture: { _ in TestPicture(journal) })
        let words = ["watch", "\(id)", "--no-video", "--keep", "--report", "lee", "--store", store]
        let watch = stage.start("lee", words, media: media)
        try await watch.diagnostics.wait(for: "viewer: started")
        // The picture may come before the member is in the channel, and a command that joined first leaves it again.
        try await watch.diagnostics.wait(for: "channel: open")
        // Another command of the same member does not take it out of the channel when it ends.
        #expect(try await stage.start("lee", ["chat", "\(id)", "--no-follow"], input: empty.reading).end().code == 0)
        #expect(try await broadcast.end().code == 0)
        let end = try await watch.end()
        let room = try await stage.client("lee") { try await $0.room(id) }
        #expect(
            end.code == 0 && end.diagnostics.contains("is kept: 'lecturectl play live-\(room.uuid)'"),
            "\(end.diagnostics)")
        let manager = try LectureManager(LectureConfiguration(storeDirectory: store))
        let key = try ContentKey("live-\(room.uuid)")
        let content = try #require(try await manager.contents.find(key))
        #expect(content.state == .completed && content.title == "Algebra")
        let report = try #require(try await manager.reports.list().rows.last)
        #expect(report.user == "lee" && report.content == key.text)
        let values = try JSONScanner.scan(report.values)
        #expect(values["content_info"]?["channel_key"]?.string == "\(room.channelID)")
        #expect(values["PLAY_STATUS"]?.string == "stop")
        await manager.close()
        // What was captured has no chat; that comes with the recording.
        let chat = try await stage.start("lee", ["chat", "--lecture", key.text, "--store", store]).end()
        #expect(chat.code == 65 && chat.diagnostics.contains("\(key.text) was kept without a chat."))
        let unknown = try await stage.start("lee", ["chat", "--lecture", "x", "--store", store]).end()
        #expect(unknown.code == 1 && unknown.output.isEmpty, "\(unknown.diagnostics)")
        await stage.server.stop()
    }

    @Test func `keeping needs a store, and a viewer who leaves early learns what there is`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        for user in ["kim", "lee"] { try await stage.login(user) }
        let broadcast = stage.start("kim", ["broadcast", "--duration", "8s"] + Self.small)
        try await broadcast.diagnostics.wait(for: "broadcast: active")
        let id = try #require(try await stage.client("kim") { try await $0.streamKey() }.room?.id)
        let media = MediaFactories(
            feed: MediaFactories.standard([:]).feed, picture: { _ in TestPicture(LiveJournal()) })
        for option in [["--keep"], ["--report", "lee"]] {
            let end = try await stage.start("lee", ["watch", "\(id)", "--no-video"] + option, media: media).end()
            #expect(end.code == 64 && end.diagnostics.contains("'--store' or LECTURE_STORE"), "\(end.diagnostics)")
        }
        let words = [
            "watch", "\(id)", "--no-video", "--keep", "--duration", "1s", "--store", stage.directory.file("s"),
        ]
        let end = try await stage.start("lee", words, media: media).end()
        #expect(end.code == 75 && end.diagnostics.contains("is kept up to here"), "\(end.diagnostics)")
        // The same command goes on with it, up to the end of the room.
        let rest = try await stage.start("lee", words.filter { $0 != "--duration" && $0 != "1s" }, media: media).end()
        #expect(rest.code == 0 && rest.diagnostics.contains("is kept: 'lecturectl play"), "\(rest.diagnostics)")
        _ = try await broadcast.end()
        await stage.server.stop()
    }

    @Test func `a file is sent to its end, which ends the room`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        let file = stage.directory.file("intro.mp4")
        let words = [
            "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=10", "-t", "10",
            "-pix_fmt",
            "yuv420p", file,
        ]
        let made = try await ChildProcess.run(try Places.command("ffmpeg"), words)
        try #require(made.status == 0)
        let end = try await stage.start("kim", ["broadcast", "--source", "file:\(file)"] + Self.small).end()
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(
            end.diagnostics.contains("Ending, because of the end of the file.") || end.diagnostics.contains("closed"))
        #expect(try await stage.client("kim") { try await $0.rooms().rooms.first?.state } == .ended)
        await stage.server.stop()
    }

    /// Makes a room that was never on the air, and checks what the next broadcast says.
    private func leftOpen(_ stage: CommandStage) async throws -> VideoRoom {
        let room = try await stage.client("kim") {
            try await $0.createRoom(title: "Left", scheduledAt: Timestamp(milliseconds: 0))
        }
        let refused = try await stage.run("kim", "broadcast")
        #expect(refused.code == 65)
        #expect(refused.diagnostics.contains("Room \(room.id) ('Left') was left open in the state SCHEDULED"))
        #expect(refused.diagnostics.contains("--resume") && refused.diagnostics.contains("rooms delete \(room.id)"))
        return room
    }

    @Test func `what cannot be sent is said, and a room that was left open is continued`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        for source in ["file:/nowhere.mp4", "camera:/dev/none"] {
            let end = try await stage.start("kim", ["broadcast", "--source", source, "--json"]).end()
            #expect(end.code == 74 && end.output.contains(#""code":80103"#), "\(end.diagnostics)")
        }
        let text = try stage.directory.write("no media", to: "text.mp4")
        for (source, advice) in [
            ("file:/nowhere.mp4", "There is no '/nowhere.mp4'."), ("camera:/dev/none", "There is no '/dev/none'."),
            ("file:\(text)", "'\(text)' has no picture that can be decoded."),
            ("camera:/dev/null", "is no camera, is in use"),
            ("screen::65535", "Screens are those of X servers"),
        ] {
            let end = try await stage.start("kim", ["broadcast", "--source", source]).end()
            #expect(end.code == 74 && end.diagnostics.contains("cannot be opened or read. "), "\(end.diagnostics)")
            #expect(end.diagnostics.contains(advice), "\(end.diagnostics)")
        }
        // Both remedies work: the first room is deleted, the second one goes on.
        var room = try await leftOpen(stage)
        #expect(try await stage.run("kim", "rooms", "delete", "\(room.id)").code == 0)
        room = try await leftOpen(stage)
        let other = try await stage.run("kim", "broadcast", "--room", "99")
        #expect(other.code == 1 || other.code == 65, "\(other.diagnostics)")
        let resumed = stage.start("kim", ["broadcast", "--resume", "--json", "--duration", "3s"] + Self.small)
        try await resumed.output.wait(for: #""state":"active""#)
        let early = try await stage.run("kim", "rooms", "end", "\(room.id)")
        let end = try await resumed.end()
        #expect(end.code == 0 && end.output.contains("\"room\":\(room.id),\"state\":\"ENDED\""), "\(end.diagnostics)")
        #expect(early.code == 75 && early.diagnostics.contains("is on the air") || early.code == 0)
        await stage.server.stop()
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `the built program ends its room when it is asked to end`(signal: Int32) async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        let program = try ChildProcess(
            Places.builtProduct("lecture-live"), ["broadcast", "--json", "--quiet"] + Self.small,
            environment: stage.environment("kim"))
        try await program.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(#""state":"active""#) }
        program.send(signal)
        let end = await program.ending()
        #expect(end.status == 0, "\(String(decoding: end.errors, as: UTF8.self))")
        let text = String(decoding: end.output, as: UTF8.self)
        #expect(text.contains(#""state":"ENDED""#))
        for line in text.split(separator: "\n") { #expect(try faults(String(line)) == []) }
        let key = try await stage.client("kim") { try await $0.streamKey().key }
        let all = text + String(decoding: end.errors, as: UTF8.self)
        let token = try stage.token("kim")
        #expect(!all.contains(key) && !all.contains(token))
        await stage.server.stop()
    }

    @Test func `a room that was not on the air yet is left open, and the remedies are those that work`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        let program = try ChildProcess(
            Places.builtProduct("lecture-live"), ["broadcast", "--json"] + Self.small,
            environment: stage.environment("kim"))
        // The first fragment of the feed is still to come.
        try await program.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(#""state":"SCHEDULED""#) }
        program.send(SIGTERM)
        let end = await program.ending()
        let errors = String(decoding: end.errors, as: UTF8.self)
        let id = try #require(try await stage.client("kim") { try await $0.streamKey() }.room?.id)
        #expect(end.status == 75 && errors.contains("Room \(id) stays open"), "\(end.status): \(errors)")
        #expect(errors.contains("'lecture-live rooms delete \(id)' removes it"), "\(errors)")
        #expect(try await stage.run("kim", "rooms", "delete", "\(id)").code == 0)
        #expect(try await stage.run("kim", "rooms").output.isEmpty)
        await stage.server.stop()
    }

    // MARK: Viewers

    private func viewer(
        _ server: MemberServer, _ words: [String], _ picture: TestPicture, environment: [String: String] = [:]
    ) throws -> (command: RunningCommand, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory.inMemory()
        var all = environment
        all["LECTURE_LIVE_SERVER"] = server.address
        all["LECTURE_LIVE_TOKEN_FILE"] = try directory.secret(MemberServer.token, "token")
        let media = MediaFactories(feed: MediaFactories.standard([:]).feed, picture: { _ in picture })
        let command = RunningCommand(
            ["watch", "\(MemberServer.roomID)"] + words, environment: all, LiveEffects(media: media),
            secrets: [MemberServer.token, MemberServer.key])
        return (command, directory)
    }

    @Test func `a viewer plays until the room ends`() async throws {
        let (server, journal) = (try MemberServer(), LiveJournal())
        server.openLiveRoom()
        let (command, directory) = try viewer(
            server, ["--no-video", "--mute", "--chat", "--json"], TestPicture(journal))
        try await command.output.wait(for: #""part":"viewer","state":"started""#)
        try await command.output.wait(for: #""part":"channel","state":"open""#)
        server.say("hello")
        try await command.output.wait(for: #""text":"hello""#)
        server.endRoom()
        let end = try await command.end()
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(end.output.contains(#""part":"viewer","state":"completed""#))
        #expect(journal.lines.contains("mute true") && journal.lines.contains("play"))
        withExtendedLifetime(directory) {}
    }

    @Test func `a viewer waits for a room that has not started`() async throws {
        let (server, journal) = (try MemberServer(), LiveJournal())
        server.openRoom(.scheduled)
        let (command, directory) = try viewer(
            server, ["--duration", "20s"], TestPicture(journal), environment: ["DISPLAY": ":9"])
        try await command.diagnostics.wait(for: "Waiting until room \(MemberServer.roomID) can be watched.")
        server.endRoom()
        let end = try await command.end()
        #expect(end.code == 1 && end.diagnostics.contains("has ended"), "\(end.diagnostics)")
        #expect(journal.lines.isEmpty)
        withExtendedLifetime(directory) {}
    }

    @Test func `without a display, and without a player, a viewer says so`() async throws {
        let server = try MemberServer()
        server.openLiveRoom()
        let (command, directory) = try viewer(server, [], TestPicture(LiveJournal()), environment: ["DISPLAY": ""])
        let end = try await command.end()
        #expect(end.code == 74 && end.diagnostics.contains("There is no display"))
        #expect(end.diagnostics.contains("'--no-video' plays the sound only"))
        withExtendedLifetime(directory) {}
    }

    // MARK: Recordings

    /// A server whose room has these recordings, one after the other.
    private static func archive(_ states: [String]) throws -> RawServer {
        let left = Guarded(states[...])
        return try RawServer { peer in
            _ = peer.readHead()
            let state = left.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? "" }
            let url = state == "ARCHIVED" ? #","vodUrl":"https://h/it's.mp4""# : ""
            let body =
                state == "down"
                ? "" : #"{"id":5,"videoRoomState":"ENDED","channel":{"id":5},"vodState":"\#(state)"\#(url)}"#
            let head = state == "down" ? "503 Busy" : "200 OK"
            peer.send("HTTP/1.1 \(head)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }
    }

    @Test(arguments: [
        (["ARCHIVED"], ["archive", "5"], 0, 0), (["FAILED_ARCHIVING"], ["archive", "5"], 1, 0),
        (["ARCHIVING"], ["archive", "5"], 75, 0), (["NOT_ARCHIVED"], ["archive", "5"], 75, 0),
        (["NOT_ARCHIVED", "ARCHIVING", "down", "ARCHIVED"], ["archive", "5", "--wait"], 0, 3),
        (["ARCHIVING", "FAILED_ARCHIVING"], ["archive", "5", "--wait"], 1, 1),
        (["ARCHIVED"], ["archive", "5", "--wait", "--json"], 0, 0),
    ])
    func `a recording is there, or is waited for, at a growing pace`(
        states: [String], words: [String], code: Int32, waits: Int
    ) async throws {
        let server = try Self.archive(states)
        let directory = try TemporaryDirectory.inMemory()
        let environment = [
            "LECTURE_LIVE_SERVER": server.http, "LECTURE_LIVE_TOKEN_FILE": try directory.secret("tok3n", "token"),
        ]
        let seen = Guarded<[Duration]>([])
        var effects = LiveEffects(media: .standard([:]))
        effects.time = LiveTime(clock: SystemClock(), random: SystemRandom()) { wait in
            seen.withLock { $0.append(wait) }
        }
        let end = try await RunningCommand(words, environment: environment, effects, secrets: ["tok3n"]).end()
        #expect(end.code == code, "\(end.diagnostics)")
        #expect(seen.withLock { $0 } == (0..<waits).map { .milliseconds([1000, 1500, 2250][$0]) })
        if code == 0 {
            #expect(end.diagnostics.contains(#"Download it: lecturectl precache 'https://h/it'\''s.mp4'"#))
            #expect(end.output.contains("https://h/it's.mp4"))
        }
    }
}
