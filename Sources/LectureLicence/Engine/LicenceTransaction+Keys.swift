import LectureModel

/// Whose signatures count for a licence: those of the key that granted it. Which keys a configuration names and which
/// server it leads to is the learner's choice; the first grant is not.
extension LicenceTransaction {
    /// The keys that count for a lecture: those of its licence and of the key of its media, which is bound to them. A
    /// row that is not trusted says nothing about its keys, and one that was deleted nothing at all; the binding of
    /// the media's key still does, since only this device could have made it.
    ///
    /// - Parameters:
    ///   - entry: the licence; nil when there is none.
    ///   - key: the lecture.
    /// - Returns: the keys; nil where nothing has granted it yet.
    /// - Throws: ``LectureError``: a store's code.
    mutating func countingKeys(_ entry: LicenceEntry?, _ key: ContentKey) throws -> GrantingKeys? {
        guard let bound = try content(key)?.grantingKeys else { return entry?.grantingKeys }
        guard let entry, entry.suspicion == nil, let own = entry.grantingKeys else { return bound }
        return own.common(with: bound)
    }

    /// Stores a licence that was just granted or renewed, and binds the key of its media to its granting keys.
    mutating func keepGrant(_ entry: LicenceEntry) throws {
        try keep(entry)
        if let keys = entry.grantingKeys { try bind(entry.key, to: keys) }
    }

    /// The licences of an exchange for which its answer does not count: they were granted under another key. An answer
    /// that no key verified does not count for a licence that one did grant.
    mutating func foreignItems(_ exchange: CallbackExchange, _ answer: VerifiedAnswer) throws -> Set<ContentKey> {
        var foreign: Set<ContentKey> = []
        for asked in exchange.items {
            guard let keys = try countingKeys(try entry(asked.key), asked.key) else { continue }
            if !keys.answers.contains(answer.signer) { foreign.insert(asked.key) }
        }
        return foreign
    }

    /// Refuses a licence file whose key does not count.
    ///
    /// | the lecture's licence | keys that count |
    /// | --- | --- |
    /// | granted under a key | that key; for the other kind of grant, those configured then |
    /// | granted before keys were recorded | configured ones; others if it neither counts nor has ended |
    /// | none, but a callback to ask | configured ones |
    /// | none | any; only configured ones in a store that was changed, which may have lost a licence |
    mutating func requireCounting(_ signer: FileSigner, _ entry: LicenceEntry?, _ key: ContentKey) throws {
        if let keys = try countingKeys(entry, key) {
            if keys.files.contains(signer.thumbprint) { return }
            throw LectureError(.keyNotGranting, detail: key.text)
        }
        if signer.isConfigured { return }
        let mayBeAny = entry.map { isFree($0) } ?? true
        let wasChanged = try ledger.newestFinding() != nil
        if !mayBeAny || wasChanged { throw LectureError(.trustNotConfigured, detail: key.text) }
    }

    private func isFree(_ entry: LicenceEntry) -> Bool {
        guard let record = entry.record else { return entry.source.callbackURL.isEmpty }
        let (policy, now) = (record.policy, time.time.noEarlierThan)
        let hasEnded =
            record.isForceExpired || record.isDeleted || record.wasSeenExpired || entry.suspicion != nil
            || policy.expiresAt.map { end in now.map { $0 >= end } ?? true } ?? false
        return !hasEnded && policy.countLimit == nil && policy.playTimeLimit == nil
    }
}
