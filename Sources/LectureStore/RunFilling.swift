package import LectureModel

/// Adds everything that is not complete to a run: the head of the queue first, the others in groups of a transaction
/// each, so that a million lectures keep no download waiting.
package struct RunFilling {
    /// So many lectures are in the run before the others are.
    private static let head = 1000
    /// So many are added in one transaction: a tenth of a second at most.
    private static let group: Int64 = 50_000

    private let run: RunID
    private let last: ContentID
    private var first = ContentID(0)
    /// How many lectures were added.
    package private(set) var count: Int

    /// Queues what was stopped for lack of a network or of space, and adds the head of the queue.
    ///
    /// - Parameters:
    ///   - run: the run.
    ///   - index: the store.
    /// - Throws: ``LectureError``.
    package init(_ run: RunID, in index: SQLiteDownloadIndex) throws {
        self.run = run
        (last, count) = try index.transaction { transaction in
            let owners = transaction.index.owners
            try owners.retryStopped()
            return (try owners.lastContent(), try owners.joinHead(of: run, limit: Self.head))
        }
    }

    /// Adds the next group.
    ///
    /// - Parameter index: the store.
    /// - Returns: false when there is none.
    /// - Throws: ``LectureError``.
    package mutating func addGroup(in index: SQLiteDownloadIndex) throws -> Bool {
        guard first <= last else { return false }
        let ids = first...min(last, ContentID(first.value + Self.group))
        count += try index.transaction { try $0.index.owners.joinUnfinished(run, ids: ids) }
        first = ContentID(ids.upperBound.value + 1)
        return true
    }
}
