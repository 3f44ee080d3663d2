package import LectureModel
import LectureSQLite

/// The rows of the store within one transaction of its writer. All of them use a view of the writer's connection that
/// refuses every call once the transaction has ended.
package final class SQLiteTransaction: StoreTransaction {
    /// Lectures, and what belongs to them.
    package let index: SQLiteDownloadIndex
    private let writer: SQLiteDownloadIndex
    private let connection: Connection
    private var openLedger: (base: SQLiteLicenceLedger, view: SQLiteLicenceLedger)?
    private var openOutbox: SQLiteOutbox?

    /// Makes the rows of the transaction that is open.
    init(of writer: SQLiteDownloadIndex) throws {
        (self.writer, connection) = (writer, try writer.connection.withinTransaction())
        index = SQLiteDownloadIndex(connection: connection)
        index.fieldSeal = writer.fieldSeal
    }

    /// The rows of a transaction as this store has them.
    ///
    /// - Parameter transaction: of a writer of this module.
    /// - Returns: the same transaction.
    /// - Throws: ``LectureError`` with the code `bug` for one of another store.
    package static func rows(_ transaction: any StoreTransaction) throws -> SQLiteTransaction {
        guard let own = transaction as? SQLiteTransaction else { throw LectureError(.bug, detail: "another store") }
        return own
    }

    /// The ledger of licences that was opened last; it may be opened within the transaction.
    ///
    /// - Throws: ``LectureError`` with the code `bug` when none was opened.
    package var ledger: SQLiteLicenceLedger {
        get throws {
            guard let base = writer.ledger else { throw LectureError(.bug, detail: "no ledger is open") }
            if let openLedger, openLedger.base === base { return openLedger.view }
            let view = SQLiteLicenceLedger(base, on: connection)
            openLedger = (base, view)
            return view
        }
    }

    /// The reports.
    package var outbox: SQLiteOutbox {
        if let openOutbox { return openOutbox }
        let made = SQLiteOutbox(index: index)
        openOutbox = made
        return made
    }

    /// The cache of streams.
    package var streams: SQLiteStreamCache { SQLiteStreamCache(index: index) }

    // MARK: For the engines

    /// Lectures.
    package var contents: any DownloadIndex { index }
    /// Licences.
    package var licences: any LicenceLedger { get throws { try ledger } }
    /// Learning reports.
    package var reports: any StatisticsOutbox { outbox }
    /// Webhooks.
    package var webhooks: any WebhookJournal { index.webhooks }
}
