import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureSQLite

/// A new database with one table, and its directory.
struct SmallDatabase {
    let directory: TemporaryDirectory
    let path: String
    let connection: Connection

    init(_ sql: String = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB, size REAL) STRICT")
        throws
    {
        directory = try TemporaryDirectory()
        path = directory.file("small.db")
        connection = try Connection(path: path, access: .create)
        try connection.run(script: sql)
    }
}

/// The error thrown by a body; nil when it throws none or another type.
func lectureError(_ body: () throws -> Void) -> LectureError? {
    do { try body() } catch let error as LectureError { return error } catch {}
    return nil
}

@Suite struct ConnectionTests {
    @Test func valuesComeBackAsTheyWentIn() throws {
        let database = try SmallDatabase()
        let insert = "INSERT INTO item(id, name, data, size) VALUES (?, ?, ?, ?)"
        try database.connection.execute(insert, Int64.max, "a\u{0}b 강의", [UInt8]([0, 255, 1]), 0.1)
        try database.connection.execute(insert, Int64.min, "", [UInt8](), -Double.infinity)
        try database.connection.execute(insert, 3, String?.none, [UInt8]?.none, Double?.none)
        let rows = try database.connection.query("SELECT id, name, data, size FROM item ORDER BY id") { row in
            (row.int64(0), row.optionalText(1), row.optionalBlob(2), row.isNull(3) ? nil : row.double(3))
        }
        #expect(rows.map(\.0) == [.min, 3, .max])
        #expect(rows.map(\.1) == ["", nil, "a\u{0}b 강의"])
        #expect(rows.map(\.2) == [[], nil, [0, 255, 1]])
        #expect(rows.map(\.3) == [-.infinity, nil, 0.1])
    }

    @Test func lengthsAndTruthValuesHaveTheirTypes() throws {
        let database = try SmallDatabase()
        try database.connection.execute("INSERT INTO item(id, name) VALUES (?, ?)", UInt64.max, "x")
        let row = try database.connection.first("SELECT id, id = ?, -1, NULL FROM item", Int64.max) { row in
            #expect(row.columnCount == 4)
            #expect(row.optionalUInt64(3) == nil)
            #expect(row.optionalInt(3) == nil)
            #expect(row.optionalInt64(0) == Int64.max)
            return (row.uint64(0), row.bool(1), row.uint64(2), row.isNull(3), row.text(3), row.blob(3), row.double(2))
        }
        let read = try #require(row)
        #expect(read.0 == UInt64(Int64.max))
        #expect(read.1)
        #expect(read.2 == 0)
        #expect(read.3)
        #expect(read.4.isEmpty)
        #expect(read.5.isEmpty)
        #expect(read.6 == -1)
    }

    @Test func aBusyStatementIsNeverUsedByASecondUser() throws {
        let database = try SmallDatabase()
        for name in ["a", "b", "c"] { try database.connection.execute("INSERT INTO item(name) VALUES (?)", name) }
        let sql = "SELECT name FROM item WHERE name >= ? ORDER BY name"
        let pairs = try database.connection.query(sql, "a") { outer in
            try database.connection.query(sql, outer.text(0)) { inner in "\(outer.text(0))\(inner.text(0))" }
        }
        #expect(pairs == [["aa", "ab", "ac"], ["bb", "bc"], ["cc"]])
    }

    @Test func aStatementIsKeptForItsTextWhereverThatIs() throws {
        let database = try SmallDatabase()
        let words = Array("INSERT INTO item(name) VALUES (?)")
        for name in ["a", "b", "c"] {
            // Each time a new text, in another place or in the place of one that is gone.
            try database.connection.execute(String(words), name)
            _ = try database.connection.first(String(Array("SELECT '\(name)' AS name")), read: { $0.text(0) }).map {
                #expect($0 == name)
            }
        }
        #expect(try database.connection.query("SELECT name FROM item ORDER BY name") { $0.text(0) } == ["a", "b", "c"])
        #expect(database.connection.idleStatementCount == 5)
    }

    @Test func onlyABoundedNumberOfStatementsStaysPrepared() throws {
        let database = try SmallDatabase()
        for number in 0..<300 { _ = try database.connection.first("SELECT \(number)") { $0.int(0) } }
        #expect(database.connection.idleStatementCount <= 96)
        #expect(try database.connection.first("SELECT 299") { $0.int(0) } == 299)
    }

    @Test func aStatementWithAnotherNumberOfValuesIsABug() throws {
        let database = try SmallDatabase()
        let error = lectureError { try database.connection.execute("INSERT INTO item(name) VALUES (?)") }
        #expect(error?.code == .bug)
        #expect(lectureError { try database.connection.execute("  ") }?.code == .bug)
    }

    @Test func anErrorInTheReaderEndsTheQueryAndLeavesTheStatementUsable() throws {
        let database = try SmallDatabase()
        try database.connection.execute("INSERT INTO item(name) VALUES ('a')")
        let sql = "SELECT name FROM item"
        let error = lectureError { _ = try database.connection.query(sql) { _ in throw LectureError(.json) } }
        #expect(error?.code == .json)
        #expect(try database.connection.query(sql) { $0.text(0) } == ["a"])
    }

    @Test func changedRowsAndNewRowNumbersAreReported() throws {
        let database = try SmallDatabase()
        #expect(try database.connection.execute("INSERT INTO item(id, name) VALUES (7, 'a')") == 1)
        #expect(database.connection.lastInsertedID == 7)
        #expect(try database.connection.execute("UPDATE item SET size = 1 WHERE id = 8") == 0)
        #expect(try database.connection.first("SELECT 1 FROM item WHERE id = 8") { _ in true } == nil)
    }

    @Test func aPathMayHoldWhatMeansSomethingInAURI() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("100%?a#b.db")
        do {
            let connection = try Connection(path: path, access: .create)
            try connection.run(script: "CREATE TABLE t (a); INSERT INTO t VALUES (5)")
        }
        let reader = try Connection(path: path, access: .immutable)
        #expect(try reader.first("SELECT a FROM t") { $0.int(0) } == 5)
    }
}

@Suite struct TransactionTests {
    @Test func aTransactionThatThrowsLeavesNothing() throws {
        let database = try SmallDatabase()
        let error = lectureError {
            try database.connection.transaction {
                try database.connection.execute("INSERT INTO item(name) VALUES ('a')")
                throw LectureError(.quota)
            }
        }
        #expect(error?.code == .quota)
        #expect(!database.connection.isInTransaction)
        #expect(try database.connection.first("SELECT count(*) FROM item") { $0.int(0) } == 0)
    }

    @Test func aTransactionInsideATransactionIsRefusedAndTheOuterOneRolledBack() throws {
        let database = try SmallDatabase()
        let error = lectureError {
            try database.connection.transaction {
                try database.connection.execute("INSERT INTO item(name) VALUES ('a')")
                try database.connection.transaction {}
            }
        }
        #expect(error?.code == .bug)
        #expect(try database.connection.first("SELECT count(*) FROM item") { $0.int(0) } == 0)
    }

    @Test func aReadTransactionSeesOnePicture() throws {
        let database = try SmallDatabase()
        try database.connection.requireDurability()
        let reader = try Connection(path: database.path, access: .readOnly)
        try reader.requireReaderSafety()
        try reader.transaction(.read) {
            #expect(try reader.first("SELECT count(*) FROM item") { $0.int(0) } == 0)
            try database.connection.execute("INSERT INTO item(name) VALUES ('a')")
            #expect(try reader.first("SELECT count(*) FROM item") { $0.int(0) } == 0)
        }
        #expect(try reader.first("SELECT count(*) FROM item") { $0.int(0) } == 1)
    }

    @Test func theDataVersionChangesWithForeignCommitsOnly() throws {
        let database = try SmallDatabase()
        let other = try Connection(path: database.path, access: .readWrite)
        let before = try database.connection.dataVersion()
        try database.connection.execute("INSERT INTO item(name) VALUES ('own')")
        #expect(try database.connection.dataVersion() == before)
        try other.execute("INSERT INTO item(name) VALUES ('other')")
        #expect(try database.connection.dataVersion() != before)
    }
}

@Suite struct PragmaTests {
    @Test func whatDurabilityNeedsIsSetAndReadBack() throws {
        let database = try SmallDatabase()
        try database.connection.requireDurability()
        #expect(try database.connection.pragma("journal_mode") == "wal")
        #expect(try database.connection.pragmaNumber("synchronous") == 2)
        #expect(try database.connection.pragmaNumber("foreign_keys") == 1)
        #expect(try database.connection.pragmaNumber("trusted_schema") == 0)
    }

    @Test func aPlaceThatCannotKeepALogIsUnsafe() throws {
        // A database in memory answers journal_mode with "memory", as a file system without shared memory would with
        // "delete": the requested mode was not set.
        let connection = try Connection(path: ":memory:", access: .create)
        #expect(lectureError { try connection.requireDurability() }?.code == .storeUnsafe)
    }

    @Test func aReaderCannotWrite() throws {
        let database = try SmallDatabase()
        let reader = try Connection(path: database.path, access: .readOnly)
        try reader.requireReaderSafety()
        #expect(reader.isReadOnly)
        #expect(lectureError { try reader.execute("INSERT INTO item(name) VALUES ('a')") }?.code == .storeReadOnly)
    }

    @Test func memoryIsConfiguredBeforeTheFirstConnection() throws {
        _ = try SmallDatabase("CREATE TABLE one (id INTEGER PRIMARY KEY) STRICT;")
        #expect(Connection.keepsUndoInMemory && Connection.allocatesPagesSingly && Connection.countsNoMemory)
    }

    @Test func aMissingParentIsFound() throws {
        let database = try SmallDatabase(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
            CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parent (id)) STRICT;
            INSERT INTO child VALUES (1, 5);
            """)
        #expect(try database.connection.foreignKeyFindings() == ["row 1 of child refers to a missing row of parent"])
        #expect(try database.connection.integrityFindings().isEmpty)
    }
}
