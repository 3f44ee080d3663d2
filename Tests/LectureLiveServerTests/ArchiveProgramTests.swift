import Foundation
import Glibc
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// The built server and its archives: kills while a lecture is made, options, and what nginx is started with.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ArchiveProgramTests {
    private static let program = Places.builtProduct("lecture-live-server")

    private func credentials(_ directory: TemporaryDirectory) throws -> String {
        let file = try directory.write(LiveStage.credentials + "\n", to: "credentials")
        try Disk.permit(file, 0o600)
        return file
    }

    private func start(
        _ directory: TemporaryDirectory, _ more: String...
    ) async throws -> (process: ChildProcess, application: LiveClient) {
        let process = try ChildProcess(
            Self.program,
            [
                "--state", directory.file("state"), "--credentials", try credentials(directory), "--listen",
                "127.0.0.1:0", "--rtmp-port", "none",
            ] + more)
        let line = try JSONScanner.scan(try await process.firstLine())
        let port = Int(try #require(line["port"]?.integer))
        return (process, LiveClient(port: port, authorization: LiveStage.basic(LiveStage.credentials)))
    }

    /// Waits for a line of the log.
    private func line(_ event: String, _ process: ChildProcess) async throws -> JSONValue {
        let word = Data("\"event\":\"\(event)\"".utf8)
        let text = try await process.wait(for: .errors) { written in
            written.range(of: word).map { written[$0.upperBound...].contains(0x0A) } ?? false
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let found = try #require(lines.first { $0.contains("\"event\":\"\(event)\"") })
        return try JSONScanner.scan(Array(found.utf8))
    }

    @Test func `a server that is killed while a lecture is made takes the process with it, and the next one makes it`()
        async throws
    {
        let room = try await EndedRoom([TestRecording(size: "640x360", isLarge: true, repeated: 12)])
        let length = try #require(
            try FileManager.default.attributesOfItem(atPath: room.recording(0))[.size] as? Int)
        // At the beginning, and when half of it is sealed.
        for share in [0, 50] {
            let (server, _) = try await start(room.directory)
            let child = Int32(try #require(try await line("archiving", server)["process"]?.integer))
            let part = room.sealed + ".part"
            func isMade() -> Bool { FileManager.default.fileExists(atPath: room.sealed) }
            try await waitUntil {
                try #require(!server.hasEnded)
                return Self.length(part) >= length / 100 * share || isMade()
            }
            server.send(SIGKILL)
            _ = await server.ending()
            try await waitUntil { !ProcessList.isRunning(child) }
            // On a busy machine the moment may be missed: then there is nothing to interrupt any more.
            if isMade() { return }
            #expect(try room.files("recordings").count == 1)
            #expect(try room.files("archive") == (share > 0 ? ["\(room.uuid).sealed.part"] : []))
        }
        let (server, application) = try await start(room.directory)
        let archived = try await line("archived", server)
        #expect(archived["room"]?.integer == room.id && (archived["bytes"]?.integer ?? 0) > length / 2)
        #expect(try room.files("recordings").isEmpty && room.files("archive") == ["\(room.uuid).sealed"])
        let host = try await LiveStage.member("host", application)
        let link = try #require(try await host.room(Int(room.id))["vodUrl"]?.string)
        let descriptor = try await CurlAnswer.get(link).json
        let media = try await CurlAnswer.get(try #require(descriptor["media"]?["url"]?.string))
        #expect(Hexadecimal.text(try Disk.sha256(media.body)) == descriptor["media"]?["sha256"]?.string)
        let ending = await server.terminate()
        #expect(ending.status == 0 && !ending.errorText.contains("failed"), "\(ending.errorText)")
        // A lecture of many segments is served in constant memory: see the peak of the process.
        #expect(media.body.count > 20 << 20)
    }

    private static func length(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    @Test func `a large lecture is sent in constant memory`() async throws {
        let room = try await EndedRoom([TestRecording(size: "640x360", isLarge: true, repeated: 12)])
        let (server, application) = try await start(room.directory)
        _ = try await line("archived", server)
        let host = try await LiveStage.member("host", application)
        let link = try #require(try await host.room(Int(room.id))["vodUrl"]?.string)
        let media = String(link.dropLast(2)) + "media.mp4"
        func peak() throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(server.identifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber)))
        }
        _ = try await CurlAnswer.get(media, "-r", "0-0")
        let before = try peak()
        for _ in 0..<2 { #expect(try await CurlAnswer.get(media).body.count > 20 << 20) }
        // Kibibytes: a segment twice for each of three answers, and the parts of the library.
        #expect(try peak() - before < 12 << 10)
        #expect(await server.terminate().status == 0)
    }

    @Test func `options of archives are read, and wrong ones refused`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let base = ["--state", "s", "--credentials", try credentials(directory)]
        func options(_ more: String...) throws -> ArchiveOptions { try LiveArguments(base + more).options().archives }
        let plain = try options()
        #expect(plain.isOn && plain.keyFile == nil && plain.licenceKeyFile == nil && plain.userKey == nil)
        #expect(plain.licenceLifetime == .seconds(30 * 86_400) && plain.lmsURL == nil && plain.joinProgram == nil)
        let all = try options(
            "--archive", "no", "--archive-key", "a", "--licence-key", "l", "--licence-days", "7", "--user-key", "u-1",
            "--lms-url", "https://lms.example/x")
        #expect(!all.isOn && all.keyFile == "a" && all.licenceKeyFile == "l" && all.userKey == "u-1")
        #expect(all.licenceLifetime == .seconds(7 * 86_400) && all.lmsURL == "https://lms.example/x")
        let wrong = [
            ["--archive", "maybe"], ["--licence-days", "0"], ["--licence-days", "3651"], ["--user-key", "a b"],
            ["--user-key", "\u{E9}"], ["--lms-url", "lms"], ["--lms-url", "ftp://lms.example"],
        ]
        for words in wrong {
            let problem = #expect(throws: LiveArguments.Problem.self, "\(words)") {
                try LiveArguments(base + words).options()
            }
            #expect(problem?.status == 64 && problem?.text.contains(words[0]) == true)
        }
    }

    @Test func `key files that others can read end the program with 78`() async throws {
        for option in ["--archive-key", "--licence-key"] {
            let directory = try TemporaryDirectory.inMemory()
            let key = try directory.write(String(repeating: "k", count: 43), to: "key")
            try Disk.permit(key, 0o644)
            let ending = try await ChildProcess.run(
                Self.program,
                [
                    "--state", directory.file("state"), "--credentials", try credentials(directory), "--listen",
                    "127.0.0.1:0", "--rtmp-port", "none", option, key,
                ])
            #expect(ending.status == 78 && ending.errorText.contains(key), "\(ending.errorText)")
            #expect(!ending.errorText.contains("kkkk"))
        }
    }

    @Test func `nginx records only where archives are made`() {
        var setup = NginxServer.Setup(
            program: "nginx", modules: "m", directory: "/r", fragments: "/f", recordings: nil, address: "127.0.0.1",
            port: 1, hooks: "http://h", filesApplication: "files-s", fragmentMilliseconds: 500)
        #expect(!NginxServer(setup) {}.configuration.contains("record"))
        setup.recordings = "/state/recordings"
        let text = NginxServer(setup) {}.configuration
        #expect(text.contains("record_path \"/state/recordings\";") && text.contains("\"http://h/recorded\";"))
        // In the application that makes fragments, not in the one with keys.
        let place = text.range(of: "record all")?.lowerBound
        #expect(place.map { $0 > (text.range(of: "application files-s")?.lowerBound ?? text.endIndex) } == true)
    }
}
