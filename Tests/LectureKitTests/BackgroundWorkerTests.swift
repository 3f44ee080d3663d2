import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// The process that continues downloads: the built `lecturectl`, real downloads, real kills.
@Suite(.timeLimit(.minutes(2)))
struct BackgroundWorkerNetTests {
    private static let program = Places.builtProduct("lecturectl")

    private static func configuration(_ site: Site) -> LectureConfiguration {
        var configuration = LectureConfiguration(storeDirectory: site.store)
        configuration.reserveBytes = 1 << 20
        configuration.deviceDirectory = site.directory.file("device")
        return configuration
    }

    /// A store with a queued download of which nothing is fetched yet.
    private static func prepare(_ site: Site, _ url: String) async throws -> ContentKey {
        let manager = try LectureManager(configuration(site))
        let key = try await manager.downloads.enqueue(DownloadRequest(url: url))
        await manager.close()
        return key
    }

    private static func state(_ site: Site, _ key: ContentKey) async throws -> ItemState? {
        let manager = try LectureManager(configuration(site))
        let state = try await manager.contents.find(key)?.state
        await manager.close()
        return state
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
    func `a killed program leaves its download to the worker`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-4M-1.mp4"
        try await sandbox.set(fault: "slow:100000", on: "/media/bytes-4M-1.mp4")
        let child = try ChildProcess(
            Places.builtProduct("background-example"), [site.store, url],
            environment: ["LECTURECTL": Self.program, "LECTURE_DEVICE": site.directory.file("device")])
        let text = try await child.wait(for: .output) { written in
            let text = String(decoding: written, as: UTF8.self)
            return text.contains("worker ") && text.contains("%")
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("worker ") })
        let worker = try #require(Int32(line.dropFirst(7)))
        // A handle of the worker that stays valid, whichever process reaps it.
        let watch = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "import os, select, sys; d = os.pidfd_open(int(sys.argv[1])); print('watching', flush=True); "
                    + "p = select.poll(); p.register(d, select.POLLIN); p.poll()", "\(worker)",
            ])
        #expect(try await watch.firstLine() == "watching")
        let before = try await sandbox.requests(for: "/media/bytes-4M-1.mp4")
        child.send(SIGKILL)
        #expect(await child.ending().status == 128 + SIGKILL)
        try await sandbox.set(fault: "", on: "/media/bytes-4M-1.mp4")
        #expect(await watch.ending().status == 0)
        let after = try await sandbox.requests(for: "/media/bytes-4M-1.mp4")
        #expect(before.allSatisfy { $0.bytes < 4 << 20 } && after.count > before.count)
        let manager = try LectureManager(Self.configuration(site))
        let content = try #require(try await manager.contents.list().first)
        #expect(content.state == .completed)
        let bytes = try Data(contentsOf: URL(filePath: try await manager.contents.path(of: content.key)))
        #expect(bytes.count == 4 << 20)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a released worker fetches the rest, and one without a master as well`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let first = try await Self.prepare(site, "\(sandbox.http)/media/bytes-64K-1.mp4")
        let worker = try BackgroundWorker(Self.configuration(site), program: Self.program)
        worker.release()
        worker.dismiss()
        try await worker.untilEnded()
        #expect(try await Self.state(site, first) == .completed)
        // Reaped: it is no longer a child.
        var information = unsafe siginfo_t()
        #expect(unsafe waitid(P_PID, id_t(worker.processIdentifier), &information, WEXITED | WNOHANG | WNOWAIT) == -1)
        let second = try await Self.prepare(site, "\(sandbox.http)/media/bytes-64K-2.mp4")
        let watcher: Task<Void, Never>
        do {
            let other = try BackgroundWorker(Self.configuration(site), program: Self.program)
            watcher = other.whenEnded()
        }
        await watcher.value
        #expect(try await Self.state(site, second) == .completed)
        await sandbox.stop()
    }

    @Test func `a worker that is not needed ends without opening the store`() async throws {
        let site = try Site()
        let worker = try BackgroundWorker(Self.configuration(site), program: Self.program)
        worker.dismiss()
        try await worker.untilEnded()
        #expect(!FileManager.default.fileExists(atPath: site.store))
        // It is gone, and dismissing it again is allowed.
        worker.dismiss()
        worker.release()
    }

    @Test func `an invalid program is reported before anything is started`() throws {
        let site = try Site()
        let configuration = Self.configuration(site)
        let text = try site.directory.write("no program", to: "lecturectl")
        for path in [site.directory.file("none"), site.root, text, ""] {
            #expect(throws: LectureError(.workerMissing)) { try BackgroundWorker(configuration, program: path) }
        }
        // It is executable, but not a program.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: text)
        #expect(throws: LectureError(.workerFailed)) { try BackgroundWorker(configuration, program: text) }
        #expect(throws: LectureError(.workerFailed)) {
            try BackgroundWorker(LectureConfiguration(storeDirectory: ""), program: Self.program)
        }
    }

    @Test func `the worker gets its settings, and nothing secret on its command line`() async throws {
        let site = try Site()
        let script = try site.directory.write(
            """
            #!/bin/sh
            cd "$(dirname "$0")" && printf '%s\\n' "$@" >words && env >variables && cat >rest
            """, to: "lecturectl")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        var configuration = Self.configuration(site)
        (configuration.jobs, configuration.connections, configuration.rateLimit) = (3, 2, 1000)
        (configuration.timetable, configuration.maxAttempts) = ("else=2M", 7)
        (configuration.stallTimeout, configuration.connectionsPerHost) = (.milliseconds(1500), 5)
        (configuration.quotaBytes, configuration.caFile, configuration.seal) = (99, "/ca.pem", .never)
        configuration.proxy = "http://kim:canary@proxy.example:3128"
        configuration.application = .init(key: "canary", bundleID: "b", expires: "e")
        configuration.rights.userKey = "canary"
        let worker = try BackgroundWorker(configuration, configurationFile: "/c.json", program: script)
        worker.dismiss()
        try await worker.untilEnded()
        let words = try String(contentsOfFile: site.directory.file("words"), encoding: .utf8)
        #expect(
            words.split(separator: "\n") == [
                "--store", Substring(site.store), "--quiet", "precache", "--after-input", "--jobs=3",
                "--connections=2", "--limit-rate=1000", "--timetable=else=2M", "--max-attempts=7", "--timeout=2s",
                "--per-host=5", "--quota=99", "--reserve=1048576", "--ca-file=/ca.pem", "--no-seal",
            ])
        let variables = try String(contentsOfFile: site.directory.file("variables"), encoding: .utf8).split(
            separator: "\n")
        #expect(variables.contains("LECTURE_CONFIG=/c.json"))
        #expect(variables.contains { $0 == "LECTURE_DEVICE=\(site.directory.file("device"))" })
        #expect(variables.filter { $0.contains("canary") } == ["LECTURE_PROXY=http://kim:canary@proxy.example:3128"])
        #expect(try Data(contentsOf: URL(filePath: site.directory.file("rest"))) == Data([0x0A]))
    }

    @Test func `the command understands every option that a worker is given`() async throws {
        let site = try Site()
        var configuration = Self.configuration(site)
        (configuration.connections, configuration.rateLimit, configuration.timetable) = (2, 1000, "else=2M")
        (configuration.quotaBytes, configuration.seal, configuration.maxAttempts) = (1 << 40, .always, 1000)
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let key = try await Self.prepare(site, "\(sandbox.http)/media/bytes-1K-1.mp4")
        let worker = try BackgroundWorker(configuration, program: Self.program)
        worker.release()
        try await worker.untilEnded()
        #expect(try await Self.state(site, key) == .completed)
        await sandbox.stop()
    }
}
