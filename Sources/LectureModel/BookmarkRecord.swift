/// A bookmark as stored.
package struct BookmarkRecord: Hashable, Sendable {
    /// Who set it. Stored: frozen, never reused.
    package enum Kind: Int, Sendable, CaseIterable {
        /// The learner.
        case user = 0
        /// The teacher; part of the index.
        case index = 1
    }

    /// How it differs from the server's. Stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// It does not.
        case settled = 0
        /// It was added here, or its text was changed.
        case added = 1
        /// It was removed here; the row is what the server has to learn.
        case removed = 2
    }

    /// Who set it.
    package let kind: Kind
    /// Milliseconds from the start of the lecture.
    package let position: Int64
    /// How it differs from the server's.
    package var state = State.settled
    /// When it was set or removed; nil when that is unknown.
    package var changed: Timestamp?
    /// The id of the report that has the change; nil before it has one.
    package var report: String?
    /// The learner's text.
    package var value: String
    /// The text for a list, the teacher's title.
    package var label: String

    /// Makes a bookmark that the server has.
    package init(kind: Kind, position: Int64, value: String, label: String) {
        (self.kind, self.position, self.value, self.label) = (kind, position, value, label)
    }
}

/// The table of lists of bookmarks.
package enum BookmarkListTable {}

/// The bookmarks of one lecture for one learner.
package typealias BookmarkListID = RowID<BookmarkListTable>
