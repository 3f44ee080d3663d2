package import LectureModel

/// The effect of a DRM callback's answer on a licence. Pure: the old row and the answer in, the new row out.
///
/// A refusal never removes a right: it refuses the request (a download, a play), and the licence stays as it is. Only
/// `content_expired` and `content_delete` end one, in any answer.
package enum CallbackRules {
    /// The result of an answer.
    package struct Outcome: Hashable, Sendable {
        /// The licence from now on; `nil` when there is none.
        package var licence: LicenceRecord?
        /// Why the licence is not trusted from now on; `nil` when it is.
        package var suspicion: LicenceSuspicion?
        /// The refusal, as an error with the server's message; `nil` when it was permitted.
        package var refusal: LectureError?
        /// Whether the file must be deleted.
        package var deletes = false
        /// Whether an ended licence was made playable again.
        package var wasReset = false
    }

    /// Applies an answer.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - licence: the row as it is; `nil` before the first grant.
    ///   - suspicion: why the row is not trusted; `nil` when it is.
    ///   - sessionKey: what was sent with the question; `nil` for none.
    ///   - isStrict: whether a completed download that is refused ends the licence.
    /// - Returns: the result.
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

    /// Whether an untrusted licence becomes trusted again. Its use is unknown, so only an answer after which earlier
    /// use does not count clears it: a new grant, a reset, or a check of a licence without limits on plays and play
    /// time.
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
        // The answer is verified, whatever the state of the token that granted the licence.
        if next.form == .callback { next.isVerified = true }
        // The server was asked: the check is done, and only a new date makes it due again.
        next.policy.checkAt = nil
        next.policy.take(answer)
        outcome.licence = next
        return outcome
    }
}

extension LicencePolicy {
    /// Takes over what an answer says; the rest stays.
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
