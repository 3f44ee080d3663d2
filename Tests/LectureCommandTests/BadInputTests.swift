import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Unusable input: an error with a remedy, the right status, and nothing lost.
@Suite(.timeLimit(.minutes(2))) struct BadInputNetTests {
    @Test func `an unavailable source ends with the status of its reason`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        #expect(try await me("precache", "gopher://127.0.0.1/a.mp4").status == 64)
        let port = try Places.freePort()
        let unreachable = try await me("precache", "--retries", "1", "http://127.0.0.1:\(port)/a.mp4")
        #expect(unreachable.status == 69)
        #expect(unreachable.errorText.contains("cannot be reached"))
        let missing = try await me("precache", "--json", "\(sandbox.http)/media/missing.mp4")
        #expect(missing.status == 1)
        #expect(missing.errorText.contains("HTTP 404"))
        #expect(try Line.summary(missing.text).failed == 1)
        let page = try await me("precache", "\(sandbox.http)/media/bytes-1M-1.mp4?fault=html")
        #expect(page.status == 1)
        #expect(page.errorText.contains("something other than a media file"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: me.store).allSatisfy { !$0.hasSuffix(".mp4") })
        try await me.expectSound()
    }

    @Test func `a host name that cannot be resolved is reported as that in every attempt`() async throws {
        let me = try BadDay()
        let ending = try await me("precache", "--retries", "2", "http://nowhere.invalid/a.mp4")
        #expect(ending.status == 69)
        let key = try #require(try await me.list().first?.key)
        let why = try await me("why", key).text
        #expect(why.contains("cannot be resolved"))
        #expect(!why.contains("curl 43"))
        #expect(why.components(separatedBy: "Check the URL and the network.").count == 2)
    }

    @Test(arguments: [false, true])
    func `broken lines of a course list end with 65, and the others are completed`(fromInput: Bool) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let lines = [
            #"{"url": "\#(sandbox.http)/media/bytes-64K-1.mp4", "key": "one"}"#, "{broken", "[]", "{}",
            #"{"url": "ftp://h/a"}"#, #"{"url": "http://h/a", "file": "a/b"}"#,
            #"{"url": "http://h/a", "file": "a\u0000b"}"#, #"{"url": "http://h/a", "file": ".."}"#,
            #"{"url": "http://h/\#(String(repeating: "a", count: 100 << 10))"}"#,
            #"{"url": "\#(sandbox.http)/media/bytes-64K-2.mp4", "key": "two"}"#,
        ]
        let list = try me.home.write(lines.joined(separator: "\n"), to: "course.jsonl")
        let process = try me.start("precache", "--json", fromInput ? "-" : list, keepsInputOpen: true)
        if fromInput {
            // A pipe takes 64 KiB at once; the long line is for the file.
            process.write(lines.filter { $0.count < 1000 }.joined(separator: "\n"))
            process.closeInput()
        }
        let ending = await process.ending()
        #expect(ending.status == 65)
        let summary = try Line.summary(ending.text)
        #expect(summary.completed == 2)
        #expect(summary.failed == (fromInput ? 7 : 8))
        for number in 2...8 { #expect(ending.errorText.contains("line \(number): "), "\(number)") }
        #expect(try await me.list().map(\.key) == ["one", "two"])
        #expect(ending.errors.count < 10_000)
    }

    @Test func `a name with a slash or a NUL in a descriptor stays a title and is not used as a path`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let link = try await sandbox.link(key: "bytes-64K-3") + "&set.title=..%2F..%2Fescaped%00b"
        let ending = try await me("precache", "--json", link)
        let files = try FileManager.default.subpathsOfDirectory(atPath: me.home.path)
        #expect(!files.contains { $0.contains("escaped") })
        #expect(ending.status == 0, "\(ending.errorText)")
        let shown = try await me("list").text
        #expect(!shown.contains("\0"))
        try await me.expectSound()
    }

    @Test func `an impossible output path is refused before anything is requested`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-64K-4.mp4"
        let file = try me.home.write("x", to: "plain")
        let outputs = [
            ["--output", "missing/a.mp4"], ["--output", me.home.path], ["--output", "plain/a.mp4"],
            ["--output-dir", "missing/deep"], ["--output-dir", file],
        ]
        for output in outputs {
            let ending = try await me("precache", output[0], output[1], url)
            #expect(ending.status == 73, "\(output)")
            #expect(ending.errorText.contains("the finished file cannot be put there"), "\(ending.errorText)")
        }
        #expect(try await sandbox.requests(for: "/media/bytes-64K-4.mp4").isEmpty)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")
    }

    @Test func `a file goes to another file system, and a refused place does not affect later runs`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-1M-5.mp4"
        let memory = try TemporaryDirectory(in: "/dev/shm")
        #expect(try await me("precache", "--output", memory.file("a.mp4"), url).status == 0)
        #expect(try Data(contentsOf: URL(filePath: memory.file("a.mp4"))) == (try await me.bytes()))
        // The output path is a directory; that is only noticed once the download is finished.
        try FileManager.default.createDirectory(
            atPath: memory.file("taken/bytes-1M-5.mp4"), withIntermediateDirectories: true)
        #expect(try await me("precache", "--output-dir", memory.file("taken"), url).status == 73)
        #expect(try await me("precache", "--output", memory.file("b.mp4"), url).status == 0)
        #expect(try await me("precache", "--json", url).status == 0)
    }

    @Test func `a closed pipe and a full device end with 74, and the store stays consistent`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-4M-6.mp4?fault=stall:2000000"
        for redirection in ["| head -1 > /dev/null; exit ${PIPESTATUS[0]}", "> /dev/full"] {
            let line = "\"$0\" precache --json '\(url)' --store '\(me.store)' \(redirection)"
            let ending = try await ChildProcess.run("/bin/bash", ["-c", line, BuiltProgram.url.path])
            #expect(ending.status == 74, "\(redirection): \(ending.errorText)")
            try await me.expectSound()
        }
        let rest = try await me("precache", "--json", "\(sandbox.http)/media/bytes-4M-6.mp4")
        #expect(rest.status == 0)
        #expect(try await me.sha256() == (try await sandbox.sha256(of: "/media/bytes-4M-6.mp4")))
    }
}

/// A database that this program must not write.
@Suite(.timeLimit(.minutes(2))) struct RefusedStoreTests {
    /// What is at the path of the store's database.
    enum Database: String, CaseIterable { case text, foreign, newer, cut, scribbled }

    @Test(arguments: Database.allCases)
    func `it is refused with its code and untouched`(kind: Database) async throws {
        let me = try BadDay()
        #expect(try await me("store", "migrate").status == 0)
        let file = "\(me.store)/lecturekit.db"
        var bytes = try Data(contentsOf: URL(filePath: file))
        switch kind {
        case .text: bytes = Data("It is not a database, but another program needs it.\n".utf8)
        // Bytes 60 to 63 are the schema version, 68 to 71 the application id.
        case .foreign: bytes.replaceSubrange(68..<72, with: [0, 0, 0, 1])
        case .newer: bytes.replaceSubrange(60..<64, with: [0, 0, 3, 231])
        case .cut: bytes = bytes.prefix(bytes.count / 2)
        case .scribbled: for place in 4096..<bytes.count { bytes[place] = UInt8(truncatingIfNeeded: place &* 31) }
        }
        try FileManager.default.removeItem(atPath: me.store)
        try FileManager.default.createDirectory(
            atPath: me.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try bytes.write(to: URL(filePath: file))
        let name =
            switch kind {
            case .text, .foreign: "store_foreign"
            case .newer: "store_newer"
            case .cut, .scribbled: "store_damaged"
            }
        for words in [["list"], ["store", "check"], ["store", "info"], ["store", "migrate"], ["status"]] {
            let ending = try await me.run(words + ["--json"])
            #expect(ending.status == 65, "\(words)")
            #expect(ending.text.contains(#""name":"\#(name)""#), "\(words): \(ending.text)")
            #expect(ending.errorText.contains("nothing was changed"))
            #expect(ending.errorText.contains("lecturekit.db"))
            #expect(try Data(contentsOf: URL(filePath: file)) == bytes, "\(words)")
        }
    }
}

/// Disks that are full or cannot be written.
@Suite(.timeLimit(.minutes(2)), .enabled(if: BadDay.mayMount, "only root may mount a small disk"))
struct DiskNetTests {
    @Test func `a read-only disk is reported as one, and nothing is created`() async throws {
        let me = try BadDay()
        let script = #"""
            mount -t tmpfs -o size=8m none /mnt
            "$0" --store /mnt/store store migrate
            mount -o remount,ro /mnt
            before=$(find /mnt | sort)
            for store in /mnt/store /mnt/new; do
                status=0; "$0" --store $store lms add || status=$?
                echo "status $status"
            done
            [ "$before" = "$(find /mnt | sort)" ] && echo same
            """#
        let ending = try await me.withMounts(script)
        #expect(ending.text == "status 74\nstatus 74\nsame\n", "\(ending.errorText)")
        #expect(ending.errorText.contains("the store cannot be written; nothing was changed"))
    }

    @Test func `without space for the file it stops, and continues when there is space`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script = #"""
            mount -t tmpfs -o size=24m none /mnt
            export LECTURE_STORE=/mnt/store
            head -c 12M /dev/zero > /mnt/filler
            status=0; "$0" precache --key k "$1" || status=$?
            echo "status $status"
            find /mnt/store/media -type f
            "$0" list --json
            rm /mnt/filler
            "$0" precache --key k "$1"
            "$0" store check
            sha256sum < "$("$0" path k)"
            """#
        let ending = try await me.withMounts(script, "\(sandbox.http)/media/bytes-16M-1.mp4")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 3, "\(ending.text)")
        #expect(lines[0] == "status 75")
        #expect(lines[1].contains(#""state":"stopped","stop_reason":"space""#))
        #expect(try await lines[2].hasPrefix(sandbox.sha256(of: "/media/bytes-16M-1.mp4")))
    }

    @Test func `when the database cannot grow the command ends, and the next one continues`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script = #"""
            mount -t tmpfs -o size=24m none /mnt
            export LECTURE_STORE=/mnt/store LECTURE_RESERVE=0
            "$0" precache --json --connections 1 --key k "$1?fault=slow:500000" > out &
            until [ -n "$(find /mnt/store/media -name '*.part' -size +1M 2> /dev/null)" ]; do :; done
            cat /dev/zero > /mnt/filler 2> /dev/null || true
            status=0; wait $! || status=$?
            echo "status $status"
            rm /mnt/filler
            "$0" precache --key k "$1"
            "$0" store check
            sha256sum < "$("$0" path k)"
            """#
        let ending = try await me.withMounts(script, "\(sandbox.http)/media/bytes-12M-2.mp4")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 2, "\(ending.text)")
        #expect(lines[0] == "status 75")
        #expect(try await lines[1].hasPrefix(sandbox.sha256(of: "/media/bytes-12M-2.mp4")))
        #expect(ending.errorText.contains("there is not enough space on the disk"))
    }

    /// What could not be registered is not only noticed when the pipe's writer says more.
    @Test func `a full disk ends a command whose list may go on`() async throws {
        let me = try BadDay()
        let script = #"""
            mount -t tmpfs -o size=24m none /mnt
            export LECTURE_STORE=/mnt/store LECTURE_RESERVE=0
            mkfifo lines
            "$0" precache --timetable else=off - < lines &
            exec 3> lines
            printf '%s\n' "$1/first.mp4" >&3
            until "$0" --json list 2> /dev/null | grep -q first.mp4; do :; done
            cat /dev/zero > /mnt/filler 2> /dev/null || true
            printf "$1/%s.mp4\n" $(seq 40) >&3
            status=0; wait $! || status=$?
            echo "status $status"
            """#
        let ending = try await me.withMounts(script, "http://127.0.0.1:9")
        #expect(ending.text == "status 75\n", "\(ending.text)")
        #expect(ending.errorText.contains("there is not enough space on the disk"))
    }
}
