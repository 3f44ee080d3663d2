import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// Small schemas; their digests are only compared, never computed, so any text of 64 digits will do.
enum Steps {
    static let applicationID: Int32 = 0x4C54_6573
    static let records =
        "CREATE TABLE migration (identifier TEXT NOT NULL UNIQUE, sha256 TEXT, applied_ms INTEGER) STRICT;"

    static func step(_ number: Int, _ sql: String, digest: Character? = nil) -> Migration {
        Migration(
            identifier: "000\(number)_step", sha256: String(repeating: digest ?? Character("\(number)"), count: 64),
            sql: sql)
    }

    static let first = step(1, records + "CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT; INSERT INTO a VALUES (1);")
    static let second = step(2, "CREATE TABLE b (a_id INTEGER REFERENCES a (id)) STRICT; INSERT INTO b VALUES (1);")
    static let third = step(3, "ALTER TABLE b ADD COLUMN note TEXT;")

    static func migrator(_ steps: Migration...) -> Migrator {
        Migrator(applicationID: applicationID, migrations: steps)
    }
}

/// A database in a fresh directory, changed only by the test.
struct Place {
    let directory: TemporaryDirectory
    var path: String { directory.file("store.db") }

    init() throws { directory = try TemporaryDirectory() }

    func migrated(_ migrator: Migrator, journal: String = "WAL") throws -> Self {
        let connection = try Connection(path: path, access: .create)
        try connection.execute("PRAGMA journal_mode = \(journal)")
        _ = try migrator.migrate(connection, now: Timestamp(milliseconds: 5))
        return self
    }

    func sql(_ script: String) throws -> Self {
        try Connection(path: path, access: .create).run(script: script)
        return self
    }

    /// Every file with its bytes: what must be equal before and after a refusal.
    func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            files[name] = FileManager.default.contents(atPath: directory.file(name)) ?? Data("directory".utf8)
        }
        return files
    }
}

@Suite struct MigratorTests {
    let now = Timestamp(milliseconds: 1_700_000_000_000)

    @Test func aFreshDatabaseGetsEveryStepAndRemembersIt() throws {
        let place = try Place()
        let migrator = Steps.migrator(Steps.first, Steps.second)
        let connection = try Connection(path: place.path, access: .create)
        #expect(try migrator.state(of: connection).pending == ["0001_step", "0002_step"])
        #expect(try migrator.migrate(connection, now: now) == ["0001_step", "0002_step"])
        let state = try migrator.state(of: connection)
        #expect(state.isCompleted)
        #expect(state.applied.map(\.sha256) == [Steps.first.sha256, Steps.second.sha256])
        #expect(try connection.pragmaNumber("user_version") == 2)
        #expect(try connection.pragmaNumber("application_id") == Int64(Steps.applicationID))
        #expect(try connection.pragmaNumber("foreign_keys") == 1)
        let times = try connection.query("SELECT applied_ms FROM migration") { $0.int64(0) }
        #expect(times == [now.milliseconds, now.milliseconds])
    }

    @Test func onlyWhatIsPendingIsApplied() throws {
        let place = try Place().migrated(Steps.migrator(Steps.first))
        let connection = try Connection(path: place.path, access: .readWrite)
        let migrator = Steps.migrator(Steps.first, Steps.second, Steps.third)
        #expect(try migrator.state(of: connection).pending == ["0002_step", "0003_step"])
        #expect(try migrator.migrate(connection, now: now) == ["0002_step", "0003_step"])
        #expect(try migrator.migrate(connection, now: now).isEmpty)
    }

    @Test func aStepThatFailsLeavesNothingOfItselfNorOfTheStepsBeforeIt() throws {
        let place = try Place().migrated(Steps.migrator(Steps.first))
        let connection = try Connection(path: place.path, access: .readWrite)
        func schema() throws -> [String] {
            try connection.query("SELECT name FROM sqlite_schema ORDER BY 1") { $0.text(0) }
        }
        let before = try schema()
        let broken = Steps.step(3, "CREATE TABLE half (id INTEGER) STRICT; INSERT INTO missing VALUES (1);")
        let migrator = Steps.migrator(Steps.first, Steps.second, broken)
        #expect(lectureError { _ = try migrator.migrate(connection, now: now) }?.code == .storeFailed)
        #expect(try connection.pragmaNumber("user_version") == 1)
        #expect(try connection.pragmaNumber("foreign_keys") == 1)
        #expect(try schema() == before)
        let whole = Steps.migrator(Steps.first, Steps.second, Steps.third)
        #expect(try whole.migrate(connection, now: now) == ["0002_step", "0003_step"])
    }

    @Test func aStepThatLeavesARowWithoutItsParentIsRolledBack() throws {
        let place = try Place()
        let connection = try Connection(path: place.path, access: .create)
        let orphan = Steps.step(2, Steps.second.sql + "INSERT INTO b VALUES (99);")
        let error = lectureError { _ = try Steps.migrator(Steps.first, orphan).migrate(connection, now: now) }
        #expect(error?.code == .storeDamaged)
        #expect(error?.cause == "row 2 of b refers to a missing row of a")
        #expect(try connection.pragmaNumber("user_version") == 0)
    }

    @Test func aStepMayRebuildATableThatOthersReferTo() throws {
        let place = try Place().migrated(Steps.migrator(Steps.first, Steps.second))
        let connection = try Connection(path: place.path, access: .readWrite)
        try connection.requireDurability()
        let rebuild = Steps.step(
            3,
            """
            CREATE TABLE a_new (id INTEGER PRIMARY KEY, note TEXT) STRICT; INSERT INTO a_new(id) SELECT id FROM a;
            DROP TABLE a; ALTER TABLE a_new RENAME TO a;
            """)
        _ = try Steps.migrator(Steps.first, Steps.second, rebuild).migrate(connection, now: now)
        #expect(try connection.query("SELECT a_id FROM b") { $0.int(0) } == [1])
    }

    @Test func aStepThatEndsItsTransactionIsABug() throws {
        let place = try Place()
        let connection = try Connection(path: place.path, access: .create)
        let rude = Steps.step(1, Steps.records + "COMMIT;")
        #expect(lectureError { _ = try Steps.migrator(rude).migrate(connection, now: now) }?.code == .bug)
    }

    @Test(arguments: 0..<20)
    func manyConnectionsAtOnceApplyEveryStepOnce(round: Int) async throws {
        let place = try Place().sql("PRAGMA journal_mode = WAL")
        let path = place.path
        let now = now
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let connection = try Connection(path: path, access: .readWrite)
                    return try Steps.migrator(Steps.first, Steps.second, Steps.third).migrate(connection, now: now)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.sorted() == ["0001_step", "0002_step", "0003_step"])
    }
}

@Suite struct InspectionTests {
    private let migrator = Steps.migrator(Steps.first, Steps.second)

    /// Inspects a place and checks that nothing there was changed or added.
    private func refusal(_ place: Place, _ migrator: Migrator? = nil) throws -> LectureError? {
        let before = try place.contents()
        let error = lectureError { _ = try (migrator ?? self.migrator).inspect(path: place.path) }
        let after = try place.contents()
        #expect(before == after)
        return error
    }

    @Test func nothingAndAnEmptyFileAreDistinguished() throws {
        let place = try Place()
        #expect(try migrator.inspect(path: place.path) == .absent)
        try place.directory.write("", to: "store.db")
        #expect(try migrator.inspect(path: place.path) == .empty)
    }

    @Test(arguments: ["WAL", "DELETE"])
    func anOlderStoreIsUsableAndUntouched(journal: String) throws {
        let place = try Place().migrated(Steps.migrator(Steps.first), journal: journal)
        let before = try place.contents()
        #expect(before.keys.sorted() == ["store.db"])
        guard case .usable(let state) = try migrator.inspect(path: place.path) else { throw LectureError(.bug) }
        #expect(state.pending == ["0002_step"])
        #expect(try place.contents() == before)
    }

    @Test func aStoreInUseIsReadWithWhatIsOnlyInItsLog() throws {
        let place = try Place()
        let connection = try Connection(path: place.path, access: .create)
        try connection.requireDurability()
        _ = try migrator.migrate(connection, now: Timestamp(milliseconds: 0))
        guard case .usable(let state) = try migrator.inspect(path: place.path) else { throw LectureError(.bug) }
        #expect(state.isCompleted)
    }

    @Test(arguments: ["WAL", "DELETE"])
    func aWholeHeaderOfThisSchemaIsEnough(journal: String) throws {
        let place = try Place().migrated(migrator, journal: journal)
        let before = try place.contents()
        #expect(try migrator.isUsableByHeader(path: place.path))
        #expect(try place.contents() == before)
        // Another number of migrations has to be looked at.
        #expect(try !Steps.migrator(Steps.first).isUsableByHeader(path: place.path))
        #expect(try !Steps.migrator(Steps.first, Steps.second, Steps.third).isUsableByHeader(path: place.path))
        // So has a file with something beside it, or of another application, or one that is not there.
        try place.directory.write("", to: "store.db-wal")
        #expect(try !migrator.isUsableByHeader(path: place.path))
        #expect(try !migrator.isUsableByHeader(path: Place().path))
        let other = try Place().sql("PRAGMA application_id = 7; PRAGMA user_version = 2; CREATE TABLE t (a)")
        #expect(try !migrator.isUsableByHeader(path: other.path))
    }

    @Test func aDatabaseThatIsOpenHereIsNotInspectedAgain() throws {
        let place = try Place().migrated(migrator, journal: "WAL")
        let connection = try Connection(path: place.path, access: .readWrite)
        try connection.requireDurability()
        #expect(try migrator.isUsableByHeader(path: place.path))
        withExtendedLifetime(connection) {}
    }

    @Test(arguments: ["WAL", "DELETE"])
    func anotherProgramsDatabaseIsForeign(journal: String) throws {
        let place = try Place().sql("PRAGMA journal_mode = \(journal); PRAGMA application_id = 7; CREATE TABLE t (a)")
        #expect(try refusal(place)?.code == .storeForeign)
    }

    @Test(arguments: ["CREATE TABLE t (a)", "PRAGMA user_version = 3; CREATE TABLE t (a); DROP TABLE t"])
    func aDatabaseWithoutOurMarkIsForeign(sql: String) throws {
        #expect(try refusal(try Place().sql(sql))?.code == .storeForeign)
    }

    @Test func whatIsNoDatabaseIsForeign() throws {
        let place = try Place()
        try place.directory.write(String(repeating: "letters ", count: 500), to: "store.db")
        #expect(try refusal(place)?.code == .storeForeign)
        let short = try Place()
        try short.directory.write("SQLite format 3\0", to: "store.db")
        #expect(try refusal(short)?.code == .storeForeign)
    }

    @Test func aDirectoryAPipeAndALinkAreForeign() throws {
        let directory = try Place()
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        #expect(try refusal(directory)?.code == .storeForeign)
        let pipe = try Place()
        #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
        #expect(lectureError { _ = try migrator.inspect(path: pipe.path) }?.code == .storeForeign)
        let link = try Place().migrated(migrator)
        let place = try Place()
        #expect(unsafe symlink(link.path, place.path) == 0)
        #expect(try refusal(place)?.code == .storeForeign)
    }

    @Test func aNewerStoreIsRefused() throws {
        let place = try Place().migrated(Steps.migrator(Steps.first, Steps.second, Steps.third))
        #expect(try refusal(place)?.code == .storeNewer)
        let renamed = Migration(identifier: "0002_other", sha256: Steps.second.sha256, sql: Steps.second.sql)
        #expect(try refusal(place, Steps.migrator(Steps.first, renamed, Steps.third))?.code == .storeNewer)
        #expect(try refusal(try Place().migrated(migrator).sql("PRAGMA user_version = 9"))?.code == .storeNewer)
    }

    @Test func aStoreThatCameUpThroughOtherStepsIsRefused() throws {
        let place = try Place().migrated(migrator)
        let edited = Steps.step(1, Steps.first.sql, digest: "f")
        #expect(try refusal(place, Steps.migrator(edited, Steps.second))?.code == .migrationChanged)
        #expect(try refusal(place, Steps.migrator(Steps.second, Steps.first))?.code == .migrationChanged)
    }

    @Test func recordsThatContradictEachOtherAreDamage() throws {
        #expect(try refusal(try Place().migrated(migrator).sql("PRAGMA user_version = 1"))?.code == .storeDamaged)
        #expect(try refusal(try Place().migrated(migrator).sql("DROP TABLE migration"))?.code == .storeDamaged)
    }

    @Test func aStoreThatWasCutOrOverwrittenIsDamaged() throws {
        let place = try Place().migrated(migrator)
        let bytes = [UInt8](try #require(FileManager.default.contents(atPath: place.path)))
        try place.directory.write(Array(bytes.dropLast(4096)), to: "store.db")
        #expect(try refusal(place)?.code == .storeDamaged)
        var broken = bytes
        // The page of the schema: its kind and its number of cells.
        broken.replaceSubrange(100..<108, with: repeatElement(0xEE, count: 8))
        try place.directory.write(broken, to: "store.db")
        #expect(try refusal(place)?.code == .storeDamaged)
    }

    @Test func theRefusalNamesTheFile() throws {
        let place = try Place().sql("CREATE TABLE t (a)")
        #expect(try refusal(place)?.detail == place.path)
    }
}
