package import LectureModel

/// What an answer of a DRM callback does to a licence. Pure: the old row and the answer in, the new row out.
///
/// A refusal never takes away a right: it refuses what was asked for (a download, a play), and the licence stays as it
/// is. Only `content_expired` and `content_delete` end one, in whatever answer they come.
package enum CallbackRules {
    /// What became of an answer.
    package struct Outcome: Hashable, Sendable {
        /// The licence from now on; `nil` when there is none.
        package var licence: LicenceRecord?
        /// Why the licence is not believed from now on; `nil` when it is.
        package var suspicion: LicenceSuspicion?
        /// What was refused, as an error with the server's sentence; `nil` when it was permitted.
        package var refusal: LectureError?
        /// Whether the file has to go.
        package var deletes = false
        /// Whether an ended licence was made playable again.
        package var wasReset = false
    }

    /// Applies an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - licence: the row as it is; `nil` before the first grant.
    ///   - suspicion: why the row is not believed; `nil` when it is.
    ///   - sessionKey: what was sent with the question; `nil` where none was.
    ///   - isStrict: whether a completed download that is refused ends the licence.
    /// - Returns: what becomes of it.
    package static func apply(
        _ answer: CallbackAnswer, to licence: LicenceRecord?, suspicion: LicenceSuspicion? = nil,
        sessionKey: String?, isStrict: Bool = false
    ) -> Outcome {
        var outcome =
            switch answer.kind {
            case .grant: grant(answer, licence)
            case .completion: completion(answer, licence, isStrict)
            case .check: check(answer, licence, sessionKey)
            }
        outcome.suspicion = suspicion.flatMap { isCleared(by: answer, outcome) ? nil : $0 }
        return outcome
    }

    /// Whether a licence whose row was not believed is believed again. What was used of it is not known then, so only
    /// an answer after which nothing that was used counts clears it: a new grant, a reset, or a check of a licence
    /// whose plays and play time nobody counts.
    private static func isCleared(by answer: CallbackAnswer, _ outcome: Outcome) -> Bool {
        guard outcome.refusal == nil, let licence = outcome.licence else { return false }
        switch answer.kind {
        case .grant: return true
        case .completion: return false
        case .check:
            return outcome.wasReset || licence.policy.countLimit == nil && licence.policy.playTimeLimit == nil
        }
    }

    private static func grant(_ answer: CallbackAnswer, _ licence: LicenceRecord?) -> Outcome {
        guard answer.isPermitted else {
            return Outcome(licence: licence, refusal: LectureError(.grantRefused, cause: answer.message ?? ""))
        }
        var granted = LicenceRecord(form: .callback, policy: LicencePolicy(), isVerified: true)
        granted.policy.take(answer)
        return Outcome(licence: granted)
    }

    private static func completion(
        _ answer: CallbackAnswer, _ licence: LicenceRecord?, _ isStrict: Bool
    ) -> Outcome {
        var outcome = Outcome(licence: licence, deletes: answer.deletes)
        if answer.deletes { outcome.licence?.isDeleted = true }
        if let check = answer.checkAt { outcome.licence?.policy.checkAt = check }
        if !answer.isPermitted {
            outcome.refusal = LectureError(.completionRefused, cause: answer.message ?? "")
            if isStrict { outcome.licence?.isForceExpired = true }
        }
        return outcome
    }

    private static func check(_ answer: CallbackAnswer, _ licence: LicenceRecord?, _ sessionKey: String?) -> Outcome {
        guard var next = licence else {
            return Outcome(licence: nil, refusal: LectureError(.playRefused, cause: answer.message ?? ""))
        }
        var outcome = Outcome(licence: licence, deletes: answer.deletes)
        if answer.deletes { next.isDeleted = true }
        if answer.expires { next.isForceExpired = true }
        guard answer.isPermitted else {
            (outcome.licence, outcome.refusal) = (next, LectureError(.playRefused, cause: answer.message ?? ""))
            return outcome
        }
        if answer.resets, !answer.expires {
            guard let sessionKey, answer.sessionKey == sessionKey else {
                (outcome.licence, outcome.refusal) = (next, LectureError(.sessionMismatch))
                return outcome
            }
            (next.isForceExpired, next.wasSeenExpired) = (false, false)
            (next.countUsed, next.playTimeUsed) = (0, .zero)
            outcome.wasReset = true
        }
        // The answer has verified, whatever became of the token that granted the licence.
        if next.form == .callback { next.isVerified = true }
        // The server has been asked: what was due is done, and only a new date makes it due again.
        next.policy.checkAt = nil
        next.policy.take(answer)
        outcome.licence = next
        return outcome
    }
}

extension LicencePolicy {
    /// Takes what an answer says; what it does not say stays.
    fileprivate mutating func take(_ answer: CallbackAnswer) {
        if let end = answer.expiresAt { expiresAt = end }
        if let limit = answer.countLimit { countLimit = limit }
        if let limit = answer.playTimeLimit { playTimeLimit = limit }
        if let unit = answer.playTimeUnit { playTimeUnit = unit }
        if let check = answer.checkAt { checkAt = check }
        if let checks = answer.checksEveryPlay { checksEveryPlay = checks }
        if let asks = answer.asksBeforeRenewal { asksBeforeRenewal = asks }
        if let scope = answer.bookmarks { bookmarks = scope }
        if let isReadOnly = answer.bookmarksAreReadOnly { bookmarksAreReadOnly = isReadOnly }
    }
}
