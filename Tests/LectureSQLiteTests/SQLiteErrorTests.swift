import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@Suite struct SQLiteErrorTests {
    @Test(arguments: [
        (Int32(13), LectureError.Code.storageFull), (5, .storeBusy),
        (517, .storeBusy), (6, .storeBusy), (11, .storeDamaged),
        (26, .storeDamaged), (779, .storeDamaged), (8, .storeReadOnly), (1032, .storeReadOnly), (14, .openStore),
        (1550, .openStore), (266, .readFile), (522, .readFile), (778, .writeFile), (1034, .writeFile),
        (9, .interrupted), (2067, .storeFailed), (1, .storeFailed), (7, .storeFailed),
    ])
    func everyFamilyOfResultsHasItsCode(result: Int32, code: LectureError.Code) {
        let error = SQLiteError(code: result, message: "words").lectureError(detail: "place")
        #expect(error.code == code)
        #expect(error.detail == "place")
        #expect(error.cause == "SQLite \(result): words")
    }

    @Test(arguments: [Int32(14), 1550, 778], [ENOSPC, EDQUOT])
    func aRefusalForWantOfSpaceIsAFullDisk(result: Int32, system: Int32) {
        let error = SQLiteError(code: result, message: "words", systemError: system).lectureError()
        #expect(error.code == .storageFull)
    }

    @Test func aViolatedRuleIsReportedWithoutTheValue() throws {
        let database = try SmallDatabase()
        let secret = "a very private title"
        try database.connection.execute("INSERT INTO item(name) VALUES (?)", secret)
        let error = lectureError { try database.connection.execute("INSERT INTO item(name) VALUES (?)", secret) }
        #expect(error?.code == .storeFailed)
        #expect(error?.cause == "SQLite 2067: UNIQUE constraint failed: item.name")
        #expect(error?.message.contains(secret) == false)
    }

    @Test func aFullDiskIsReportedAndLeavesTheDatabaseAsItWas() throws {
        let database = try SmallDatabase()
        try database.connection.execute("PRAGMA max_page_count = 4")
        let error = lectureError {
            try database.connection.transaction {
                for _ in 0..<100 {
                    try database.connection.execute(
                        "INSERT INTO item(data) VALUES (?)", [UInt8](repeating: 7, count: 4096))
                }
            }
        }
        #expect(error?.code == .storageFull)
        #expect(!database.connection.isInTransaction)
        #expect(try database.connection.first("SELECT count(*) FROM item") { $0.int(0) } == 0)
        #expect(try database.connection.integrityFindings().isEmpty)
    }

    @Test func aSecondWriterWaitsAndThenIsReportedThatTheStoreIsBusy() throws {
        let database = try SmallDatabase()
        let impatient = try Connection(path: database.path, access: .readWrite, busyTimeout: .milliseconds(1))
        try database.connection.transaction {
            let error = lectureError { try impatient.transaction {} }
            #expect(error?.code == .storeBusy)
        }
        _ = try impatient.transaction { try impatient.execute("INSERT INTO item(name) VALUES ('now')") }
    }

    @Test func whatIsNoDatabaseIsDamaged() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(String(repeating: "not a database ", count: 100), to: "a.db")
        let connection = try Connection(path: path, access: .readWrite)
        #expect(lectureError { _ = try connection.pragmaNumber("user_version") }?.code == .storeDamaged)
    }

    @Test func aMissingFileAndASymbolicLinkAreNotOpened() throws {
        let database = try SmallDatabase()
        let missing = database.directory.file("missing.db")
        let error = lectureError { _ = try Connection(path: missing, access: .readWrite) }
        #expect(error?.code == .openStore)
        #expect(error?.detail == missing)
        let link = database.directory.file("link.db")
        #expect(unsafe symlink(database.path, link) == 0)
        #expect(lectureError { _ = try Connection(path: link, access: .readWrite) }?.code == .openStore)
    }

    @Test func aRunningStatementIsEndedFromAnotherThread() throws {
        let database = try SmallDatabase()
        let interrupter = database.connection.interrupter
        // The query would run for hours; it reports its start by writing into a pipe that the other thread reads.
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        // A separate thread: the pool's may all be busy, this one's query among them.
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var byte: UInt8 = 0
            _ = unsafe read(reading, &byte, 1)
            interrupter.interrupt()
            done.signal()
        }
        var reported = false
        let error = lectureError {
            _ = try database.connection.query(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i % 1000 = 0"
            ) { _ in
                if !reported { _ = unsafe write(writing, "x", 1) }
                reported = true
            }
        }
        #expect(error?.code == .interrupted)
        done.wait()
        close(reading)
        close(writing)
        #expect(try database.connection.first("SELECT 1") { $0.int(0) } == 1)
    }

    @Test func interruptingAClosedConnectionDoesNothing() throws {
        let interrupter = try SmallDatabase().connection.interrupter
        interrupter.interrupt()
    }
}

@Suite struct BackupTests {
    @Test func aCopyHoldsWhatWasCommittedAndNothingElse() throws {
        let database = try SmallDatabase()
        try database.connection.requireDurability()
        try database.connection.execute("INSERT INTO item(name) VALUES ('committed')")
        let reader = try Connection(path: database.path, access: .readOnly)
        let path = database.directory.file("copy.db")
        try database.connection.transaction {
            try database.connection.execute("INSERT INTO item(name) VALUES ('not yet')")
            // The copy neither waits for the open transaction nor sees its changes.
            try reader.copy(to: try Connection(path: path, access: .create))
        }
        let copy = try Connection(path: path, access: .readWrite)
        #expect(try copy.query("SELECT name FROM item") { $0.text(0) } == ["committed"])
        #expect(try copy.integrityFindings().isEmpty)
    }

    @Test func aTargetThatCannotBeWrittenIsReported() throws {
        let database = try SmallDatabase()
        let target = try Connection(path: database.path, access: .readOnly)
        let other = try SmallDatabase()
        #expect(lectureError { try other.connection.copy(to: target) }?.code == .storeReadOnly)
    }
}
