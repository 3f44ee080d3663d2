/// The source of a lecture's licence.
package struct LicenceSource: Hashable, Sendable {
    /// The DRM callback; empty for a licence file.
    package var callbackURL = ""
    /// Which configured key verifies its answers; empty for the only one.
    package var keyID = ""
    /// The learner (`cuid` of the link's token).
    package var clientUserID = ""
    /// Values of the link that are passed on (`uservalue0`…`uservalue99`).
    package var userValues: [String: String] = [:]

    /// A licence file.
    package init() {}
}

/// Why a row of the ledger is not trusted. Stored, so the raw values are frozen.
package enum LicenceSuspicion: Int, Sendable, CaseIterable {
    /// The store is an older copy than the one this device last wrote: later usage is missing from it.
    case rolledBack = 1
    /// The row, or another one, was changed without the device's key.
    case forged = 2
    /// The store was written by another device.
    case copied = 3
}

/// A row of the ledger.
package struct LicenceEntry: Hashable, Sendable {
    /// The lecture.
    package var key: ContentKey
    /// Where its licence comes from.
    package var source: LicenceSource
    /// The grant and its usage; `nil` while nothing is granted.
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
    /// Whether the server must still be notified that the download is complete, and playing waits for that.
    package var owesCompletion = false
    /// Why the row is not trusted; `nil` when it is.
    package var suspicion: LicenceSuspicion?
    /// The keys whose signatures count for it; nil before the first verified grant, and in rows of earlier stores.
    package var grantingKeys: GrantingKeys?
    /// Attempts to renew it since the last success.
    package var attempts = 0
    /// No attempt before this moment.
    package var nextAttempt: Timestamp?
    /// When ``nextAttempt`` was decided; a clock that is set back does not lengthen the wait.
    package var waitSet: Timestamp?
    /// How the last attempt failed; `nil` when it did not.
    package var error: LectureError?

    /// Creates a row without a grant.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - source: where its licence comes from.
    package init(key: ContentKey, source: LicenceSource) { (self.key, self.source) = (key, source) }

    /// Whether the key of its media is bound to other granting keys than these: the row was granted by others.
    ///
    /// - Parameter bound: what the key of the media is bound to; nil for nothing.
    /// - Returns: false also without a grant.
    package func isGrantedElsewhere(_ bound: GrantingKeys?) -> Bool {
        record != nil && bound.map { $0 != grantingKeys } ?? false
    }

    /// When it ends or has to be checked, whichever is sooner; the epoch where only its server can make it playable
    /// again (it was ended, was seen past its end, or is not trusted); `nil` for never, and for one that does not exist
    /// or whose file the server has ordered removed.
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
    /// Those, and those that will within this time.
    case within(Duration)
    /// All granted by a server.
    case all
    /// These.
    case keys([ContentKey])

    /// A text that identifies a selection: an interrupted batch is continued when the same is requested.
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
    /// New limits for existing licences (kind 3).
    case renewal
    /// New grants for licences that are not trusted (kind 1); all others are left alone, since a new grant resets their
    /// usage.
    case regrant

    /// The text that identifies a batch, including its kind.
    package func text(_ selection: RenewalSelection) -> String {
        self == .regrant ? "regrant \(selection.text)" : selection.text
    }
}

/// A request to a licence server, kept for `why`.
package struct LicenceAttempt: Hashable, Sendable {
    /// When it was asked.
    package var at: Timestamp
    /// How long the answer took.
    package var duration: Duration
    /// 1 grant, 2 completion, 3 check.
    package var kind: Int
    /// The HTTP status; nil without one.
    package var status: Int?
    /// `permitted`, `refused`, `missing`, `failed`, `ended`, `deleted`, `reset`.
    package var outcome: String
    /// What went wrong; nil when nothing did.
    package var error: LectureError?

    /// Creates a record of a request and its outcome.
    package init(
        at: Timestamp, duration: Duration, kind: Int, status: Int?, outcome: String, error: LectureError?
    ) {
        (self.at, self.duration, self.kind, self.status) = (at, duration, kind, status)
        (self.outcome, self.error) = (outcome, error)
    }
}

/// A callback still to be sent to a server.
package struct PendingCallback: Hashable, Sendable {
    /// The row.
    package var id: PendingCallbackID
    /// The lecture.
    package var key: ContentKey
    /// 2: the download is complete.
    package var kind: Int
    /// When it became pending.
    package var created: Timestamp
    /// How often it was tried.
    package var attempts: Int
    /// No attempt before this moment.
    package var nextAttempt: Timestamp?
    /// How the last attempt failed; nil when there was none.
    package var error: LectureError?

    /// Creates a pending callback from the store.
    package init(
        id: PendingCallbackID, key: ContentKey, kind: Int, created: Timestamp, attempts: Int, nextAttempt: Timestamp?,
        error: LectureError?
    ) {
        (self.id, self.key, self.kind, self.created) = (id, key, kind, created)
        (self.attempts, self.nextAttempt, self.error) = (attempts, nextAttempt, error)
    }
}
