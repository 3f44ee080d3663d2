import LectureKit
import LectureModel

/// `lecturectl precache`.
enum PrecacheCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let sources = try PrecacheSources(command)
        if command.flag("after-input"), try await !isNeeded(session) { return .done }
        if command.flag("dry-run") { return try await PrecachePlan(session: session).run(sources) }
        try sources.prepareOutputs()
        let manager = try session.manager()
        var run = PrecacheRun(manager: manager, session: session)
        do {
            let status = try await run.run(sources)
            await manager.close()
            guard command.flag("prune") else { return status }
            return try await prune(run.recordedLists, status, session)
        } catch {
            await manager.close()
            throw error
        }
    }

    /// Waits until standard input ends. Nothing is opened before: who waits keeps nobody from the store.
    ///
    /// - Returns: whether it ended without a byte.
    private static func isNeeded(_ session: CommandSession) async throws -> Bool {
        let (command, context) = (session.command, session.context)
        guard command.arguments.isEmpty else {
            throw UsageError(
                "Option '--after-input' goes on with what is in the store; it takes no SOURCE.",
                path: ["precache"])
        }
        if try await InputReader("-", failure: .readFile).next() == nil { return true }
        let now = context.clock.boot()
        if session.wantsJSON {
            try context.output.write(JSONLine.summary(PrecacheResult(began: now).totals(at: now)))
        }
        return false
    }

    /// Removes what has left the lists, once everything has come to rest.
    private static func prune(
        _ lists: [String], _ status: ExitStatus, _ session: CommandSession
    ) async throws -> ExitStatus {
        guard !lists.isEmpty else {
            session.context.say("Nothing was removed: --prune needs a whole list, read without a refused line.")
            return status
        }
        let pruned = try await session.withManager { manager in
            try await Pruning(manager: manager, session: session).run(lists)
        }
        return status == .done ? pruned : status
    }
}
