import LectureFormats
public import LectureModel

/// The licence of one lecture, as evaluated now.
public struct LicenceStatus: Sendable, Hashable {
    /// How a right was proven.
    public enum Form: String, Sendable, CaseIterable {
        /// The signed answer of a DRM callback.
        case callback
        /// A licence file.
        case file
    }

    /// The lecture.
    public let key: ContentKey
    /// The reasons against a play now, the most important first; empty when it may be played.
    public let reasons: [LicenceReason]
    /// How the right was proven; nil while nothing is granted.
    public let form: Form?
    /// What is permitted; nil while nothing is granted.
    public let policy: LicencePolicy?
    /// How many plays were used.
    public let countUsed: Int
    /// How many plays are left; nil for no limit.
    public let countLeft: Int?
    /// How much play time was used.
    public let playTimeUsed: Duration
    /// How much play time is left; nil for no limit.
    public let playTimeLeft: Duration?
    /// Scheme, host and port of the callback; empty for a licence file.
    public let server: String
    /// When the token was issued; nil when the token has no time.
    public let issued: Timestamp?
    /// When it was granted.
    public let granted: Timestamp?
    /// When a server last permitted it.
    public let checked: Timestamp?
    /// When it ends or has to be checked, whichever is sooner; nil for never.
    public let deadline: Timestamp?
    /// Attempts to renew it since the last success.
    public let attempts: Int
    /// No attempt before this moment; nil when none is postponed.
    public let nextAttempt: Timestamp?
    /// How the last attempt failed; nil when it did not.
    public let error: LectureError?

    /// Whether it may be played now.
    public var isPlayable: Bool { reasons.isEmpty }

    /// The reason that ends a play which has already started; nil when it may go on. Others, such as a count that this
    /// play used up, are for the next one; play time is charged ahead, so that the licence may have none left while
    /// this play has.
    public var endingReason: LicenceReason? {
        reasons.first { [.deleted, .forceExpired, .otherKey, .expired].contains($0) }
    }

    /// Creates the status of a licence in the ledger.
    ///
    /// - Parameters:
    ///   - entry: the row.
    ///   - reasons: the reasons against a play now.
    package init(_ entry: LicenceEntry, reasons: [LicenceReason]) {
        key = entry.key
        self.reasons = reasons
        form = entry.record.map { $0.form == .file ? .file : .callback }
        policy = entry.record?.policy
        countUsed = entry.record?.countUsed ?? 0
        countLeft = entry.record?.countLeft
        playTimeUsed = entry.record?.playTimeUsed ?? .zero
        playTimeLeft = entry.record?.playTimeLeft
        server = (try? Origin(url: entry.source.callbackURL))?.text ?? ""
        (issued, granted, checked) = (entry.issued, entry.granted, entry.checked)
        deadline = entry.deadline
        (attempts, nextAttempt, error) = (entry.attempts, entry.nextAttempt, entry.error)
    }
}

/// Options of a batch renewal.
public struct RenewalOptions: Sendable, Hashable {
    /// Concurrent requests to one server at the most; it starts with fewer and the server may reduce them.
    public var jobs = 64
    /// Requests a second to one server at the most, although the server may slow it down. The default is no limit: as
    /// many as the server answers.
    public var requestsPerSecond = Int.max
    /// Attempts for one licence before it fails for this run; nil for 5, or one more than the retries of
    /// ``LectureManager/setPatience(timeout:retries:)``.
    public var maxAttempts: Int?

    /// Creates the default options.
    public init() {}
}

/// One licence in a renewal plan.
public struct PlannedRenewal: Sendable, Hashable {
    /// The lecture.
    public let key: ContentKey
    /// Scheme, host and port of the callback.
    public let server: String
    /// When it ends or has to be checked; nil for never.
    public let deadline: Timestamp?
    /// The request it goes into, from 1; nil when it waits for ``notBefore``.
    public let request: Int?
    /// No attempt before this moment; nil when none is postponed.
    public let notBefore: Timestamp?

    /// Creates a planned renewal.
    ///
    /// - Parameters:
    ///   - candidate: the licence.
    ///   - request: the request it goes into; nil when it waits.
    package init(_ candidate: RenewalCandidate, request: Int?) {
        (key, deadline, notBefore) = (candidate.key, candidate.deadline, candidate.notBefore)
        server = (try? Origin(url: candidate.callbackURL))?.text ?? ""
        self.request = request
    }
}

/// A callback still to be sent to a licence server.
public struct PendingCallbackStatus: Sendable, Hashable {
    /// The lecture.
    public let key: ContentKey
    /// The kind of callback: `completion`.
    public let kind: String
    /// When it became pending.
    public let since: Timestamp
    /// How often it was tried.
    public let attempts: Int
    /// When it is tried again; nil for as soon as possible.
    public let nextAttempt: Timestamp?
    /// How the last attempt failed; nil when there was none.
    public let error: LectureError?

    /// Creates the status of a pending callback in the ledger.
    ///
    /// - Parameter callback: the row.
    package init(_ callback: PendingCallback) {
        (key, kind, since) = (callback.key, "completion", callback.created)
        (attempts, nextAttempt, error) = (callback.attempts, callback.nextAttempt, callback.error)
    }
}

/// A page of licences.
public struct LicencePage: Sendable, Hashable {
    /// A licence and the title of its lecture.
    public struct Row: Sendable, Hashable {
        /// The licence.
        public let licence: LicenceStatus
        /// The lecture's title.
        public let title: String
    }

    /// Where a page starts.
    public struct Place: Sendable, Hashable {
        /// The lecture of the licence before it; nil for the first page.
        package var last: ContentKey?
        /// When that one ended, or had to be checked.
        package var deadline: Timestamp?

        /// The first page.
        init() {}
    }

    /// The licences.
    public let rows: [Row]
    /// Where the next page starts; nil after the last one.
    public let next: Place?
}
