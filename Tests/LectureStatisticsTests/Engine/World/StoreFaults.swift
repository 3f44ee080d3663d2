import LectureModel
import LectureSQLite
import LectureTestSupport

@testable import LectureStore

/// Lets the store of a program fail at random as on a full disk: at the beginning or the commit of a transaction, or at
/// a statement between them. A statement that is repeated for many rows may fail once, since otherwise long steps would
/// nearly always fail.
final class StoreFaults {
    /// How many fault points in a thousand fail. A step has about 16, so that 30 let two steps in five fail.
    var failures = 0
    /// Whether every statement succeeds and the commit fails.
    var failsCommits = false
    private(set) var failed = 0
    /// How many reports were read.
    private(set) var read = 0
    private let connection: Connection
    private var randomness: SeededGenerator
    private var last: FaultPoint?

    init(_ connection: Connection, seed: UInt64) {
        (self.connection, randomness) = (connection, SeededGenerator(seed: seed))
    }

    /// Lets what the body does with the store fail.
    func use<Result>(_ body: () throws -> Result) rethrows -> Result {
        connection.faultPoint = { [unowned self] point in try reached(point) }
        defer { connection.faultPoint = nil }
        return try body()
    }

    private func reached(_ point: FaultPoint) throws {
        defer { last = point }
        if point != last, failures > 0, Int.random(in: 0..<1000, using: &randomness) < failures {
            failed += 1
            throw LectureError(.storeFailed, cause: "the disk is full")
        }
        switch point {
        case .begin: break
        case .statement(let sql): if sql == ReportRows.byID || sql == ReportRows.recordByID { read += 1 }
        case .commit: if failsCommits { throw LectureError(.storeFailed, cause: "the disk is full") }
        }
    }
}
