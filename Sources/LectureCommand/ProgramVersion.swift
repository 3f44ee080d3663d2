/// The version the program says it is.
package enum ProgramVersion {
    /// Semantic version; CHANGELOG.md says what is in it.
    package static let number = "0.1.0"
    /// The day of the manual page, as mdoc(7) wants it.
    package static let manualDate = "November 20, 2026"
}
