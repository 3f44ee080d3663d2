/// The idle prepared statements of one connection, by SQL text.
///
/// A statement is removed while it is lent. A second request for the same text gets another statement, so a busy one is
/// never stepped or reset by another user.
struct StatementCache {
    /// How many idle statements are kept.
    let capacity: Int
    private var idle: [String: Statement] = [:]
    private var clock: UInt64 = 0

    /// Makes an empty cache.
    init(capacity: Int) { self.capacity = capacity }

    /// How many statements are idle.
    var count: Int { idle.count }

    /// Removes and returns an idle statement.
    mutating func take(_ sql: String) -> Statement? { idle.removeValue(forKey: sql) }

    /// Puts a statement back, reset; evicts the one that was idle longest.
    mutating func put(_ statement: Statement) {
        statement.reset()
        guard idle[statement.sql] == nil else { return }
        if idle.count >= capacity, let oldest = idle.values.min(by: { $0.lastUse < $1.lastUse }) {
            idle[oldest.sql] = nil
        }
        clock += 1
        statement.lastUse = clock
        idle[statement.sql] = statement
    }

    /// Finalizes all idle statements.
    mutating func removeAll() { idle.removeAll() }
}
