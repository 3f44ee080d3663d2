/// The prepared statements of one connection, by SQL text.
///
/// A statement that is lent stays in its place and is not lent again: a second request for the same text gets another
/// statement, so a busy one is never stepped or reset by another user. So a use costs one look-up: most texts are
/// constants, which are found by their place in memory, without hashing hundreds of bytes.
struct StatementCache {
    /// How many statements are kept.
    let capacity: Int
    private var statements: [String: Statement] = [:]
    /// Kept statements by the place of the text with which they were asked for. Only a hint: the texts are compared,
    /// which costs nothing where they are one and the same.
    private var recent = [Statement?](repeating: nil, count: Self.recentCount)
    private static let recentCount = 512
    private var clock: UInt64 = 0

    /// Makes an empty cache.
    init(capacity: Int) { self.capacity = capacity }

    /// How many statements are idle.
    var count: Int { statements.values.count { !$0.isLent } }

    /// Lends an idle statement; nil when there is none.
    mutating func take(_ sql: String) -> Statement? {
        let place = Self.place(of: sql)
        let found: Statement?
        if let statement = recent[place], statement.sql == sql {
            found = statement
        } else {
            found = statements[sql]
            recent[place] = found
        }
        guard let found, !found.isLent else { return nil }
        found.isLent = true
        return found
    }

    /// The place of a text among ``recent``.
    private static func place(of sql: String) -> Int {
        let address = unsafe sql.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) } ?? 0
        // A product spreads neighbours and what is far apart alike (Knuth, volume 3, section 6.4).
        return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 55)
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
            for place in recent.indices where recent[place] === oldest { recent[place] = nil }
        }
        statement.isKept = true
        statements[statement.sql] = statement
    }

    /// Forgets all statements; those that are idle are finalized.
    mutating func removeAll() {
        for statement in statements.values { statement.isKept = false }
        statements.removeAll()
        recent = [Statement?](repeating: nil, count: Self.recentCount)
    }
}
