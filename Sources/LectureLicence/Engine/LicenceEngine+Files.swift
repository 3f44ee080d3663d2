package import LectureModel

/// Licence files: rights that come without a server.
extension LicenceEngine {
    /// Keeps a licence file that verified. What was used of the same licence before stays used; an older licence than
    /// the one that is held is refused, since it may permit what was used up long ago.
    ///
    /// - Parameters:
    ///   - file: the claims; judged by the caller against this device, this content and the time.
    ///   - token: the raw token.
    ///   - key: the content.
    /// - Returns: the licence from now on.
    /// - Throws: ``LectureError`` with ``LectureError/Code/licenceFileRefused`` for an older one, or a store's code.
    package func keepFile(_ file: LicenceFile, token: String, key: ContentKey) throws -> LicenceEntry {
        var kept = LicenceEntry(key: key, source: LicenceSource())
        let anchor = try writing { turn in
            let old = try ledger.entry(key)
            if let old { kept = old }
            let issued = file.issued.map { Timestamp(milliseconds: $0 * 1000) }
            let isSame = old?.record?.form == .file && !(file.identity ?? "").isEmpty && old?.tokenID == file.identity
            if !isSame, let held = old?.issued, issued.map({ $0 <= held }) ?? true {
                throw LectureError(
                    .licenceFileRefused, detail: key.text, cause: "a licence that is as new or newer is held already")
            }
            var record = LicenceRecord(form: .file, policy: file.policy, isVerified: true)
            record.deviceThumbprint = file.thumbprint == nil && file.deviceKey == nil ? nil : settings.device
            if isSame, let used = old?.record {
                // The same licence again gives nothing back, and is not believed again by being there.
                (record.countUsed, record.playTimeUsed) = (used.countUsed, used.playTimeUsed)
                (record.wasSeenExpired, record.isForceExpired) = (used.wasSeenExpired, used.isForceExpired)
            } else {
                kept.suspicion = try isUnsure(file, issued) ? old?.suspicion ?? .forged : nil
            }
            kept.record = record
            (kept.token, kept.tokenID, kept.issued) = (token, file.identity ?? "", issued)
            kept.granted = turn.now
            (kept.attempts, kept.nextAttempt, kept.error) = (0, nil, nil)
            if let issued, issued >= TimeLedger.earliest, issued.milliseconds <= CallbackAnswer.latestDate * 1000 {
                turn.time.believe(signed: issued, at: turn.reading)
                turn.source = .signed
            }
            try store(kept, &turn)
        }
        // An anchor that is not there yet could be replaced by an older store after a kill: it is waited for.
        if let anchor { try ports.anchors.keep(anchor, of: settings.store) }
        return kept
    }

    /// Whether nobody knows what was used of a file: its row may have been among those that a store which was put back
    /// or forged has lost. One that counts nothing, or was issued since that was found, cannot have been.
    private func isUnsure(_ file: LicenceFile, _ issued: Timestamp?) throws -> Bool {
        guard file.policy.countLimit != nil || file.policy.playTimeLimit != nil,
            let finding = try ledger.newestFinding()
        else { return false }
        guard let issued, let found = finding.estimate ?? finding.proven else { return true }
        return issued <= found
    }
}
