/// The prepared statements of one connection, by SQL text.
///
/// A statement that is lent stays in its place and is not lent again: a second request for the same text gets another
/// statement, so a busy one is never stepped or reset by another user. So a use costs one look-up of the text.
struct StatementCache {
    /// How many statements are kept.
    let capacity: Int
    private var statements: [String: Statement] = [:]
    private var clock: UInt64 = 0

    /// Makes an empty cache.
    init(capacity: Int) { self.capacity = capacity }

    /// How many statements are idle.
    var count: Int { statements.values.count { !$0.isLent } }

    /// Lends an idle statement; nil when there is none.
    func take(_ sql: String) -> Statement? {
        guard let statement = statements[sql], !statement.isLent else { return nil }
        statement.isLent = true
        return statement
    }

    /// Takes a statement back, reset. A new one is kept, unless there is one of the same text; the one that was idle
    /// longest makes room.
    mutating func put(_ statement: Statement) {
        statement.reset()
        clock += 1
        statement.lastUse = clock
        statement.isLent = false
        guard !statement.isKept, statements[statement.sql] == nil else { return }
        if statements.count >= capacity {
            let idle = statements.values.filter { !$0.isLent }
            guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return }
            oldest.isKept = false
            statements[oldest.sql] = nil
        }
        statement.isKept = true
        statements[statement.sql] = statement
    }

    /// Forgets all statements; those that are idle are finalized.
    mutating func removeAll() {
        for statement in statements.values { statement.isKept = false }
        statements.removeAll()
    }
}
