package import LectureModel
import LectureSQLite

/// Bookmarks. Tables bookmark_list and bookmark.
///
/// A bookmark that was changed here is *open* until the server has the change: a trigger of the schema settles it when
/// the report with the change is delivered.
///
/// Confined to the owner of the store's writer, like its connection.
package struct BookmarkRows {
    let connection: Connection

    /// A list.
    package struct List {
        /// Its row.
        package let id: BookmarkListID
        /// When the server was asked last; nil for never.
        package let synced: Timestamp?
    }

    /// Finds the list of a lecture and a learner.
    ///
    /// - Returns: nil when nothing was changed and no server was asked.
    /// - Throws: ``LectureError``.
    package func list(_ content: String, user: String) throws -> List? {
        try connection.first(
            "SELECT id, synced_ms FROM bookmark_list WHERE content_key = ? AND client_user_id = ?", content, user
        ) { List(id: $0.id(0), synced: $0.optionalTimestamp(1)) }
    }

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - content: the media content key.
    ///   - user: the learner.
    ///   - bookmarks: those that came with the lecture.
    /// - Returns: its row.
    /// - Throws: ``LectureError``.
    package func begin(_ content: String, user: String, _ bookmarks: [BookmarkRecord]) throws -> BookmarkListID {
        try connection.execute(
            "INSERT INTO bookmark_list(content_key, client_user_id) VALUES (?, ?)", content, user)
        let id = BookmarkListID(connection.lastInsertedID)
        for bookmark in bookmarks { try add(bookmark, to: id) }
        return id
    }

    /// The lists with open changes: the lecture and the learner of each.
    ///
    /// - Throws: ``LectureError``.
    package func open() throws -> [(content: String, user: String)] {
        try connection.query(
            """
            SELECT content_key, client_user_id FROM bookmark_list
            WHERE EXISTS (SELECT 1 FROM bookmark WHERE list_id = bookmark_list.id AND state <> ?) ORDER BY id
            """, BookmarkRecord.State.settled.rawValue
        ) { ($0.text(0), $0.text(1)) }
    }

    /// The bookmarks of a list by position, the removed ones included.
    ///
    /// - Throws: ``LectureError``.
    package func bookmarks(_ list: BookmarkListID) throws -> [BookmarkRecord] {
        try connection.query(
            """
            SELECT kind, position_ms, state, changed_ms, report_uuid, value, label FROM bookmark
            WHERE list_id = ? ORDER BY position_ms, kind
            """, list
        ) { row in
            var bookmark = BookmarkRecord(
                kind: try row.enumeration(0, BookmarkRecord.Kind.self), position: row.int64(1), value: row.text(5),
                label: row.text(6))
            bookmark.state = try row.enumeration(2, BookmarkRecord.State.self)
            (bookmark.changed, bookmark.report) = (row.optionalTimestamp(3), row.optionalText(4))
            return bookmark
        }
    }

    /// Stores a bookmark in place of the one of its kind at its position.
    ///
    /// - Throws: ``LectureError``.
    package func put(_ bookmark: BookmarkRecord, in list: BookmarkListID) throws {
        try connection.execute(
            "DELETE FROM bookmark WHERE list_id = ? AND kind = ? AND position_ms = ?", list, bookmark.kind.rawValue,
            bookmark.position)
        try add(bookmark, to: list)
    }

    /// Names the report that has all open changes of a list.
    ///
    /// - Throws: ``LectureError``.
    package func setReport(_ report: String, of list: BookmarkListID) throws {
        try connection.execute(
            "UPDATE bookmark SET report_uuid = ? WHERE list_id = ? AND state <> ?", report, list,
            BookmarkRecord.State.settled.rawValue)
    }

    /// Takes over what the server has. Where a change is open, that stays; and so does the index that came with the
    /// lecture when the server has none: some servers keep only learners' bookmarks.
    ///
    /// - Parameters:
    ///   - bookmarks: all that the server has.
    ///   - list: the list.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func merge(_ bookmarks: [BookmarkRecord], into list: BookmarkListID, now: Timestamp) throws {
        let kinds: [BookmarkRecord.Kind] = bookmarks.contains { $0.kind == .index } ? [.user, .index] : [.user]
        for kind in kinds {
            try connection.execute(
                "DELETE FROM bookmark WHERE list_id = ? AND kind = ? AND state = ?", list, kind.rawValue,
                BookmarkRecord.State.settled.rawValue)
        }
        for bookmark in bookmarks { try add(bookmark, to: list) }
        try connection.execute("UPDATE bookmark_list SET synced_ms = ? WHERE id = ?", now, list)
    }

    /// Whether a report still waits to be delivered.
    ///
    /// - Parameter report: its id.
    /// - Returns: false for one that was delivered, refused or deleted.
    /// - Throws: ``LectureError``.
    package func isWaiting(_ report: String) throws -> Bool {
        try connection.first("SELECT state FROM report WHERE uuid = ?", report) {
            try $0.enumeration(0, ReportState.self).holdsSession
        } ?? false
    }

    private func add(_ bookmark: BookmarkRecord, to list: BookmarkListID) throws {
        try connection.execute(
            """
            INSERT OR IGNORE INTO bookmark(list_id, kind, position_ms, state, changed_ms, report_uuid, value, label)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, list, bookmark.kind.rawValue, bookmark.position, bookmark.state.rawValue, bookmark.changed,
            bookmark.report, bookmark.value, bookmark.label)
    }
}
