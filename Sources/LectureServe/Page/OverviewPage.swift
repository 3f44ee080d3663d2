import LectureKit
import LectureModel

/// The first page: what the store does, and what needs attention.
struct OverviewPage: Sendable {
    let context: PageContext
    let manager: LectureManager

    /// How many lectures a part shows.
    private static let most = 20

    /// Writes the page.
    func answer() async throws -> PageContext.HTMLAnswer {
        let overview = try await manager.overview()
        let progress = try await downloads()
        let stuck = try await attention()
        return context.page(
            title: context.text(.overview), place: .overview,
            [
                context.part("status", .storeStatus, status(overview)), progress, stuck,
                HTML(
                    "div", ["class": "columns"], context.part("disk", .disk, disk(overview.space)),
                    context.part("lms", .forLMS, reports(overview)), try await ends(),
                    context.part("programs", .programs, programs(overview.processes))),
            ])
    }

    private func status(_ overview: StoreOverview) -> HTML {
        let counts = ItemState.allCases.map { ($0, overview.status.counts[$0] ?? 0) }
        let shown: Set<ItemState> = [.completed, .downloading, .queued, .stopped, .failed]
        let cards = counts.filter { shown.contains($0.0) || $0.1 > 0 }.map { state, count in
            HTML(
                "li", ["class": "card \(state.name)"],
                context.link(
                    "/lectures?state=\(state.name)",
                    HTML([
                        HTML("strong", [:], HTML(context.format.number(count))), HTML(" "),
                        HTML("span", [:], context.html(state.pageText)),
                    ])))
        }
        return HTML("ul", ["class": "cards"], cards)
    }

    private func downloads() async throws -> HTML {
        var filter = ContentFilter()
        filter.states = [.loading, .downloading, .verifying]
        let lectures = try await manager.contents.list(filter, sort: .priority, page: ContentPage(limit: Self.most))
        let active = await manager.downloads.active
        let known = Dictionary(active.map { ($0.key, $0) }) { one, _ in one }
        guard !lectures.isEmpty else {
            return context.part(
                "downloads", .inProgress, HTML("p", ["class": "none"], context.html(.nothingInProgress)))
        }
        let rows = lectures.map { lecture in
            let figures = ProgressFigures(lecture, known[lecture.key])
            return HTML(
                "li", ["class": "download"],
                HTML("p", ["class": "name"], context.link(PageContext.path(of: lecture.key), HTML(lecture.title))),
                context.progress(figures, title: lecture.title),
                context.buttons(for: lecture))
        }
        return context.part("downloads", .inProgress, HTML("ul", ["class": "plain"], rows))
    }

    private func attention() async throws -> HTML {
        var filter = ContentFilter()
        filter.states = [.stopped, .failed]
        filter.conditions = [.damaged]
        let lectures = try await manager.contents.list(filter, sort: .added, page: ContentPage(limit: 6))
        guard !lectures.isEmpty else {
            return context.part("attention", .stuck, HTML("p", ["class": "none"], context.html(.nothingStuck)))
        }
        var rows: [HTML] = []
        for lecture in lectures.prefix(5) {
            guard let why = try? await manager.contents.why(lecture.key) else { continue }
            rows.append(
                HTML(
                    "li", ["class": "stuck"],
                    HTML(
                        "p", ["class": "name"], context.link(PageContext.path(of: lecture.key), HTML(lecture.title)),
                        HTML(" "), context.state(of: lecture)),
                    why.why.isEmpty ? .none : HTML("p", [:], context.sentence(why.why)),
                    why.remedy.isEmpty ? .none : HTML("p", ["class": "remedy"], context.sentence(why.remedy)),
                    context.buttons(for: lecture)))
        }
        let more = HTML(
            "p", [:], context.link("/lectures?state=stopped", context.html(.stateStopped)), HTML(" · "),
            context.link("/lectures?state=failed", context.html(.stateFailed)))
        return context.part(
            "attention", .stuck, HTML("ul", ["class": "plain"], rows), lectures.count > 5 ? more : .none)
    }

    private func disk(_ space: StoreOverview.Space) -> HTML {
        let format = context.format
        var facts: [(PageText, HTML)] = [
            (.spaceUsed, HTML(format.size(space.used))),
            (.spaceFree, HTML(space.free.map(format.size) ?? context.text(.unknown))),
            (.spaceReserve, HTML(format.size(space.reserve))),
        ]
        if let quota = space.quota {
            let part = context.text(.spaceOf, format.size(space.used), format.size(quota))
            facts.append(
                (
                    .spaceQuota,
                    HTML([
                        HTML(part), HTML(" "),
                        HTML(
                            "meter",
                            [
                                "min": "0", "max": "100", "aria-label": context.text(.spaceQuota),
                                "value": "\(min(100, max(0, space.used) / max(1, quota / 100)))",
                            ]),
                    ])
                ))
        } else {
            facts.append((.spaceQuota, context.html(.noLimit)))
        }
        let short = space.isShort ? HTML("p", ["class": "note bad"], context.html(.spaceShort)) : .none
        return HTML([short, context.facts(facts)])
    }

    private func reports(_ overview: StoreOverview) -> HTML {
        HTML([
            context.facts([
                (.reportsOpen, HTML(context.format.number(overview.openReports))),
                (.reportsDead, HTML(context.format.number(overview.deadReports))),
            ]),
            HTML("p", [:], context.link("/reports", context.html(.showAll))),
        ])
    }

    private func ends() async throws -> HTML {
        guard
            let page = try? await manager.licences.list(expiringWithin: .seconds(60 * 86_400), limit: 5)
        else { return context.part("ends", .nextEnds, HTML("p", [:], context.html(.licencesUnreadable))) }
        let rows = page.rows.map { row in
            HTML(
                "li", [:], context.link(PageContext.path(of: row.licence.key), HTML(row.title)), HTML(" "),
                row.licence.deadline.map { context.format.moment($0) } ?? .none)
        }
        let list =
            rows.isEmpty
            ? HTML("p", ["class": "none"], context.html(.noEnds)) : HTML("ul", ["class": "plain lines"], rows)
        return context.part("ends", .nextEnds, list, HTML("p", [:], context.link("/licences", context.html(.showAll))))
    }

    private func programs(_ processes: [StoreProcess]) -> HTML {
        guard !processes.isEmpty else { return HTML("p", ["class": "none"], context.html(.noPrograms)) }
        return context.table(
            [.program, .process, .since, .worksOn],
            processes.map { process in
                [
                    HTML(process.command), HTML("\(process.pid)"),
                    process.started.map { context.format.moment($0) } ?? HTML("–"),
                    HTML(context.format.number(process.lectures)),
                ]
            })
    }
}

/// How far a download is.
struct ProgressFigures: Sendable, Hashable {
    let key: ContentKey
    let percent: Int
    let bytes: Int64
    let total: Int64?
    let bytesPerSecond: Double
    let remaining: Duration?

    /// The figures of this moment.
    init(_ lecture: Content, _ progress: DownloadProgress?) {
        key = lecture.key
        percent = progress?.percent ?? lecture.committedPercent ?? 0
        bytes = progress?.bytes ?? lecture.committedBytes
        total = progress?.total ?? lecture.totalBytes
        (bytesPerSecond, remaining) = (progress?.bytesPerSecond ?? 0, progress?.remaining)
    }

    /// The figures of an event.
    init(_ progress: DownloadProgress) {
        (key, percent, bytes, total) = (progress.key, progress.percent, progress.bytes, progress.total)
        (bytesPerSecond, remaining) = (progress.bytesPerSecond, progress.remaining)
    }

    /// One line of text.
    ///
    /// - Parameter language: its language.
    /// - Returns: for instance `40 % · 4.0 MB of 10 MB`.
    func text(_ language: PageLanguage) -> String {
        let format = PageFormat(language: language)
        let received = format.size(bytes)
        var parts = [total.map { PageText.spaceOf.text(language, [received, format.size($0)]) } ?? received]
        if bytesPerSecond >= 1 {
            parts.append(PageText.speed.text(language, [format.size(Int64(min(bytesPerSecond, 1e15)))]))
        }
        if let remaining { parts.append(PageText.timeLeft.text(language, [format.duration(remaining)])) }
        return "\(percent) % · " + parts.joined(separator: " · ")
    }
}

extension PageContext {
    /// A bar, and its figures as text.
    func progress(_ figures: ProgressFigures, title: String) -> HTML {
        HTML(
            "div", ["class": "progress", "data-progress": figures.key.text],
            HTML(
                "progress",
                [
                    "max": "100", "value": "\(figures.percent)",
                    "aria-label": text(.progressOf, title, "\(figures.percent)"),
                ]),
            HTML("span", ["class": "figures"], HTML(figures.text(language))))
    }

    /// The state of a lecture, with its reason.
    func state(of lecture: Content) -> HTML {
        let reason = lecture.stopReason.map { ": \(text($0.pageText))" } ?? ""
        return HTML("span", ["class": "state \(lecture.state.name)"], HTML(text(lecture.state.pageText) + reason))
    }

    /// The buttons that make sense in the state of a lecture.
    func buttons(for lecture: Content, all: Bool = false) -> HTML {
        let path = Self.path(of: lecture.key)
        var buttons: [HTML] = []
        func add(_ name: String, _ label: PageText, _ style: String? = nil) {
            buttons.append(button("\(path)/\(name)", label, subject: lecture.title, style: style))
        }
        switch lecture.state {
        case .queued, .loading, .downloading, .verifying:
            add("pause", .pause)
            if all { add("cancel", .cancel) }
        case .stopped:
            add("resume", .resume, "main")
            if all, lecture.stopReason != .user { add("cancel", .cancel) }
        case .failed: add("retry", .retry, "main")
        case .completed, .removing: break
        }
        if all, lecture.state != .completed, lecture.state != .removing {
            add("up", .up)
            add("down", .down)
        }
        return HTML("div", ["class": "buttons"], buttons)
    }
}
