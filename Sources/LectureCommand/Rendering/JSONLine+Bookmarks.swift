import LectureFormats
package import LectureKit
package import LectureRecords

extension JSONLine {
    /// A bookmark.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - bookmark: its bookmark.
    /// - Returns: the line.
    package static func bookmark(_ key: ContentKey, _ bookmark: Bookmark) -> String {
        line { writer in
            writer.member("record", "bookmark")
            writer.member("key", key.text)
            writer.member("kind", bookmark.kind.rawValue)
            writer.member("position_ms", bookmark.position.milliseconds)
            writer.member("value", bookmark.value)
            writer.member("label", bookmark.label)
            writer.member("time_ms", bookmark.time?.milliseconds)
            writer.member("waiting", bookmark.isWaiting)
        }
    }

    /// What a synchronisation of bookmarks did.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - result: what was sent, and what is there afterwards.
    /// - Returns: the line.
    package static func bookmarkSync(_ key: ContentKey, _ result: BookmarkSync) -> String {
        line { writer in
            writer.member("event", "bookmark_sync")
            writer.member("key", key.text)
            writer.member("sent", result.sent)
            writer.member("waiting", result.waiting)
            writer.member("bookmarks", result.bookmarks.count)
        }
    }
}
