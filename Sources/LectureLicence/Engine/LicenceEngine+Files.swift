package import LectureModel

/// Licence files: rights without a server.
extension LicenceEngine {
    /// Stores a verified licence file. What was used of the same licence before stays used; a licence older than the
    /// stored one is refused, since it may permit what was used up long ago.
    ///
    /// - Parameters:
    ///   - file: the claims; checked by the caller against this device, this lecture and the time.
    ///   - token: the raw token.
    ///   - key: the lecture.
    ///   - signer: the key that signed it.
    ///   - refusal: what is thrown unless the file ends a doubt about the clock; nil where it is accepted anyway.
    /// - Returns: the licence from now on.
    /// - Throws: ``LectureError``: `keyNotGranting` or `trustNotConfigured` for a key that does not count,
    ///   `licenceFileRefused` for an older file, or a store's code.
    package func keepFile(
        _ file: LicenceFile, token: String, key: ContentKey, signer: FileSigner,
        unlessClockIsConfirmed refusal: LectureError? = nil
    ) throws -> LicenceEntry {
        var kept = LicenceEntry(key: key, source: LicenceSource())
        let anchor = try writing { transaction in
            let old = try transaction.ledger.entry(key)
            if let old { kept = old }
            try transaction.requireCounting(signer, old, key)
            let counting = try transaction.countingKeys(old, key)
            let issued = file.issued.map { Timestamp(milliseconds: $0 * 1000) }
            let isSame = old?.record?.form == .file && !(file.identity ?? "").isEmpty && old?.tokenID == file.identity
            if !isSame, let held = old?.issued, issued.map({ $0 <= held }) ?? true {
                throw LectureError(
                    .licenceFileRefused, detail: key.text, cause: "a licence that is as new or newer is stored already")
            }
            var record = LicenceRecord(form: .file, policy: file.policy, isVerified: true)
            record.deviceThumbprint = file.thumbprint == nil && file.deviceKey == nil ? nil : environment.device
            if isSame, let used = old?.record {
                // The same licence again resets nothing, and does not become trusted by being imported again.
                (record.countUsed, record.playTimeUsed) = (used.countUsed, used.playTimeUsed)
                (record.wasSeenExpired, record.isForceExpired) = (used.wasSeenExpired, used.isForceExpired)
            } else {
                kept.suspicion = try isUnsure(file, issued, transaction) ? old?.suspicion ?? .forged : nil
            }
            kept.record = record
            (kept.token, kept.tokenID, kept.issued) = (token, file.identity ?? "", issued)
            kept.grantingKeys = .afterFile(signer.thumbprint, counting, configured: environment.verifier.signers)
            kept.granted = transaction.now
            (kept.attempts, kept.nextAttempt, kept.error) = (0, nil, nil)
            let isConfirmed = try confirmClock(issued, signer, &transaction)
            if let refusal, !isConfirmed { throw refusal }
            if let issued, LicenceTransaction.isPossible(issued) {
                transaction.time.believe(signed: issued, at: transaction.reading)
                transaction.source = .signed
            }
            try transaction.keepGrant(kept)
        }
        try keepNow(anchor)
        return kept
    }

    /// Ends a doubt about the clock by the issue time of a file, if no licence was granted by others: who holds another
    /// key must not set the time for their licences.
    private func confirmClock(_ issued: Timestamp?, _ signer: FileSigner, _ transaction: inout LicenceTransaction)
        throws -> Bool
    {
        guard let issued, LicenceTransaction.isPossible(issued),
            try !transaction.ledger.hasLicence(forFilesOfOthersThan: signer.thumbprint, orUnknown: !signer.isConfigured)
        else { return false }
        return transaction.confirm(issued, within: nil)
    }

    /// Whether the use of a file is unknown: its row may have been lost when the store was rolled back or forged. A
    /// file that counts nothing, or that was issued after the finding, cannot be affected.
    private func isUnsure(_ file: LicenceFile, _ issued: Timestamp?, _ transaction: LicenceTransaction) throws -> Bool {
        guard file.policy.countLimit != nil || file.policy.playTimeLimit != nil,
            let finding = try transaction.ledger.newestFinding()
        else { return false }
        guard let issued, let found = finding.estimate ?? finding.proven else { return true }
        return issued <= found
    }
}

/// The key that signed a licence file.
package struct FileSigner: Hashable, Sendable {
    /// The thumbprint of the key, or of the root of its certificates.
    package let thumbprint: String
    /// Whether the configuration names it; otherwise the caller did.
    package let isConfigured: Bool

    /// Makes a value.
    package init(thumbprint: String, isConfigured: Bool) {
        (self.thumbprint, self.isConfigured) = (thumbprint, isConfigured)
    }
}
