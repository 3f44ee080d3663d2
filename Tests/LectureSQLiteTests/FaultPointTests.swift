import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// A connection that a test lets fail.
@Suite struct FaultPointTests {
    private static let insert = "INSERT INTO item(name) VALUES (?)"

    private func count(_ database: SmallDatabase) throws -> Int? {
        try database.connection.first("SELECT count(*) FROM item") { $0.int(0) }
    }

    private func write(_ connection: Connection) throws {
        try connection.transaction {
            try connection.execute(Self.insert, "a")
            _ = try connection.first("SELECT 1") { $0.int(0) }
        }
    }

    @Test func `every statement of a transaction is a fault point, with its beginning and its commit around them`()
        throws
    {
        let database = try SmallDatabase()
        var points: [FaultPoint] = []
        database.connection.faultPoint = { points.append($0) }
        try write(database.connection)
        #expect(
            points == [.begin(.immediate), .statement(Self.insert), .statement("SELECT 1"), .commit(.immediate)])
        points = []
        try database.connection.transaction(.read) {}
        try database.connection.run(script: "SELECT 1; SELECT 2")
        #expect(points == [.begin(.read), .commit(.read)], "a script has none")
    }

    @Test(arguments: [
        FaultPoint.begin(.immediate), .statement(FaultPointTests.insert), .statement("SELECT 1"), .commit(.immediate),
    ])
    func `a transaction that fails at a point has changed nothing, and the next one succeeds`(failing: FaultPoint)
        throws
    {
        let database = try SmallDatabase()
        database.connection.faultPoint = { point in
            if point == failing { throw LectureError(.storeFailed, cause: "the disk is full") }
        }
        #expect(lectureError { try write(database.connection) }?.code == .storeFailed)
        #expect(!database.connection.isInTransaction)
        database.connection.faultPoint = nil
        #expect(try count(database) == 0)
        try write(database.connection)
        #expect(try count(database) == 1)
    }

    @Test func `a rollback is no fault point, so that a failed transaction always ends`() throws {
        let database = try SmallDatabase()
        var isFailing = false
        database.connection.faultPoint = { _ in if isFailing { throw LectureError(.storeFailed) } }
        let error = lectureError {
            try database.connection.transaction {
                try database.connection.execute(Self.insert, "a")
                isFailing = true
                try database.connection.execute(Self.insert, "b")
            }
        }
        #expect(error?.code == .storeFailed && !database.connection.isInTransaction)
        database.connection.faultPoint = nil
        #expect(try count(database) == 0)
    }
}
