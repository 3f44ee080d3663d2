import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl lms export`, `import` and `erase`.
enum ReportExportCommands {
    // MARK: export

    @Sendable static func export(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let path = command.text("output")
        let format =
            command.text("format").flatMap(ReportExportFormat.init(rawValue:))
            ?? path.flatMap(ReportExportFormat.init(path:)) ?? .jsonLines
        let key = try command.text("pseudonymise").map { try PseudonymKey(file: $0) }
        let filter = filter(command)
        return try await session.withManager { manager in
            let output = context.output
            let result = try await manager.reports.export(
                to: path.map { .file($0, mayReplace: command.flag("force")) } ?? .stream { try output.write($0) },
                format: format, filter: filter, pseudonymKey: key)
            session.report("\(count(result.reports)) exported.")
            // Without a path, standard output carries the export itself.
            if session.wantsJSON, let path {
                try output.write(machine: JSONLine.exported(result, format: format, path: path))
            }
            return .done
        }
    }

    private static func filter(_ command: ParsedCommand) -> ReportExportFilter {
        var filter = ReportExportFilter()
        filter.since = command.text("since").flatMap(Quantity.moment)
        filter.until = command.text("until").flatMap(Quantity.moment)
        filter.states = Set(command.texts("state").compactMap(ReportState.init(name:)))
        filter.course = command.text("course")
        filter.user = command.text("user")
        return filter
    }

    static func count(_ reports: Int) -> String { reports == 1 ? "1 report" : "\(reports) reports" }

    // MARK: import

    @Sendable static func importFiles(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let format = command.text("format").flatMap(ReportImportFormat.init(rawValue:))
        return try await session.withManager { manager in
            var status = ExitStatus.done
            for path in command.arguments {
                let result = try await manager.reports.import(from: path, format: format) { error in
                    try session.report(error)
                }
                if result.refused > 0, status == .done { status = .someFailed }
                if let damage = result.damage {
                    try session.report(damage)
                    status = .data
                }
                let refused = result.refused == 0 ? "" : ", \(result.refused) refused"
                session.report("\(path): \(count(result.stored)) stored, \(result.known) already known\(refused).")
                if session.wantsJSON { try context.output.write(machine: JSONLine.imported(result, path: path)) }
            }
            return status
        }
    }

    // MARK: erase

    @Sendable static func erase(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        guard let user = command.text("user") else {
            throw UsageError("Option '--user' is required.", path: command.path)
        }
        return try await session.withManager { manager in
            for path in command.texts("forget-copy") { try await manager.reports.forgetCopy(at: path) }
            let receipt = try await manager.reports.eraseLearner(
                user, isForced: command.flag("force"), isDryRun: command.flag("dry-run"))
            for problem in receipt.problems { try session.report(problem) }
            if session.wantsJSON {
                try context.output.write(machine: JSONLine.erased(receipt))
            } else {
                try context.output.write(.lines(lines(receipt)))
            }
            return receipt.problems.isEmpty ? .done : .someFailed
        }
    }

    private static func lines(_ receipt: ErasureReceipt) -> [String] {
        var lines = [receipt.isDryRun ? "Would be erased:" : "Erased:"]
        for state in ReportState.allCases {
            guard let count = receipt.reports[state], count > 0 else { continue }
            lines.append("  \(TerminalText.padded(state.name, to: 12)) \(Self.count(count))")
        }
        if receipt.reports.isEmpty { lines.append("  no reports") }
        lines.append("  \(TerminalText.padded("sessions", to: 12)) \(receipt.sessions)")
        if !receipt.isDryRun { lines.append("  \(TerminalText.padded("requests", to: 12)) \(receipt.requests)") }
        for copy in receipt.copies {
            let fact =
                receipt.isDryRun
                ? "is a copy of the store" : copy.problem == nil ? "\(count(copy.reports)) erased" : "not erased"
            lines.append("Copy \(copy.path): \(fact).")
        }
        for trace in receipt.traces {
            lines.append("Left: \(trace.place)\(trace.count > 1 ? ", \(trace.count) times" : "").")
        }
        if receipt.isDryRun { return lines }
        if !receipt.isSearched {
            lines.append("The id is too short to search for in raw bytes.")
        } else if receipt.problems.isEmpty {
            lines.append("The id was not found in the bytes of the store and its copies.")
        }
        return lines
    }
}
