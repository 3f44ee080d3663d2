import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

@Suite struct MaintenanceTests {
    @Test func whatThereIsToKnowAboutAStoreIsReported() throws {
        try StoreFixture.with { store in
            try store.completed("a")
            let info = try StoreMaintenance.info(store.location)
            #expect(info.path.hasSuffix("/lecturekit.db"))
            #expect(try info.uuid == store.index.identity().uuid)
            #expect(info.created == StoreTemplate.created)
            #expect(info.applied.map(\.identifier) == MigrationCatalogue.entries.map(\.identifier))
            #expect(info.pending.isEmpty)
            #expect(info.journalMode == "wal")
            #expect(info.databaseBytes > 0 && info.logBytes > 0)
            #expect(info.libraryVersion.hasPrefix("3."))
            #expect(info.status?.counts == [.completed: 1])
        }
    }

    @Test(arguments: [
        ("UPDATE tally SET contents = contents + 1 WHERE state = 4", "counts by state"),
        ("UPDATE resource SET proven_count = 3", "other chunks than it has"),
        ("UPDATE chunk SET idx = 77 WHERE idx = 9", "beyond its end"),
        ("UPDATE version SET state = 2", "no current version"),
        ("UPDATE content SET bytes_proven = 1", "other bytes than its resources"),
        ("DELETE FROM store_identity", "no identity"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM content", "refers to a missing row"),
    ])
    func aCheckFindsWhatBreaksARule(damage: String, finding: String) throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(directory: directory.path)
        try StoreFixture.with { store in
            try store.completed("a")
            try StoreMaintenance.backup(store.location, to: directory.file("lecturekit.db"))
        }
        #expect(try StoreMaintenance.check(location) == [])
        try Connection(path: directory.file("lecturekit.db"), access: .readWrite).run(script: damage)
        let findings = try StoreMaintenance.check(location)
        #expect(findings.contains { $0.contains(finding) }, "\(findings)")
    }

    @Test func aCheckFindsABrokenPage() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("lecturekit.db")
        try StoreFixture.with { store in
            for number in 0..<50 { try store.completed("a\(number)") }
            try StoreMaintenance.backup(store.location, to: path)
        }
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: path)))
        let page = try Connection(path: path, access: .immutable).first(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'content_title'"
        ) { $0.int(0) }
        let start = (try #require(page) - 1) * 4096
        bytes.replaceSubrange(start + 2_000..<start + 4_096, with: repeatElement(0x5A, count: 2_096))
        try directory.write(bytes, to: "lecturekit.db")
        #expect(try !StoreMaintenance.check(StoreLocation(directory: directory.path)).isEmpty)
    }

    @Test func aBackupIsMadeWhileTheStoreIsWritten() throws {
        let directory = try TemporaryDirectory()
        try StoreFixture.with { store in
            try store.add("committed")
            try store.index.transaction { _ in
                try store.add("open")
                try StoreMaintenance.backup(store.location, to: directory.file("lecturekit.db"))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["lecturekit.db"])
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("lecturekit.db"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let copy = StoreLocation(directory: directory.path)
        #expect(try SQLiteContentQueries(opening: copy).count(ContentFilter()) == 1)
        let index = try SQLiteDownloadIndex(opening: copy, now: Timestamp(milliseconds: 0))
        #expect(try index.contents.item(try ContentKey("committed")) != nil)
    }

    @Test func aBackupReplacesNoFileAndNeedsItsDirectory() throws {
        try StoreFixture.with { store in
            let directory = try TemporaryDirectory()
            let path = try directory.write("precious", to: "copy.db")
            for target in [path, directory.file("missing/copy.db"), directory.path + "/"] {
                let error = lectureError { try StoreMaintenance.backup(store.location, to: target) }
                #expect(error?.code == .createFile, "\(target)")
            }
            #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["copy.db"])
        }
    }

    @Test func `a changed definition is found, and an object of another program is not ours`() throws {
        try StoreFixture.with { store in
            let path = try StoreDatabase.existingPath(store.location)
            try Connection(path: path, access: .readWrite).run(script: "CREATE INDEX mine ON content(title)")
            #expect(try StoreMaintenance.check(store.location) == [])
            let bent = try Connection(path: path, access: .readWrite)
            try bent.run(script: "DROP INDEX mine; DROP INDEX course_entry_content; PRAGMA writable_schema = ON")
            try bent.execute(
                """
                UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (play_time_unit', 'CHECK (play_time_uniu')
                WHERE name = 'licence'
                """)
            #expect(
                try StoreMaintenance.check(store.location) == [
                    "the index course_entry_content is missing", "the definition of the table licence was changed",
                ])
            try bent.execute(
                """
                UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (play_time_uniu', 'CHECK (play_time_unit')
                WHERE name = 'licence'
                """)
            try bent.run(script: "CREATE INDEX course_entry_content ON course_entry (content_id)")
        }
    }

    @Test func aStoreThatIsNotThereIsReported() throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation(directory: directory.path)
        #expect(lectureError { _ = try StoreMaintenance.info(location) }?.code == .openStore)
        #expect(lectureError { _ = try StoreMaintenance.check(location) }?.code == .openStore)
        let target = directory.file("copy")
        #expect(lectureError { try StoreMaintenance.backup(location, to: target) }?.code == .openStore)
        let all = MigrationCatalogue.entries.map(\.identifier)
        #expect(try StoreMaintenance.migrate(location, now: Timestamp(milliseconds: 0)) == all)
        #expect(try StoreMaintenance.migrate(location, now: Timestamp(milliseconds: 0)).isEmpty)
    }
}
