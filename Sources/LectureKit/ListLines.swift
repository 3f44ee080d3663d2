package import LectureModel
import LectureStore

/// Lines for people about the lectures of a list. None becomes a value of its own: in a list of 100,000, making and
/// copying those would take longer than reading their rows.
package enum ListLines {
    /// Lines of lectures that follow one another in a list.
    package struct Run<Lines: Sendable>: Sendable {
        /// The lines.
        package let lines: Lines
        /// How many lectures they show.
        package let count: Int
        /// The place of the last one; nil when nothing can follow it.
        package let end: ListPlace?
    }

    /// Writes the lectures that follow a place in a list, as ``LectureManager/Contents/list(_:sort:page:)`` shows them.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - place: the end of the run before, with the same filter and order; nil for the beginning.
    ///   - offset: how many are skipped.
    ///   - limit: the maximum number.
    ///   - contents: of the store.
    ///   - lines: what they are written to.
    ///   - write: writes one lecture.
    /// - Returns: the lines.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package static func write<Lines: Sendable>(
        _ filter: ContentFilter, sort: ContentSort, after place: ListPlace?, skipping offset: Int, limit: Int,
        in contents: isolated LectureManager.Contents, to lines: Lines,
        _ write: @Sendable (borrowing ContentLine, inout Lines) -> Void
    ) throws(LectureError) -> Run<Lines> {
        try LectureError.only {
            var lines = lines
            let rows = ListedRows(
                contents.queries, filter, sort: sort, after: place?.place, skipping: offset, limit: limit)
            let (count, end) = try rows.lines { line, file in
                if let file { contents.correct(&line, file) }
                write(line, &lines)
            }
            return Run(lines: lines, count: count, end: end.map { ListPlace(place: $0) })
        }
    }
}
