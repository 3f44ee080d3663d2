import LectureKit
import LectureModel

/// What waits for the LMS.
struct ReportsPage: Sendable {
    let context: PageContext
    let manager: LectureManager

    /// Writes the page.
    func answer() async throws -> PageContext.HTMLAnswer {
        let summary = try await manager.reports.summary()
        var query = ReportQuery()
        query.states = [.dead]
        let dead = try await manager.reports.list(query, limit: 20).rows
        let states = ReportState.allCases.map { state in
            (state.pageText, HTML(context.format.number(summary.counts[state] ?? 0)))
        }
        return context.page(
            title: context.text(.reports), place: .reports,
            [
                context.part("states", .reportState, context.facts(states)),
                context.part("targets", .targets, targets(summary.targets)),
                dead.isEmpty ? .none : context.part("dead", .deadLetters, letters(dead)),
            ])
    }

    private func targets(_ targets: [ReportTargetStatus]) -> HTML {
        guard !targets.isEmpty else { return HTML("p", ["class": "none"], context.html(.noTargets)) }
        let rows = targets.map { status in
            [
                HTML(Self.shown(status.target.url)), HTML(context.format.number(status.open)),
                HTML(context.format.number(status.failures)),
                status.suspension == nil
                    ? status.waitsUntil.map { context.format.moment($0) } ?? HTML("–") : context.html(.suspended),
                status.answer.map(answer) ?? HTML("–"),
            ]
        }
        return context.table([.target, .reportsOpen, .failures, .waitsUntil, .lastAnswer], rows)
    }

    /// An address without its query, which may have secrets.
    private static func shown(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }

    private func answer(_ answer: ReportAnswer) -> HTML {
        HTML([context.format.moment(answer.at), HTML(answer.status.map { " · HTTP \($0)" } ?? "")])
    }

    private func letters(_ letters: [ReportStatus]) -> HTML {
        let rows = letters.map { letter in
            [
                context.format.moment(letter.changed), HTML(letter.target.map { Self.shown($0.url) } ?? "–"),
                HTML(letter.reason?.name ?? "–"), letter.answer.map(answer) ?? HTML("–"),
            ]
        }
        return HTML([
            context.table([.time, .target, .why, .lastAnswer], rows),
            HTML("div", ["class": "buttons"], context.button("/reports/retry", .retryDead, style: "main")),
        ])
    }
}
