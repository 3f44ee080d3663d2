import FlipFlopLiteSDK
import Foundation
import LectureCommand
import LectureLive
import LectureLiveCommand
import LectureModel
import LectureTestSupport
import Testing

/// What the command line accepts, what help shows, and what each error leads to.
@Suite struct CommandLineTests {
    private static let paths: [[String]] =
        [[]] + LiveTable.program.leaves.map(\.path) + [["rooms"]]

    private func run(
        _ words: [String], environment: [String: String] = ["HOME": "/nowhere"]
    ) async throws -> (code: Int32, output: String, diagnostics: String) {
        let effects = LiveEffects(media: .standard([:]))
        return try await RunningCommand(words, environment: environment, effects, secrets: []).end()
    }

    @Test(arguments: paths) func `help is as recorded`(path: [String]) throws {
        let name = (["help"] + path).joined(separator: "-") + ".txt"
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
        let text = HelpPage.text(path: path, of: LiveTable.program)
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" { try Data(text.utf8).write(to: file) }
        #expect(try text == String(contentsOf: file, encoding: .utf8), "RECORD_GOLDEN=1 records it anew")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(!text.contains("lecturectl ") || [["archive"], ["watch"]].contains(path))
    }

    @Test func `every command has an example that can be parsed`() throws {
        for (path, spec) in LiveTable.program.leaves {
            #expect(!spec.examples.isEmpty, "\(path)")
            for example in spec.examples where example.line.hasPrefix("lecture-live ") {
                var words = example.line.replacing("'", with: "").split(separator: " ").dropFirst().map(String.init)
                // A name of two words.
                if let place = words.firstIndex(of: "Lee") { words.remove(at: place) }
                #expect(try ArgumentParser.parse(words, of: LiveTable.program).path == path, "\(example.line)")
            }
        }
    }

    private static let refusals: [(words: [String], part: String)] = [
        ([], "A command is required. See 'lecture-live --help'."),
        (["brodcast"], "Did you mean 'broadcast'?"),
        (["rooms", "shwo"], "Did you mean 'show'?"),
        (["rooms", "--state", "OPEN"], "must be one of SCHEDULED, LIVE, LIVE_INACTIVE, ENDED, CANCELLED"),
        (["rooms", "list"], "No server: '--server' or LECTURE_LIVE_SERVER is required."),
        (["rooms", "show"], "ROOM is missing."),
        (["rooms", "end", "x"], "ROOM 'x' must be a whole number of at least 1."),
        (["login", "--server", "http://h", "--user", "kim"], "Options '--credentials' and '--user' are required."),
        (["login", "--server", "ftp://h"], "only http, https can be fetched"),
        (["broadcast", "--server", "http://h", "--source", "window"], "must be test, screen[:DISPLAY], camera:DEVICE"),
        (["broadcast", "--server", "http://h", "--source", "camera:"], "must be test, screen[:DISPLAY]"),
        (["broadcast", "--server", "http://h", "--microphone", "hw:0"], "is for the sources screen and camera"),
        (["broadcast", "--size", "1281x720"], "must be one of 640x360, 960x540, 1280x720, 1920x1080"),
        (["broadcast", "--fps", "61"], "must be a whole number from 1 to 60"),
        (["broadcast", "--bitrate", "fast"], "must be a rate in bits per second"),
        (["broadcast", "--duration", "soon"], "must be a length of time"),
        (["broadcast", "--room", "1", "--title", "x"], "cannot be used together"),
        (["watch"], "ROOM is missing."),
        (["chat", "--server", "http://h"], "ROOM, '--file' or '--lecture' is missing."),
        (["chat", "1", "--file", "x"], "Give a room or '--file', not both."),
        (["chat", "1", "--lecture", "x", "--store", "/nowhere"], "Give a room or '--lecture', not both."),
        (["chat", "--lecture", "x"], "A store is needed: '--store' or LECTURE_STORE."),
        (["chat", "--lecture", "x", "--file", "y"], "cannot be used together"),
        (["watch", "1", "--report"], "needs a value"),
        (["chat", "1", "--history", "-1"], "must be a whole number from 0"),
        (["archive", "1", "2"], "Unexpected argument '2'."),
        (["archive", "1", "--token", "abc"], "Unknown option '--token'."),
    ]

    @Test(arguments: refusals) func `a command line that cannot be used is refused`(
        words: [String], part: String
    ) async throws {
        let end = try await run(words)
        #expect(end.code == 64)
        #expect(end.diagnostics.hasPrefix("lecture-live: ") && end.diagnostics.contains(part), "\(end.diagnostics)")
        #expect(end.output.isEmpty)
        let lines = try await run(["--json"] + words)
        #expect(lines.output.hasPrefix(#"{"event":"error","code":-"#))
    }

    @Test func `a token has a place, or the command says that it has none`() async throws {
        let end = try await run(["rooms", "--server", "http://127.0.0.1:1"], environment: [:])
        #expect(end.code == 64)
        #expect(end.diagnostics.contains("no XDG_STATE_HOME and no HOME says where the token is"))
        let without = try await run(["rooms", "--server", "http://127.0.0.1:1"])
        #expect(without.code == 77)
        #expect(without.diagnostics == "lecture-live: No member is logged in: 'lecture-live login' stores a token.\n")
    }

    @Test(arguments: [
        ("test", LiveSource.test), ("screen", .screen("")), ("screen::1", .screen(":1")),
        ("camera:/dev/video0", .camera("/dev/video0")), ("file:a:b.mp4", .file("a:b.mp4", loops: false)),
        ("file:a.mp4,loop", .file("a.mp4", loops: true)), ("file:a,b", .file("a,b", loops: false)),
        ("test:1", nil), ("camera", nil), ("file:", nil), ("file:,loop", nil), ("", nil), ("Test", nil),
    ])
    func `a source is read from its words`(text: String, source: LiveSource?) {
        #expect(LiveSource(text) == source)
    }

    private static let statuses: [(LiveFailure.Code, Int32)] = [
        (.unauthorized, 77), (.server, 69), (.connectionFailed, 69), (.tooManyRetries, 69), (.noServerAddress, 64),
        (.invalidVideoRoomID, 1), (.streamingStopped, 74), (.streamingInvalidView, 74), (.playFailed, 74),
        (.audioSession, 74), (.media, 74), (.lowLatencyPlay, 74), (.tooLongBuffering, 74), (.streamingFailed, 65),
        (.channelUnexpected, 65), (.invalidMessage, 65), (.messageSend, 65), (.noStreamKey, 65),
        (.serverUnexpected, 65), (.streamKeyGet, 65), (.roomCreate, 65), (.roomGet, 65), (.roomJoin, 65),
        (.roomStart, 65), (.roomLeave, 65), (.roomEnd, 65), (.messagesGet, 65), (.notPrepared, 70),
    ]

    @Test func `every number has a status and a name`() throws {
        #expect(Set(Self.statuses.map(\.0)) == Set(LiveFailure.Code.allCases))
        for (code, status) in Self.statuses {
            #expect(LiveEnding.status(for: LiveFailure(code, "x")).code == status, "\(code)")
            #expect(FFLErrorCode(rawValue: code.rawValue) != nil)
            #expect(LiveLine.name(code) != "unknown")
            #expect(try faults(LiveLine.error(LiveFailure(code, "x", serverCode: "A_B"), "X.")) == [])
        }
        var down = LiveFailure(.roomGet, "the server has not answered")
        down.isUnavailable = true
        #expect(LiveEnding.status(for: down) == .unavailable)
        #expect(
            LiveEnding.sentence(down) == "The server has not answered. Check '--server', and whether the server runs.")
    }

    @Test(arguments: [
        ("VIDEO_ROOM_NOT_FOUND", 1, "'lecture-live rooms' lists"),
        ("VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE", 75, ""), ("TOO_MANY_MESSAGES", 75, ""),
        ("VIDEO_ROOM_ALREADY_OPEN", 65, "--resume"), ("CHANNEL_CLOSED", 65, "lecture-live archive"),
        ("NOT_VIDEO_ROOM_OWNER", 65, "Only the member"), ("MEMBER_BANNED", 65, "host"),
        ("INVALID_APP_USER_ID_FORMAT", 65, "1 to 50"), ("INVALID_APP_CREDENTIALS", 65, "--credentials"),
    ])
    func `a word of the server has a status and a remedy`(word: String, status: Int32, part: String) {
        let failure = LiveFailure(.roomGet, "the server has answered 4xx", serverCode: word)
        #expect(LiveEnding.status(for: failure).code == status)
        let sentence = LiveEnding.sentence(failure)
        #expect(sentence.hasPrefix("The server has answered 4xx.") && (part.isEmpty || sentence.contains(part)))
    }

    @Test func `all lines are those of their schemas`() throws {
        var room = VideoRoom(id: 1, state: .ended, title: "A \"B\"", channelID: 2)
        (room.session, room.archiveState, room.archiveURL) = (2, .archived, "https://h/a")
        room.liveStartedAt = Timestamp(milliseconds: 1_800_000_000_123)
        room.liveEndedAt = Timestamp(milliseconds: 1_800_000_100_000)
        var lines = [LiveLine.room(room), LiveLine.archive(room)]
        lines += VideoRoomState.allCases.map { LiveLine.room(VideoRoom(id: 1, state: $0, title: "", channelID: 2)) }
        lines += StreamerState.allCases.map { LiveLine.state(.broadcaster, $0.rawValue, room: nil) }
        lines += PlayerState.allCases.map { LiveLine.state(.viewer, $0.rawValue, room: 3) }
        lines += BroadcastState.allCases.map { LiveLine.state(.broadcast, $0.rawValue, room: 3, viewers: 0) }
        lines += AlarmState.allCases.map { LiveLine.alarm($0.rawValue, room: nil, bitrate: 800_000) }
        for line in lines {
            #expect(line.hasSuffix("}\n"))
            #expect(try faults(line) == [], "\(line)")
        }
    }

    @Test func `version and help need no server`() async throws {
        #expect(try await run(["version"]).output == "lecture-live \(ProgramVersion.number)\n")
        #expect(
            try await run(["help", "rooms", "end"]).output.hasPrefix("Usage: lecture-live rooms end [OPTIONS] ROOM"))
        #expect(try await run(["--help"]).code == 0)
    }
}
