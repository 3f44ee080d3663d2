import Foundation
import Glibc
import LectureCommand
import LectureFiles
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// Members, rooms and chat, against the program's own server.
@Suite(.timeLimit(.minutes(2)))
struct MemberCommandTests {
    private func room(_ title: String, of user: String, _ stage: CommandStage) async throws -> VideoRoom {
        try await stage.client(user) { try await $0.createRoom(title: title, scheduledAt: Timestamp(milliseconds: 0)) }
    }

    @Test func `a login stores the token for its user alone`() async throws {
        let stage = try await CommandStage()
        let end = try await stage.login("kim", "--name", "Kim\u{1B}[31m Lee")
        #expect(end.output.hasPrefix("Kim\u{FFFD}[31m Lee (kim) is logged in until 20"))
        let file = stage.tokenFile("kim")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let first = try stage.token("kim")
        #expect(first.count > 20 && !end.output.contains(first))
        // Again: another token takes its place.
        let again = try await stage.login("kim", "--json")
        let second = try stage.token("kim")
        #expect(second != first && again.output.contains(#""user":"kim""#) && !again.output.contains(second))
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.directory.file("kim/deep")) == ["token"])
        await stage.server.stop()
    }

    @Test func `secrets that others may read, and wrong ones, are refused`() async throws {
        let stage = try await CommandStage()
        func login(_ file: String, _ user: String = "kim") async throws -> (Int32, String) {
            let end = try await stage.run("kim", "login", "--credentials", file, "--user", user)
            return (end.code, end.diagnostics)
        }
        let open = try await login(try stage.directory.secret(CommandStage.credentials, "open.key", mode: 0o644))
        #expect(open.0 == 78)
        let wrong = try await login(try stage.directory.secret("academy:guessed", "wrong.key"))
        #expect(wrong.0 == 77 && wrong.1.contains("The key or the secret of the application is wrong."))
        #expect(!wrong.1.contains("guessed"))
        let shape = try await login(try stage.directory.secret("no-colon-here", "shape.key"))
        #expect(shape.0 == 77 && shape.1.contains("have not the form KEY:SECRET") && !shape.1.contains("no-colon"))
        #expect(try await login(stage.directory.file("absent")).0 == 74)
        let name = try await login(try stage.directory.secret(CommandStage.credentials, "app2.key"), "kim lee")
        #expect(name.0 == 65 && name.1.contains("An ID has 1 to 50 letters"))
        #expect(!FileManager.default.fileExists(atPath: stage.tokenFile("kim")))
        // A token that others may read is not used.
        try await stage.login("lee")
        #expect(unsafe chmod(stage.tokenFile("lee"), 0o640) == 0)
        #expect(try await stage.run("lee", "rooms").code == 78)
        await stage.server.stop()
    }

    @Test func `rooms are listed, shown, and not ended before they have started`() async throws {
        let stage = try await CommandStage()
        try await stage.login("kim")
        #expect(try await stage.run("kim", "rooms").diagnostics == "lecture-live: No rooms match.\n")
        #expect(try await stage.run("kim", "rooms", "--quiet").diagnostics.isEmpty)
        let made = try await room("Algebra\u{7}", of: "kim", stage)
        let list = try await stage.run("kim", "rooms", "--state", "SCHEDULED", "--limit", "1")
        #expect(list.output == "\(made.id)\tSCHEDULED\tAlgebra\u{FFFD}\t\n")
        #expect(try await stage.run("kim", "rooms", "list", "--state", "ENDED").output.isEmpty)
        let lines = try await stage.run("kim", "rooms", "--json")
        #expect(lines.output.hasPrefix("{\"event\":\"live_room\",\"room\":\(made.id),\"state\":\"SCHEDULED\""))
        let show = try await stage.run("kim", "rooms", "show", "\(made.id)")
        #expect(show.output.contains("state    SCHEDULED\n") && show.output.contains("archive  NOT_ARCHIVED\n"))
        let end = try await stage.run("kim", "rooms", "end", "\(made.id)")
        #expect(end.code == 75 && end.diagnostics.contains("has not started") && end.diagnostics.contains("--resume"))
        #expect(end.diagnostics.contains("'lecture-live rooms delete \(made.id)' removes it."))
        let unknown = try await stage.run("kim", "rooms", "show", "99", "--json")
        #expect(unknown.code == 1 && unknown.output.contains(#""server_code":"VIDEO_ROOM_NOT_FOUND""#))
        let archive = try await stage.run("kim", "archive", "\(made.id)", "--json")
        #expect(archive.code == 75)
        #expect(archive.output == "{\"event\":\"live_archive\",\"room\":\(made.id),\"state\":\"NOT_ARCHIVED\"}\n")
        // What the refusal advises works.
        #expect(try await stage.run("kim", "rooms", "delete", "\(made.id)").code == 0)
        #expect(try await stage.run("kim", "rooms").output.isEmpty)
        await stage.server.stop()
    }

    @Test func `a token that is not valid, and a server that is not there, are said as such`() async throws {
        let stage = try await CommandStage()
        try await stage.login("kim")
        try Data("another-token\n".utf8).write(to: URL(filePath: stage.tokenFile("kim")))
        for words in [["rooms"], ["chat", "1"], ["archive", "1"], ["broadcast"], ["watch", "1", "--no-video"]] {
            let media = MediaFactories(feed: MediaFactories.standard([:]).feed, picture: { _ in silentPicture() })
            let end = try await stage.start("kim", words + ["--json"], media: media).end()
            #expect(end.code == 77, "\(words)")
            #expect(end.output.contains(#""code":80203,"name":"channel_unauthorized""#))
            #expect(end.diagnostics.contains("Log in: 'lecture-live login'."))
        }
        await stage.server.stop()
        for words in [["rooms"], ["chat", "1"], ["archive", "1"], ["broadcast"]] {
            let end = try await stage.start("kim", words).end()
            #expect(end.code == 69, "\(words)")
            #expect(end.diagnostics.contains("Check '--server', and whether the server runs."))
        }
    }

    @Test func `a chat is read and written, line by line, until the end of the input`() async throws {
        let stage = try await CommandStage()
        for user in ["kim", "lee"] { try await stage.login(user, "--name", user.capitalized) }
        let room = try await room("Chat", of: "kim", stage)
        try await stage.client("kim") { client in
            try await client.join(room.id)
            for number in 1...3 { try await client.send("early \(number)", channelID: room.channelID) }
        }
        let input = try InputPipe()
        input.write("hello\n\n  \nred \u{1B}[31m\ntwo\twords\n" + String(repeating: "x", count: 3000) + "\nlast")
        input.close()
        let end = try await stage.start(
            "lee", ["chat", "\(room.id)", "--history", "2", "--no-follow"], input: input.reading
        ).end()
        #expect(end.code == 0, "\(end.diagnostics)")
        let texts = end.output.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst() }
        #expect(texts == ["Kim: early 2", "Kim: early 3", "Lee: hello", "Lee: two\u{FFFD}words", "Lee: last"])
        let time = end.output.prefix(9).split(separator: ":")
        #expect(time.count == 3 && time.allSatisfy { Int($0.prefix(2)) != nil })
        #expect(end.diagnostics.contains("A line of more than 2000 bytes was not sent."))
        // The escape sequence is refused by the server, and the next line is sent all the same.
        #expect(end.diagnostics.contains("INVALID_CHANNEL_MESSAGE"))
        await stage.server.stop()
    }

    @Test func `a chat in lines for programs has all that is known of a message`() async throws {
        let stage = try await CommandStage()
        for user in ["kim", "lee"] { try await stage.login(user) }
        let room = try await room("Chat", of: "kim", stage)
        let input = try InputPipe()
        let chat = stage.start("lee", ["chat", "\(room.id)", "--json", "--no-follow"], input: input.reading)
        try await chat.output.wait(for: #""state":"open""#)
        try await stage.client("kim") { client in
            try await client.join(room.id)
            try await client.send("a \"quote\"\nand a line", customType: "question", channelID: room.channelID)
        }
        try await chat.output.wait(for: #""type":"question","text":"a \"quote\"\nand a line""#)
        input.close()
        let end = try await chat.end()
        #expect(end.code == 0 && end.output.contains(#""viewers":2"#))
        #expect(end.output.contains(#""origin":"MEMBER","user":"kim","name":"kim""#))
        await stage.server.stop()
    }

    @Test func `a line that comes too soon is sent when the server permits it`() async throws {
        let clock = Guarded(SystemClock().now())
        let stage = try await CommandStage { options in
            options.chat.burst = 2
            options.now = { clock.withLock { $0 } }
        }
        try await stage.login("kim")
        let room = try await room("Chat", of: "kim", stage)
        let waits = Guarded<[Duration]>([])
        let time = LiveTime(clock: SystemClock(), random: SystemRandom()) { wait in
            waits.withLock { $0.append(wait) }
            // The server's clock is the test's.
            clock.withLock { $0 = $0 + wait }
        }
        let input = try InputPipe()
        input.write("1\n2\n3\n")
        input.close()
        let end = try await stage.start(
            "kim", ["chat", "\(room.id)", "--no-follow"], input: input.reading, time: time
        ).end()
        #expect(end.code == 0)
        #expect(end.output.split(separator: "\n").map { $0.suffix(1) } == ["1", "2", "3"])
        #expect(waits.withLock { $0 }.contains(.seconds(1)))
        await stage.server.stop()
    }

    @Test func `a chat that was kept is printed with its positions`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let sent = Timestamp(milliseconds: 1_800_000_000_000)
        let log = ChatLog(entries: [
            .init(
                id: 2, position: .seconds(3725), sentAt: sent, origin: .member, userID: "lee", userName: "Lee",
                text: "two\nlines\u{1B}[2J"),
            .init(id: 1, position: .milliseconds(1500), sentAt: sent, origin: .app, text: "welcome"),
        ])
        let file = try directory.write(log.webVTT, to: "chat.vtt")
        func run(_ words: String...) async throws -> (code: Int32, output: String, diagnostics: String) {
            let effects = LiveEffects(media: .standard([:]))
            return try await RunningCommand(words, environment: [:], effects, secrets: []).end()
        }
        let end = try await run("chat", "--file", file)
        #expect(end.output == "00:00:01 APP: welcome\n01:02:05 Lee: two\n         lines\u{FFFD}[2J\n")
        let lines = try await run("chat", "--json", "--file", file)
        #expect(lines.output.contains(#""text":"welcome","position_ms":1500"#) && !lines.output.contains("\"room\""))
        let other = try await run("chat", "--file", try directory.write("no chat", to: "other.vtt"))
        #expect(other.code == 65 && other.diagnostics.contains("it is not WebVTT"))
        #expect(try await run("chat", "--file", directory.file("absent")).code == 74)
    }
}

/// A picture that no test gets to.
private func silentPicture() -> TestPicture { TestPicture(LiveJournal()) }
