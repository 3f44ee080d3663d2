import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl lms add`.
enum ReportAddCommand {
    /// The longest report file or line, in bytes.
    static let longestInput = 4 << 20

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let sources = ["json", "play"].filter { command.text($0) != nil } + (command.flag("batch") ? ["batch"] : [])
        if sources.count > 1 {
            // Not a rule of the table, because the global --json may precede each of them.
            throw UsageError(
                "Options '--\(sources[0])' and '--\(sources[1])' cannot be used together.", path: command.path)
        }
        let session = try CommandSession(command, context)
        if command.flag("batch") { return try await batch(session) }
        let report = try await report(session)
        return try await session.withManager { manager in
            let rows = try await manager.reports.add(report)
            try context.output.write(machine: answer(rows, session))
            return .done
        }
    }

    /// The output once reports are durable.
    static func answer(_ rows: [StoredReportID], _ session: CommandSession) -> String {
        rows.map { row in
            let ack = "ACK \(row.id)\n"
            guard session.wantsJSON else { return ack }
            return JSONLine.stored(row) + (session.command.flag("acks") ? ack : "")
        }.joined()
    }

    // MARK: One report

    private static func report(_ session: CommandSession) async throws -> LearningReport {
        let command = session.command
        var report = LearningReport()
        if let path = command.text("json") { report.values = try text(try await bytes(path), "values") }
        report.user = command.text("user") ?? ""
        report.content = command.text("content") ?? ""
        report.session = command.text("session") ?? ""
        if let path = command.text("play") {
            report.values = try PlayFile(try await bytes(path)).values(content: report.content, user: report.user)
        }
        (report.id, report.course, report.note) = (command.text("id"), command.text("course"), command.text("note"))
        report.sequence = command.integer("seq").map { Int64($0) }
        report.target = try target(session)
        return report
    }

    /// The target of `--target` and `--format`.
    ///
    /// - Returns: the configured one when it has that URL, so that its parameters apply; nil when none is given.
    /// - Throws: ``UsageError`` when only a format is given.
    static func target(_ session: CommandSession) throws -> ReportTarget? {
        let command = session.command
        let format = command.text("format").flatMap { ReportFormat(rawValue: $0) }
        guard let url = command.text("target") else {
            guard format == nil else { throw UsageError("'--format' needs '--target'.", path: command.path) }
            return nil
        }
        return target(url, format, session.configuration)
    }

    /// A target given by its URL.
    static func target(_ url: String, _ format: ReportFormat?, _ configuration: Configuration) -> ReportTarget {
        let standard = configuration.statistics.value.target
        if let standard, standard.url == url, format == nil || format == standard.format { return standard }
        return ReportTarget(url: url, format: format ?? standard?.format ?? .json)
    }

    private static func bytes(_ path: String) async throws -> [UInt8] {
        try await InputReader(path, failure: .readFile).all(limit: longestInput)
    }

    private static func text(_ bytes: [UInt8], _ name: String) throws(LectureError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.reportInvalid, detail: name, cause: "not UTF-8")
        }
        return text
    }

    // MARK: Many reports

    private static func batch(_ session: CommandSession) async throws -> ExitStatus {
        let command = session.command
        for name in ["id", "user", "session", "seq", "content", "course", "note", "target", "format"]
        where command.text(name) != nil {
            throw UsageError("--\(name) cannot be used with --batch; each line has its own value.", path: command.path)
        }
        return try await session.withManager { manager in
            var batch = ReportBatch(manager: manager, session: session)
            return try await batch.run()
        }
    }
}

/// Stores lines in groups: as many as have arrived, so that they share a commit and none waits for the next line.
private struct ReportBatch {
    private static let mostLines = 1000
    private static let mostBytes = 8 << 20
    /// The longest time a report waits for others.
    private static let longestWait: Duration = .milliseconds(100)

    private enum Entry {
        case report(LearningReport)
        case fault(LectureError)
    }

    let manager: LectureManager
    let session: CommandSession
    private var entries: [(line: Int, entry: Entry)] = []
    private var bytes = 0
    private var line = 0
    private var began: BootInstant?
    private var failed = 0

    init(manager: LectureManager, session: CommandSession) { (self.manager, self.session) = (manager, session) }

    mutating func run() async throws -> ExitStatus {
        let reader = try InputReader("-", failure: .readFile)
        var lines = LineAssembler(limit: ReportAddCommand.longestInput)
        while let piece = try await reader.next() {
            var read: [[UInt8]?] = []
            lines.take(piece) { read.append($0) }
            for line in read { try await take(line) }
            guard let began else { continue }
            let isLate = session.context.clock.boot() - began >= Self.longestWait
            // An incomplete line does not delay complete ones.
            if isLate { try await flush() } else if !(await reader.isReady()) { try await flush() }
        }
        if let last = lines.finish() { try await take(last) }
        try await flush()
        return failed > 0 ? .someFailed : .done
    }

    private mutating func take(_ text: [UInt8]?) async throws {
        line += 1
        if text.map({ $0.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }) == true { return }
        entries.append((line, entry(text)))
        bytes += text?.count ?? 0
        began = began ?? session.context.clock.boot()
        if entries.count >= Self.mostLines || bytes >= Self.mostBytes { try await flush() }
    }

    private func entry(_ text: [UInt8]?) -> Entry {
        guard let text else {
            let cause = "more than \(ReportAddCommand.longestInput) bytes"
            return .fault(LectureError(.reportInvalid, cause: cause))
        }
        do throws(LectureError) {
            return .report(try ReportLine.report(text, session.configuration))
        } catch {
            return .fault(error)
        }
    }

    /// Stores the gathered lines in one transaction and answers them in order.
    private mutating func flush() async throws {
        guard !entries.isEmpty else { return }
        let reports: [LearningReport] = entries.compactMap { line in
            if case .report(let report) = line.entry { report } else { nil }
        }
        var results = try await manager.reports.add(reports)[...]
        var text = ""
        for (line, entry) in entries {
            let result: Result<[StoredReportID], LectureError>
            switch entry {
            case .fault(let error): result = .failure(error)
            case .report: result = results.popFirst() ?? .failure(LectureError(.bug))
            }
            switch result {
            case .success(let rows): text += ReportAddCommand.answer(rows, session)
            case .failure(let error):
                failed += 1
                let place = error.detail.isEmpty ? "line \(line)" : "line \(line): \(error.detail)"
                let named = LectureError(error.code, detail: place, cause: error.cause)
                session.context.say(named.message, about: named)
                if session.wantsJSON { text += JSONLine.error(named.code, message: named.message) }
            }
        }
        (entries, bytes, began) = ([], 0, nil)
        try session.context.output.write(machine: text)
    }
}
