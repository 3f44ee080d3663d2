import LectureModel

extension Connection {
    /// How a transaction begins.
    package enum TransactionKind: String, Sendable {
        /// Takes the write lock at once. The only kind that waits for other writers for up to the busy timeout: a
        /// transaction that starts by reading and writes later fails without waiting (SQLITE_BUSY_SNAPSHOT).
        case immediate = "BEGIN IMMEDIATE"
        /// Reads one consistent snapshot of the database.
        case read = "BEGIN"
    }

    /// Runs `body` as one transaction: committed when it returns, rolled back when it throws.
    ///
    /// - Parameters:
    ///   - kind: how it begins.
    ///   - body: must not start another transaction.
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, with the code `bug` inside another transaction; and what `body` throws.
    package func transaction<Result>(_ kind: TransactionKind = .immediate, _ body: () throws -> Result) throws -> Result
    {
        try requireTransaction()
        guard !isInTransaction else { throw LectureError(.bug, detail: "a transaction inside a transaction") }
        try faultPoint?(.begin(kind))
        try control(kind.rawValue)
        transactionSerial += 1
        openTransaction = transactionSerial
        defer { openTransaction = nil }
        do {
            let result = try body()
            try faultPoint?(.commit(kind))
            try control("COMMIT")
            return result
        } catch {
            // SQLite has rolled back already after some errors (full disk, input/output); the first error counts.
            if isInTransaction { _ = try? control("ROLLBACK") }
            throw error
        }
    }

    /// Runs several statements as one: in the caller's transaction when there is one, else in one of its own.
    ///
    /// - Parameter body: committed when the transaction is.
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``, and what `body` throws.
    package func atomically<Result>(_ body: () throws -> Result) throws -> Result {
        isInTransaction ? try body() : try transaction(.immediate, body)
    }
}
