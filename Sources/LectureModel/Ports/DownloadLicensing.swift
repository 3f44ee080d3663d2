/// How the licence of a content stands, as far as a download is concerned.
package enum GrantStanding: Sendable, Hashable {
    /// It needs none.
    case unneeded
    /// Its licence permits that the media is fetched and kept.
    case granted
    /// The callback has to be asked first (kind 1).
    case due
    /// Nothing may be asked or noted: the store belongs to another device.
    case refused(LectureError)
}

/// What a download asks of licences: a lecture is fetched only after its callback granted it. Confined to the executor
/// of the store's writer; called inside the engine's transactions.
package protocol DownloadLicensing: AnyObject {
    /// Whether what a descriptor says of the licence may be noted at all; looked at before anything else is stored of
    /// it, so that no lecture is left behind that needs a licence and does not say so.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from; nil when none is needed.
    ///   - key: the content.
    /// - Returns: nil when it may be noted; else why not.
    /// - Throws: ``LectureError`` of the store.
    func refusal(of source: LicenceSource?, of key: ContentKey) throws -> LectureError?
    /// Notes what a descriptor says of the licence; nil takes the need for one away, unless a licence was granted.
    ///
    /// - Parameters:
    ///   - source: where the licence comes from.
    ///   - key: the content.
    /// - Throws: ``LectureError`` of the store.
    func noteSource(_ source: LicenceSource?, of key: ContentKey) throws
    /// How the licence stands.
    func standing(of key: ContentKey) throws -> GrantStanding
    /// Asks the callback. The answer comes as an event of the engine, also when it is that nobody could be reached.
    /// Called after the commit.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - key: its key.
    func requestGrant(_ content: ContentID, key: ContentKey)
    /// The media is complete: notes that the callback is to be told (kind 2), in the transaction that makes it so.
    func completed(_ key: ContentKey, now: Timestamp) throws
}
