/// The state of a lecture's licence with respect to a download.
package enum GrantStanding: Sendable, Hashable {
    /// It needs none.
    case unneeded
    /// Its licence permits downloading and keeping the media.
    case granted
    /// The callback has to be asked first (kind 1).
    case due
    /// Nothing may be requested or recorded: the store belongs to another device.
    case refused(LectureError)
}

/// What became of a grant that a download waits for.
package enum GrantAnswer: Sendable, Hashable {
    /// It is granted, or not needed any more; the ledger has the result.
    case settled
    /// The server refused.
    case refused(LectureError)
    /// The server could not be reached, or its answer was unusable.
    case failed(LectureError)
    /// The server was not asked: it has asked to wait for this long.
    case postponed(LectureError, Duration)
}

/// The licence interface of downloads: a lecture is downloaded only after its callback has granted it. Confined to the
/// executor of the store's writer. What concerns rows names the transaction, in which it also writes.
package protocol DownloadLicensing: AnyObject {
    /// Whether a descriptor's licence may be recorded at all; checked before anything else of it is stored, so that no
    /// lecture is left behind that needs a licence without recording it.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from; nil when none is needed.
    ///   - key: the lecture.
    ///   - transaction: the rows.
    /// - Returns: nil when it may be recorded; else why not.
    /// - Throws: ``LectureError`` of the store.
    func refusal(
        of source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws -> LectureError?
    /// Records a descriptor's licence source; nil removes the need for a licence, unless one was granted.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from.
    ///   - key: the lecture.
    ///   - transaction: the rows.
    /// - Throws: ``LectureError`` of the store.
    func recordSource(_ source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction) throws
    /// The state of the licence.
    func standing(of key: ContentKey, in transaction: any StoreTransaction) throws -> GrantStanding
    /// Asks the callback. The result arrives as an event of the engine, also when the server could not be reached.
    /// Called after the commit.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - key: its key.
    func requestGrant(_ content: ContentID, key: ContentKey)
    /// Records, in the transaction that completes the media, that the callback is to be notified (kind 2).
    func completed(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws
}
