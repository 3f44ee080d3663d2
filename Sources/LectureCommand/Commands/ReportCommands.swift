import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl lms list` and `retry`.
enum ReportCommands {
    private static let columns: [TableRenderer.Column] = [
        .init("ID", mayShrink: true), .init("STATE"), .init("TIME"), .init("USER", mayShrink: true),
        .init("SESSION", mayShrink: true), .init("SEQ", alignRight: true), .init("TRIES", alignRight: true),
        .init("TARGET", mayShrink: true), .init("REASON", mayShrink: true),
    ]

    // MARK: list

    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            if command.flag("summary") { return try await summary(manager, session) }
            let isEmpty = try await rows(manager, session)
            if isEmpty, !session.wantsJSON, !command.flag("ids") { session.report("No reports match.") }
            return .done
        }
    }

    /// Writes the rows page by page, or on a terminal as one table.
    private static func rows(_ manager: LectureManager, _ session: CommandSession) async throws -> Bool {
        let (command, context) = (session.command, session.context)
        var (skipped, left) = (command.integer("offset") ?? 0, command.integer("limit") ?? .max)
        let query = query(command)
        let streams = session.wantsJSON || command.flag("ids") || !context.outputIsTerminal
        let table = TableRenderer(columns: columns)
        var rows: [[String]] = []
        var place: ReportPage.Place?
        var isEmpty = true
        repeat {
            let page = try await manager.reports.list(
                query, from: place, limit: left < 1000 - min(skipped, 999) ? skipped + left : 1000)
            place = page.next
            let passed = min(skipped, page.rows.count)
            skipped -= passed
            let wanted = page.rows.dropFirst(passed).prefix(left)
            left -= wanted.count
            isEmpty = isEmpty && wanted.isEmpty
            if session.wantsJSON {
                try context.output.write(machine: wanted.map(JSONLine.report).joined())
            } else if command.flag("ids") {
                for report in wanted { try context.writeData(report.id) }
            } else {
                rows += wanted.map { row($0, isTerminal: context.outputIsTerminal) }
            }
            if streams, !rows.isEmpty {
                let lines = table.lines(rows, width: nil, style: session.outputStyle)
                try context.output.write(.lines(lines))
                rows = []
            }
        } while place != nil && left > 0
        if !rows.isEmpty {
            let lines = table.lines(rows, width: context.terminalSize().columns, style: session.outputStyle)
            try context.output.write(.lines(lines))
        }
        return isEmpty
    }

    /// The filters that `list` and `retry` share.
    private static func query(_ command: ParsedCommand) -> ReportQuery {
        var query = ReportQuery()
        query.states = Set(command.texts("state").compactMap { ReportState(name: $0) })
        query.reason = command.text("reason").flatMap { DeadReason(name: $0) }
        (query.user, query.course, query.targetURL) = (
            command.text("user"), command.text("course"), command.text("target")
        )
        query.since = command.text("since").flatMap(Quantity.moment)
        query.until = command.text("until").flatMap(Quantity.moment)
        return query
    }

    private static func row(_ report: ReportStatus, isTerminal: Bool) -> [String] {
        [
            report.id, report.state.name, HumanText.date(report.time, isTerminal: isTerminal), report.user,
            report.session,
            "\(report.sequence)", "\(report.attempts)", report.target.map { URLText.withoutSecrets($0.url) } ?? "",
            reason(report),
        ]
    }

    private static func reason(_ report: ReportStatus) -> String {
        var words: [String] = []
        if let reason = report.reason { words.append(reason.name) }
        guard let answer = report.answer, report.state == .dead || report.state.holdsSession else {
            return words.joined()
        }
        if let status = answer.status { words.append("HTTP \(status)") }
        if !answer.text.isEmpty { words.append(oneLine(answer.text)) }
        return words.joined(separator: " ")
    }

    /// A server's answer, with line ends and repeated blanks collapsed.
    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    // MARK: list --summary

    private static func summary(_ manager: LectureManager, _ session: CommandSession) async throws -> ExitStatus {
        let summary = try await manager.reports.summary()
        // Reports that cannot be accounted for are damage, and nothing else checks for it.
        let status: ExitStatus = summary.isConserved ? .done : .data
        if session.wantsJSON {
            try session.context.output.write(machine: JSONLine.reportSummary(summary))
            return status
        }
        var lines = [("created", summary.created)]
        lines += ReportState.allCases.map { ($0.name, summary.counts[$0] ?? 0) }
        lines += [("pruned", summary.pruned), ("erased", summary.erased)]
        var text = SafeText.lines(lines.map { "\(TerminalText.padded($0.0, to: 12)) \($0.1)" })
        text += "\(TerminalText.padded("balance", to: 12)) \(summary.isConserved ? "ok" : "wrong")\n"
        if summary.withoutTarget > 0 {
            text += "\(TerminalText.padded("no target", to: 12)) \(summary.withoutTarget)\n"
        }
        for target in summary.targets {
            text += "\n\(heading(target))\n"
            text += .lines(facts(target).map { name, value in "  \(TerminalText.padded(name, to: 10)) \(value)" })
        }
        try session.context.output.write(text)
        return status
    }

    private static func heading(_ target: ReportTargetStatus) -> String {
        "\(URLText.withoutSecrets(target.target.url)) (\(target.target.format.rawValue))"
    }

    private static func facts(_ target: ReportTargetStatus) -> [(String, String)] {
        var facts = [("open", "\(target.open)"), ("failures", "\(target.failures)")]
        if let time = target.waitsUntil { facts.append(("wait until", HumanText.date(time))) }
        if let suspension = target.suspension { facts.append(("refuses", suspension.name)) }
        if let answer = target.answer {
            let status = answer.status.map { "HTTP \($0)" } ?? "no answer"
            facts.append(("answer", "\(HumanText.date(answer.at)) \(status) \(oneLine(answer.text))"))
        }
        return facts
    }

    // MARK: retry

    @Sendable static func retry(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let ids = command.arguments
        let isAll = command.flag("all")
        if !ids.isEmpty, isAll { throw UsageError("Give reports or '--all', not both.", path: command.path) }
        let rules = ["reason", "since", "until"]
        guard isAll || !ids.isEmpty || rules.contains(where: { command.text($0) != nil }) else {
            throw UsageError("ID…, '--all', '--reason', '--since' or '--until' is missing.", path: command.path)
        }
        var query = query(command)
        query.ids = ids
        return try await session.withManager { manager in
            let count = try await manager.reports.retry(matching: query)
            if session.wantsJSON { try context.output.write(machine: JSONLine.revived(count)) }
            let reports = ReportExportCommands.count(count)
            session.report("\(reports) to be sent again. Run 'lecturectl lms send' to send them.")
            // The status shows when one of the given reports is not a dead letter.
            return count < Set(ids).count ? .someFailed : .done
        }
    }
}
