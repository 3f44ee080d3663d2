package import LectureDoctor
import LectureFormats
import LectureModel
package import LectureRecords

extension JSONLine {
    /// One finding of `doctor`.
    ///
    /// - Parameter finding: the finding.
    /// - Returns: the line.
    package static func finding(_ finding: Finding) -> String {
        line { writer in
            writer.member("record", "finding")
            writer.member("subject", finding.subject.rawValue)
            writer.member("grade", finding.grade.rawValue)
            if !finding.name.isEmpty { writer.member("name", finding.name) }
            writer.member("message", finding.message)
            if !finding.remedy.isEmpty { writer.member("remedy", finding.remedy) }
            writer.member("code", finding.error?.code.number)
            writer.member("error", finding.error?.code.name)
        }
    }
}
