import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl store info|check|backup|migrate`.
enum StoreCommands {
    @Sendable static func info(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let facts: StoreFacts?
        do throws(LectureError) {
            facts = try StoreTools.facts(of: session.configuration.storeDirectory.value)
        } catch {
            guard error.code == .openStore else { throw error }
            // The settings can be shown before there is a store.
            session.report(error.message)
            facts = nil
        }
        if session.wantsJSON {
            try context.output.write(machine: JSONLine.store(facts, session.configuration))
            return .done
        }
        var lines: [String] = []
        if let facts {
            lines += [
                "database         \(facts.path)", "store            \(facts.uuid)",
                "created          \(HumanText.date(facts.created))", "schema           \(facts.applied.count)",
                "migrations       \(facts.applied.joined(separator: ", "))",
                "pending          \(facts.pending.isEmpty ? "none" : facts.pending.joined(separator: ", "))",
                "database size    \(HumanText.byteCount(facts.databaseBytes))",
                "log size         \(HumanText.byteCount(facts.logBytes))",
                "SQLite           \(facts.libraryVersion)", "",
            ]
        }
        lines += session.configuration.descriptions.map { setting in
            let name = TerminalText.padded(setting.name, to: 24)
            return "\(name) \(setting.value.isEmpty ? "-" : setting.value)  (\(setting.origin.rawValue))"
        }
        try context.output.write(.lines(lines))
        return .done
    }

    @Sendable static func check(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let findings = try StoreTools.check(session.configuration.storeDirectory.value)
        for finding in findings {
            // A missing file is not damage to the database, and has another remedy.
            let isFile = finding.hasPrefix("media/")
            try session.report(LectureError(isFile ? .mediaMissing : .storeDamaged, detail: finding))
        }
        try session.reportKeptMedia()
        guard findings.isEmpty else { return .data }
        session.report("The store is sound.")
        return .done
    }

    @Sendable static func backup(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let path = command.arguments[0]
        let isRemembered = try StoreTools.backup(session.configuration.storeDirectory.value, to: path)
        if !isRemembered {
            context.say("The store cannot be written: 'lecturectl lms erase' will not know of this copy.", .warning)
        }
        session.report("The copy is in \(path).")
        for copy in command.texts("delete-copy") {
            try StoreTools.deleteCopy(session.configuration.storeDirectory.value, at: copy)
        }
        return .done
    }

    @Sendable static func migrate(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let directory = session.configuration.storeDirectory.value
        let applied = try StoreTools.migrate(directory, now: context.clock.now())
        session.report(applied.isEmpty ? "The schema is up to date." : "Applied: \(applied.joined(separator: ", ")).")
        return .done
    }
}
