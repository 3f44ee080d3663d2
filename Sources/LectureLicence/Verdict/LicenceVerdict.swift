package import LectureModel

/// Whether a lecture may be played now, and everything that speaks against it.
package struct LicenceVerdict: Hashable, Sendable {
    /// What a verdict rests on. There is nothing else: no clock, no store, no network.
    package struct Facts: Hashable, Sendable {
        /// The row of the ledger; `nil` when there is none.
        package var licence: LicenceRecord?
        /// Whether the content needs a licence at all.
        package var isLicensed: Bool
        /// Whether every byte is there and proven.
        package var isMediaProven: Bool
        /// What time it is, as far as that can be trusted.
        package var time: TrustedTime
        /// The thumbprint of this device's key.
        package var deviceThumbprint: [UInt8]
        /// Whether a server has just permitted this very play (kind 3, `result` 1).
        package var isCheckedForThisPlay: Bool
        /// Why the row is not believed; `nil` when it is.
        package var suspicion: LicenceSuspicion?
        /// Whether a server must first be told that the download is complete.
        package var owesCompletion = false
        /// Whether another device has sealed the media, so that this one cannot open it.
        package var isSealedElsewhere = false

        /// Facts about a content.
        ///
        /// - Parameters:
        ///   - licence: the row of the ledger.
        ///   - isLicensed: whether the content needs a licence.
        ///   - isMediaProven: whether every byte is there and proven.
        ///   - time: what time it is.
        ///   - deviceThumbprint: of this device's key.
        ///   - isCheckedForThisPlay: whether a server has just permitted this very play.
        package init(
            licence: LicenceRecord?, isLicensed: Bool = true, isMediaProven: Bool, time: TrustedTime,
            deviceThumbprint: [UInt8], isCheckedForThisPlay: Bool = false
        ) {
            (self.licence, self.isLicensed, self.isMediaProven) = (licence, isLicensed, isMediaProven)
            (self.time, self.deviceThumbprint) = (time, deviceThumbprint)
            self.isCheckedForThisPlay = isCheckedForThisPlay
        }
    }

    /// What speaks against it, the reason that is named first.
    package let reasons: [LicenceReason]

    /// Whether it may be played.
    package var isPlayable: Bool { reasons.isEmpty }

    /// Judges. One pure function, so that a judgement can be repeated and explained.
    ///
    /// As trusted time goes on, every reason but ``LicenceReason/notYetValid`` stays once it is there.
    ///
    /// - Parameter facts: all that counts.
    /// - Returns: every reason, in the order of ``LicenceReason``.
    package static func judge(_ facts: Facts) -> LicenceVerdict {
        var reasons: Set<LicenceReason> = facts.isMediaProven ? [] : [.mediaIncomplete]
        if let licence = facts.licence {
            reasons.formUnion(standing(of: licence, facts))
            reasons.formUnion(bounds(of: licence, facts))
        } else if facts.isLicensed {
            reasons.insert(.missing)
        }
        return LicenceVerdict(reasons: reasons.sorted())
    }

    /// What holds whatever time it is.
    private static func standing(of licence: LicenceRecord, _ facts: Facts) -> Set<LicenceReason> {
        var reasons: Set<LicenceReason> = []
        if licence.isDeleted { reasons.insert(.deleted) }
        if licence.isForceExpired { reasons.insert(.forceExpired) }
        if !licence.isVerified { reasons.insert(.unverified) }
        if let bound = licence.deviceThumbprint, bound != facts.deviceThumbprint { reasons.insert(.otherDevice) }
        if licence.countLeft == 0 { reasons.insert(.countUsedUp) }
        if licence.playTimeLeft == .zero { reasons.insert(.playTimeUsedUp) }
        if licence.wasSeenExpired { reasons.insert(.expired) }
        switch facts.suspicion {
        case .copied: reasons.insert(.storeCopied)
        case .forged: reasons.insert(.ledgerForged)
        case .rolledBack: reasons.insert(.storeRolledBack)
        case nil: break
        }
        if facts.isSealedElsewhere { reasons.insert(.storeCopied) }
        if facts.owesCompletion { reasons.insert(.checkDue) }
        if licence.policy.checksEveryPlay, !facts.isCheckedForThisPlay { reasons.insert(.checkDue) }
        return reasons
    }

    /// What depends on the time. Where the time is not trusted it is still known to be no earlier than some moment, and
    /// what has ended by then has ended.
    private static func bounds(of licence: LicenceRecord, _ facts: Facts) -> Set<LicenceReason> {
        let policy = licence.policy
        let hasBounds = policy.startsAt != nil || policy.expiresAt != nil || policy.checkAt != nil
        var reasons: Set<LicenceReason> = []
        if hasBounds, !facts.time.isTrusted { reasons.insert(.clockUntrusted) }
        guard let now = facts.time.noEarlierThan else { return reasons }
        if let end = policy.expiresAt, now >= end { reasons.insert(.expired) }
        if let check = policy.checkAt, now >= check, !facts.isCheckedForThisPlay { reasons.insert(.checkDue) }
        if let start = policy.startsAt, facts.time.isTrusted, now < start { reasons.insert(.notYetValid) }
        return reasons
    }
}
