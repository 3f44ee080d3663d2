import LectureFiles
package import LectureModel

/// The machine's clocks, for programs of this package that may not import the adapter they live in.
package enum SystemTime {
    /// The clock of the machine.
    package static let clock: any LectureClock = SystemClock()
}
