import Dispatch
import LectureFiles
package import LectureModel

/// Reports that something has happened to the files of a directory, for programs that follow it.
///
/// `@unchecked Sendable`: what it holds does not change, and works on a queue of its own.
package final class FolderWatch: @unchecked Sendable {
    private let watch: ChangeWatch

    /// Watches a directory, not those below it, until the last reference goes.
    ///
    /// - Parameters:
    ///   - directory: its path.
    ///   - changed: a file was made, written and closed, renamed or deleted; on a queue of its own.
    /// - Throws: ``LectureError`` with `readFile`.
    package init(_ directory: String, changed: @escaping @Sendable () -> Void) throws(LectureError) {
        let queue = DispatchQueue(label: "lecturekit.folder", qos: .utility)
        watch = try ChangeWatch.files(in: directory, on: queue, changed: changed)
    }
}
