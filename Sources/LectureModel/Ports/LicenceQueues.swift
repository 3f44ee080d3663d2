/// The store's interface for batch renewals, on the connection of its ``LicenceLedger``. Every method throws
/// ``LectureError``.
package protocol RenewalBatches {
    /// Continues the unfinished run of the same selection, or starts one with all candidates. New candidates are added;
    /// what was renewed or has failed in it stays so.
    ///
    /// - Returns: the run, how many licences it includes, how many of them are done, and whether it was started before.
    func begin(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> (run: RenewalRunID, total: Int, done: Int, isContinued: Bool)
    /// Claims wanted licences of a run that are due and not claimed by a live owner: the earliest deadline first among
    /// untried ones, the longest due first among the others.
    func claim(
        _ run: RenewalRunID, owner: OwnerID, limit: Int, now: Timestamp
    ) throws -> [LicenceEntry]
    /// Records that a licence of a run is renewed (error nil) or has failed for this run.
    func settle(_ run: RenewalRunID, _ key: ContentKey, error: LectureError?) throws
    /// Returns a licence of a run to the wanted ones.
    func release(_ run: RenewalRunID, _ key: ContentKey) throws
    /// The progress of a run, and when the next of its unclaimed licences is due: the epoch when one is due at once.
    /// What this process has claimed and not settled is neither wanted nor elsewhere.
    func progress(_ run: RenewalRunID) throws -> RenewalProgress
    /// The licences that a run has renewed, by key.
    func renewedKeys(_ run: RenewalRunID) throws -> [ContentKey]
    /// Ends a run that wants nothing more.
    func end(_ run: RenewalRunID, now: Timestamp) throws
}

/// The store's interface for callbacks still to be sent to servers, on the connection of its ``LicenceLedger``. Every
/// method throws ``LectureError``.
package protocol PendingCallbackQueue {
    /// Records a callback still to be sent to a server; once.
    func add(_ key: ContentKey, kind: Int, now: Timestamp) throws
    /// Claims pending callbacks that are due and not claimed by a live owner.
    func claim(owner: OwnerID, limit: Int, now: Timestamp) throws -> [PendingCallback]
    /// Deletes a callback that was sent.
    func settle(_ id: PendingCallbackID) throws
    /// Releases a callback that could not be sent.
    func postpone(
        _ id: PendingCallbackID, attempts: Int, until: Timestamp?, now: Timestamp, error: LectureError) throws
    /// When the next unclaimed callback is due, the epoch when one was never tried; nil when there is none.
    func nextDue() throws -> Timestamp?
}

/// The store's interface for the wrapped keys of sealed files, on the connection of its ``LicenceLedger``. Every method
/// throws ``LectureError``.
package protocol ContentKeyStore {
    /// The wrapped key of a lecture.
    func key(_ content: ContentID) throws -> WrappedKey?
    /// The lectures whose licence, or the key of whose media, names a granting key, by content key; those of removed
    /// lectures as well.
    ///
    /// - Parameters:
    ///   - signer: the key's thumbprint.
    ///   - key: only those after this one; nil from the first one on.
    ///   - limit: the maximum number.
    /// - Returns: the lectures.
    /// - Throws: ``LectureError``.
    func keys(coveredBy signer: String, after key: ContentKey?, limit: Int) throws -> [ContentKey]
}

/// A licence that could be renewed, for a plan.
package struct RenewalCandidate: Hashable, Sendable {
    /// The lecture.
    package var key: ContentKey
    /// Where its licence comes from.
    package var callbackURL: String
    /// When it ends or has to be checked; nil for never.
    package var deadline: Timestamp?
    /// No attempt before this moment.
    package var notBefore: Timestamp?

    /// Creates a candidate.
    package init(key: ContentKey, callbackURL: String, deadline: Timestamp?, notBefore: Timestamp?) {
        (self.key, self.callbackURL, self.deadline, self.notBefore) = (key, callbackURL, deadline, notBefore)
    }
}

/// The progress of a batch renewal.
package struct RenewalProgress: Hashable, Sendable {
    /// Not requested yet, or to be requested again.
    package var wanted = 0
    /// Renewed.
    package var renewed = 0
    /// Failed for this run.
    package var failed = 0
    /// Being requested by other live owners.
    package var elsewhere = 0
    /// When the next unclaimed wanted one is due; nil when there is none.
    package var nextDue: Timestamp?

    /// Creates an empty value.
    package init() {}
}

/// See ``ContentTable``.
package enum PendingCallbackTable {}
/// See ``ContentTable``.
package enum RenewalRunTable {}

/// A row of `debt`.
package typealias PendingCallbackID = RowID<PendingCallbackTable>
/// A row of `renewal_run`.
package typealias RenewalRunID = RowID<RenewalRunTable>
