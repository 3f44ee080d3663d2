import LectureFormats
package import LectureRecords

extension JSONLine {
    /// The program's version.
    ///
    /// - Parameters:
    ///   - number: the semantic version.
    ///   - program: the program.
    /// - Returns: the line.
    package static func version(_ number: String, of program: ProgramTable = .lecturectl) -> String {
        line { writer in
            writer.member("record", "version")
            writer.member("program", program.programName)
            writer.member("version", number)
        }
    }
}
