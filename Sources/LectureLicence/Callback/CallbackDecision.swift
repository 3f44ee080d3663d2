package import LectureModel

/// What was decided about a lecture's answer. The raw value is the word that the request's row keeps in `outcome` and
/// that `why` prints: it never changes (docs/schema.md lists the words).
package enum CallbackDecision: String, CaseIterable, Sendable {
    /// The server permits.
    case permitted
    /// The server permits, and an ended licence is playable again.
    case reset
    /// The server refuses.
    case refused
    /// The server has ended the licence.
    case ended
    /// The server has ordered the file's removal.
    case deleted
    /// The answer does not name the lecture.
    case missing
    /// There is no usable answer.
    case failed

    /// Decides about an applied answer.
    ///
    /// - Parameters:
    ///   - outcome: what the rules made of the answer.
    ///   - old: the licence before it.
    package init(_ outcome: CallbackRules.Outcome, replacing old: LicenceRecord?) {
        if outcome.deletes {
            self = .deleted
        } else if Self.hasEnded(outcome, replacing: old) {
            self = .ended
        } else if outcome.refusal != nil {
            self = .refused
        } else {
            self = outcome.wasReset ? .reset : .permitted
        }
    }

    /// Whether an answer has ended a licence that had not ended before.
    ///
    /// - Parameters:
    ///   - outcome: what the rules made of the answer.
    ///   - old: the licence before it.
    /// - Returns: true also when the file is to be removed.
    package static func hasEnded(_ outcome: CallbackRules.Outcome, replacing old: LicenceRecord?) -> Bool {
        outcome.licence?.isForceExpired == true && old?.isForceExpired != true
    }
}
