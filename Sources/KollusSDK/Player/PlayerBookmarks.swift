import Foundation
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
        try manager.bookmarks.wait { [key, user] in try $0.list(of: key, user: user) }.map { bookmark in
            KollusBookmark(
                position: bookmark.position / .seconds(1), kind: bookmark.kind == .user ? .user : .index,
                text: bookmark.kind == .user ? bookmark.value : bookmark.label,
                time: bookmark.time.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) })
        }
    }

    /// Whether the learner's can be changed.
    func canEdit() throws -> Bool { try manager.bookmarks.wait { [key] in try $0.permission(of: key).isEditable } }

    /// Adds one of the learner, or replaces it.
    func add(_ value: String, at position: Duration) throws {
        try manager.bookmarks.wait { [key, user] in try $0.add(value, at: position, to: key, user: user) }
    }

    /// Removes one of the learner. One that is not there, or the teacher's, stays as it is.
    func remove(at position: Duration) throws {
        try manager.bookmarks.wait { [key, user] in
            do throws(LectureError) { try $0.remove(at: position, from: key, user: user) } catch {
                guard error.code == .bookmarkMissing || error.code == .bookmarkOfTeacher else { throw error }
            }
        }
    }

    /// Delivers what was changed, and takes over what the server has. What cannot be delivered waits in the store.
    func syncIfChanged() async {
        let list = try? await manager.bookmarks.list(of: key, user: user)
        guard list?.contains(where: \.isWaiting) == true else { return }
        _ = try? await manager.bookmarks.sync(key, user: user)
    }
}
