/// A lecture with respect to its licence.
package struct ContentPresence: Hashable, Sendable {
    /// The row.
    package var id: ContentID
    /// Whether every byte of its media is present and committed.
    package var isComplete: Bool
    /// Whether its media is sealed with a key that another device has wrapped: no licence makes it playable here.
    package var isSealedElsewhere = false
    /// The granting keys to which the key of its media is bound; nil for none, and where this device cannot open it.
    package var grantingKeys: GrantingKeys?
    /// What the key of its media is for; nil for media that is not sealed.
    package var sealPurpose: SealPurpose?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - isComplete: whether every byte is present and committed.
    package init(id: ContentID, isComplete: Bool) { (self.id, self.isComplete) = (id, isComplete) }
}

/// The lectures as the licence engine sees them. Confined to the executor of the store's writer.
package protocol LicensedContents: AnyObject {
    /// A lecture.
    ///
    /// - Parameters:
    ///   - key: its key.
    ///   - transaction: the rows.
    /// - Returns: nil when it does not exist.
    /// - Throws: ``LectureError``.
    func content(_ key: ContentKey, in transaction: any StoreTransaction) throws -> ContentPresence?
    /// Binds the key of a lecture's licensed media to the granting keys of its licence, in the transaction that stores
    /// them. Without such media, or with media of another device, nothing happens.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - keys: the granting keys.
    ///   - transaction: the rows.
    /// - Throws: ``LectureError``.
    func bind(_ key: ContentKey, to keys: GrantingKeys, in transaction: any StoreTransaction) throws
    /// Requests the removal of a lecture, as ordered by its licence server; the downloads delete the files. A missing
    /// lecture is ignored.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - now: the wall clock.
    ///   - transaction: the rows.
    /// - Returns: whether that is news: ``followRemovals()`` is then called after the commit.
    /// - Throws: ``LectureError``.
    func orderRemoval(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws -> Bool
    /// Has the downloads delete the lectures whose removal was requested. Called after the commit.
    func followRemovals()
}
