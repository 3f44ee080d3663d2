import LectureFormats
package import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl status`.
enum StatusCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        if !session.storeExists, let ending = try await withoutStore(session) { return ending }
        return try await session.withManager { manager in
            // Once, and not with every update: it touches each file.
            try await manager.contents.checkFiles()
            var screen = StatusScreen(session)
            try screen.show(try await manager.overview())
            guard command.flag("watch") else { return .done }
            return try await watch(manager, &screen, session)
        }
    }

    /// Shows an empty overview. With `--watch` it waits until there is a store.
    ///
    /// - Returns: the exit status; nil once a store exists.
    private static func withoutStore(_ session: CommandSession) async throws -> ExitStatus? {
        session.report(LectureError(.storeMissing, detail: session.configuration.storeDirectory.value).message)
        var screen = StatusScreen(session)
        let settings = session.configuration
        try screen.show(
            StoreOverview(reserve: settings.reserveBytes.value, quota: settings.quotaBytes.value))
        guard session.command.flag("watch") else { return .done }
        for await event in Ticker(every: .seconds(1), signals: session.context.signals()).events {
            switch event {
            case .signal(.stop(let number)): return .signal(number)
            case .signal(.resized), .signal(.reload): continue
            case .tick: if session.storeExists { return nil }
            }
        }
        return .done
    }

    /// Shows it again whenever something changes. Other processes change the store, so it has to be polled.
    private static func watch(
        _ manager: LectureManager, _ screen: inout StatusScreen, _ session: CommandSession
    ) async throws -> ExitStatus {
        let signals = session.context.signals()
        let ticker = Ticker(every: .seconds(1), signals: signals)
        for await event in ticker.events {
            switch event {
            case .signal(.stop(let number)): return .signal(number)
            case .signal(.resized), .signal(.reload): continue
            case .tick: try screen.show(try await manager.overview())
            }
        }
        return .done
    }
}

/// The output of `status`. On a terminal, `--watch` redraws it in place.
private struct StatusScreen {
    private let session: CommandSession
    private var last: StoreOverview?
    private var drawnLines = 0

    init(_ session: CommandSession) { self.session = session }

    /// Prints an overview, unless it equals the one before.
    mutating func show(_ overview: StoreOverview) throws {
        // Changes of free space by other programs, and locks held for a moment, are not shown.
        var news = overview
        news.space.free = overview.space.isShort ? 0 : nil
        news.processes = overview.processes.map { process in
            var process = process
            process.isWriting = false
            return process
        }
        guard news != last else { return }
        defer { last = news }
        guard !session.wantsJSON else { return try session.context.output.write(machine: JSONLine.status(overview)) }
        let width = session.context.outputIsTerminal ? session.context.terminalSize().columns : nil
        let lines = StatusText.lines(overview, style: session.outputStyle).map { line in
            width.map { line.clipped(to: $0) } ?? line
        }
        let wayUp: SafeText = drawnLines > 0 && width != nil ? "\u{1B}[\(drawnLines)A\u{1B}[J" : ""
        try session.context.output.write(wayUp + .lines(lines))
        drawnLines = lines.count
    }
}

/// An overview as lines. Pure, so that every line can be tested.
package enum StatusText {
    /// Lays out an overview: the lectures, the active processes, and what needs attention, with the command that shows
    /// or resolves it.
    ///
    /// - Parameters:
    ///   - overview: the store at a glance.
    ///   - style: colours.
    /// - Returns: lines without line ends; the first one is the sum.
    package static func lines(_ overview: StoreOverview, style: Style) -> [SafeText] {
        var lines: [SafeText] = ["\(sum(overview.status))", "Disk: \(disk(overview.space))"]
        lines += overview.processes.map { process in
            let since = process.started.map { ", since \(HumanText.date($0))" } ?? ""
            let work = process.lectures > 0 ? ", \(counted(process.lectures, "lecture"))" : ""
            let writing = process.isWriting ? ", writing to the store" : ""
            return "Process \(process.pid): \(process.command)\(since)\(work)\(writing)"
        }
        let attention = attention(overview)
        if !attention.isEmpty {
            lines.append(style.apply("Needs attention:", .warning))
            lines += attention.map { "  \($0)" }
        }
        return lines
    }

    private static func sum(_ status: StoreStatus) -> String {
        let counts = ItemState.allCases.compactMap { state in
            status.counts[state].flatMap { $0 > 0 ? "\($0) \(state.name)" : nil }
        }
        guard !counts.isEmpty else { return "The store is empty." }
        let bytes = "\(HumanText.byteCount(status.committedBytes)) of \(HumanText.byteCount(status.totalBytes))"
        return "\(counts.joined(separator: ", ")); \(bytes)"
    }

    private static func disk(_ space: StoreOverview.Space) -> String {
        var parts = [space.free.map { "\(HumanText.byteCount($0)) free" } ?? "free space unknown"]
        parts.append("\(HumanText.byteCount(space.reserve)) kept free")
        if let quota = space.quota {
            parts.append("\(HumanText.byteCount(space.used)) of \(HumanText.byteCount(quota)) quota used")
        }
        return parts.joined(separator: ", ")
    }

    private static func attention(_ overview: StoreOverview) -> [String] {
        let failed = (overview.status.counts[.failed] ?? 0) - overview.damaged
        var lines: [String] = []
        func note(_ count: Int, _ text: String) {
            if count > 0 { lines.append("\(count) \(text)") }
        }
        note(overview.damaged, "missing or damaged: 'lecturectl precache' downloads what is missing")
        note(max(0, failed), "failed: 'lecturectl list --state failed' shows why")
        note(overview.outdated, "outdated: 'lecturectl list --state outdated'")
        note(
            overview.licencesDue ?? 0,
            "with a licence that ends or must be checked within 7 days: 'lecturectl licence renew --within 7d'")
        note(overview.deadReports, "reports refused by an LMS: 'lecturectl lms list --state dead'")
        note(overview.openReports, "reports not delivered yet: 'lecturectl lms send'")
        if overview.space.isShort { lines.append("no space for downloads: free some, or remove lectures") }
        return lines
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
