import LectureKit
import LectureModel

/// Some lectures of a list that may be read both ways, and whether there are others before and after them.
struct LectureRun: Sendable {
    var shown: [Content]
    var hasBefore: Bool
    var hasAfter: Bool

    /// Where it begins or ends.
    enum Place: Sendable, Hashable {
        /// At the first lecture.
        case start
        /// After this lecture.
        case after(ContentKey)
        /// It ends before this lecture.
        case before(ContentKey)
    }

    /// Reads a part of a list.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - place: where it begins or ends.
    ///   - limit: how many at most.
    ///   - manager: the store.
    /// - Returns: nil when the lecture of the place is not in the store.
    /// - Throws: `LectureError` when the store cannot be read.
    static func read(
        _ filter: ContentFilter, sort: ContentSort, _ place: Place, limit: Int, _ manager: LectureManager
    ) async throws -> LectureRun? {
        let (key, isBefore): (ContentKey, Bool)
        switch place {
        case .start:
            let found = try await manager.contents.list(filter, sort: sort, page: ContentPage(limit: limit + 1))
            return LectureRun(shown: Array(found.prefix(limit)), hasBefore: false, hasAfter: found.count > limit)
        case .after(let lecture): (key, isBefore) = (lecture, false)
        case .before(let lecture): (key, isBefore) = (lecture, true)
        }
        let read = try await ListNeighbours.list(
            filter, sort: sort, beside: key, isBefore: isBefore, limit: limit + 1, in: manager.contents)
        guard let found = read else { return nil }
        let isMore = found.count > limit
        return isBefore
            ? LectureRun(shown: found.suffix(limit), hasBefore: isMore, hasAfter: true)
            : LectureRun(shown: Array(found.prefix(limit)), hasBefore: true, hasAfter: isMore)
    }

    /// Reads a page of a list. Without a lecture of that key it is the first one.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - after: the last one of the page before; nil where none is named.
    ///   - before: the first one of the page after; nil where none is named.
    ///   - limit: how many at most.
    ///   - manager: the store.
    /// - Returns: the page.
    /// - Throws: `LectureError` when the store cannot be read.
    static func page(
        _ filter: ContentFilter, sort: ContentSort, after: ContentKey?, before: ContentKey?, limit: Int,
        _ manager: LectureManager
    ) async throws -> LectureRun {
        let place = before.map { .before($0) } ?? after.map { .after($0) } ?? Place.start
        for place in [place, .start] {
            let run = try await read(filter, sort: sort, place, limit: limit, manager)
            if let run { return run }
        }
        return LectureRun(shown: [], hasBefore: false, hasAfter: false)
    }
}

extension PageContext {
    /// The links to the other pages of a list.
    ///
    /// - Parameters:
    ///   - run: the page.
    ///   - address: the address of the list, with a name and a key for the query.
    /// - Returns: nothing where there is only one page.
    func pages(_ run: LectureRun, address: ((name: String, key: ContentKey)?) -> String) -> HTML {
        var links: [HTML] = []
        if run.hasBefore, let first = run.shown.first {
            links.append(link(address(nil), html(.first)))
            links.append(HTML("a", ["href": address(("before", first.key)), "rel": "prev"], html(.previous)))
        }
        if run.hasAfter, let last = run.shown.last {
            links.append(HTML("a", ["href": address(("after", last.key)), "rel": "next"], html(.next)))
        }
        return links.isEmpty ? .none : HTML("nav", ["class": "pages", "aria-label": text(.pagesLabel)], links)
    }
}
