import LectureEngine
package import LectureModel

/// What downloads need of licences. These run inside a transaction of the downloads, which may still be rolled back; it
/// ends with a row of the chain.
extension LicenceEngine: DownloadLicensing {
    /// An open engine may record any source: ``open(accepting:)`` has refused a store of another device.
    package func refusal(
        of source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws -> LectureError? { nil }

    /// Records what a descriptor says about the licence.
    package func recordSource(
        _ source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws {
        let ledger = try transaction.licences
        let old = try ledger.entry(key)
        guard let source else {
            guard let old, old.record == nil else { return }
            try ledger.forget(key)
            return changed()
        }
        guard old?.source != source else { return }
        var entry = old ?? LicenceEntry(key: key, source: source)
        entry.source = source
        try ledger.store(entry)
        changed()
    }

    /// The state of the licence. Media of an ended licence may still be fetched: the verdict decides whether it plays,
    /// and a server may renew it. An untrusted one is granted again.
    package func standing(of key: ContentKey, in transaction: any StoreTransaction) throws -> GrantStanding {
        guard let entry = try transaction.licences.entry(key) else { return .unneeded }
        guard let record = entry.record, !record.isDeleted, entry.suspicion == nil else { return .due }
        return .granted
    }

    /// Requests the callback (kind 1).
    package func requestGrant(_ content: ContentID, key: ContentKey) { grant(content, key: key) }

    /// The media is complete: the callback must be notified (kind 2).
    package func completed(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws {
        let ledger = try transaction.licences
        guard var entry = try ledger.entry(key), entry.record?.form == .callback, !entry.source.callbackURL.isEmpty
        else { return }
        try ledger.callbacks.add(key, kind: CallbackAnswer.Kind.completion.rawValue, now: now)
        addedCallback()
        guard environment.isStrict, !entry.owesCompletion else { return }
        entry.owesCompletion = true
        try ledger.store(entry)
        changed()
    }
}
