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

/// The licence interface of downloads: a lecture is downloaded only after its callback has granted it. Confined to the
/// executor of the store's writer; called inside the engine's transactions.
package protocol DownloadLicensing: AnyObject {
    /// Whether a descriptor's licence may be recorded at all; checked before anything else of it is stored, so that no
    /// lecture is left behind that needs a licence without recording it.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from; nil when none is needed.
    ///   - key: the lecture.
    /// - Returns: nil when it may be recorded; else why not.
    /// - Throws: ``LectureError`` of the store.
    func refusal(of source: LicenceSource?, of key: ContentKey) throws -> LectureError?
    /// Records a descriptor's licence source; nil removes the need for a licence, unless one was granted.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from.
    ///   - key: the lecture.
    /// - Throws: ``LectureError`` of the store.
    func recordSource(_ source: LicenceSource?, of key: ContentKey) throws
    /// The state of the licence.
    func standing(of key: ContentKey) throws -> GrantStanding
    /// Asks the callback. The result arrives as an event of the engine, also when the server could not be reached.
    /// Called after the commit.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - key: its key.
    func requestGrant(_ content: ContentID, key: ContentKey)
    /// Records, in the transaction that completes the media, that the callback is to be notified (kind 2).
    func completed(_ key: ContentKey, now: Timestamp) throws
}
