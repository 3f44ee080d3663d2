import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl list`.
enum ListCommand {
    private static let columns: [TableRenderer.Column] = [
        .init("KEY", mayShrink: true), .init("STATE"), .init("DONE", alignRight: true),
        .init("SIZE", alignRight: true), .init("PRIO", alignRight: true), .init("TITLE", mayShrink: true),
        .init("REASON", mayShrink: true),
    ]

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let filter = try await ContentSelection.filter(command, manager, now: context.clock.now())
            // A missing file makes a lecture failed, so it must be detected before filtering by state.
            if !filter.states.isEmpty || !filter.conditions.isEmpty { try await manager.contents.checkFiles() }
            let pages = ContentPages(manager: manager, filter: filter, sort: sort(command))
            let offset = command.integer("offset") ?? 0
            let limit = command.integer("limit") ?? .max
            if session.wantsJSON {
                var writer = JSONWriter()
                let pins = try await manager.contents.pinned()
                try await pages.forEachPage(offset: offset, limit: limit) { contents in
                    let licences = try await manager.licences.statuses(of: contents)
                    writer.removeAll()
                    for content in contents {
                        let key = content.key
                        JSONLine.write(content, licence: licences[key], pinned: pins[key], &writer)
                    }
                    try context.output.write(writer.bytes)
                }
            } else if context.outputIsTerminal {
                try await table(pages, offset: offset, limit: limit, session)
            } else {
                try await pages.writeLines(offset: offset, limit: limit, to: SafeRows()) { line, rows in
                    append(line, to: &rows)
                } page: { rows in
                    try context.output.write(rows)
                    rows.removeAll()
                }
            }
            return .done
        }
    }

    /// The order.
    private static func sort(_ command: ParsedCommand) -> ContentSort {
        guard let name = command.text("sort") else { return command.text("expiring") == nil ? .priority : .expiry }
        return ContentSort(rawValue: name) ?? .added
    }

    /// A table needs the widths of all rows before it prints the first one.
    private static func table(
        _ pages: ContentPages, offset: Int, limit: Int, _ session: CommandSession
    ) async throws {
        var rows: [[String]] = []
        var meanings: [Style.Meaning?] = []
        try await pages.forEachPage(offset: offset, limit: limit) { contents in
            rows += contents.map(row)
            meanings += contents.map(meaning)
        }
        guard !rows.isEmpty else { return session.report("No lectures match.") }
        // Most lists have no reasons; the titles then get the space.
        let hasReasons = rows.contains { $0.last?.isEmpty == false }
        let shown = hasReasons ? columns : Array(columns.dropLast())
        let width = session.context.terminalSize().columns
        let lines = TableRenderer(columns: shown).lines(
            hasReasons ? rows : rows.map { Array($0.dropLast()) }, width: width, style: session.outputStyle,
            meaning: { row, column in column == 1 ? meanings[row] : nil })
        try session.context.output.write(.lines(lines))
    }

    /// Appends what ``row(_:)`` returns for the same lecture.
    static func append(_ line: borrowing ContentLine, to rows: inout SafeRows) {
        rows.append(line.texts, line.keyRange)
        rows.append(state(line.state, line.stopReason, isOutdated: line.isOutdated))
        if let percent = line.committedPercent { rows.append(percent: percent) } else { rows.append("") }
        rows.append(byteCount: line.totalBytes ?? line.committedBytes)
        rows.append(line.priority)
        rows.append(line.texts, line.titleRange)
        if let error = line.error { rows.append(reason(error, line.state, of: line.key)) } else { rows.append("") }
        rows.endRow()
    }

    static func row(_ content: Content) -> [String] {
        return [
            content.key.text, state(content), content.committedPercent.map { "\($0)%" } ?? "",
            HumanText.byteCount(content.totalBytes ?? content.committedBytes), "\(content.priority)", content.title,
            reason(content),
        ]
    }

    /// The state, with the reason for a stop, and whether an older version is playable meanwhile.
    static func state(_ content: Content) -> String {
        state(content.state, content.stopReason, isOutdated: content.isOutdated)
    }

    private static func state(_ state: ItemState, _ reason: StopReason?, isOutdated: Bool) -> String {
        if reason == nil, !isOutdated { return state.name }
        let notes = [reason?.name, isOutdated ? ContentCondition.outdated.rawValue : nil]
        let text = notes.compactMap(\.self).joined(separator: ", ")
        return text.isEmpty ? state.name : "\(state.name) (\(text))"
    }

    /// Why it makes no progress, in a few words.
    private static func reason(_ content: Content) -> String {
        content.error.map { reason($0, content.state, of: content.key) } ?? ""
    }

    private static func reason(_ error: LectureError, _ state: ItemState, of key: ContentKey) -> String {
        if state == .completed { return "" }
        let what =
            error.detail.isEmpty || error.detail == key.text
            ? error.code.summary : "\(error.detail): \(error.code.summary)"
        return error.cause.isEmpty ? what : "\(what) (\(error.cause))"
    }

    private static func meaning(_ content: Content) -> Style.Meaning? {
        switch content.state {
        case .completed: .good
        case .failed: .bad
        case .stopped: .warning
        case .queued, .loading, .downloading, .verifying, .removing: nil
        }
    }
}
