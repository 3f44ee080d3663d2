import LectureFormats
import LectureKit
import LectureModel

/// What an operator changes in a store, by a button of the page or by the API.
struct LectureActions: Sendable {
    let manager: LectureManager
    let renewals: SiteRenewals

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
    /// - Parameter key: the lecture.
    /// - Throws: `LectureError`, as ``SiteRenewals/add(_:)``.
    func renew(_ key: ContentKey) async throws { try await renewals.add(.keys([key])) }

    /// Begins to renew the licences of a part of the calendar.
    ///
    /// - Parameter day: the part.
    /// - Returns: how many there are.
    /// - Throws: `LectureError`, as ``SiteRenewals/add(_:)``.
    func renew(endingOn day: CalendarDay) async throws -> Int {
        let (start, end) = day.period(try await manager.licences.time())
        let ahead = end - (try await manager.licences.time())
        let count = try await LicenceCalendar.days(within: max(.zero, ahead), in: manager.licences)
            .filter { start <= $0.start && $0.start < end }.reduce(0) { $0 + $1.count }
        if count > 0 { try await renewals.add(.period(from: start, until: end)) }
        return count
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
