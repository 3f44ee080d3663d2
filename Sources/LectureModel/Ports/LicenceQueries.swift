/// A licence as a list shows it, with its lecture.
package struct ListedLicence: Hashable, Sendable {
    /// The licence.
    package var entry: LicenceEntry
    /// The lecture's title.
    package var title: String
    /// The lecture's state.
    package var state: ItemState

    /// Creates a listed licence.
    ///
    /// - Parameters:
    ///   - entry: the licence.
    ///   - title: the lecture's.
    ///   - state: the lecture's.
    package init(entry: LicenceEntry, title: String, state: ItemState) {
        (self.entry, self.title, self.state) = (entry, title, state)
    }
}

/// The ledger of licences for lists and queries: read-only, on its own connection. Every method throws
/// ``LectureError``.
///
/// Lists leave out retired licences: those whose lectures are gone.
package protocol LicenceQueries: AnyObject {
    /// A licence, a retired one too.
    func licence(_ key: ContentKey) throws -> LicenceEntry?
    /// Licences in the order of their keys.
    ///
    /// - Parameters:
    ///   - key: the last one of the page before; nil for the first page.
    ///   - limit: the maximum number.
    /// - Returns: the licences with their lectures.
    /// - Throws: ``LectureError``.
    func licences(after key: ContentKey?, limit: Int) throws -> [ListedLicence]
    /// Licences with a deadline, the earliest first.
    ///
    /// - Parameters:
    ///   - before: only those whose deadline is before this moment; nil for all.
    ///   - last: the last one of the page before, with its deadline there; nil for the first page.
    ///   - limit: the maximum number.
    /// - Returns: the licences with their lectures.
    /// - Throws: ``LectureError``.
    func licences(
        deadlineBefore before: Timestamp?, after last: (deadline: Timestamp, key: ContentKey)?, limit: Int
    ) throws -> [ListedLicence]
    /// How many licences have a deadline before this moment; nil counts those without one too.
    func licenceCount(deadlineBefore before: Timestamp?) throws -> Int
    /// The latest requests about a licence, latest first.
    func licenceAttempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt]
    /// Callbacks still to be sent to servers, the oldest first.
    func pendingCallbacks(limit: Int) throws -> [PendingCallback]
    /// How many callbacks are still to be sent to servers.
    func pendingCallbackCount() throws -> Int
    /// The candidates of a selection, for a plan that changes nothing.
    func candidates(_ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp) throws -> [RenewalCandidate]
}
