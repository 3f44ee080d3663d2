/// Makes the codes over rows that decide (HMAC-SHA-256 under the device's ledger key), without the key being seen.
package protocol RowAuthenticator: Sendable {
    /// The thumbprint of this device's key (RFC 7638), 32 bytes.
    var device: [UInt8] { get }
    /// The code over some bytes.
    ///
    /// - Parameter bytes: an unambiguous form of a row.
    /// - Returns: 32 bytes.
    func code(_ bytes: [UInt8]) -> [UInt8]
}

/// What is kept beside the device's key of the newest row of a store's time ledger: a store that is put back from an
/// older copy does not fit it. Protected by a code under the device's ledger key.
package struct LedgerAnchor: Hashable, Sendable {
    /// The number of the newest row that was anchored.
    package var revision: Int64
    /// Its code, 32 bytes.
    package var code: [UInt8]
    /// The newest time a server had vouched for, and the best guess: they do not go back with a store.
    package var proven: Timestamp?
    /// The best guess.
    package var estimate: Timestamp?

    /// An anchor.
    package init(revision: Int64, code: [UInt8], proven: Timestamp?, estimate: Timestamp?) {
        (self.revision, self.code, self.proven, self.estimate) = (revision, code, proven, estimate)
    }
}

/// Where anchors are kept, outside the store. Blocks for a sync.
package protocol AnchorKeeper: Sendable {
    /// The anchor of a store.
    ///
    /// - Parameter store: the store's UUID.
    /// - Returns: nil when there is none, or none that this device has written.
    /// - Throws: ``LectureError`` with a disk code.
    func anchor(of store: String) throws(LectureError) -> LedgerAnchor?
    /// Replaces the anchor of a store, durably; an older one than is there changes nothing.
    ///
    /// - Parameters:
    ///   - anchor: the anchor.
    ///   - store: the store's UUID.
    /// - Throws: ``LectureError`` with a disk code.
    func keep(_ anchor: LedgerAnchor, of store: String) throws(LectureError)
}

/// What the ledger is found to be when it is opened.
package enum LedgerFinding: Hashable, Sendable {
    /// There is none yet: no licence was ever stored.
    case new
    /// The newest row, which follows from the anchor or is its successor.
    case intact(TimeRow)
    /// Something speaks against the store. The row is the newest one that can be read; nil when none can.
    case suspect(ClockDoubt, TimeRow?)
}

/// The store as the licence engine needs it. Confined to the executor of the store's writer and on its connection, so
/// that licences and contents change in one transaction. Every method throws ``LectureError``.
///
/// The rows of `licence` carry codes, and the sum of all codes stands in the newest row of the time ledger, which the
/// anchor holds: a row that was changed, taken out, or put back from an older copy does not fit. So every transaction
/// that calls ``store(_:)`` or ``forget(_:)`` ends with ``append(_:source:)``.
package protocol LicenceLedger: AnyObject {
    /// Runs `body` as one durable transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result

    // MARK: The chain

    /// Holds the whole ledger against its codes and the anchor: every licence's code, their sum, the newest rows of the
    /// chain. Costs a walk over all codes.
    ///
    /// No anchor is only believed of a store that has just begun. A chain that goes on behind the anchor is intact: a
    /// kill came between the commit and the anchor. Rows before the newest one of source ``TimeRow/Source/finding``
    /// were judged when that was made. To be called before the first append, so that no revision that the anchor knows
    /// is given again.
    ///
    /// - Parameter anchor: what is kept beside the device's key, read before; nil when there is none.
    /// - Returns: what is found; nothing is changed. The row of a suspicion is the newest that fits its code, or else
    ///   the newest.
    /// - Throws: ``LectureError``.
    func inspect(against anchor: LedgerAnchor?) throws -> LedgerFinding
    /// Appends a row to the chain, with the sum of the licences as it is now.
    ///
    /// - Parameters:
    ///   - row: what is remembered of the time.
    ///   - source: where it came from.
    /// - Returns: the anchor that fits, to be kept after the commit.
    /// - Throws: ``LectureError``.
    func append(_ row: TimeRow, source: TimeRow.Source) throws -> LedgerAnchor
    /// Whether a licence of a content that is there is granted and believed, as its row says: something that
    /// ``suspectAll(_:)`` would take away until a server answers. No code is looked at.
    func hasBelievedLicences() throws -> Bool
    /// The newest row; nil when there is none.
    func newestTime() throws -> TimeRow?
    /// The newest row of source ``TimeRow/Source/finding``; nil when nothing was ever found, or long ago.
    func newestFinding() throws -> TimeRow?
    /// Marks every licence as not believed and makes all codes anew, so that the ledger is whole again: nothing is
    /// forgotten, and each licence is believed again when its server answers for it. To be followed by an append of
    /// source ``TimeRow/Source/finding``, from which on the chain is believed again.
    ///
    /// - Parameter suspicion: why.
    /// - Throws: ``LectureError``.
    func suspectAll(_ suspicion: LicenceSuspicion) throws

    // MARK: Licences

    /// A licence. A row whose code does not fit is answered with the suspicion `forged`.
    func entry(_ key: ContentKey) throws -> LicenceEntry?
    /// Licences by content key, in pages, for lists. Retired ones (of contents that are gone) are left out.
    func entries(after key: ContentKey?, limit: Int) throws -> [LicenceEntry]
    /// Licences of contents that are there, the earliest deadline first.
    ///
    /// - Parameters:
    ///   - before: only those whose deadline is before this moment; nil for all with a deadline.
    ///   - limit: how many at the most.
    /// - Returns: the licences; those whose codes do not fit with the suspicion `forged`.
    /// - Throws: ``LectureError``.
    func entries(deadlineBefore before: Timestamp?, limit: Int) throws -> [LicenceEntry]
    /// How many licences of contents that are there have a deadline before this moment (nil: all).
    func count(deadlineBefore before: Timestamp?) throws -> Int
    /// Stores a licence with its code.
    func store(_ entry: LicenceEntry) throws
    /// Stores only how the last attempt went (attempts, nextAttempt, waitSet, error): no code, no append.
    func storeAttempt(_ entry: LicenceEntry) throws
    /// Deletes a licence.
    func forget(_ key: ContentKey) throws
    /// Keeps a question, and lets the oldest beyond 20 go.
    func record(_ attempt: LicenceAttempt, of key: ContentKey) throws
    /// The latest questions, latest first.
    func attempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt]

    // MARK: Keys of sealed files

    /// The wrapped key of a content.
    func contentKey(_ content: ContentID) throws -> (wrapped: [UInt8], purpose: SealPurpose)?
    /// Stores the wrapped key of a content; replaces none that is there.
    func setContentKey(_ content: ContentID, wrapped: [UInt8], purpose: SealPurpose, now: Timestamp) throws

    // MARK: Debts

    /// Notes what a server must still be told; once.
    func addDebt(_ key: ContentKey, kind: Int, now: Timestamp) throws
    /// Debts, the oldest first.
    func debts(limit: Int) throws -> [LicenceDebt]
    /// Takes debts that are due and that no living owner has.
    func claimDebts(owner: OwnerID, limit: Int, now: Timestamp) throws -> [LicenceDebt]
    /// A debt is paid.
    func settleDebt(_ id: DebtID) throws
    /// A debt could not be paid; it is given back.
    func postponeDebt(_ id: DebtID, attempts: Int, until: Timestamp?, now: Timestamp, error: LectureError) throws
    /// When the next debt that nobody has is due, the epoch when one was never tried; nil when there is none.
    func nextDebt() throws -> Timestamp?

    // MARK: Batches

    /// The candidates of a selection, without asking anybody: licences with a callback, of contents that are there; for
    /// new grants only those that are not believed.
    func candidates(_ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp) throws -> [RenewalCandidate]
    /// Goes on with the unfinished run of the same selection, or begins one with all candidates. What has become a
    /// candidate since joins; what is renewed or given up in it stays so.
    ///
    /// - Returns: the run, how many licences it wants in all, how many of them are done, and whether it was begun
    ///   before.
    func beginRenewal(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> (run: RenewalRunID, total: Int, done: Int, isContinued: Bool)
    /// Takes wanted licences of a run that are due and that no living owner has: the earliest deadline first among
    /// those that were not tried, the longest due first among those that were.
    func claimRenewals(
        _ run: RenewalRunID, owner: OwnerID, limit: Int, now: Timestamp
    ) throws -> [LicenceEntry]
    /// A licence of a run is renewed (error nil) or has failed for this run.
    func settleRenewal(_ run: RenewalRunID, _ key: ContentKey, error: LectureError?) throws
    /// A licence of a run goes back to the wanted ones.
    func releaseRenewal(_ run: RenewalRunID, _ key: ContentKey) throws
    /// How far a run is, and when the next of its licences that nobody has is due: the epoch when one is due at once.
    /// What this process has claimed and not settled is neither wanted nor elsewhere.
    func renewalProgress(_ run: RenewalRunID) throws -> RenewalProgress
    /// The licences that a run has renewed, by key.
    func renewedKeys(_ run: RenewalRunID) throws -> [ContentKey]
    /// A run that wants nothing more is ended.
    func endRenewal(_ run: RenewalRunID, now: Timestamp) throws
}

/// A licence that could be renewed, for a plan.
package struct RenewalCandidate: Hashable, Sendable {
    /// The content.
    package var key: ContentKey
    /// Where its licence comes from.
    package var callbackURL: String
    /// When it ends or has to be checked; nil for never.
    package var deadline: Timestamp?
    /// No attempt before this moment.
    package var notBefore: Timestamp?

    /// A candidate.
    package init(key: ContentKey, callbackURL: String, deadline: Timestamp?, notBefore: Timestamp?) {
        (self.key, self.callbackURL, self.deadline, self.notBefore) = (key, callbackURL, deadline, notBefore)
    }
}

/// How far a batch renewal is.
package struct RenewalProgress: Hashable, Sendable {
    /// Not asked for yet, or to be asked again.
    package var wanted = 0
    /// Renewed.
    package var renewed = 0
    /// Failed for this run.
    package var failed = 0
    /// Being asked for by other living owners.
    package var elsewhere = 0
    /// When the next wanted one that nobody has is due; nil when there is none.
    package var nextDue: Timestamp?

    /// Nothing.
    package init() {}
}

/// See ``ContentTable``.
package enum DebtTable {}
/// See ``ContentTable``.
package enum RenewalRunTable {}

/// A row of `debt`.
package typealias DebtID = RowID<DebtTable>
/// A row of `renewal_run`.
package typealias RenewalRunID = RowID<RenewalRunTable>

/// Checks the token of a DRM callback's answer.
package protocol AnswerVerifier: Sendable {
    /// Verifies a compact token and reads its payload.
    ///
    /// - Parameters:
    ///   - token: the body of the answer, without white space around it.
    ///   - keyID: which configured key; empty for the only one.
    ///   - userKey: the answer's `X-KOLLUS-USERKEY`; nil when it had none.
    ///   - time: the time for keys and certificates; nil when none is known.
    /// - Returns: the payload, whether it was verified (false when no key is configured and the configuration lets that
    ///   pass), and when it says it was issued.
    /// - Throws: ``LectureError`` with ``LectureError/Code/answerUndecodable`` (the detail names the reasons),
    ///   ``LectureError/Code/answerUnreadable``, or ``LectureError/Code/licenceKeyMissing``.
    func payload(
        of token: String, keyID: String, userKey: String?, at time: Timestamp?
    ) throws(LectureError) -> VerifiedAnswer
}

/// The payload of an answer.
package struct VerifiedAnswer: Hashable, Sendable {
    /// The claims.
    package var payload: JSONValue
    /// Whether a configured key has verified it.
    package var isVerified: Bool
    /// `iat`, when there is one.
    package var issued: Timestamp?

    /// A payload.
    package init(payload: JSONValue, isVerified: Bool, issued: Timestamp?) {
        (self.payload, self.isVerified, self.issued) = (payload, isVerified, issued)
    }
}
