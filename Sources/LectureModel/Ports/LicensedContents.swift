/// A content, as far as its licence is concerned.
package struct ContentPresence: Hashable, Sendable {
    /// The row.
    package var id: ContentID
    /// Whether every byte of its media is there and proven.
    package var isComplete: Bool
    /// Whether its media is sealed with a key that another device has wrapped: no licence makes it playable here.
    package var isSealedElsewhere = false

    /// A content.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - isComplete: whether every byte is there and proven.
    package init(id: ContentID, isComplete: Bool) { (self.id, self.isComplete) = (id, isComplete) }
}

/// What the licence engine asks of the contents. Confined to the executor of the store's writer and on its connection:
/// called inside the ledger's transactions.
package protocol LicensedContents: AnyObject {
    /// A content.
    ///
    /// - Parameter key: its key.
    /// - Returns: nil when it is not there.
    /// - Throws: ``LectureError``.
    func content(_ key: ContentKey) throws -> ContentPresence?
    /// Wants a content removed, because its licence server ordered so; whoever works on the contents deletes the files.
    /// One that is not there is passed by.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func orderRemoval(_ key: ContentKey, now: Timestamp) throws
}
