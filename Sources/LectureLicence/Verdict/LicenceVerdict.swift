package import LectureModel

/// Whether a lecture may be played now, and every reason against it.
package struct LicenceVerdict: Hashable, Sendable {
    /// The input of a verdict. There is no other: no clock, no store, no network.
    package struct Facts: Hashable, Sendable {
        /// The row of the ledger; `nil` when there is none.
        package var licence: LicenceRecord?
        /// Whether the lecture needs a licence at all.
        package var isLicensed: Bool
        /// Whether every byte is stored and verified.
        package var isMediaComplete: Bool
        /// The time, as far as it can be trusted.
        package var time: TrustedTime
        /// The thumbprint of this device's key.
        package var deviceThumbprint: [UInt8]
        /// Whether a server has just permitted this very play (kind 3, `result` 1).
        package var isCheckedForThisPlay: Bool
        /// Why the row is not trusted; `nil` when it is.
        package var suspicion: LicenceSuspicion?
        /// Whether the completed download must first be reported to a server.
        package var owesCompletion = false
        /// Whether another device has sealed the media, so that this one cannot open it.
        package var isSealedElsewhere = false
        /// Whether the key of the media is bound to other granting keys than those of the licence.
        package var isGrantedElsewhere = false
        /// Whether a play could not be recorded in the device's directory.
        package var isAnchorUnwritable = false

        /// Facts about a lecture.
        ///
        /// - Parameters:
        ///   - licence: the row of the ledger.
        ///   - isLicensed: whether the lecture needs a licence.
        ///   - isMediaComplete: whether every byte is stored and verified.
        ///   - time: the time.
        ///   - deviceThumbprint: of this device's key.
        ///   - isCheckedForThisPlay: whether a server has just permitted this very play.
        package init(
            licence: LicenceRecord?, isLicensed: Bool = true, isMediaComplete: Bool, time: TrustedTime,
            deviceThumbprint: [UInt8], isCheckedForThisPlay: Bool = false
        ) {
            (self.licence, self.isLicensed, self.isMediaComplete) = (licence, isLicensed, isMediaComplete)
            (self.time, self.deviceThumbprint) = (time, deviceThumbprint)
            self.isCheckedForThisPlay = isCheckedForThisPlay
        }
    }

    /// The reasons against it, the one to report first.
    package let reasons: [LicenceReason]

    /// Whether it may be played.
    package var isPlayable: Bool { reasons.isEmpty }

    /// Judges. A pure function, so that a verdict can be reproduced and explained.
    ///
    /// As trusted time advances, no reason except ``LicenceReason/notYetValid`` disappears.
    ///
    /// - Parameter facts: the input.
    /// - Returns: every reason, in the order of ``LicenceReason``.
    package static func judge(_ facts: Facts) -> LicenceVerdict {
        var reasons: Set<LicenceReason> = facts.isMediaComplete ? [] : [.mediaIncomplete]
        if let licence = facts.licence {
            reasons.formUnion(standing(of: licence, facts))
            reasons.formUnion(bounds(of: licence, facts))
            if facts.isAnchorUnwritable { reasons.insert(.anchorUnwritable) }
        } else if facts.isLicensed {
            reasons.insert(.missing)
        }
        return LicenceVerdict(reasons: reasons.sorted())
    }

    /// Reasons that do not depend on the time.
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
        if facts.isGrantedElsewhere { reasons.insert(.otherKey) }
        if facts.owesCompletion { reasons.insert(.checkDue) }
        if licence.policy.checksEveryPlay, !facts.isCheckedForThisPlay { reasons.insert(.checkDue) }
        return reasons
    }

    /// Reasons that depend on the time. An untrusted time is still known to be no earlier than some moment, and what
    /// has ended by then has ended.
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
