/// Where the licence of a content comes from.
package struct LicenceSource: Hashable, Sendable {
    /// The DRM callback; empty for a licence file.
    package var callbackURL = ""
    /// Which configured key verifies its answers; empty for the only one.
    package var keyID = ""
    /// The learner (`cuid` of the link's token).
    package var clientUserID = ""
    /// Values of the link that go through (`uservalue0`…`uservalue99`).
    package var userValues: [String: String] = [:]

    /// A licence file.
    package init() {}
}

/// Why a row of the ledger is not believed. Stored, so the raw values are frozen.
package enum LicenceSuspicion: Int, Sendable, CaseIterable {
    /// The store is an older copy than the one this device last wrote: what was used since is not in it.
    case rolledBack = 1
    /// The row, or another one, was changed by somebody without the device's key.
    case forged = 2
    /// The store was written by another device.
    case copied = 3
}

/// A row of the ledger.
package struct LicenceEntry: Hashable, Sendable {
    /// The content.
    package var key: ContentKey
    /// Where its licence comes from.
    package var source: LicenceSource
    /// What is granted and was used; `nil` while nothing is.
    package var record: LicenceRecord?
    /// The raw token that granted it; empty when there is none.
    package var token = ""
    /// When the token was issued (`iat`).
    package var issued: Timestamp?
    /// The token's identity (`jti`); empty without.
    package var tokenID = ""
    /// When it was granted.
    package var granted: Timestamp?
    /// When a server last permitted it.
    package var checked: Timestamp?
    /// Whether the server must still be told that the download is complete, and that is waited for.
    package var owesCompletion = false
    /// Why the row is not believed; `nil` when it is.
    package var suspicion: LicenceSuspicion?
    /// Attempts to renew it since the last that succeeded.
    package var attempts = 0
    /// No attempt before this moment, and when that was decided.
    package var nextAttempt: Timestamp?
    /// When ``nextAttempt`` was decided; a clock that is set back does not lengthen the wait.
    package var waitSet: Timestamp?
    /// How the last attempt failed; `nil` when it did not.
    package var error: LectureError?

    /// A row without a grant.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - source: where its licence comes from.
    package init(key: ContentKey, source: LicenceSource) { (self.key, self.source) = (key, source) }

    /// When it ends or has to be checked, whichever is sooner; the epoch where only its server can make it playable
    /// again (it was ended, was seen past its end, or is not believed); `nil` for never, and for one that is not there
    /// or whose file the server has ordered away.
    package var deadline: Timestamp? {
        guard let record, !record.isDeleted else { return nil }
        if record.isForceExpired || record.wasSeenExpired || suspicion != nil { return Timestamp(milliseconds: 0) }
        return [record.policy.expiresAt, record.policy.checkAt].compactMap(\.self).min()
    }
}

/// Which licences a batch renews.
public enum RenewalSelection: Hashable, Sendable {
    /// Those that have ended or whose check is due.
    case expired
    /// Those, and those that will have within this time.
    case within(Duration)
    /// All that a server gave.
    case all
    /// These.
    case keys([ContentKey])

    /// A text that tells selections apart: a batch that was interrupted is gone on with when the same is asked for.
    package var text: String {
        switch self {
        case .expired: "expired"
        case .within(let time): "within \(time.milliseconds) ms"
        case .all: "all"
        case .keys(let keys): "keys " + keys.map(\.text).sorted().joined(separator: "\n")
        }
    }
}

/// What a batch asks servers for.
package enum RenewalKind: Hashable, Sendable {
    /// New bounds for licences that are there (kind 3).
    case renewal
    /// New grants for licences that are not believed (kind 1); all others are left alone, since a new grant gives back
    /// what was used.
    case regrant

    /// The text that tells batches apart, also those of the same selection.
    package func text(_ selection: RenewalSelection) -> String {
        self == .regrant ? "regrant \(selection.text)" : selection.text
    }
}

/// A question to a licence server, kept for `why`.
package struct LicenceAttempt: Hashable, Sendable {
    /// When it was asked.
    package var at: Timestamp
    /// How long the answer took.
    package var duration: Duration
    /// 1 grant, 2 completion, 3 check.
    package var kind: Int
    /// The HTTP status; nil when none came.
    package var status: Int?
    /// `permitted`, `refused`, `missing`, `failed`, `ended`, `deleted`, `reset`.
    package var outcome: String
    /// What went wrong; nil when nothing did.
    package var error: LectureError?

    /// A question and its outcome.
    package init(
        at: Timestamp, duration: Duration, kind: Int, status: Int?, outcome: String, error: LectureError?
    ) {
        (self.at, self.duration, self.kind, self.status) = (at, duration, kind, status)
        (self.outcome, self.error) = (outcome, error)
    }
}

/// What a server must still be told.
package struct LicenceDebt: Hashable, Sendable {
    /// The row.
    package var id: DebtID
    /// The content.
    package var key: ContentKey
    /// 2: the download is complete.
    package var kind: Int
    /// Since when.
    package var created: Timestamp
    /// How often it was tried.
    package var attempts: Int
    /// No attempt before this moment.
    package var nextAttempt: Timestamp?
    /// How the last attempt failed; nil when there was none.
    package var error: LectureError?

    /// A debt as it stands in the store.
    package init(
        id: DebtID, key: ContentKey, kind: Int, created: Timestamp, attempts: Int, nextAttempt: Timestamp?,
        error: LectureError?
    ) {
        (self.id, self.key, self.kind, self.created) = (id, key, kind, created)
        (self.attempts, self.nextAttempt, self.error) = (attempts, nextAttempt, error)
    }
}
