import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl play --with` and `--url`: the built program with players of other kinds.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct OtherPlayerNetTests {
    /// A store with a lecture; each word of a licence's policy is the sandbox's.
    private struct Home {
        let directory: TemporaryDirectory
        let sandbox: SandboxOrigin
        let key: String

        init(_ policy: CallbackPolicy? = nil, key: String = "durable-on-the-disk") async throws {
            (directory, self.key) = (try TemporaryDirectory(), key)
            sandbox = try await SandboxOrigin.start(["--no-https"] + (policy == nil ? [] : ["--licensed"]))
            if let policy { try await sandbox.set(policy: policy) }
            let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
            try directory.write(#"{"drm":{"keys":[\#(server)],"user_key":"sandbox"}}"#, to: "config.json")
            let plain = "\(sandbox.http)/media/\(key).mp4"
            let url = policy == nil ? plain : try await sandbox.link(key: key)
            let kept = try await self("precache", "--progress", "none", "--key", key, url)
            #expect(kept.status == 0, "\(kept.errorText)")
        }

        func start(_ words: [String], path: String = "/usr/bin:/bin") throws -> ChildProcess {
            let environment = [
                "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                "LECTURE_DEVICE": directory.file("device"), "PATH": path, "DISPLAY": "", "WAYLAND_DISPLAY": "",
                "LECTURE_CONFIG": directory.file("config.json"),
            ]
            return try ChildProcess(BuiltProgram.url.path, words, environment: environment)
        }

        func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await start(words).ending() }

        /// A program for `--with`.
        func script(_ text: String) throws -> String {
            let path = try directory.write("#!/bin/sh\n\(text)\n", to: "player")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        func countUsed() async throws -> Int? {
            struct Line: Decodable {
                struct Licence: Decodable {
                    let countUsed: Int?
                    private enum CodingKeys: String, CodingKey { case countUsed = "count_used" }
                }
                let licence: Licence
            }
            let shown = try await self("--json", "licence", "show", key)
            return try JSONDecoder().decode(Line.self, from: shown.output).licence.countUsed
        }
    }

    private static func states(_ output: Data) -> [String] {
        struct Line: Decodable { let state: String }
        return output.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Line.self, from: Data($0)).state
        }
    }

    private static func counted(_ count: Int) -> CallbackPolicy {
        var policy = CallbackPolicy()
        policy.expirationCount = count
        return policy
    }

    private static let mpv = "mpv --no-config --vo=null --ao=null --end=2 --really-quiet"

    @Test func `mpv plays a licensed lecture, which is counted once`() async throws {
        let home = try await Home(Self.counted(2))
        let played = try await home("--json", "play", home.key, "--with", Self.mpv)
        #expect(played.status == 0, "\(played.errorText)")
        #expect(Self.states(played.output) == ["preparing", "prepared", "playing", "stopped"])
        #expect(!played.text.contains("http://127.0.0.1") && !played.errorText.contains("http://127.0.0.1"))
        #expect(try await home.countUsed() == 1)
        #expect(try await home("--json", "lms", "list").text.isEmpty)
        await home.sandbox.stop()
    }

    @Test func `the URL is the last argument, and is dead after the program`() async throws {
        let home = try await Home(Self.counted(2))
        let script = try home.script(#"printf '%s\n' "$@" >"$0.words"; exec curl -q -s -o "$0.media" "$3""#)
        let played = try await home("play", home.key, "--with", "\(script)  --one two")
        #expect(played.status == 0, "\(played.errorText)")
        let words = try String(contentsOfFile: "\(script).words", encoding: .utf8).split(separator: "\n")
        #expect(words.prefix(2) == ["--one", "two"] && words.count == 3)
        let film = "\(Places.repository())/Tools/lecture-sandbox/Fixtures/\(home.key).mp4"
        let (read, whole) = (
            try Data(contentsOf: URL(filePath: "\(script).media")), try Data(contentsOf: URL(filePath: film))
        )
        #expect(read == whole)
        let dead = try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", String(words[2])])
        #expect(dead.status == 7, "nothing listens")
        #expect(try await home.countUsed() == 1)
        await home.sandbox.stop()
    }

    @Test func `a program that is not there costs no play`() async throws {
        let home = try await Home(Self.counted(2))
        for (command, name) in [("no-such-player --x", "no-such-player"), ("/dev/null", "/dev/null")] {
            let missing = try await home("--json", "play", home.key, "--with", command)
            #expect(missing.status == 78 && missing.errorText.contains(name), "\(missing.errorText)")
            #expect(missing.text.contains("player_program_missing"))
        }
        #expect(try await home.countUsed() == 0)
        // Its path works.
        let found = try await home("play", home.key, "--with", "/usr/bin/curl -q -s -o /dev/null")
        #expect(found.status == 0, "\(found.errorText)")
        #expect(try await home.countUsed() == 1)
        await home.sandbox.stop()
    }

    @Test func `a licence that refuses starts no program`() async throws {
        let home = try await Home(Self.counted(1))
        let script = try home.script(#"touch "$0.ran"; exec curl -q -s -o /dev/null "$1""#)
        #expect(try await home("play", home.key, "--with", script).status == 0)
        try FileManager.default.removeItem(atPath: "\(script).ran")
        for words in [["--with", script], ["--url"]] {
            let refused = try await home.start(["--json", "play", home.key] + words).ending()
            #expect(refused.status == 77 && refused.text.contains("count_used_up"), "\(refused.errorText)")
            #expect(Self.states(refused.output) == ["preparing", "stopped"])
        }
        #expect(!FileManager.default.fileExists(atPath: "\(script).ran"))
        #expect(try await home.countUsed() == 1)
        await home.sandbox.stop()
    }

    @Test func `a program that fails or is killed ends the play with a sentence`() async throws {
        let home = try await Home()
        let failed = try await home("play", home.key, "--with", try home.script("exit 3"))
        #expect(failed.status == 74 && failed.errorText.contains("exit status 3"), "\(failed.errorText)")
        let script = try home.script(#"echo $$ >"$0.pid"; exec curl -q -s --limit-rate 1k -o "$0.media" "$1""#)
        let playing = try home.start(["--json", "play", home.key, "--with", script])
        try await playing.wait(for: .output) { Self.states($0).last == "playing" }
        let text = try String(contentsOfFile: "\(script).pid", encoding: .utf8)
        let player = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        kill(player, SIGKILL)
        let killed = await playing.ending()
        #expect(killed.status == 74 && killed.errorText.contains("signal 9"), "\(killed.errorText)")
        await home.sandbox.stop()
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the play and its program`(signal: Int32) async throws {
        let home = try await Home()
        let script = try home.script(#"echo $$ >"$0.pid"; exec curl -q -s --limit-rate 1k -o "$0.media" "$1""#)
        let playing = try home.start(["--json", "play", home.key, "--with", script])
        try await playing.wait(for: .output) { Self.states($0).last == "playing" }
        playing.send(signal)
        #expect(await playing.ending().status == 128 + signal)
        let text = try String(contentsOfFile: "\(script).pid", encoding: .utf8)
        let player = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(player, 0) == -1 && errno == ESRCH)
        await home.sandbox.stop()
    }

    @Test func `a licence that ends while it plays ends the program`() async throws {
        var policy = CallbackPolicy()
        policy.expirationDate = Int64(Date().timeIntervalSince1970) + 5
        let home = try await Home(policy, key: "bytes-32M-3")
        let script = try home.script(#"exec curl -q -s --limit-rate 200k -o "$0.media" "$1""#)
        let ended = try await home("--json", "play", home.key, "--with", script)
        let late = Date().timeIntervalSince1970 - Double(policy.expirationDate ?? 0)
        #expect(ended.status == 77 && ended.text.contains("licence_expired"), "\(ended.errorText)")
        #expect(Self.states(ended.output) == ["preparing", "prepared", "playing", "stopped"])
        #expect((-0.5...3).contains(late), "\(late) s after the end")
        await home.sandbox.stop()
    }

    @Test func `a URL is printed and serves until a signal`() async throws {
        let home = try await Home(Self.counted(2))
        let serving = try home.start(["play", home.key, "--url"])
        let url = try await serving.firstLine()
        let port = try #require(url.split(separator: ":").last?.split(separator: "/").first)
        let media = try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", url])
        #expect(media.output.count == 219_257)
        #expect(try await home.countUsed() == 1)
        // Its port is in use; a free one is not.
        let second = try await home("play", home.key, "--url", "--port", String(port))
        #expect(second.status == 73 && second.errorText.contains("127.0.0.1:\(port)"), "\(second.errorText)")
        serving.send(SIGINT)
        #expect(await serving.ending().status == 128 + SIGINT)
        let again = try home.start(["--json", "play", home.key, "--url", "--port", String(port)])
        let output = try await again.wait(for: .output) { Self.states($0).last == "prepared" }
        #expect(String(decoding: output, as: UTF8.self).contains(#""url":"http://127.0.0.1:\#(port)/"#))
        again.send(SIGTERM)
        #expect(await again.ending().status == 128 + SIGTERM)
        await home.sandbox.stop()
    }

    @Test func `a stream is played by another program`() async throws {
        let home = try await Home()
        let url = "\(home.sandbox.http)/media/ranges-and-resuming.mp4"
        let played = try await home("--json", "play", url, "--with", Self.mpv)
        #expect(played.status == 0, "\(played.errorText)")
        #expect(Self.states(played.output) == ["preparing", "prepared", "playing", "stopped"])
        #expect(try await home("--json", "list").text.split(separator: "\n").count == 1)
        await home.sandbox.stop()
    }

    @Test(arguments: [
        ["--with", "mpv", "--no-video"], ["--with", "mpv", "--url"], ["--url", "--start", "10"], ["--with", " "],
        ["--with", "mpv", "--subtitles", "x.srt"], ["--url", "--speed", "2"], ["--url", "--port", "70000"],
        ["--with", "mpv", "--user", "kim"], ["--port", "8080"],
    ])
    func `options of the own player are refused`(words: [String]) async throws {
        let refused = try await ChildProcess.run(
            BuiltProgram.url.path, ["--store", "/nowhere", "play", "a"] + words)
        #expect(refused.status == 64, "\(refused.errorText)")
    }

    @Test func `the program does not need libmicrohttpd to start`() async throws {
        let libraries = try await ChildProcess.run("/usr/bin/ldd", [BuiltProgram.url.path])
        #expect(libraries.text.contains("libsqlite3") && !libraries.text.contains("microhttpd"), "\(libraries.text)")
    }

    @Test func `slow readers cost little memory`() async throws {
        let home = try await Home(key: "bytes-96M-3")
        let serving = try home.start(["play", home.key, "--url"])
        let url = try await serving.firstLine()
        // Eight connections, each of which receives a little and then no more.
        let files = (0..<8).flatMap { ["-o", home.directory.file("part-\($0)"), url] }
        let reader = try ChildProcess(
            "/usr/bin/curl",
            ["-q", "-s", "-Z", "--parallel-immediate", "--limit-rate", "20k"] + files)
        let before = serving.peakMemory
        await ChildProcess.wait(forWritten: 1_000_000, by: [reader])
        let after = serving.peakMemory
        // Two windows of a MiB and a buffer for each, and what one chunk takes while it is verified.
        #expect(before > 0 && after > 0 && after < before + 40 << 20, "\(before >> 10) KiB, then \(after >> 10) KiB")
        #expect(after < 128 << 20, "\(after >> 10) KiB")
        reader.send(SIGKILL)
        _ = await reader.ending()
        serving.send(SIGTERM)
        _ = await serving.ending()
        await home.sandbox.stop()
    }
}

extension ChildProcess {
    /// The most memory that the program has used, in bytes.
    fileprivate var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
