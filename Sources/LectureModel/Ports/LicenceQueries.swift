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
