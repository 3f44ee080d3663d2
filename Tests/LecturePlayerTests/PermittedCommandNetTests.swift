import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl play URL` of a stream that needs a permission: the built program with libmpv.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct PermittedCommandNetTests {
    private struct Line: Decodable {
        struct Permission: Decodable {
            let expiresMs: Int64?
            let playtimeLeftS: Int?
            let sectionFromMs: Int?
            let sectionToMs: Int?
            let message: String?
        }

        let event: String
        let state: String?
        let ending: String?
        let code: Int?
        let positionMs: Int?
        let permission: Permission?
    }

    private struct Home {
        let directory: TemporaryDirectory
        let sandbox: SandboxOrigin

        init() async throws {
            (directory, sandbox) = (try TemporaryDirectory(), try await SandboxOrigin.start(["--no-https"]))
            let key = #"{"id": "sandbox", "algorithm": "HS256", "secret_file": "\#(sandbox.drmKeyFile)"}"#
            try #"{"drm": {"keys": [\#(key)], "user_key": "sandbox"}}"#
                .write(toFile: directory.file("config.json"), atomically: true, encoding: .utf8)
        }

        func play(_ query: String) async throws -> (ending: ChildProcess.Ending, lines: [Line]) {
            let link = try await sandbox.link(key: "ranges-and-resuming", query: query)
            let ending = try await ChildProcess(
                BuiltProgram.url.path, ["--json", "play", link, "--no-video", "--audio-output", "null"],
                environment: [
                    "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                    "LECTURE_DEVICE": directory.file("device"), "LECTURE_CONFIG": directory.file("config.json"),
                    "PATH": "/usr/bin:/bin",
                ]
            ).ending()
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let lines = ending.output.split(separator: UInt8(ascii: "\n"))
            return (ending, try lines.map { try decoder.decode(Line.self, from: $0) })
        }
    }

    @Test func `a permitted section plays to its end, and the lines have the permission`() async throws {
        let home = try await Home()
        try await home.sandbox.set(
            playPolicy: """
                {"play_section": {"start_time": 2, "end_time": 4}, "expiration_playtime": 90,
                "message": "Hi\\u001b[2J.", "expiration_date": 1893455999}
                """, kind: 1)
        let (ending, lines) = try await home.play("play")
        #expect(ending.status == 0, "\(ending.errorText)")
        let last = try #require(lines.last)
        #expect(last.ending == "finished")
        let permission = try #require(last.permission)
        #expect(permission.expiresMs == 1_893_455_999_000 && permission.playtimeLeftS == 90)
        #expect(permission.sectionFromMs == 2000 && permission.sectionToMs == 4000)
        #expect(lines.filter { $0.state == "playing" }.allSatisfy { (1900...4600).contains($0.positionMs ?? 0) })
        // What the server says reaches the learner, and its control characters do not reach the terminal.
        #expect(ending.errorText.contains("Hi") && !ending.errorText.contains("\u{1B}"))
        await home.sandbox.stop()
    }

    @Test(arguments: [("refused", -8673, "This course is not yours."), ("expired;after=2", -8674, "Ask the provider")])
    func `a refusal and a forced end have their code, their sentence and status 77`(
        habits: String, code: Int, sentence: String
    ) async throws {
        let home = try await Home()
        try await home.sandbox.set(playHabits: habits)
        let (ending, lines) = try await home.play("play&play-period=1")
        #expect(ending.status == 77)
        #expect(lines.last?.ending == "failed" && lines.last?.code == code)
        #expect(ending.errorText.contains(sentence), "\(ending.errorText)")
        #expect(lines.contains { $0.state == "playing" } == (code == -8674))
        await home.sandbox.stop()
    }

    @Test func `a server that fails while it plays is reported, and the play goes on`() async throws {
        let home = try await Home()
        try await home.sandbox.set(playPolicy: #"{"play_section": {"start_time": 0, "end_time": 3}}"#, kind: 1)
        try await home.sandbox.set(playHabits: "status:500;after=1")
        let (ending, lines) = try await home.play("play&play-period=1")
        #expect(ending.status == 0, "\(ending.errorText)")
        let errors = lines.filter { $0.event == "error" }
        #expect(!errors.isEmpty && errors.allSatisfy { $0.code == -10_500 })
        // No token of a server, and no token of the link.
        for text in [ending.text, ending.errorText] { #expect(!text.contains("eyJ"), "\(text)") }
        await home.sandbox.stop()
    }
}
