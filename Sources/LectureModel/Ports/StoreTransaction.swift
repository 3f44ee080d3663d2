/// The rows of the store within one transaction: within a step of the loop, the only way to them.
///
/// The store's writer makes one when a transaction begins (``StoreWriter``). It is valid until that is committed or
/// rolled back. Confined to the executor of the writer.
///
/// - The compiler checks that no machine, event, effect or notice keeps it or one of its row ports: those are
///   `Sendable`, and these are not. For the same reason they stay on the executor. What remains of a step after its
///   commit is `Sendable` too.
/// - The connection checks at run time what other code may still keep: once the transaction has ended, every call that
///   reads or writes through its row ports throws the code `bug`, also while a later transaction is open.
///
/// A `~Escapable` type would let the compiler check both, but Swift 6.3 can make one only with an experimental feature.
package protocol StoreTransaction: AnyObject {
    /// Lectures: the queue, versions, files, chunks, and servers.
    var contents: any DownloadIndex { get throws }
    /// Licences. A store without an open ledger throws the code `bug`.
    var licences: any LicenceLedger { get throws }
    /// Learning reports.
    var reports: any StatisticsOutbox { get throws }
    /// Webhooks.
    var webhooks: any WebhookJournal { get throws }
}

/// The store's writer: the only connection of this process that makes changes. Confined to one executor.
package protocol StoreWriter: AnyObject {
    /// The rows within a transaction.
    associatedtype Transaction: StoreTransaction

    /// Runs `body` as one durable transaction (`BEGIN IMMEDIATE`, WAL, `synchronous=FULL`); rolls back when it throws.
    /// One that changed licences must have ended with a row of their chain (``LicenceLedger``).
    ///
    /// - Parameter body: must not start another transaction.
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, with the code `bug` inside another transaction; and what `body` throws.
    func transaction<Result>(_ body: (Transaction) throws -> Result) throws -> Result
    /// Runs `body`, which changes nothing, on one snapshot: in the open transaction when there is one, else in one of
    /// its own.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, and what `body` throws.
    func read<Result>(_ body: (Transaction) throws -> Result) throws -> Result
}
