import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

@Suite struct OpeningTests {
    let now = Timestamp(milliseconds: 1_700_000_000_000)

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func aNewStoreIsPrivateAndWhole() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(directory: directory.file("a/b/store"))
        let opened = try StoreDatabase.openWriter(location, now: now)
        #expect(opened.applied == MigrationCatalogue.entries.map(\.identifier))
        #expect(try mode(location.directory) == 0o700)
        #expect(try mode(directory.file("a")) == 0o700)
        for name in ["lecturekit.db", "lecturekit.db-wal", "lecturekit.db-shm"] {
            #expect(try mode("\(location.directory)/\(name)") == 0o600)
        }
        #expect(try opened.connection.pragma("journal_mode") == "wal")
        #expect(try opened.connection.pragmaNumber("synchronous") == 2)
        #expect(try opened.connection.pragmaNumber("foreign_keys") == 1)
        #expect(try opened.connection.pragmaNumber("application_id") == 0x4C4B_6974)
    }

    @Test func aStoreIsTheSameWhenItIsOpenedAgain() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(directory: directory.path)
        let first = try SQLiteDownloadIndex(opening: location, now: now).identity()
        let second = try SQLiteDownloadIndex(opening: location, now: now).identity()
        #expect(first.uuid == second.uuid)
        #expect(first.proofKey == second.proofKey)
        #expect(first.proofKey.count == 32)
        #expect(UUID(uuidString: first.uuid) != nil)
        #expect(try StoreDatabase.openWriter(location, now: now).applied.isEmpty)
        let other = try SQLiteDownloadIndex(opening: StoreLocation(directory: directory.file("other")), now: now)
        #expect(try other.identity().proofKey != first.proofKey)
    }

    @Test func whatAKilledMakerLeftIsReplaced() throws {
        let directory = try TemporaryDirectory()
        try directory.write("half a database", to: "lecturekit.db.new")
        try directory.write("a log", to: "lecturekit.db.new-wal")
        try directory.write("", to: "lecturekit.db")
        let location = StoreLocation(directory: directory.path)
        _ = try StoreDatabase.openWriter(location, now: now)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == [
                "lecturekit.db", SpaceReserve.fileName,
            ])
        #expect(try StoreMaintenance.check(location) == [])
    }

    @Test func aLinkToTheDirectoryIsFollowedAndALinkInPlaceOfTheDatabaseIsNot() throws {
        let directory = try TemporaryDirectory()
        let real = StoreLocation(directory: directory.file("real"))
        _ = try StoreDatabase.openWriter(real, now: now)
        #expect(unsafe symlink(real.directory, directory.file("link")) == 0)
        _ = try StoreDatabase.openReader(StoreLocation(directory: directory.file("link")))
        try directory.write("", to: "other/x")
        #expect(unsafe symlink("\(real.directory)/lecturekit.db", directory.file("other/lecturekit.db")) == 0)
        let other = StoreLocation(directory: directory.file("other"))
        #expect(lectureError { _ = try StoreDatabase.openWriter(other, now: now) }?.code == .storeForeign)
    }

    @Test func aRefusedFileKeepsEveryByte() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("lecturekit.db")
        try Connection(path: path, access: .create).run(
            script: "CREATE TABLE notes (text); INSERT INTO notes VALUES (1)")
        let before = FileManager.default.contents(atPath: path)
        let location = StoreLocation(directory: directory.path)
        #expect(lectureError { _ = try StoreDatabase.openWriter(location, now: now) }?.code == .storeForeign)
        #expect(lectureError { _ = try StoreMaintenance.migrate(location, now: now) }?.code == .storeForeign)
        #expect(FileManager.default.contents(atPath: path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["lecturekit.db"])
    }

    @Test func aReaderNeedsAStoreAndMakesNone() throws {
        let directory = try TemporaryDirectory()
        let missing = StoreLocation(directory: directory.file("missing"))
        #expect(lectureError { _ = try StoreDatabase.openReader(missing) }?.code == .openStore)
        #expect(
            lectureError { _ = try StoreDatabase.openReader(StoreLocation(directory: directory.path)) }?.code
                == .openStore)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func aFileInPlaceOfTheDirectoryIsReported() throws {
        let directory = try TemporaryDirectory()
        try directory.write("x", to: "file")
        for name in ["file", "file/below"] {
            let location = StoreLocation(directory: directory.file(name))
            let error = lectureError { _ = try StoreDatabase.openWriter(location, now: now) }
            #expect(error?.code == .openStore || error?.code == .createDirectory)
        }
    }

    /// Root may write everywhere, so the child switches to an unprivileged user first.
    @Test func aReadOnlyPlaceIsRefusedUntouched() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let location = StoreLocation(directory: directory.path)
            let now = Timestamp(milliseconds: 0)
            _ = try StoreDatabase.openWriter(location, now: now)
            let empty = directory.file("empty")
            try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
            let unprivileged: UInt32 = 65_534
            for path in [directory.path, directory.file("lecturekit.db"), empty] {
                try #require(unsafe geteuid() != 0 || chown(path, unprivileged, unprivileged) == 0)
                try #require(unsafe chmod(path, path.hasSuffix(".db") ? 0o400 : 0o500) == 0)
            }
            let before = FileManager.default.contents(atPath: directory.file("lecturekit.db"))
            if geteuid() == 0 { try #require(setuid(unprivileged) == 0) }
            for place in [location, StoreLocation(directory: empty)] {
                let error = lectureError { _ = try StoreDatabase.openWriter(place, now: now) }
                try #require(error?.code == .storeReadOnly)
            }
            let below = StoreLocation(directory: "\(empty)/store")
            try #require(lectureError { _ = try StoreDatabase.openWriter(below, now: now) }?.code == .createDirectory)
            try #require(FileManager.default.contents(atPath: directory.file("lecturekit.db")) == before)
            try #require(
                try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == [
                    "empty", "lecturekit.db", SpaceReserve.fileName,
                ])
            _ = unsafe chmod(empty, 0o700)
            _ = unsafe chmod(directory.path, 0o700)
        }
    }

    @Test func theDigestsOfTheCatalogueAreThoseOfTheBytes() async throws {
        let directory = try TemporaryDirectory()
        for entry in MigrationCatalogue.entries {
            let path = try directory.write(entry.sql, to: entry.identifier)
            let sum = try await ChildProcess.run("sha256sum", [path]).text
            #expect(sum.hasPrefix(entry.sha256 + " "))
            #expect(entry.sql.count < 16_384)
        }
    }

    @Test func theMigrationsAgreeEverywhere() async throws {
        let ending = try await ChildProcess.run("\(Places.repository())/Tools/check-migrations")
        #expect(ending.status == 0, "\(ending.errorText)")
    }
}
