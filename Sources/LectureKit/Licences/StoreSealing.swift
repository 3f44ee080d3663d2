import LectureLicence
import LectureModel
import LectureStore

/// Decides what is sealed: licensed lectures always, others when the configuration seals everything. Confined to the
/// core queue.
final class StoreSealing: ContentSealing {
    private let policy: SealPolicy
    private let index: SQLiteDownloadIndex
    private let clock: any LectureClock
    /// The keys of lectures; opened with the first sealed one.
    private let keys: () throws -> (ledger: SQLiteLicenceLedger, vault: any ContentVault)

    /// Creates the policy of a store.
    ///
    /// - Parameters:
    ///   - policy: what is sealed.
    ///   - index: the store's writer.
    ///   - clock: wall time for the rows.
    ///   - keys: opens the keys of lectures, once they are needed.
    init(
        _ policy: SealPolicy, index: SQLiteDownloadIndex, clock: any LectureClock,
        keys: @escaping () throws -> (ledger: SQLiteLicenceLedger, vault: any ContentVault)
    ) {
        (self.policy, self.index, self.clock, self.keys) = (policy, index, clock, keys)
    }

    /// The cipher of a lecture's media and subtitles; pictures for lists stay unsealed.
    func cipher(for item: ItemRecord, role: ResourceRole) throws -> (any ContentCipher)? {
        guard role == .media || role == .subtitle else { return nil }
        let key = item.content.key
        if try index.hasContentKey(item.id) {
            let (ledger, vault) = try keys()
            guard let stored = try ledger.contentKeys.key(item.id) else { return nil }
            return try vault.cipher(stored, for: key)
        }
        let isLicensed = try index.hasLicence(key)
        switch policy {
        case .never where isLicensed: throw LectureError(.sealRequired, detail: key.text)
        case .never: return nil
        case .licensed where !isLicensed: return nil
        case .licensed, .always: break
        }
        let (ledger, vault) = try keys()
        let purpose: SealPurpose = isLicensed ? .licensed : .unlicensed
        // A key that was made before the grant is bound with it.
        let keys = isLicensed ? try ledger.entry(key)?.grantingKeys : nil
        let (cipher, wrapped) = try vault.newCipher(for: key, purpose: purpose, boundTo: keys)
        try ledger.contentKeys.add(item.id, wrapped, now: clock.now())
        return cipher
    }
}

/// The licence interface of the download engine, with the ledger opened only when a lecture needs one. Confined to the
/// core queue.
final class DeferredLicensing: DownloadLicensing {
    private let index: SQLiteDownloadIndex
    private let open: () throws -> LicenceService
    private let present: () -> LicenceService?

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - index: the store's writer.
    ///   - present: the ledger, if it is open.
    ///   - open: opens it.
    init(
        _ index: SQLiteDownloadIndex, present: @escaping () -> LicenceService?,
        open: @escaping () throws -> LicenceService
    ) {
        (self.index, self.present, self.open) = (index, present, open)
    }

    func refusal(of source: LicenceSource?, of key: ContentKey) throws -> LectureError? {
        if source == nil, try !index.hasLicence(key) { return nil }
        do {
            _ = try open()
            return nil
        } catch let error as LectureError where error.code == .storeCopied {
            return LectureError(.storeCopied, detail: key.text)
        }
    }

    func recordSource(_ source: LicenceSource?, of key: ContentKey) throws {
        if source == nil, try !index.hasLicence(key) { return }
        try open().engine.recordSource(source, of: key)
    }

    func standing(of key: ContentKey) throws -> GrantStanding {
        guard try index.hasLicence(key) else { return .unneeded }
        if let refusal = try refusal(of: LicenceSource(), of: key) { return .refused(refusal) }
        return try open().engine.standing(of: key)
    }

    func requestGrant(_ content: ContentID, key: ContentKey) { present()?.engine.requestGrant(content, key: key) }

    func completed(_ key: ContentKey, now: Timestamp) throws {
        guard try index.hasLicence(key) else { return }
        try open().engine.completed(key, now: now)
    }
}
