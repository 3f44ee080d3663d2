public import LectureModel
import LectureStore

/// How many licences end or have to be checked on a day.
public struct LicenceDay: Sendable, Hashable {
    /// The beginning of the day, in UTC.
    public let start: Timestamp
    /// How many.
    public let count: Int

    /// Creates a day.
    ///
    /// - Parameters:
    ///   - start: its beginning, in UTC.
    ///   - count: how many licences.
    package init(start: Timestamp, count: Int) { (self.start, self.count) = (start, count) }
}

/// Licences by the days of their ends.
public enum LicenceCalendar {
    /// How many licences end or have to be checked on each day. Those that only their server can make playable again
    /// count for the first day of 1970, and so do all licences of a store that another device has written.
    ///
    /// - Parameters:
    ///   - time: how far to look, from now.
    ///   - licences: of the store.
    /// - Returns: the days in their order, those in the past too; days without a licence are left out.
    /// - Throws: ``LectureError`` when the store cannot be read. `CancellationError`.
    public static func days(
        within time: Duration, in licences: isolated LectureManager.Licences
    ) async throws -> [LicenceDay] {
        guard try LectureError.only({ try licences.writer.hasLicences() }) else { return [] }
        let before = try licences.time() + time
        let judge = try LectureError.only { try licences.licensing.judge() }
        if judge.isAsStored {
            return try LectureError.only {
                try LicenceCalendarRows(licences.licensing.queriesOfLicences()).days(before: before).map {
                    LicenceDay(start: Timestamp(milliseconds: $0.day * Self.dayLength), count: $0.count)
                }
            }
        }
        var (counts, place): ([Int64: Int], LicencePage.Place?) = ([:], nil)
        repeat {
            try Task.checkCancellation()
            let page = try list(from: Timestamp(milliseconds: 0), until: before, after: place, in: licences)
            for row in page.rows {
                let deadline = judge.suspicion == nil ? row.licence.deadline?.milliseconds ?? 0 : 0
                counts[max(0, deadline) / Self.dayLength, default: 0] += 1
            }
            place = page.next
            // Downloads and plays go on between two pages.
            await Task.yield()
        } while place != nil
        return counts.keys.sorted().map { day in
            LicenceDay(start: Timestamp(milliseconds: day * Self.dayLength), count: counts[day] ?? 0)
        }
    }

    private static let dayLength: Int64 = 86_400_000

    /// A page of the licences that end or have to be checked in a period, each evaluated as for a play.
    ///
    /// - Parameters:
    ///   - start: the beginning of the period, which belongs to it.
    ///   - end: its end, which does not.
    ///   - place: the ``LicencePage/next`` of the page before; nil for the first page.
    ///   - limit: the page size; one to a thousand. A page may have fewer rows though others follow.
    ///   - licences: of the store.
    /// - Returns: the licences with the titles of their lectures, the soonest first.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public static func list(
        from start: Timestamp, until end: Timestamp, after place: LicencePage.Place? = nil, limit: Int = 1000,
        in licences: isolated LectureManager.Licences
    ) throws(LectureError) -> LicencePage {
        try LectureError.only {
            guard try licences.writer.hasLicences() else { return LicencePage(rows: [], next: nil) }
            let (judge, limit) = (try licences.licensing.judge(), max(1, min(limit, 1000)))
            let page: [ListedLicence]
            if judge.isAsStored {
                let last = place?.last.flatMap { key in place?.deadline.map { ($0, key) } }
                page = try LicenceCalendarRows(licences.licensing.queriesOfLicences()).licences(
                    deadlineFrom: start, before: end, after: last, limit: limit)
            } else {
                page = try licences.licensing.queriesOfLicences().licences(after: place?.last, limit: limit)
            }
            var next = LicencePage.Place()
            (next.last, next.deadline) = (page.last?.entry.key, page.last?.entry.deadline)
            let rows = try page.compactMap { row -> LicencePage.Row? in
                let status = try judge.status(row.entry, isPlayable: try licences.isPlayable(row.entry.key))
                guard let deadline = status.deadline else { return nil }
                // In an untrusted ledger every licence needs attention at once.
                let due = judge.suspicion == nil ? deadline : Timestamp(milliseconds: 0)
                guard judge.isAsStored || (start <= due && due < end) else { return nil }
                return LicencePage.Row(licence: status, title: row.title)
            }
            return LicencePage(rows: rows, next: page.count < limit ? nil : next)
        }
    }
}

extension LicenceJudge {
    /// Whether the deadlines of the store's rows are those that count.
    var isAsStored: Bool { suspicion == nil && !takesMarksBack }
}
