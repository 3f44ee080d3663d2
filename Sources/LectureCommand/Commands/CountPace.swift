import LectureModel

/// How often a run counts its lectures.
///
/// A count reads each lecture of the run, and downloads wait meanwhile. It may take a twentieth of the time at most.
struct CountPace {
    private static let share = 20
    /// When the last count began, and when its share of the time is over.
    private var last: (start: BootInstant, rest: BootInstant)?

    /// Whether it is time to count.
    ///
    /// - Parameters:
    ///   - interval: the time between two counts where they are fast; zero counts in any case.
    ///   - now: the boot clock.
    /// - Returns: true for the first one.
    func isDue(every interval: Duration, at now: BootInstant) -> Bool {
        guard interval > .zero, let last else { return true }
        return now - last.start >= interval && now >= last.rest
    }

    /// Records a count.
    ///
    /// - Parameters:
    ///   - start: when it began, by the boot clock.
    ///   - end: when it was done.
    mutating func counted(from start: BootInstant, to end: BootInstant) {
        last = (start, end + (end - start) * (Self.share - 1))
    }
}
