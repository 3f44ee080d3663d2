import LectureHTTP
import LectureKit
import LectureModel

/// The list of lectures: search, filters, order, pages.
struct LecturesPage: Sendable {
    let context: PageContext
    let manager: LectureManager
    private let query: Query

    /// Lectures on a page.
    static let size = 50

    /// Creates a page for a request.
    init(_ context: PageContext, _ manager: LectureManager) {
        (self.context, self.manager, query) = (context, manager, Query(context))
    }

    /// What the query of the address says. What cannot be used is left out.
    struct Query: Sendable {
        var filter = ContentFilter()
        var sort = ContentSort.added
        var days: Int?
        var after: ContentKey?
        var before: ContentKey?

        /// Reads the query of a request.
        init(_ context: PageContext) {
            let head = context.request.head
            func value(_ name: String) -> String? {
                head.parameter(name).flatMap { $0.isEmpty || $0.utf8.count > 512 ? nil : $0 }
            }
            filter.search = value("search")
            filter.course = value("course")
            if let state = ItemState.allCases.first(where: { $0.name == value("state") }) { filter.states = [state] }
            filter.type = ContentType.allCases.first { $0.name == value("type") }
            days = value("expiring").flatMap(Int.init).flatMap { LecturesPage.days.contains($0) ? $0 : nil }
            if let days { filter.expiresBefore = context.now + .seconds(Int64(days) * 86_400) }
            sort = value("sort").flatMap(ContentSort.init(rawValue:)) ?? .added
            // Titles are searched in the index by title; the results are in its order.
            if filter.search != nil { sort = .title }
            after = value("after").flatMap { try? ContentKey($0) }
            before = value("before").flatMap { try? ContentKey($0) }
        }

        /// The address of a page with the same filter.
        func address(_ place: (name: String, key: ContentKey)? = nil) -> String {
            var fields: [(String, String)] = []
            if let search = filter.search { fields.append(("search", search)) }
            if let course = filter.course { fields.append(("course", course)) }
            if let state = filter.states.first { fields.append(("state", state.name)) }
            if let type = filter.type { fields.append(("type", type.name)) }
            if let days { fields.append(("expiring", "\(days)")) }
            if sort != .added { fields.append(("sort", sort.rawValue)) }
            if let place { fields.append((place.name, place.key.text)) }
            return fields.isEmpty ? "/lectures" : "/lectures?\(FormFields.text(fields))"
        }
    }

    /// What may be chosen for licences that end soon.
    static let days = [1, 7, 30, 60]

    /// Writes the page.
    func answer() async throws -> PageContext.HTMLAnswer {
        let run = try await LectureRun.page(
            query.filter, sort: query.sort, after: query.after, before: query.before, limit: Self.size, manager)
        let licences = (try? await manager.licences.statuses(of: run.shown)) ?? [:]
        let count = query.filter.search == nil ? try await manager.contents.count(query.filter) : nil
        let rows = run.shown.map { row($0, licences[$0.key]) }
        let list =
            rows.isEmpty
            ? HTML("p", ["class": "none"], context.html(.noLectures))
            : context.table([.title, .state, .size, .licence, .actions], rows)
        let counted = count.map {
            HTML(
                "p", ["class": "count"],
                $0 == 1 ? context.html(.oneLecture) : context.html(.lecturesCount, context.format.number($0)))
        }
        let part = HTML("div", ["id": "list", "data-part": "list"], counted ?? .none, list, pages(run))
        return context.page(title: context.text(.lectures), place: .lectures, [form, part])
    }

    private func row(_ lecture: Content, _ licence: LicenceStatus?) -> [HTML] {
        let course =
            lecture.course.isEmpty
            ? HTML.none
            : HTML(
                "small", [:],
                context.link("/lectures?\(FormFields.text([("course", lecture.course)]))", HTML(lecture.course)))
        return [
            HTML([context.link(PageContext.path(of: lecture.key), HTML(lecture.title)), HTML(" "), course]),
            context.state(of: lecture),
            HTML(lecture.totalBytes.map(context.format.size) ?? "–"),
            context.licence(licence),
            context.buttons(for: lecture),
        ]
    }

    private func pages(_ run: LectureRun) -> HTML { context.pages(run) { query.address($0) } }

    private var form: HTML {
        let filter = query.filter
        let states = ItemState.allCases.map { ($0.name, context.text($0.pageText)) }
        let types = ContentType.allCases.map { ($0.name, context.text($0.pageText)) }
        let days = Self.days.map { ("\($0)", $0 == 1 ? context.text(.oneDay) : context.text(.days, "\($0)")) }
        let sorts = ContentSort.allCases.map { ($0.rawValue, context.text($0.pageText)) }
        return HTML(
            "form", ["method": "get", "action": "/lectures", "role": "search", "class": "filter"],
            field(.search, HTML("input", ["type": "search", "name": "search", "value": filter.search ?? ""])),
            field(.course, HTML("input", ["type": "text", "name": "course", "value": filter.course ?? ""])),
            choice(.state, "state", states, filter.states.first?.name, any: true),
            choice(.type, "type", types, filter.type?.name, any: true),
            choice(.expiring, "expiring", days, query.days.map { "\($0)" }, any: true),
            choice(.sort, "sort", sorts, query.sort.rawValue, any: false),
            HTML(
                "p", ["class": "buttons"], HTML("button", ["class": "main"], context.html(.apply)),
                context.link("/lectures", context.html(.reset))))
    }

    private func field(_ label: PageText, _ control: HTML) -> HTML {
        HTML("label", [:], HTML("span", [:], context.html(label)), control)
    }

    private func choice(
        _ label: PageText, _ name: String, _ options: [(String, String)], _ chosen: String?, any: Bool
    ) -> HTML {
        let all = (any ? [("", context.text(.any))] : []) + options
        let items = all.map { option in
            HTML("option", ["value": option.0, "selected": option.0 == chosen ?? "" ? "" : nil], HTML(option.1))
        }
        return field(label, HTML("select", ["name": name], items))
    }
}

extension PageContext {
    /// A licence in a few words.
    func licence(_ licence: LicenceStatus?) -> HTML {
        guard let licence else { return html(.licenceNone) }
        if let reason = licence.reasons.first {
            return HTML("span", ["class": "state failed"], html(reason.pageText))
        }
        return licence.deadline.map { format.moment($0) } ?? html(.licenceNoEnd)
    }
}
