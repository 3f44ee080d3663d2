import LectureFiles
package import LectureModel

/// The machine's clocks, for programs of this package that may not import the adapter they live in.
package enum SystemTime {
    /// The clock of the machine.
    package static let clock: any LectureClock = SystemClock()

    /// How far the machine's time zone is ahead of UTC.
    ///
    /// - Parameter time: when; zones change with the season.
    /// - Returns: seconds, negative west of Greenwich.
    package static func secondsEastOfUTC(_ time: Timestamp) -> Int { SystemClock.secondsEastOfUTC(time) }
}
