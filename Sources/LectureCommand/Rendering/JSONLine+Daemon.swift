import LectureKit
import LectureModel
package import LectureRecords

extension JSONLine {
    /// The daemon is in another state, or has read a list.
    ///
    /// - Parameters:
    ///   - state: `ready`, `reloading`, `stopping`, `list_read` or `list_gone`.
    ///   - list: the course list; nil where it is not about one.
    ///   - used: how many of its lines were used.
    ///   - refused: how many were refused.
    /// - Returns: the line.
    package static func daemon(_ state: String, list: String? = nil, used: Int? = nil, refused: Int? = nil) -> String {
        line { writer in
            writer.member("event", "daemon")
            writer.member("state", state)
            writer.member("list", list)
            writer.member("used", used)
            writer.member("refused", refused)
        }
    }
}
