package import LectureModel
import LectureStore

/// Pages of a list that may be turned both ways, and whose addresses last, since a key is enough to find the place.
package enum ListNeighbours {
    /// The lectures beside one in a list, as ``LectureManager/Contents/list(_:sort:page:)`` shows them.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - key: the lecture; it need not match the filter any more.
    ///   - isBefore: whether those before it are read, which end with the one next to it, or those after it.
    ///   - limit: the maximum number.
    ///   - contents: of the store.
    /// - Returns: the lectures in the order of the list; nil when there is no such lecture.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package static func list(
        _ filter: ContentFilter, sort: ContentSort, beside key: ContentKey, isBefore: Bool, limit: Int,
        in contents: isolated LectureManager.Contents
    ) throws(LectureError) -> [Content]? {
        try LectureError.only {
            try contents.queries.contents(filter, sort: sort, beside: key, isBefore: isBefore, limit: limit) {
                contents.truthful($0, $1)
            }
        }
    }
}
