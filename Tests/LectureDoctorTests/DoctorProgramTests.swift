import Foundation
import LectureDoctor
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The doctor with real servers and stores.
@Suite(.timeLimit(.minutes(2))) struct DoctorProgramTests {
    /// Lines of `doctor --json`, by subject.
    static func findings(_ ending: ChildProcess.Ending) throws -> [String: [[String: Any]]] {
        let lines = try ending.text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return Dictionary(grouping: lines) { $0["subject"] as? String ?? "" }
    }

    static func grade(_ found: [String: [[String: Any]]], _ subject: String) -> String? {
        found[subject]?.first?["grade"] as? String
    }

    @Test func `a server is trusted, not trusted, or not there`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start())
        let strange = try await me("doctor", "--json", sandbox.https)
        #expect(strange.status == 1)
        #expect(try Self.findings(strange)["server"]?.first?["error"] as? String == "tls")
        let words = ["doctor", "--ca-file", sandbox.authorityFile, sandbox.https, sandbox.http + "/s?token=secret"]
        let known = try await me.run(words + ["--json"])
        let found = try Self.findings(known)
        #expect(known.status == 0, "\(known.text)")
        #expect(
            found["server"]?.count == 2 && Self.grade(found, "server") == "ok" && Self.grade(found, "clock") == "ok")
        #expect(!known.text.contains("secret"))
        let people = try await me.run(words)
        #expect(people.text.contains("ok       server         \(sandbox.https): It answers (named): HTTP "))
        let quiet = try await me.run(words + ["-q"])
        #expect(quiet.status == 0 && quiet.text.isEmpty)
        await sandbox.stop()
        let gone = try await me("doctor", "--json", sandbox.http)
        #expect(try gone.status == 1 && Self.findings(gone)["server"]?.first?["code"] as? Int == -8007)
        // Nothing was made.
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `a wrong clock is noticed`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start())
        var configuration = LectureConfiguration(storeDirectory: me.store)
        configuration.caFile = sandbox.authorityFile
        var doctor = Doctor(configuration)
        doctor.servers = [sandbox.https]
        let wrong = try await doctor.examine { Timestamp(milliseconds: 1_700_000_000_000) }
        let finding = try #require(wrong.findings.first { $0.subject == .clock })
        #expect(finding.grade == .failed && finding.message.contains("days behind \(sandbox.https)"))
        doctor.servers = ["gopher://h"]
        await #expect(throws: LectureError.self) { try await doctor.examine { Timestamp(milliseconds: 0) } }
    }

    @Test func `what failed is found, and the remedies help`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        #expect(try await me("precache", "\(sandbox.http)/media/bytes-1M-1.mp4?fault=404").status == 1)
        let target = "\(sandbox.http)/nowhere"
        #expect(
            try await me("lms", "add", "--id", "r", "--user", "u", "--session", "s", "--seq", "1", "--target", target)
                .status == 0)
        let sick = try Self.findings(try await me("doctor", "--json"))
        #expect(Self.grade(sick, "lectures") == "warning" && sick["server"]?.count == 2)
        #expect(sick["reports"]?.first?["remedy"] as? String == "'lecturectl lms send' sends them.")
        #expect(try await me("list", "--state", "failed").text.contains("bytes-1M-1"))
        let sent = try await me("lms", "send")
        #expect(sent.status == 1, "\(sent.status): \(sent.text)")
        let refused = try Self.findings(try await me("doctor", "--json"))
        #expect(Self.grade(refused, "reports") == "warning")
        #expect(try await me("lms", "list", "--state", "dead").text.contains("r"))
        #expect(try await me("lms", "retry", "--all").status == 0)
        #expect(try await me("precache", "\(sandbox.http)/media/bytes-1M-1.mp4").status == 0)
        let well = try await me("doctor", "--json")
        let found = try Self.findings(well)
        #expect(well.status == 0 && Self.grade(found, "lectures") == "ok" && Self.grade(found, "reports") == "ok")
        #expect(found["server"]?.count == 1)
    }

    @Test func `an older store is not migrated, and the remedy migrates it`() async throws {
        let me = try BadDay()
        let fixture = "\(Places.repository())/Tests/LectureStoreTests/Fixtures/schema-0013.sqlite"
        let database = "\(me.store)/lecturekit.db"
        try FileManager.default.createDirectory(
            atPath: me.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: fixture, toPath: database)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database)
        let before = try Data(contentsOf: URL(filePath: database))
        #expect(Self.grade(try Self.findings(try await me("doctor", "--json", "--offline")), "store") == "warning")
        #expect(try Data(contentsOf: URL(filePath: database)) == before)
        #expect(try await me("store", "backup", me.home.file("copy.db")).status == 0)
        #expect(try await me("store", "migrate").status == 0)
        #expect(Self.grade(try Self.findings(try await me("doctor", "--json", "--offline")), "store") == "ok")
    }

    @Test func `mistakes of the configuration and a key that others can read are found`() async throws {
        let me = try BadDay()
        try me.home.write(Array(#"{"netwrok": {}, "network": {"jobs": 2}}"#.utf8), to: "c.json")
        let unknown = try await me("--config", me.home.file("c.json"), "doctor", "--json", "--offline")
        #expect(unknown.status == 1 && unknown.text.contains("did you mean 'network'?"), "\(unknown.text)")
        try me.home.write(Array(#"{"network": {"jobs": "two"}}"#.utf8), to: "c.json")
        let wrong = try await me("--config", me.home.file("c.json"), "doctor", "--offline")
        #expect(wrong.status == 1 && wrong.text.hasPrefix("failed   configuration  \(me.home.file("c.json")): "))
        #expect(try await me("device", "show").status == 0)
        let key = "\(me.home.path)/.local/share/lecturekit-device/device.key"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let readable = try await me("doctor", "--json", "--offline")
        #expect(readable.status == 1)
        #expect(Self.grade(try Self.findings(readable), "device_key") == "failed")
    }
}

/// The doctor on a disk that is full, or read-only.
@Suite(.timeLimit(.minutes(2)), .enabled(if: BadDay.mayMount, "only root may mount a small disk"))
struct DoctorDiskTests {
    /// A store on a disk of its own; then what the script does to the disk.
    private func examine(after change: String) async throws -> (ending: ChildProcess.Ending, found: [String: String]) {
        let me = try BadDay()
        let script = """
            mkdir disk; mount -t tmpfs -o size=4m none disk
            export LECTURE_STORE=$PWD/disk/store
            "$0" lms add --id r --user u --session s --seq 1 >acks
            \(change)
            exec "$0" doctor --json --offline
            """
        let ending = try await me.withMounts(script)
        let found = try DoctorProgramTests.findings(ending).compactMapValues { $0.first?["grade"] as? String }
        return (ending, found)
    }

    @Test func `a store that can only be read does not count as usable`() async throws {
        let (ending, found) = try await examine(after: "mount -o remount,ro disk")
        #expect(ending.status == 1 && found["store"] == "failed" && found["reports"] == "ok", "\(ending.text)")
        #expect(ending.text.contains(#""error":"store_read_only""#))
    }

    @Test func `a full disk is found, and freeing it helps`() async throws {
        let fill = "dd if=/dev/zero of=disk/fill bs=64k 2>dd.log || true"
        let (full, found) = try await examine(after: fill)
        #expect(full.status == 1 && found["disk"] == "failed" && found["reports"] == "ok", "\(full.text)")
        let (freed, after) = try await examine(after: "\(fill); rm disk/fill")
        #expect(freed.status == 0 && after["disk"] == "warning", "\(freed.text)")
    }
}
