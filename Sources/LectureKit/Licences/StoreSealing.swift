import LectureLicence
import LectureModel
import LectureStore

/// Decides what is sealed: licensed lectures and the keys of streams always, others when the configuration seals
/// everything. Confined to the core queue.
final class StoreSealing: ContentSealing {
    private let policy: SealPolicy
    private let clock: any LectureClock
    private let open: () throws -> any ContentVault

    /// Creates the policy of a store.
    ///
    /// - Parameters:
    ///   - policy: what is sealed.
    ///   - clock: wall time for the rows.
    ///   - open: opens the device's key and the ledger of the store, once they are needed.
    init(_ policy: SealPolicy, clock: any LectureClock, open: @escaping () throws -> any ContentVault) {
        (self.policy, self.clock, self.open) = (policy, clock, open)
    }

    /// The cipher of a lecture's files; pictures for lists stay unsealed, and so do the segments of a stream whose keys
    /// are sealed, unless it is licensed or everything is sealed.
    func cipher(
        for item: ItemRecord, role: ResourceRole, in transaction: any StoreTransaction
    ) throws -> (any ContentCipher)? {
        guard role.isSealable else { return nil }
        let rows = try SQLiteTransaction.rows(transaction)
        let (key, index) = (item.content.key, rows.index)
        if role.isOfStream, role != .key, policy != .always, try !index.hasLicence(key) { return nil }
        if try index.hasContentKey(item.id) {
            let vault = try open()
            guard let stored = try rows.ledger.contentKeys.key(item.id) else { return nil }
            return try vault.cipher(stored, for: key)
        }
        let isLicensed = try index.hasLicence(key)
        switch policy {
        // The key of a stream never lies on the disk in clear.
        case .never where role == .key, .licensed where role == .key: break
        case .never where isLicensed: throw LectureError(.sealRequired, detail: key.text)
        case .never: return nil
        case .licensed where !isLicensed: return nil
        case .licensed, .always: break
        }
        let vault = try open()
        let ledger = try rows.ledger
        let purpose: SealPurpose = isLicensed ? .licensed : .unlicensed
        // A key that was made before the grant is bound with it.
        let keys = isLicensed ? try ledger.entry(key)?.grantingKeys : nil
        let (cipher, wrapped) = try vault.newCipher(for: key, purpose: purpose, boundTo: keys)
        try ledger.contentKeys.add(item.id, wrapped, now: clock.now())
        return cipher
    }
}

extension ResourceRole {
    /// Whether its files may be sealed; pictures for lists never are.
    fileprivate var isSealable: Bool {
        switch self {
        case .media, .subtitle, .playlist, .segment, .initialisation, .key: true
        case .snapshot, .thumbnail: false
        }
    }
}

/// The licence interface of the download engine, with the ledger opened only when a lecture needs one. Confined to the
/// core queue.
final class DeferredLicensing: DownloadLicensing {
    private let open: () throws -> LicenceService
    private let present: () -> LicenceService?

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - present: the ledger, if it is open.
    ///   - open: opens it.
    init(present: @escaping () -> LicenceService?, open: @escaping () throws -> LicenceService) {
        (self.present, self.open) = (present, open)
    }

    private func hasLicence(_ key: ContentKey, _ transaction: any StoreTransaction) throws -> Bool {
        try SQLiteTransaction.rows(transaction).index.hasLicence(key)
    }

    func refusal(
        of source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction
    ) throws -> LectureError? {
        if source == nil, try !hasLicence(key, transaction) { return nil }
        do {
            _ = try open()
            return nil
        } catch let error as LectureError where error.code == .storeCopied {
            return LectureError(.storeCopied, detail: key.text)
        }
    }

    func recordSource(_ source: LicenceSource?, of key: ContentKey, in transaction: any StoreTransaction) throws {
        if source == nil, try !hasLicence(key, transaction) { return }
        try open().engine.recordSource(source, of: key, in: transaction)
    }

    func standing(of key: ContentKey, in transaction: any StoreTransaction) throws -> GrantStanding {
        guard try hasLicence(key, transaction) else { return .unneeded }
        if let refusal = try refusal(of: LicenceSource(), of: key, in: transaction) { return .refused(refusal) }
        return try open().engine.standing(of: key, in: transaction)
    }

    func requestGrant(_ content: ContentID, key: ContentKey) { present()?.engine.requestGrant(content, key: key) }

    func completed(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws {
        guard try hasLicence(key, transaction) else { return }
        try open().engine.completed(key, now: now, in: transaction)
    }
}
