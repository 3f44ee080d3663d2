import LectureFormats
import LectureKit
import LectureModel

/// The calendar of licence ends.
struct LicencesPage: Sendable {
    let context: PageContext
    let manager: LectureManager

    /// Writes the page.
    func answer() async throws -> PageContext.HTMLAnswer {
        let (page, isReadable) = await ends()
        var parts: [HTML] = []
        if !isReadable { parts.append(HTML("p", ["class": "note bad"], context.html(.licencesUnreadable))) }
        if isReadable, page.isEmpty { parts.append(HTML("p", ["class": "none"], context.html(.noEnds))) }
        for (day, rows) in page { parts.append(section(day, rows)) }
        return context.page(
            title: context.text(.licences), place: .licences,
            [HTML("div", ["id": "calendar", "data-part": "calendar"], parts)])
    }

    private func ends() async -> ([(day: String, rows: [LicencePage.Row])], isReadable: Bool) {
        do {
            let page = try await manager.licences.list(
                expiringWithin: .seconds(LicenceCalendar.days * 86_400), limit: 1000)
            return (Self.byDay(page.rows), true)
        } catch { return ([], false) }
    }

    /// Licences by the day of their end, in UTC.
    static func byDay(_ rows: [LicencePage.Row]) -> [(day: String, rows: [LicencePage.Row])] {
        let known = rows.compactMap { row in row.licence.deadline.map { (MomentText.parts($0).day, row) } }
        let days = Dictionary(grouping: known) { $0.0 }
        return days.keys.sorted().map { day in (day, (days[day] ?? []).map(\.1)) }
    }

    private func section(_ day: String, _ rows: [LicencePage.Row]) -> HTML {
        let title = MomentText.day(day).map(context.format.day) ?? day
        let items = rows.map { row in
            [
                context.link(PageContext.path(of: row.licence.key), HTML(row.title)),
                row.licence.deadline.map { context.format.moment($0) } ?? .none,
                row.licence.error.map { context.sentence($0.message) } ?? HTML("–"),
            ]
        }
        return HTML(
            "section", ["id": "day-\(day)"], HTML("h2", [:], HTML(title)),
            context.table([.title, .licenceEnds, .lastFailure], items),
            HTML("div", ["class": "buttons"], context.button("/licences/\(day)/renew", .renewDay, subject: title)))
    }
}
