import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The built program exports reports, imports them again and erases learners: black boxes, real disks.
@Suite(.timeLimit(.minutes(2)))
struct ReportExportCommandTests {
    /// An export made by a script, without a digest.
    private static func export(_ count: Int, user: String = "kim7", values: String = "{}") -> String {
        var text = ""
        for number in 0..<count {
            text += #"{"record":"report","id":"\#(user)-\#(number)","content":"c","user":"\#(user)","#
            text += #""session":"\#(user)17","seq":\#(number),"wall_ms":1700000000000,"state":"pending","attempts":0,"#
            text += #""values":\#(values)}"# + "\n"
        }
        return text + #"{"record":"summary","reports":\#(count)}"# + "\n"
    }

    private static func expectSchemas(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for line in text.split(separator: "\n") {
            let faults = try JSONSchema(describing: String(line)).faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(line): \(faults)", sourceLocation: sourceLocation)
        }
    }

    @Test func `export, import and export again give the same`() async throws {
        let me = try BadDay()
        let file = try me.home.write(Self.export(10), to: "in.jsonl")
        let first = try await me("lms", "import", file, "--json")
        #expect(first.status == 0, "\(first.errorText)")
        #expect(first.text.contains(#""stored":10,"known":0,"refused":0,"is_whole":true"#))
        let out = try await me("lms", "export", "--output", "out.jsonl.zst", "--json")
        #expect(out.status == 0, "\(out.errorText)")
        #expect(out.text.contains(#""format":"jsonl","reports":10"#))
        let again = try await me("lms", "import", "out.jsonl.zst", "--json")
        #expect(again.text.contains(#""stored":0,"known":10"#))
        try Self.expectSchemas(first.text + out.text + again.text)
        let refused = try await me("lms", "export", "--output", "out.jsonl.zst")
        #expect(refused.status == 73)
        #expect(try await me("lms", "export", "--output", "out.jsonl.zst", "--force").status == 0)
    }

    @Test func `standard output holds the export alone, and standard input is read`() async throws {
        let me = try BadDay()
        let script = #"""
            "$0" lms import - < in.jsonl
            "$0" lms export --json > a
            gzip -c a | "$0" --store other lms import -
            "$0" --store other lms export > b
            cmp a b
            "$0" lms export --format csv --state dead | wc -l
            "$0" lms export --format xapi | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'
            "$0" lms export | head -c 10 > /dev/null || true
            """#
        try me.home.write(Self.export(1000), to: "in.jsonl")
        let ending = try await me.withMounts(script)
        #expect(ending.status == 0 && ending.text == "1\n1000\n", "\(ending.text) \(ending.errorText)")
    }

    @Test func `bad lines are named with status 1, a truncated file with 65`() async throws {
        let me = try BadDay()
        let lines = Self.export(3).split(separator: "\n").dropLast().joined(separator: "\n")
        try me.home.write("nonsense\n" + lines, to: "x")
        let cut = try await me("lms", "import", "x", "--json")
        #expect(cut.status == 65)
        #expect(cut.text.contains(#""report_line""#), "\(cut.text)")
        #expect(cut.text.contains("export_incomplete") && cut.text.contains(#""stored":3"#))
        try Self.expectSchemas(cut.text)
        try me.home.write("nonsense\n" + #"{"record":"summary","reports":1}"# + "\n", to: "y")
        #expect(try await me("lms", "import", "y").status == 1)
        #expect(try await me("lms", "import", "missing").status == 74)
    }

    @Test func `a pseudonymised export names no learner`() async throws {
        let me = try BadDay()
        try me.home.write(Self.export(20, values: #"{"client_user_id":"kim7"}"#), to: "in.jsonl")
        _ = try await me("lms", "import", "in.jsonl")
        let key = try me.home.write("0123456789abcdef", to: "key")
        #expect(try await me("lms", "export", "--pseudonymise", "key").status == 78)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        for format in ["csv", "jsonl", "xapi"] {
            let ending = try await me("lms", "export", "--format", format, "--pseudonymise", "key")
            #expect(ending.status == 0 && !ending.text.contains("kim7") && ending.text.contains("p-"))
        }
    }

    @Test func `the receipt of an erasure says what was done, and the bytes agree`() async throws {
        let me = try BadDay()
        try me.home.write(Self.export(20), to: "kim")
        try me.home.write(Self.export(5, user: "lee8"), to: "lee")
        _ = try await me("lms", "import", "kim", "lee")
        _ = try await me("store", "backup", "copy.db")
        let dry = try await me("lms", "erase", "--user", "kim7", "--dry-run", "--json")
        #expect(dry.status == 0 && dry.text.contains(#""is_dry_run":true,"reports":20"#), "\(dry.text)")
        let done = try await me("lms", "erase", "--user", "kim7", "--json")
        #expect(done.status == 0, "\(done.errorText)")
        #expect(done.text.contains(#""reports":20"#) && done.text.contains(#""left":[],"is_searched":true"#))
        try Self.expectSchemas(dry.text + done.text)
        #expect(!done.text.contains("kim7"))
        for name in ["store/lecturekit.db", "store/lecturekit.db-wal", "copy.db"] {
            guard let bytes = FileManager.default.contents(atPath: me.home.file(name)) else { continue }
            #expect(bytes.range(of: Data("kim7".utf8)) == nil, "\(name)")
        }
        #expect(try await me("lms", "export").text.contains("lee8-4"))
        try await me.expectSound()
        try FileManager.default.removeItem(atPath: me.home.file("copy.db"))
        let left = try await me("lms", "erase", "--user", "lee8")
        #expect(left.status == 1 && left.errorText.contains("copy.db"), "\(left.errorText)")
        #expect(try await me("lms", "erase", "--user", "lee8", "--forget-copy", "copy.db").status == 0)
        #expect(try await me("lms", "erase").status == 64)
    }

    @Test func `a copy that a newer one replaces is deleted, and an erasure does not look for it`() async throws {
        let me = try BadDay()
        try me.home.write(Self.export(2), to: "kim")
        _ = try await me("lms", "import", "kim")
        #expect(try await me("store", "backup", "one.db").status == 0)
        #expect(try await me("store", "backup", "two.db", "--delete-copy", "one.db").status == 0)
        #expect(!FileManager.default.fileExists(atPath: me.home.file("one.db")))
        let taken = try await me("store", "backup", "two.db", "--delete-copy", "two.db")
        #expect(taken.status == 73 && FileManager.default.fileExists(atPath: me.home.file("two.db")))
        let other = try await me("store", "backup", "three.db", "--delete-copy", "kim", "--delete-copy", "gone.db")
        #expect(other.status == 65 && FileManager.default.fileExists(atPath: me.home.file("kim")))
        let done = try await me("lms", "erase", "--user", "kim7")
        #expect(done.status == 0, "\(done.errorText)")
        #expect(!done.text.contains("one.db") && done.text.contains("two.db") && done.text.contains("three.db"))
    }

    @Test func `a copy of an older store is known to an erasure, and the store is not migrated for it`() async throws {
        let me = try BadDay()
        let fixture = "\(Places.repository())/Tests/LectureStoreTests/Fixtures/schema-0013.sqlite"
        let script = #"""
            mkdir -m 700 store && install -m 600 "$1" store/lecturekit.db
            "$0" store backup old.db
            "$0" store info | grep '^schema'
            "$0" store migrate
            "$0" lms erase --user nobody7 --dry-run
            """#
        let ending = try await me.withMounts(script, fixture)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(ending.text.hasPrefix("schema           13\n") && ending.text.contains("old.db"), "\(ending.text)")
    }

    @Test func `a request with an unknown outcome blocks an erasure until it is dissolved`() async throws {
        let me = try BadDay()
        try me.home.write(Self.export(3), to: "kim")
        try me.home.write(Self.export(2, user: "lee8"), to: "lee")
        _ = try await me("lms", "import", "kim", "lee")
        // Accepts a request and never answers.
        let asked = DispatchSemaphore(value: 0)
        let server = try RawServer { peer in
            _ = peer.readHead()
            asked.signal()
            peer.waitForEnd()
        }
        let sending = try me.start("lms", "send", "--target", "\(server.http)/lms", "--format", "json")
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                asked.wait()
                continuation.resume()
            }
        }
        sending.send(SIGKILL)
        _ = await sending.ending()
        let refused = try await me("lms", "erase", "--user", "kim7", "--json")
        #expect(refused.status == 75 && refused.text.contains("reports_under_way"), "\(refused.text)")
        #expect(try await me("lms", "export").text.contains("kim7-2"))
        let forced = try await me("lms", "erase", "--user", "kim7", "--force", "--json")
        #expect(forced.status == 0, "\(forced.text) \(forced.errorText)")
        #expect(forced.text.contains(#""reports":3"#) && forced.text.contains(#""requests":1"#), "\(forced.text)")
        // The others are exported once more.
        let left = try await me("lms", "export")
        #expect(left.text.split(separator: "\n").count == 3 && !left.text.contains("kim7"))
        #expect(left.text.contains(#""states":{"pending":2,"#))
        try await me.expectSound()
    }

    @Test func `without space no file appears under the name`() async throws {
        let me = try BadDay()
        let values = #"{"t":"\#(String(repeating: "x", count: 1000))"}"#
        try me.home.write(Self.export(3000, values: values), to: "in.jsonl")
        let script = #"""
            mount -t tmpfs -o size=1m none /mnt
            "$0" lms import in.jsonl
            for name in a.jsonl a.csv; do
                status=0; "$0" lms export --output /mnt/$name || status=$?
                echo "status $status $(ls -A /mnt | wc -l)"
            done
            status=0; "$0" lms export > /dev/full || status=$?
            echo "status $status"
            "$0" lms export --output /mnt/a.jsonl.zst
            ls /mnt
            """#
        let ending = try await me.withMounts(script)
        #expect(
            ending.text == "status 75 0\nstatus 75 0\nstatus 74\na.jsonl.zst\n", "\(ending.text) \(ending.errorText)")
        #expect(ending.errorText.contains("there is not enough space on the disk"))
    }

    @Test func `a killed export leaves no partial file`() async throws {
        let me = try BadDay()
        try me.home.write(Self.export(3000), to: "in.jsonl")
        _ = try await me("lms", "import", "in.jsonl")
        let out = try TemporaryDirectory()
        #expect(try await me("lms", "export", "--output", me.home.file("whole.jsonl.gz")).status == 0)
        let whole = try Data(contentsOf: URL(filePath: me.home.file("whole.jsonl.gz"))).count
        for signal in [SIGKILL, SIGTERM, SIGINT, SIGKILL, SIGKILL] {
            let child = try me.start("lms", "export", "--output", out.file("out.jsonl.gz"))
            await ChildProcess.wait(forWritten: Int.random(in: 0...whole + whole / 4), by: [child])
            child.send(signal)
            let status = await child.ending().status
            let names = try FileManager.default.contentsOfDirectory(atPath: out.path)
            // The name may be there before the program ends.
            if status == 0 || !names.isEmpty {
                #expect(names == ["out.jsonl.gz"])
                let sound = try await me("lms", "import", "\(out.path)/out.jsonl.gz", "--json")
                #expect(sound.text.contains(#""known":3000,"refused":0,"is_whole":true"#))
                try FileManager.default.removeItem(atPath: out.file("out.jsonl.gz"))
            } else {
                #expect(names.isEmpty, "\(names)")
            }
        }
    }
}
