/// When a store is looked at for a commit of another program. A value without input or output.
///
/// SQLite writes a commit to the log of the database, syncs the log, and makes the commit visible only then, in shared
/// memory. Of these steps the system reports the first alone, and the second can take seconds on a busy disk. So the
/// store is looked at when its log was written, and again after pauses that double, whatever each look finds: what
/// became visible may be an earlier commit.
///
///               written                looked: the last pause is over
///     quiet ─────────────▶ searching ──────────────────────────────────▶ quiet
///                           │  ▲
///                           └──┘ looked: a pause twice as long follows
///                                written: the shortest pause follows
///
/// Source: SQLite, “WAL-mode File Format”, sections 2 and 4; `sqlite3WalFrames` syncs before `walIndexWriteHdr`.
struct CommitSearch: Hashable, Sendable {
    /// The first pause: most commits are visible then.
    static let shortest = Duration.milliseconds(100)
    /// The last one. All of them take 102 seconds, much longer than a sync on a busy disk.
    static let longest = shortest * 512

    /// The version of the data (`PRAGMA data_version`) at the last look; nil when it could not be read.
    private(set) var version: Int64?
    /// How long until the next look; nil for none, until the log is written again.
    private(set) var pause: Duration?

    /// Begins quietly.
    ///
    /// - Parameter version: the version of the data now.
    init(version: Int64?) { self.version = version }

    /// The log was written. A look follows.
    mutating func written() { pause = .zero }

    /// The store was looked at.
    ///
    /// - Parameter version: the version of the data now.
    /// - Returns: whether another program has committed since the last look.
    mutating func looked(_ version: Int64?) -> Bool {
        pause = pause.flatMap { $0 < Self.longest ? max(Self.shortest, $0 * 2) : nil }
        defer { self.version = version }
        return version != self.version
    }
}
