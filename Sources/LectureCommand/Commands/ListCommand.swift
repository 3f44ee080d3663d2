import LectureKit
import LectureModel

/// `lecturectl list`.
enum ListCommand {
    private static let columns: [TableRenderer.Column] = [
        .init("KEY", mayShrink: true), .init("STATE"), .init("DONE", alignRight: true),
        .init("SIZE", alignRight: true), .init("PRIO", alignRight: true), .init("TITLE", mayShrink: true),
    ]

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let pages = ContentPages(
                manager: manager, filter: try await filter(command, manager, now: context.clock.now()),
                sort: sort(command))
            let offset = command.integer("offset") ?? 0
            let limit = command.integer("limit") ?? .max
            if session.wantsJSON {
                try await pages.forEachPage(offset: offset, limit: limit) {
                    let licences = try await manager.licences(of: $0)
                    try write($0.map { JSONLine.content($0, licence: licences[$0.key]) }, context)
                }
            } else if context.outputIsTerminal {
                try await table(pages, offset: offset, limit: limit, session)
            } else {
                let table = TableRenderer(columns: columns)
                try await pages.forEachPage(offset: offset, limit: limit) { contents in
                    let lines = table.lines(contents.map(row), width: nil, style: session.outputStyle)
                    try write(lines.map { "\($0)\n" }, context)
                }
            }
            return .done
        }
    }

    private static func filter(
        _ command: ParsedCommand, _ manager: LectureManager, now: Timestamp
    ) async throws -> ContentFilter {
        var filter = ContentFilter()
        filter.states = Set(command.texts("state").compactMap(ItemState.init(name:)))
        filter.type = command.text("type").flatMap { name in ContentType.allCases.first { $0.name == name } }
        filter.course = command.text("course")
        filter.folder = command.text("folder")
        if let time = command.duration("expiring") {
            // By the time that licences are judged by, which a clock that is set back does not change.
            filter.expiresBefore = try await manager.licenceTime() + time
        }
        filter.completedSince = command.duration("recent").map { now + (.zero - $0) }
        return filter
    }

    /// The order.
    private static func sort(_ command: ParsedCommand) -> ContentSort {
        guard let name = command.text("sort") else { return command.text("expiring") == nil ? .priority : .expiry }
        return ContentSort(rawValue: name) ?? .added
    }

    /// A table needs the widths of all its rows before the first one is printed.
    private static func table(
        _ pages: ContentPages, offset: Int, limit: Int, _ session: CommandSession
    ) async throws {
        var rows: [[String]] = []
        try await pages.forEachPage(offset: offset, limit: limit) { rows += $0.map(row) }
        guard !rows.isEmpty else { return session.tell("Nothing is here.") }
        let width = session.context.terminalSize().columns
        let lines = TableRenderer(columns: columns).lines(rows, width: width, style: session.outputStyle)
        try write(lines.map { "\($0)\n" }, session.context)
    }

    private static func row(_ content: Content) -> [String] {
        let done = content.totalBytes.map { "\(HumanText.percent(content.provenBytes, of: $0))%" } ?? ""
        return [
            content.key.text, state(content), content.state == .completed ? "100%" : done,
            HumanText.byteCount(content.totalBytes ?? content.provenBytes), "\(content.priority)", content.title,
        ]
    }

    /// The state, with the reason of a stop.
    static func state(_ content: Content) -> String {
        content.stopReason.map { "\(content.state.name) (\($0.name))" } ?? content.state.name
    }

    private static func write(_ lines: [String], _ context: CommandContext) throws {
        try context.output.write(lines.joined())
    }
}
