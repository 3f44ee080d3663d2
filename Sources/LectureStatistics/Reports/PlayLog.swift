import LectureFormats
import LectureModel

/// What happened in a play, in as few intervals as say the same: one that goes on is extended, not followed by another.
package struct PlayLog: Hashable, Sendable {
    /// In order.
    package private(set) var intervals: [PlayInterval] = []
    /// From which one on they were added or extended since ``stored(_:)``.
    package private(set) var firstChanged = 0

    /// Makes an empty log.
    package init() {}

    /// Adds what happened next.
    package mutating func add(_ interval: PlayInterval) {
        guard let last = intervals.last, let longer = last.extended(by: interval) else {
            return intervals.append(interval)
        }
        intervals[intervals.count - 1] = longer
        firstChanged = min(firstChanged, intervals.count - 1)
    }

    /// The same, with nothing of it stored.
    package var restarted: PlayLog {
        var log = self
        log.firstChanged = 0
        return log
    }

    /// Records that everything was stored that had been added at that time.
    ///
    /// - Parameter log: the value that was stored; this one may have grown since.
    package mutating func stored(_ log: PlayLog) {
        guard let last = log.intervals.indices.last else { return }
        firstChanged = intervals[last] == log.intervals[last] ? log.intervals.count : last
    }
}

extension PlayInterval {
    /// One interval that says the same as this one and the next; nil when there is none.
    fileprivate func extended(by next: PlayInterval) -> PlayInterval? {
        guard activity == next.activity, speedPermille == next.speedPermille, to == next.from else { return nil }
        switch activity {
        case .play: guard from <= to, next.from <= next.to else { return nil }
        case .pause, .seek: guard from == to, next.from == next.to else { return nil }
        case .stop: return nil
        }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(next.nanoseconds)
        let start = began.boot.nanoseconds
        guard !overflow, case (let end, let isLate) = start.addingReportingOverflow(sum), !isLate else { return nil }
        return PlayInterval(
            activity, from: from, to: next.to, speedPermille: speedPermille, began: began,
            ended: BootInstant(nanoseconds: end))
    }
}
