package import LectureModel

/// Which rows are exported. Every given rule must match.
package struct ExportFilter: Hashable, Sendable {
    /// Excludes what happened before; by the corrected time if it is known.
    package var since: Timestamp?
    /// Excludes what happened then or later.
    package var until: Timestamp?
    /// Only these states; all for an empty set.
    package var states: Set<ReportState>
    /// Only this course, compared byte by byte.
    package var course: String?

    /// Makes a filter; one without rules matches everything.
    package init(
        since: Timestamp? = nil, until: Timestamp? = nil, states: Set<ReportState> = [], course: String? = nil
    ) {
        self.since = since
        self.until = until
        self.states = states
        self.course = course
    }

    /// Checks a row against the rules.
    ///
    /// - Parameter record: the row.
    /// - Returns: whether it matches.
    package func matches(_ record: ReportRecord) -> Bool {
        if let since, record.time < since { return false }
        if let until, record.time >= until { return false }
        if !states.isEmpty, !states.contains(record.state) { return false }
        guard let course else { return true }
        return record.course.map { $0.utf8.elementsEqual(course.utf8) } ?? false
    }
}
