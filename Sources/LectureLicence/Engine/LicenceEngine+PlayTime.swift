package import LectureModel

/// Play time that the ledger has charged.
package struct PlayCharge: Hashable, Sendable {
    /// The grant that time was charged to. What is left of a charge is not given back to a later one.
    package struct Grant: Hashable, Sendable {
        private let granted: Timestamp?
        private let checked: Timestamp?
        private let issued: Timestamp?

        init(_ entry: LicenceEntry) {
            (granted, checked, issued) = (entry.granted, entry.checked, entry.issued)
        }
    }

    /// How much was charged; at most what was asked for.
    package var granted: Duration
    /// How much is left after it.
    package var left: Duration
    /// What it was charged to.
    package var grant: Grant
}

/// The accounting of limited play time, ahead of the bytes.
extension LicenceEngine {
    /// Charges play time, durably and with its anchor, before it returns. If the anchor cannot be stored, nothing is
    /// charged.
    ///
    /// - Parameters:
    ///   - key: the lecture, whose play has begun.
    ///   - time: in the unit of the policy; more than zero.
    /// - Returns: what was charged, more than zero; nil for a licence that does not limit play time.
    /// - Throws: ``LectureError``: `playTimeUsedUp` when nothing is left; `licenceMissing`, `licenceDeleted`, or the
    ///   code of the finding when the licence is gone or not trusted any more; `anchorUnwritable`; a store's code.
    package func chargePlayTime(_ key: ContentKey, _ time: Duration) throws -> PlayCharge? {
        var charge: PlayCharge?
        var refusal: LicenceReason?
        let anchor = try writing { transaction in
            let (entry, verdict) = try transaction.judged(key)
            refusal = verdict.reasons.first(where: \.endsStartedPlay)
            guard refusal == nil, var entry, var record = entry.record, let left = record.playTimeLeft else { return }
            let granted = min(left, max(.zero, time))
            record.playTimeUsed += granted
            entry.record = record
            try transaction.keep(entry)
            charge = PlayCharge(granted: granted, left: left - granted, grant: PlayCharge.Grant(entry))
        }
        if let refusal { throw LectureError(refusal.code, detail: key.text) }
        if let anchor, let granted = charge?.granted {
            // Waits for the anchor: without it, an older store could be put back after a kill.
            try keep(anchor, of: key) { $0.playTimeUsed = max(.zero, $0.playTimeUsed - granted) }
        }
        return charge
    }

    /// Gives back play time that was charged and not used. A licence that was granted or checked since keeps it, since
    /// its count may have begun anew; so does one that is not trusted.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - time: how much, in the unit of the policy.
    ///   - grant: what it was charged to last.
    /// - Throws: ``LectureError``: a store's code.
    package func refundPlayTime(_ key: ContentKey, _ time: Duration, of grant: PlayCharge.Grant) throws {
        let anchor = try writing { transaction in
            guard var entry = try transaction.ledger.entry(key), var record = entry.record, entry.suspicion == nil,
                PlayCharge.Grant(entry) == grant
            else { return }
            record.playTimeUsed = max(.zero, record.playTimeUsed - max(.zero, time))
            entry.record = record
            try transaction.keep(entry)
        }
        keepSoon(anchor)
    }
}

extension LicenceReason {
    /// Whether a play that has begun ends for this reason. What was permitted when it began, such as an end or a count,
    /// is not asked again.
    fileprivate var endsStartedPlay: Bool {
        switch self {
        case .deleted, .missing, .otherDevice, .otherKey, .storeCopied, .ledgerForged, .storeRolledBack,
            .playTimeUsedUp, .anchorUnwritable:
            true
        case .forceExpired, .mediaIncomplete, .unverified, .clockUntrusted, .checkDue, .notYetValid, .expired,
            .countUsedUp:
            false
        }
    }
}
