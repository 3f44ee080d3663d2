package import LectureKit
import LectureModel
package import LectureRecords

extension JSONLine {
    /// A course list has an unknown member; its lines are used without it.
    ///
    /// - Parameter warning: what was found.
    /// - Returns: the line.
    package static func warning(_ warning: CourseList.Warning) -> String {
        line { writer in
            writer.member("event", "warning")
            writer.member("message", warning.message)
            writer.member("line", warning.line)
            writer.member("member", warning.member)
            writer.member("suggestion", warning.suggestion)
        }
    }
}
