import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// A part of the calendar of licence ends.
enum CalendarDay: Sendable, Hashable {
    /// What has ended before today, or only its server can make playable again.
    case overdue
    /// A day, by its beginning in UTC.
    case day(Timestamp)

    /// Milliseconds of a day.
    static let length: Int64 = 86_400_000

    /// Reads a segment of a path.
    ///
    /// - Parameter segment: `2026-12-01`, or `overdue`.
    init?(_ segment: String) {
        if segment == "overdue" {
            self = .overdue
            return
        }
        guard segment.utf8.count == 10, segment.contains("-"), let start = MomentText.day(segment) else { return nil }
        self = .day(start)
    }

    /// As a segment of a path.
    var segment: String {
        switch self {
        case .overdue: "overdue"
        case .day(let start): MomentText.parts(start).day
        }
    }

    /// What belongs to it.
    ///
    /// - Parameter now: the time that licences are evaluated with.
    /// - Returns: the beginning, which belongs to it, and the end, which does not.
    func period(_ now: Timestamp) -> (start: Timestamp, end: Timestamp) {
        switch self {
        case .overdue: (Timestamp(milliseconds: 0), Self.today(now))
        case .day(let start): (start, Timestamp(milliseconds: start.milliseconds + Self.length))
        }
    }

    /// The beginning of a day in UTC.
    static func today(_ now: Timestamp) -> Timestamp {
        Timestamp(milliseconds: max(0, now.milliseconds) / length * length)
    }
}

/// The calendar of licence ends: how many end on each day, and those of a day.
struct LicencesPage: Sendable {
    let context: PageContext
    let manager: LectureManager

    /// How far the calendar goes.
    static let days: Int64 = 60
    /// Licences of a day on one page.
    static let size = 50

    // MARK: All days

    /// Writes the page of all days.
    func answer() async throws -> PageContext.HTMLAnswer {
        let content: HTML
        if let counts = try? await counts() {
            content =
                counts.contains { $0.count > 0 }
                ? context.table([.day, .licences, .actions], counts.map(row))
                : HTML("p", ["class": "none"], context.html(.noEnds))
        } else {
            content = HTML("p", ["class": "note bad"], context.html(.licencesUnreadable))
        }
        return context.page(
            title: context.text(.licences), place: .licences,
            [
                HTML(
                    "section", ["id": "calendar", "data-part": "calendar", "aria-label": context.text(.licences)],
                    content)
            ])
    }

    /// Every day, with those on which none ends; first what has ended already.
    private func counts() async throws -> [(day: CalendarDay, count: Int)] {
        let now = try await manager.licences.time()
        let found = try await LicenceCalendar.days(within: .seconds(Self.days * 86_400), in: manager.licences)
        let today = CalendarDay.today(now)
        let known = Dictionary(found.map { ($0.start, $0.count) }) { $0 + $1 }
        let overdue = found.filter { $0.start < today }.reduce(0) { $0 + $1.count }
        let days = (0...Self.days).map { day in
            let start = Timestamp(milliseconds: today.milliseconds + day * CalendarDay.length)
            return (day: CalendarDay.day(start), count: known[start] ?? 0)
        }
        return (overdue > 0 ? [(day: .overdue, count: overdue)] : []) + days
    }

    private func row(_ row: (day: CalendarDay, count: Int)) -> [HTML] {
        let title = title(of: row.day)
        // On a narrow window the style leaves out such a day.
        let nothing = HTML("span", ["class": "empty"], HTML("–"))
        guard row.count > 0 else { return [HTML(title), nothing, nothing] }
        let count =
            row.count == 1
            ? context.html(.oneLicence) : context.html(.licencesCount, context.format.number(row.count))
        return [
            context.link(Self.path(row.day), HTML(title)), count, renewal(row.day, title),
        ]
    }

    private func renewal(_ day: CalendarDay, _ title: String) -> HTML {
        HTML("div", ["class": "buttons"], context.button("\(Self.path(day))/renew", .renewDay, subject: title))
    }

    private func title(of day: CalendarDay) -> String {
        switch day {
        case .overdue: context.text(.overdue)
        case .day(let start): context.format.day(start)
        }
    }

    private static func path(_ day: CalendarDay) -> String { "/licences/\(day.segment)" }

    // MARK: One day

    /// Writes the page of a day.
    ///
    /// - Parameter day: the day.
    /// - Returns: the page.
    /// - Throws: `LectureError` when the store cannot be read.
    func answer(_ day: CalendarDay) async throws -> PageContext.HTMLAnswer {
        let (start, end) = day.period(try await manager.licences.time())
        let page = try await LicenceCalendar.list(
            from: start, until: end, after: place, limit: Self.size, in: manager.licences)
        let title = title(of: day)
        let rows = page.rows.map { row in
            [
                context.link(PageContext.path(of: row.licence.key), HTML(row.title)),
                row.licence.deadline.map { context.format.moment($0) } ?? .none,
                row.licence.error.map { context.sentence($0.message) } ?? HTML("–"),
            ]
        }
        let list =
            rows.isEmpty
            ? HTML("p", ["class": "none"], context.html(.resultNoneToRenew))
            : HTML([context.table([.title, .licenceEnds, .lastFailure], rows), renewal(day, title)])
        return context.page(
            title: title, place: .licences,
            [
                HTML(
                    "section", ["id": "day", "data-part": "calendar", "aria-label": title], list,
                    pages(day, page.next)),
                HTML("p", [:], context.link("/licences", context.html(.backToCalendar))),
            ])
    }

    /// Where the page begins.
    private var place: LicencePage.Place? {
        context.request.head.parameter("after").flatMap { LicencePage.Place(text: $0) }
    }

    private func pages(_ day: CalendarDay, _ next: LicencePage.Place?) -> HTML {
        var links: [HTML] = []
        if place != nil { links.append(context.link(Self.path(day), context.html(.first))) }
        if let next {
            let query = FormFields.text([("after", next.text)])
            links.append(HTML("a", ["href": "\(Self.path(day))?\(query)", "rel": "next"], context.html(.next)))
        }
        return links.isEmpty ? .none : HTML("nav", ["class": "pages", "aria-label": context.text(.pagesLabel)], links)
    }
}
