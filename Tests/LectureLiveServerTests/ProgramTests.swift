import Foundation
import Glibc
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// The built program: its command line, its end, and what a kill leaves.
@Suite(.timeLimit(.minutes(2)))
struct ProgramTests {
    private static let program = Places.builtProduct("lecture-live-server")

    private func credentials(_ directory: TemporaryDirectory) throws -> String {
        let file = try directory.write(LiveStage.credentials + "\n", to: "credentials")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        return file
    }

    /// Starts the program on a state directory.
    private func start(
        _ directory: TemporaryDirectory, rtmp: String = "none"
    ) async throws -> (process: ChildProcess, application: LiveClient, line: JSONValue) {
        let process = try ChildProcess(
            Self.program,
            [
                "--state", directory.file("state"), "--credentials", try credentials(directory), "--listen",
                "127.0.0.1:0", "--rtmp-port", rtmp,
            ])
        let line = try JSONScanner.scan(try await process.firstLine())
        let port = Int(try #require(line["port"]?.integer))
        return (process, LiveClient(port: port, authorization: LiveStage.basic(LiveStage.credentials)), line)
    }

    @Test func `what was acknowledged before a kill is there after it, without a gap`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let (server, application, _) = try await start(directory)
        let host = try await LiveStage.member("host", application)
        #expect(try await host.createRoom() == 1)
        var members: [StageMember] = []
        for number in 0..<12 {
            let member = try await LiveStage.member("member-\(number)", application)
            #expect(try await member.join(1).status == 200)
            members.append(member)
        }
        let acknowledged = Guarded<[UInt64: String]>([:])
        await withTaskGroup(of: Void.self) { group in
            for member in members {
                group.addTask {
                    for number in 0..<10 {
                        let text = "\(member.id) \(number)"
                        guard let answer = try? await member.post(text), answer.status == 201,
                            let message = LiveMessage(answer.json)
                        else { return }
                        let count = acknowledged.withLock { known in
                            known[message.id] = text
                            return known.count
                        }
                        if count == 50 { server.send(SIGKILL) }
                    }
                }
            }
        }
        _ = await server.ending()
        let known = acknowledged.withLock(\.self)
        #expect(known.count >= 50 && known.count < 120)
        let (again, later, _) = try await start(directory)
        let history = try await LiveStage.member("host", later).history()
        #expect(history.map(\.id) == Array(1...UInt64(history.count)))
        for (id, text) in known { #expect(history[Int(id) - 1].text == text, "\(id)") }
        #expect(await again.terminate().status == 0)
    }

    @Test func `a kill leaves no nginx, and the next server closes what was open`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let (server, application, line) = try await start(directory, rtmp: "0")
        let nginx = Int32(try #require(line["nginxProcess"]?.integer))
        #expect(ProcessList.isRunning(nginx))
        let host = try await LiveStage.member("host", application)
        #expect(try await host.createRoom() == 1)
        let key = try #require(StreamKey(try await host.client.call("GET", "/v2/members/me/stream-key").json))
        let broadcaster = try ChildProcess(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10", "-c:v",
                "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p", "-f", "flv", key.publishURL,
            ])
        while try await host.client.call("POST", "/v2/members/me/video-rooms/1/start").status != 200 {
            try #require(!broadcaster.hasEnded)
        }
        server.send(SIGKILL)
        _ = await server.ending()
        _ = await broadcaster.ending()
        try await waitUntil { !ProcessList.isRunning(nginx) }
        let (again, later, _) = try await start(directory, rtmp: "0")
        let same = LiveClient(port: later.port, authorization: host.client.authorization)
        let room = try await same.call("GET", "/v2/members/me/video-rooms/1").json
        #expect(room["videoRoomState"]?.string == "LIVE_INACTIVE" && room["playUrl"] == nil)
        let state = try await same.call("GET", "/v2/members/me/stream-key").json["streamKeyState"]?.string
        #expect(state == "INACTIVE_LIVE")
        #expect(try await same.call("POST", "/v2/members/me/video-rooms/1/end").status == 200)
        #expect(await again.terminate().status == 0)
    }

    @Test func `the command line is checked, and says how it is used`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let file = try credentials(directory)
        let open = try directory.write(LiveStage.credentials, to: "open")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        let short = try directory.write("key:short", to: "short")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: short)
        let foreign = directory.file("foreign")
        try FileManager.default.createDirectory(
            atPath: foreign, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try directory.write("not a database, though it is long enough for one", to: "foreign/live.sqlite")
        let exposed = directory.file("exposed")
        try FileManager.default.createDirectory(
            atPath: exposed, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let taken = try RawServer { _ in }
        func state(_ path: String, _ more: String...) -> [String] {
            ["--credentials", file, "--state", path, "--rtmp-port", "none"] + more
        }
        let fresh = directory.file("fresh")
        let cases: [([String], Int32, String)] = [
            ([], 64, "--state and --credentials are needed"), (["--no"], 64, "'--no'"), (["--state"], 64, "a value"),
            (["--state", "a", "--state", "b"], 64, "twice"),
            (["--state", fresh, "--credentials", open], 78, "chmod 600"),
            (["--state", fresh, "--credentials", short], 78, "KEY:SECRET"),
            (["--state", fresh, "--credentials", directory.file("none")], 78, "cannot be read"),
            (state(fresh, "--listen", "8088"), 64, "ADDRESS:PORT"), (state(fresh, "--fragment", "1"), 64, "from 200"),
            (state(fresh, "--listen", "127.0.0.1:\(taken.port)"), 73, "127.0.0.1:\(taken.port)"),
            (state(directory.file("a/b")), 73, "a/b"), (state(foreign, "--listen", "127.0.0.1:0"), 65, "live.sqlite"),
            (state(exposed), 77, "0700"),
            (
                [
                    "--credentials", file, "--state", fresh, "--listen", "127.0.0.1:0", "--rtmp-port", "0", "--nginx",
                    "/nonexistent/nginx",
                ], 78, "/nonexistent/nginx"
            ),
        ]
        for (arguments, status, text) in cases {
            let ending = try await ChildProcess.run(Self.program, arguments)
            #expect(ending.status == status && ending.output.isEmpty, "\(arguments): \(ending.errorText)")
            #expect(ending.errorText.contains(text) && ending.errorText.hasPrefix("lecture-live-server: "))
            #expect(!ending.errorText.contains(LiveStage.credentials.split(separator: ":")[1]))
        }
        let help = try await ChildProcess.run(Self.program, ["--help"])
        #expect(help.status == 0 && help.text == LiveServerProgram.help && help.errors.isEmpty)
        #expect(help.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test func `SIGTERM ends a server with open streams cleanly`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        let (server, application, _) = try await start(directory)
        let host = try await LiveStage.member("host", application)
        #expect(try await host.createRoom() == 1)
        #expect(try await host.join(1).status == 200)
        let stream = try host.events()
        #expect(try await host.post("one").status == 201)
        server.send(SIGTERM)
        let ending = await server.ending()
        await stream.wait { _ in false }
        #expect(ending.status == 0 && ending.errors.isEmpty)
        #expect(ending.text.split(separator: "\n").count == 1)
    }
}
