package import LectureFormats

/// Computes the codes over decisive rows (HMAC-SHA-256 under the device's ledger key), without exposing the key.
package protocol RowAuthenticator: Sendable {
    /// The thumbprint of this device's key (RFC 7638), 32 bytes.
    var device: [UInt8] { get }
    /// The code over some bytes.
    ///
    /// - Parameter bytes: an unambiguous form of a row.
    /// - Returns: 32 bytes.
    func code(_ bytes: [UInt8]) -> [UInt8]
}

/// A record of the newest row of a store's time ledger, kept beside the device's key: a store restored from an older
/// copy does not match it. Protected by a code under the device's ledger key.
package struct LedgerAnchor: Hashable, Sendable {
    /// The number of the newest anchored row.
    package var revision: Int64
    /// Its code, 32 bytes.
    package var code: [UInt8]
    /// The newest time confirmed by a server, which is not restored with a store.
    package var proven: Timestamp?
    /// The best guess.
    package var estimate: Timestamp?

    /// Creates an anchor.
    package init(revision: Int64, code: [UInt8], proven: Timestamp?, estimate: Timestamp?) {
        (self.revision, self.code, self.proven, self.estimate) = (revision, code, proven, estimate)
    }

    /// The anchor of a store before its first row.
    ///
    /// - Parameter code: 32 random bytes, from which the first row follows: an earlier copy begins with another row.
    /// - Returns: the anchor.
    package static func beforeFirst(_ code: [UInt8]) -> LedgerAnchor {
        LedgerAnchor(revision: 0, code: code, proven: nil, estimate: nil)
    }
}

/// The newest times that any store of a device has recorded.
package struct AnchoredTimes: Hashable, Sendable {
    /// The newest time confirmed by a server.
    package var proven: Timestamp?
    /// The newest best guess.
    package var estimate: Timestamp?

    /// Creates a value; nil where no store has recorded one.
    package init(proven: Timestamp? = nil, estimate: Timestamp? = nil) {
        (self.proven, self.estimate) = (proven, estimate)
    }

    /// The later ones of these and an anchor's.
    ///
    /// - Parameter anchor: an anchor of the same device.
    package mutating func add(_ anchor: LedgerAnchor) {
        proven = [proven, anchor.proven].compactMap(\.self).max()
        estimate = [estimate, anchor.estimate].compactMap(\.self).max()
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
    /// Replaces the anchor of a store, durably; one older than the stored one changes nothing.
    ///
    /// - Parameters:
    ///   - anchor: the anchor.
    ///   - store: the store's UUID.
    /// - Throws: ``LectureError`` with a disk code.
    func keep(_ anchor: LedgerAnchor, of store: String) throws(LectureError)
    /// Why an anchor of a store could not be replaced now, as far as can be seen without writing.
    ///
    /// - Parameter store: the store's UUID.
    /// - Returns: nil when nothing is in the way.
    func obstacle(of store: String) -> LectureError?
    /// The newest times of all stores of this device.
    ///
    /// - Returns: the times; those of files that this device has not written are left out.
    /// - Throws: ``LectureError`` with a disk code.
    func newestTimes() throws(LectureError) -> AnchoredTimes
}

/// The result of inspecting the ledger when it is opened.
package enum LedgerFinding: Hashable, Sendable {
    /// There is none yet: no licence was ever stored.
    case new
    /// The newest row, which follows from the anchor or is its successor.
    case intact(TimeRow)
    /// Another device has marked every licence as copied and changed nothing else: without the marks the licences are
    /// those that this device last wrote, with this newest row of its own.
    case marked(TimeRow)
    /// There is an objection to the store. The row is the newest readable one; nil when there is none.
    case suspect(ClockDoubt, TimeRow?)
}

/// The store's interface for the licence engine. Confined to the executor of the store's writer and on its connection,
/// so that licences and lectures change in one transaction. Every method throws ``LectureError``.
///
/// The rows of `licence` carry codes, and the sum of all codes is in the newest row of the time ledger, which the
/// anchor records: a row that was changed, removed, or restored from an older copy does not match. So every transaction
/// that calls ``store(_:)`` or ``forget(_:)`` ends with ``append(_:source:after:)``.
package protocol LicenceLedger: AnyObject {
    /// Batch renewals.
    associatedtype Renewals: RenewalBatches
    /// Callbacks still to be sent to servers.
    associatedtype Callbacks: PendingCallbackQueue
    /// The keys of sealed files.
    associatedtype Keys: ContentKeyStore

    /// Batch renewals.
    var renewals: Renewals { get }
    /// Callbacks still to be sent to servers.
    var callbacks: Callbacks { get }
    /// The keys of sealed files.
    var contentKeys: Keys { get }

    // MARK: The chain

    /// Checks the whole ledger against its codes and the anchor: every licence's code, their sum, the newest rows of
    /// the chain. Costs a pass over all codes.
    ///
    /// A missing anchor is accepted only for a store without a row: ``LedgerAnchor/beforeFirst(_:)`` is stored before
    /// the first one. A chain that continues past the anchor is intact: a kill came between the commit and the anchor.
    /// Rows before the newest one of source ``TimeRow/Source/finding`` were checked
    /// when that was created. Must be called before the first append, so that no revision known to the anchor is
    /// reused.
    ///
    /// - Parameter anchor: the one kept beside the device's key, read before; nil when there is none.
    /// - Returns: the finding; nothing is changed. The row of a suspicion is the newest that matches its code, or else
    ///   the newest.
    /// - Throws: ``LectureError``.
    func inspect(against anchor: LedgerAnchor?) throws -> LedgerFinding
    /// Appends a row to the chain, with the sum of the licences as it is now.
    ///
    /// - Parameters:
    ///   - row: the state of the clocks.
    ///   - source: where it came from.
    ///   - first: what the first row of a store follows; not used for later ones.
    /// - Returns: the matching anchor, to be stored after the commit.
    /// - Throws: ``LectureError``.
    func append(_ row: TimeRow, source: TimeRow.Source, after first: LedgerAnchor?) throws -> LedgerAnchor
    /// Whether the row of an existing lecture's licence is granted and trusted: something that ``suspectAll(_:)`` would
    /// revoke until a server answers. Codes are not checked.
    func hasBelievedLicences() throws -> Bool
    /// The newest row; nil when there is none.
    func newestTime() throws -> TimeRow?
    /// The newest row of source ``TimeRow/Source/finding``; nil when nothing was ever found, or long ago.
    func newestFinding() throws -> TimeRow?
    /// Marks every licence as untrusted and recomputes all codes, so that the ledger is consistent again: nothing is
    /// lost, and each licence is trusted again when its server answers for it. Must be followed by an append of source
    /// ``TimeRow/Source/finding``, from which on the chain is trusted again.
    ///
    /// - Parameter suspicion: why.
    /// - Throws: ``LectureError``.
    func suspectAll(_ suspicion: LicenceSuspicion) throws
    /// Takes the marks of another device back, after the finding ``LedgerFinding/marked(_:)``: every licence is trusted
    /// as before. Must be followed by an append.
    ///
    /// - Throws: ``LectureError``.
    func believeAll() throws

    // MARK: Licences

    /// A licence. A row whose code does not match is returned with the suspicion `forged`.
    func entry(_ key: ContentKey) throws -> LicenceEntry?
    /// Licences whose end was seen to have passed, but is later than this moment.
    func entriesSeenExpired(endingAfter time: Timestamp) throws -> [LicenceEntry]
    /// Whether an existing lecture has a licence that was granted by another key for answers than this one.
    func hasLicence(grantedByOtherThan signer: String) throws -> Bool
    /// Whether an existing lecture has a licence for which files of this key do not count.
    ///
    /// - Parameters:
    ///   - signer: the key's thumbprint.
    ///   - unknown: whether licences whose granting keys are unknown are included.
    /// - Returns: whether there is one.
    /// - Throws: ``LectureError``.
    func hasLicence(forFilesOfOthersThan signer: String, orUnknown unknown: Bool) throws -> Bool
    /// Stores a licence with its code.
    func store(_ entry: LicenceEntry) throws
    /// Stores only the result of the last attempt (attempts, nextAttempt, waitSet, error): no code, no append.
    func storeAttempt(_ entry: LicenceEntry) throws
    /// Deletes a licence.
    func forget(_ key: ContentKey) throws
    /// Stores a request to a server, and deletes the oldest beyond 20.
    func record(_ attempt: LicenceAttempt, of key: ContentKey) throws
}

extension LicenceLedger {
    /// Appends a row to a chain that has one, or starts it again after a finding.
    package func append(_ row: TimeRow, source: TimeRow.Source) throws -> LedgerAnchor {
        try append(row, source: source, after: nil)
    }
}

/// Checks the token of a DRM callback's answer.
package protocol AnswerVerifier: Sendable {
    /// The thumbprints of all configured keys, by what they verify.
    var signers: GrantingKeys { get }

    /// Verifies a compact token and reads its payload.
    ///
    /// - Parameters:
    ///   - token: the body of the answer, without white space around it.
    ///   - keyID: which configured key; empty for the only one.
    ///   - userKey: the answer's `X-KOLLUS-USERKEY`; nil when it had none.
    ///   - time: the time for keys and certificates; nil when none is known.
    /// - Returns: the payload, whether it was verified (false when no key is configured and the configuration permits
    ///   that), and its issue time.
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
    /// The thumbprint of the key that verified it; empty for none.
    package var signer: String

    /// Creates a value.
    package init(payload: JSONValue, isVerified: Bool, issued: Timestamp?, signer: String) {
        (self.payload, self.isVerified, self.issued, self.signer) = (payload, isVerified, issued, signer)
    }
}
