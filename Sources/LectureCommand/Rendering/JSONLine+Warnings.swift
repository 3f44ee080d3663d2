package import LectureKit
import LectureModel

extension JSONLine {
    /// A member of a course list means nothing; its lines are used without it.
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
