/// A moment at which a test may let a connection fail (``Connection/faultPoint``).
///
/// Faults at the connection meet all code that uses it, also code that is written later, and need no second store that
/// forwards every call.
package enum FaultPoint: Hashable, Sendable {
    /// A transaction is about to begin.
    case begin(Connection.TransactionKind)
    /// A statement with this text is about to run. BEGIN, COMMIT and ROLLBACK are no statements here, and scripts are
    /// not either.
    case statement(String)
    /// A transaction whose statements have all succeeded is about to be committed.
    case commit(Connection.TransactionKind)
}
