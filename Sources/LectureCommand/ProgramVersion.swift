/// The program's version.
package enum ProgramVersion {
    /// Semantic version; see CHANGELOG.md.
    package static let number = "0.1.0"
    /// The date of the manual page, in the format of mdoc(7).
    package static let manualDate = "November 20, 2026"
}
