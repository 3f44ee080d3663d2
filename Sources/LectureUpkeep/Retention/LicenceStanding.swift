public import LectureKit
public import LectureModel

/// Whether the licence of a lecture can ever permit a play again. Nothing is guessed: what a server could renew, and
/// what is judged by a clock or a store in doubt, has not ended.
public enum LicenceStanding: Sendable, Hashable {
    /// It needs none.
    case unneeded
    /// It permits plays, or will: a check or its beginning is still to come.
    case valid
    /// It has ended, and its server has not been asked since.
    case renewable
    /// Whether it has ended cannot be known: the clock, the ledger or the licence itself is not trusted.
    case doubtful
    /// It has ended for good.
    ///
    /// - Parameter reason: why it does not permit a play.
    case ended(LicenceReason)

    /// Judges a licence.
    ///
    /// - Parameters:
    ///   - status: as evaluated now; nil where a lecture needs none.
    ///   - asked: what its server was asked, latest first.
    public init(_ status: LicenceStatus?, asked: [LicenceQuestion]) {
        guard let status else {
            self = .unneeded
            return
        }
        let doubts: Set<LicenceReason> = [
            .clockUntrusted, .storeCopied, .ledgerForged, .storeRolledBack, .unverified, .otherDevice, .otherKey,
            .missing,
        ]
        let ends: Set<LicenceReason> = [.deleted, .forceExpired, .expired, .countUsedUp, .playTimeUsedUp]
        if !doubts.isDisjoint(with: status.reasons) {
            self = .doubtful
        } else if let reason = status.reasons.first(where: ends.contains) {
            let isFinal = reason == .deleted || status.form == .file || Self.hasRefused(status, reason, asked)
            self = isFinal ? .ended(reason) : .renewable
        } else {
            self = .valid
        }
    }

    /// Judges a licence of a store. What its server was asked is only read where that decides.
    ///
    /// - Parameters:
    ///   - status: as evaluated now.
    ///   - manager: the store's manager.
    /// - Throws: `LectureError` when the store cannot be read.
    init(_ status: LicenceStatus, in manager: LectureManager) async throws {
        self.init(status, asked: [])
        guard self == .renewable else { return }
        self.init(status, asked: try await manager.licences.attempts(of: status.key))
    }

    /// Whether the server has refused since the licence ended. Only its latest answer counts.
    private static func hasRefused(
        _ status: LicenceStatus, _ reason: LicenceReason, _ asked: [LicenceQuestion]
    ) -> Bool {
        let answers: Set<String> = ["permitted", "reset", "refused", "ended", "deleted"]
        guard let last = asked.first(where: { answers.contains($0.outcome) }) else { return false }
        guard last.outcome == "refused" || last.outcome == "ended" else { return false }
        let end = reason == .expired ? status.policy?.expiresAt : status.checked ?? status.granted
        return end.map { last.at >= $0 } ?? true
    }
}
