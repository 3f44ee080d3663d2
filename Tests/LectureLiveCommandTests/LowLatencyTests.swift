import LectureCommand
import LectureLive
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// `lecture-live watch --low-latency`.
@Suite(.timeLimit(.minutes(2)))
struct LowLatencyTests {
    private func media(_ journal: LiveJournal) -> MediaFactories {
        MediaFactories(feed: MediaFactories.standard([:]).feed, picture: { _ in TestPicture(journal) })
    }

    private func viewer(
        _ server: MemberServer, _ words: [String], _ journal: LiveJournal
    ) throws -> (command: RunningCommand, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory.inMemory()
        let environment = [
            "LECTURE_LIVE_SERVER": server.address,
            "LECTURE_LIVE_TOKEN_FILE": try directory.secret(MemberServer.token, "token"),
        ]
        let command = RunningCommand(
            ["watch", "\(MemberServer.roomID)", "--no-video", "--low-latency"] + words, environment: environment,
            LiveEffects(media: media(journal)), secrets: [MemberServer.token, MemberServer.key, "signature="])
        return (command, directory)
    }

    @Test func `a room that begins is played over RTMP, from its first feed to its end`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        for user in ["kim", "lee", "park"] { try await stage.login(user) }
        let room = try await stage.client("kim") {
            try await $0.createRoom(title: "Algebra", scheduledAt: Timestamp(milliseconds: 0))
        }
        let words = ["watch", "\(room.id)", "--no-video", "--low-latency"]
        let journal = LiveJournal()
        // One shows which address it is; the other one really plays.
        let shown = stage.start("lee", words, media: media(journal))
        let played = stage.start("park", words + ["--mute"])
        for command in [shown, played] {
            try await command.diagnostics.wait(for: "Waiting until room \(room.id) can be watched.")
        }
        let small = ["--size", "640x360", "--fps", "10", "--bitrate", "400K"]
        let broadcast = stage.start("kim", ["broadcast", "--room", "\(room.id)", "--duration", "10s"] + small)
        for command in [shown, played] { try await command.diagnostics.wait(for: "viewer: started") }
        #expect(try await broadcast.end().code == 0)
        for command in [shown, played] {
            let end = try await command.end()
            #expect(end.code == 0, "\(end.diagnostics)")
            #expect(end.diagnostics.contains("viewer: started") && !end.diagnostics.contains("over HLS"))
            #expect(!(end.output + end.diagnostics).contains("rtmp://"))
        }
        let opened = journal.lines.filter { $0.hasPrefix("open ") }
        #expect(opened.count == 1 && opened.allSatisfy { $0.hasPrefix("open rtmp://127.0.0.1:") })
        await stage.server.stop()
    }

    @Test func `the address of the next feed is taken from the room`() async throws {
        let (server, journal) = (try MemberServer(), LiveJournal())
        server.openLiveRoom(rtmp: true)
        let (command, directory) = try viewer(server, [], journal)
        try await command.diagnostics.wait(for: "channel: open")
        server.feedEnded()
        try await command.diagnostics.wait(for: "broadcast: inactive")
        server.feedBegan()
        try await journal.wait(for: "open rtmp://127.0.0.1/egress/live-2?signature=2 soon")
        server.endRoom()
        let end = try await command.end()
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(
            journal.lines.filter { $0.hasPrefix("open ") } == [
                "open rtmp://127.0.0.1/egress/live-1?signature=1 soon",
                "open rtmp://127.0.0.1/egress/live-2?signature=2 soon",
            ])
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [true, false])
    func `a server without RTMP is played over HLS, and it is said`(isLive: Bool) async throws {
        let (server, journal) = (try MemberServer(), LiveJournal())
        if isLive { server.openLiveRoom() } else { server.openRoom(.inactive, key: .liveWithoutFeed) }
        let (command, directory) = try viewer(server, ["--mute"], journal)
        if !isLive {
            try await command.diagnostics.wait(for: "Waiting until room")
            server.feedBegan()
        }
        try await command.diagnostics.wait(for: "channel: open")
        server.endRoom()
        let end = try await command.end()
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(end.diagnostics.contains("The server has no RTMP for room 7: it is played over HLS."))
        let opened = journal.lines.filter { $0.hasPrefix("open ") }
        #expect(opened.count == 1 && opened.allSatisfy { $0.hasPrefix("open http://") && $0.hasSuffix(" soon") })
        withExtendedLifetime(directory) {}
    }
}
