import LectureKit
import LectureModel

/// The bookmarks of the content that a player plays: the only place that uses the library's.
struct PlayerBookmarks: Sendable {
    let manager: LectureManager
    let key: ContentKey
    /// The learner; nil is the one named by the gateway.
    let user: String?

    /// All of them, by position.
    func list() throws -> [KollusBookmark] {
        KollusOutline(try manager.contents.wait { [key] in try $0.outline(of: key) }).bookmarks
    }

    /// Whether the learner's can be changed.
    func canEdit() throws -> Bool { false }

    /// Adds one of the learner, or replaces it.
    func add(_ value: String, at position: Duration) throws { throw KollusError(.DISABLED_BOOKMARK_CONTENT) }

    /// Removes one of the learner.
    func remove(at position: Duration) throws { throw KollusError(.DISABLED_BOOKMARK_CONTENT) }
}
