import LectureFormats
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

extension LicencePage.Place {
    /// The place as a text for other programs: when the last licence ends, an underscore, and its key.
    package var text: String { "\(deadline.map { "\($0.milliseconds)" } ?? "")_\(last?.text ?? "")" }

    /// Reads such a text.
    ///
    /// - Parameter text: the text; nil is returned for another one.
    package init?(text: String) {
        let words = text.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[0].utf8.count <= 16, let key = try? ContentKey(String(words[1])) else {
            return nil
        }
        let deadline = Int64(words[0]).map { Timestamp(milliseconds: $0) }
        guard deadline != nil || words[0].isEmpty else { return nil }
        self.init()
        (last, self.deadline) = (key, deadline)
    }
}

extension ReportPage.Place {
    /// The place as a text for other programs: a number.
    package var text: String { "\(last.value)" }

    /// Reads such a text.
    ///
    /// - Parameter text: the text; nil is returned for another one.
    package init?(text: String) {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ FieldText.digit($0) != nil }),
            let number = Int64(text)
        else { return nil }
        self.init(last: OutboxID(number))
    }
}
