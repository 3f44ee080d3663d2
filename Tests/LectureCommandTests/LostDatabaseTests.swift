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
}
