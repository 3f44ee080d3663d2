import LectureFormats
import LectureKit
import LectureModel

/// What an operator changes in a store, by a button of the page or by the API.
struct LectureActions: Sendable {
    let manager: LectureManager

    /// A lecture that must be there.
    ///
    /// - Parameter key: its key.
    /// - Returns: the lecture.
    /// - Throws: `LectureError` with `unknownContent`.
    func lecture(_ key: ContentKey) async throws -> Content {
        guard let lecture = try await manager.contents.find(key) else {
            throw LectureError(.unknownContent, detail: key.text)
        }
        return lecture
    }

    /// Continues a lecture: a process that has it in its queue does; where there is none, this one.
    ///
    /// - Parameter key: the lecture.
    /// - Throws: `LectureError`: `unknownContent`, `alreadyDownloaded`.
    func resume(_ key: ContentKey) async throws {
        if try await manager.contents.why(key).processes.isEmpty {
            try await manager.downloads.start(key)
        } else {
            try await manager.downloads.resume(key)
        }
    }

    /// Begins to renew licences. Servers may take minutes; the store says how it went, and events do.
    ///
    /// - Parameter keys: the lectures.
    func renew(_ keys: [ContentKey]) {
        guard !keys.isEmpty else { return }
        let manager = manager
        Task { _ = try? await manager.licences.renew(.keys(keys)) }
    }

    /// Begins to renew the licences that end on a day.
    ///
    /// - Parameter day: in UTC.
    /// - Returns: how many there are.
    /// - Throws: `LectureError` when the store cannot be read.
    func renew(endingOn day: String) async throws -> Int {
        let keys = try await LicenceCalendar(manager: manager).days().first { $0.day == day }?.keys ?? []
        renew(keys)
        return keys.count
    }

    /// Sends refused reports again.
    ///
    /// - Returns: how many.
    /// - Throws: `LectureError` of the store.
    func retryReports() async throws -> Int {
        var query = ReportQuery()
        query.states = [.dead]
        return try await manager.reports.retry(matching: query)
    }
}

/// The licences that end soon, by day.
struct LicenceCalendar: Sendable {
    let manager: LectureManager

    /// How far it goes.
    static let days: Int64 = 60

    /// Reads the days on which licences end or have to be checked, or already had to.
    ///
    /// - Returns: the days in UTC, the soonest first, with their lectures; however many these are.
    /// - Throws: `LectureError` when the store cannot be read.
    func days() async throws -> [(day: String, keys: [ContentKey])] {
        var (place, days) = (LicencePage.Place?.none, [String: [ContentKey]]())
        repeat {
            let page = try await manager.licences.list(expiringWithin: .seconds(Self.days * 86_400), from: place)
            place = page.next
            for row in page.rows {
                guard let deadline = row.licence.deadline else { continue }
                days[MomentText.parts(deadline).day, default: []].append(row.licence.key)
            }
        } while place != nil
        return days.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

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
}
