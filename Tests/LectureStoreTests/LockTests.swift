import LectureModel
import LectureStore
import LectureTestSupport
import Testing

@Suite struct LockTests {
    /// Takes the lock that only the last connection may take (`SHARED_FIRST` of SQLite's os.h), from another process.
    private static let program = """
        import fcntl, sys
        with open(sys.argv[1], "r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
                print("unlocked")
            except OSError:
                print("locked")
        """

    @Test func `a reader beside a writer takes no lock away from it`() async throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(directory: directory.path)
        let writer = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        for _ in 0..<2 {
            let reader = try SQLiteContentQueries(opening: location)
            #expect(try reader.count(ContentFilter()) == 0)
        }
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", Self.program, "\(directory.path)/lecturekit.db"])
        #expect(ending.text == "locked\n", "\(ending.errorText)")
        #expect(try writer.owners.all().isEmpty)
    }
}
