/// A lecture with respect to its licence.
package struct ContentPresence: Hashable, Sendable {
    /// The row.
    package var id: ContentID
    /// Whether every byte of its media is present and committed.
    package var isComplete: Bool
    /// Whether its media is sealed with a key that another device has wrapped: no licence makes it playable here.
    package var isSealedElsewhere = false

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - isComplete: whether every byte is present and committed.
    package init(id: ContentID, isComplete: Bool) { (self.id, self.isComplete) = (id, isComplete) }
}

/// The lectures as the licence engine sees them. Confined to the executor of the store's writer and on its connection:
/// called inside the ledger's transactions.
package protocol LicensedContents: AnyObject {
    /// A lecture.
    ///
    /// - Parameter key: its key.
    /// - Returns: nil when it does not exist.
    /// - Throws: ``LectureError``.
    func content(_ key: ContentKey) throws -> ContentPresence?
    /// Requests the removal of a lecture, as ordered by its licence server; the download engine deletes the files. A
    /// missing lecture is ignored.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func orderRemoval(_ key: ContentKey, now: Timestamp) throws
}
