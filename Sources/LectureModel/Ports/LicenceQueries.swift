/// A licence as a list shows it, beside its content.
package struct ListedLicence: Hashable, Sendable {
    /// The licence.
    package var entry: LicenceEntry
    /// The content's title.
    package var title: String
    /// The content's state.
    package var state: ItemState

    /// A licence and what a list tells of its content.
    ///
    /// - Parameters:
    ///   - entry: the licence.
    ///   - title: the content's.
    ///   - state: the content's.
    package init(entry: LicenceEntry, title: String, state: ItemState) {
        (self.entry, self.title, self.state) = (entry, title, state)
    }
}

/// The ledger of licences as lists and questions need it: read-only, on its own connection. Every method throws
/// ``LectureError``.
///
/// Lists leave retired licences out: those whose contents are gone.
package protocol LicenceQueries: AnyObject {
    /// A licence, a retired one too.
    func licence(_ key: ContentKey) throws -> LicenceEntry?
    /// Licences in the order of their keys.
    ///
    /// - Parameters:
    ///   - key: the last one of the page before; nil for the first page.
    ///   - limit: how many at the most.
    /// - Returns: the licences with their contents.
    /// - Throws: ``LectureError``.
    func licences(after key: ContentKey?, limit: Int) throws -> [ListedLicence]
    /// Licences with a deadline, the earliest first.
    ///
    /// - Parameters:
    ///   - before: only those whose deadline is before this moment; nil for all.
    ///   - last: the last one of the page before, with its deadline there; nil for the first page.
    ///   - limit: how many at the most.
    /// - Returns: the licences with their contents.
    /// - Throws: ``LectureError``.
    func licences(
        deadlineBefore before: Timestamp?, after last: (deadline: Timestamp, key: ContentKey)?, limit: Int
    ) throws -> [ListedLicence]
    /// How many licences have a deadline before this moment; nil counts those without one too.
    func licenceCount(deadlineBefore before: Timestamp?) throws -> Int
    /// The latest questions about a licence, latest first.
    func licenceAttempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt]
    /// What servers must still be told, the oldest first.
    func debts(limit: Int) throws -> [LicenceDebt]
    /// How much servers must still be told.
    func debtCount() throws -> Int
    /// The candidates of a selection, for a plan that changes nothing.
    func candidates(_ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp) throws -> [RenewalCandidate]
}
