package import LectureModel

/// Which rows are exported. Every rule that is given has to hold.
package struct ExportFilter: Hashable, Sendable {
    /// Nothing that happened before; by the corrected time where it is known.
    package var since: Timestamp?
    /// Nothing that happened then or later.
    package var until: Timestamp?
    /// Only these states; all for an empty set.
    package var states: Set<ReportState>
    /// Only this course, compared byte by byte.
    package var course: String?

    /// Makes a filter; one without rules lets everything pass.
    package init(
        since: Timestamp? = nil, until: Timestamp? = nil, states: Set<ReportState> = [], course: String? = nil
    ) {
        self.since = since
        self.until = until
        self.states = states
        self.course = course
    }

    /// Holds a row against the rules.
    ///
    /// - Parameter record: the row.
    /// - Returns: whether it passes.
    package func matches(_ record: ReportRecord) -> Bool {
        if let since, record.time < since { return false }
        if let until, record.time >= until { return false }
        if !states.isEmpty, !states.contains(record.state) { return false }
        guard let course else { return true }
        return record.course.map { $0.utf8.elementsEqual(course.utf8) } ?? false
    }
}
