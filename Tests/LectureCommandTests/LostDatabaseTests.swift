import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Media whose database was lost, or moved away because it was damaged.
@Suite(.timeLimit(.minutes(2))) struct LostDatabaseNetTests {
    @Test func `a new database keeps the media of the lost one, which play again with it`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let urls = (1...2).map { "\(sandbox.http)/media/bytes-64K-\($0).mp4" }
        for (key, url) in zip(["a", "b"], urls) { #expect(try await me("precache", "--key", key, url).status == 0) }
        let old = try await me("path", "a").text.trimmingCharacters(in: .newlines)
        let files = FileManager.default
        let database = "\(me.store)/lecturekit.db"
        #expect(try await me("store", "backup", me.home.file("backup.db")).status == 0)
        let foreign = try me.home.write("mine", to: "store/media/0000/notes.txt")
        for name in [database, "\(database)-wal", "\(database)-shm"] { try? files.removeItem(atPath: name) }

        let first = try await me("precache")
        #expect(first.status == 0)
        #expect(first.errorText.contains("Kept 2 media files (128 KiB)"), "\(first.errorText)")
        #expect(try await me("precache", "--key", "c", "\(sandbox.http)/media/bytes-80K-3.mp4").status == 0)
        #expect(try await me("remove", "--all").status == 0)
        let check = try await me("store", "check")
        #expect(check.status == 0 && check.errorText.contains("2 media files"), "\(check.errorText)")
        #expect(files.fileExists(atPath: old) && files.fileExists(atPath: foreign))

        for name in [database, "\(database)-wal", "\(database)-shm"] { try? files.removeItem(atPath: name) }
        try files.copyItem(atPath: me.home.file("backup.db"), toPath: database)
        #expect(try await me("verify", "--all").status == 0)
        #expect(try await me("precache").status == 0)
        #expect(try await me.list().map(\.state) == ["completed", "completed"])
        let sound = try await me("store", "check")
        #expect(sound.status == 0 && !sound.errorText.contains("media files"), "\(sound.errorText)")
        #expect(files.fileExists(atPath: foreign))
    }

    /// A store whose database is lost, with two unsealed lectures, a sealed one and an unfinished one.
    private static func lost() async throws -> (me: BadDay, sandbox: SandboxOrigin, media: String, digests: [String]) {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let media = "\(sandbox.http)/media"
        #expect(try await me("precache", "--key", "a", "\(media)/bytes-3M-1.mp4").status == 0)
        #expect(try await me("precache", "--key", "b", "\(media)/bytes-64K-2.mp4").status == 0)
        #expect(try await me("precache", "--seal", "--key", "c", "\(media)/bytes-64K-3.mp4").status == 0)
        let slow = ["--deadline", "1s", "--limit-rate", "10K", "--key", "d", "\(media)/bytes-8M-4.mp4"]
        #expect(try await me.run(["precache"] + slow).status == 75)
        var digests: [String] = []
        for number in 1...2 {
            let path = "\(me.store)/media/0000/\(number).mp4"
            digests.append(String(try await ChildProcess.run("/usr/bin/sha256sum", [path]).text.prefix(64)))
        }
        for name in ["lecturekit.db", "lecturekit.db-wal", "lecturekit.db-shm"] {
            try? FileManager.default.removeItem(atPath: "\(me.store)/\(name)")
        }
        return (me, sandbox, media, digests)
    }

    private struct Rebuilt: Decodable, Hashable {
        let file: String
        let outcome: String
        let key: String?
    }

    /// Rebuilds, checks each line against its schema, and returns them by file.
    private static func rebuild(_ me: BadDay, _ words: String..., status: Int32) async throws -> [Rebuilt] {
        let ending = try await me.run(["store", "rebuild", "--json"] + words)
        #expect(ending.status == status, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n").map { Data($0.utf8) }
        for line in lines { #expect(try JSONSchema(named: "event-rebuilt").faults(in: line) == []) }
        return try lines.map { try JSONDecoder().decode(Rebuilt.self, from: $0) }
    }

    @Test func `what is not sealed becomes complete lectures again`() async throws {
        let (me, sandbox, media, digests) = try await Self.lost()
        // Not one of the store's names.
        let foreign = try me.home.write("mine", to: "store/media/0000/7 notes.txt")
        let list = try me.home.write(
            """
            {"url":"\(media)/bytes-64K-2.mp4","key":"b","title":"Two","sha256":"\(digests[1])"}
            {"url":"\(media)/bytes-3M-1.mp4","key":"a"}
            """, to: "list.jsonl")
        let rest = [
            Rebuilt(file: "media/0000/3.mp4", outcome: "sealed", key: nil),
            Rebuilt(file: "media/0000/4.mp4.part", outcome: "partial", key: nil),
        ]
        #expect(
            try await Self.rebuild(me, list, status: 1) == [
                Rebuilt(file: "media/0000/1.mp4", outcome: "unlisted", key: nil),
                Rebuilt(file: "media/0000/2.mp4", outcome: "recorded", key: "b"),
            ] + rest)
        #expect(
            try await Self.rebuild(me, status: 1) == [
                Rebuilt(file: "media/0000/1.mp4", outcome: "recorded", key: "kept-1")
            ] + rest)
        #expect(try await me.list().map(\.key) == ["b", "kept-1"])
        try await me.expectSound()
        #expect(try await me("verify", "--all").status == 0)
        let whole = try await ChildProcess.run(
            "/bin/sh", ["-c", "\"$0\" --store \"$1\" cat kept-1 | sha256sum", BuiltProgram.url.path, me.store])
        #expect(whole.text.prefix(64) == digests[0])
        // With its source it is a lecture like any other.
        let again = try await me("precache", list, "--json")
        #expect(again.status == 0 && again.text.contains("\"event\":\"skipped\",\"key\":\"b\""), "\(again.text)")

        // A part file that was about to be replaced when its program was killed.
        _ = try me.home.write("replacement", to: "store/media/0000/4.mp4.new")
        #expect(try await Self.rebuild(me, "--delete-unusable", status: 0) == rest)
        #expect(try await Self.rebuild(me, status: 0) == [])
        // There is nothing left to rebuild, and a line of the list was not read.
        let torn = try me.home.write("{\"url\":\n", to: "torn.jsonl")
        let unread = try await me("store", "rebuild", torn)
        #expect(unread.status == 1 && unread.errorText.contains("nothing to rebuild"), "\(unread.errorText)")
        #expect(try await me("remove", "b", "kept-1").status == 0)
        let files = FileManager.default
        let left = try files.contentsOfDirectory(atPath: "\(me.store)/media/0000").sorted()
        #expect(left == ["7 notes.txt", "8.mp4"], "\(left)")
        #expect(files.fileExists(atPath: foreign))
        try await me.expectSound()
        withExtendedLifetime(sandbox) {}
    }

    @Test func `a lecture of unknown source is repaired from a source with the same digest only`() async throws {
        let (me, sandbox, media, digests) = try await Self.lost()
        #expect(try await Self.rebuild(me, status: 1).count == 4)
        func damage(_ file: String) throws {
            let handle = try FileHandle(forWritingTo: URL(filePath: "\(me.store)/media/0000/\(file)"))
            try handle.seek(toOffset: 100)
            try handle.write(contentsOf: Data("damage".utf8))
        }
        try damage("1.mp4")
        try damage("2.mp4")
        #expect(try await me("verify", "--all").status == 65)
        let repair = try await me("precache", "--json")
        #expect(repair.status == 1 && repair.text.contains("source_unknown"), "\(repair.text)")
        // The same digest: only the damaged chunk is downloaded. Another source: a whole new version.
        let same = try await me(
            "precache", "--json", "--key", "kept-1", "--sha256", digests[0], "\(media)/bytes-3M-1.mp4")
        #expect(same.status == 0 && same.text.contains("\"bytes_fetched\":1048576,"), "\(same.text)")
        let other = try await me("precache", "--json", "--key", "kept-2", "\(media)/bytes-64K-9.mp4")
        #expect(other.status == 0 && other.text.contains("\"bytes_fetched\":65536,"), "\(other.text)")
        #expect(try await me("verify", "--all").status == 0)
        #expect(try await me("precache", "--check", "head").status == 0)
        try await me.expectSound()
        withExtendedLifetime(sandbox) {}
    }

    @Test func `a file whose lecture is complete without it is not used`() async throws {
        let (me, sandbox, media, digests) = try await Self.lost()
        #expect(try await me("precache", "--key", "a", "\(media)/bytes-3M-1.mp4").status == 0)
        let list = try me.home.write(
            #"{"url":"\#(media)/bytes-3M-1.mp4","key":"a","sha256":"\#(digests[0])"}"#, to: "list.jsonl")
        let found = try await Self.rebuild(me, list, status: 1)
        #expect(found.first == Rebuilt(file: "media/0000/1.mp4", outcome: "present", key: "a"))
        #expect(found.dropFirst().first == Rebuilt(file: "media/0000/2.mp4", outcome: "unlisted", key: nil))
        let kept = try FileManager.default.contentsOfDirectory(atPath: "\(me.store)/media/0000")
        #expect(kept.contains("1.mp4"))
        #expect(try await me("store", "rebuild", "--delete-unusable", list).status == 1)
        #expect(!FileManager.default.fileExists(atPath: "\(me.store)/media/0000/1.mp4"))
        #expect(FileManager.default.fileExists(atPath: "\(me.store)/media/0000/2.mp4"))
        withExtendedLifetime(sandbox) {}
    }

    @Test func `without media there is nothing to rebuild, and no store is created`() async throws {
        let me = try BadDay()
        let ending = try await me("store", "rebuild", "--json")
        #expect(try Line.all(ending.text).map(\.name) == ["store_missing"])
        #expect(!FileManager.default.fileExists(atPath: "\(me.store)/lecturekit.db"))
        #expect(try await me("lms", "add", "--id", "x").status == 0)
        let nothing = try await me("store", "rebuild")
        #expect(nothing.status == 0 && nothing.errorText.contains("nothing to rebuild"))
        let missing = try await me("store", "rebuild", "missing.jsonl", "--json")
        #expect(try Line.all(missing.text).map(\.name) == ["course_list"], "\(missing.errorText)")
    }
}
