package import LectureModel
import LectureSQLite

extension SQLiteContentQueries {
    /// How many reports are in each state; the invariant that none disappears can be checked with it.
    package func account() throws -> ReportAccount {
        try consistently {
            var account = ReportAccount()
            let numbers = try connection.first("SELECT created, pruned, erased FROM lms_account") { row in
                (row.int(0), row.int(1), row.int(2))
            }
            guard let numbers else { throw LectureError(.storeDamaged, cause: "the account of reports is missing") }
            (account.created, account.pruned, account.erased) = numbers
            let rows = try connection.query(
                "SELECT state, count(*) FROM report INDEXED BY report_state GROUP BY state"
            ) { (try $0.enumeration(0, ReportState.self), $0.int(1)) }
            account.rows = Dictionary(uniqueKeysWithValues: rows)
            return account
        }
    }

    /// All targets, with what waits for each.
    package func targets() throws -> [TargetEntry] { try ReportRows(connection: connection).targets() }

    /// Reports in the order in which they were stored. A page costs only its own rows, and no transaction is open
    /// between two.
    ///
    /// - Parameters:
    ///   - selection: which.
    ///   - id: only those after this one; nil from the start.
    ///   - limit: how many at the most.
    /// - Returns: the reports.
    /// - Throws: ``LectureError``.
    package func reports(_ selection: ReportSelection, after id: OutboxID?, limit: Int) throws -> [StoredReport] {
        try consistently { try ReportRows(connection: connection).reports(selection, after: id, limit: limit) }
    }

    /// Every location outside the tables of reports where a learner is named.
    package func otherTraces(of user: String) throws -> [String] {
        try consistently { try LearnerTraces(connection: connection).places(of: user) }
    }
}
