import LectureKit
import LectureModel

/// `lecturectl precache`.
enum PrecacheCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        var sources = try PrecacheSources(command)
        if command.flag("after-input"), try await !isNeeded(session) { return .done }
        if command.flag("dry-run") { return try await dryRun(&sources, session) }
        try sources.prepareOutputs()
        let manager = try session.manager()
        var run = PrecacheRun(manager: manager, session: session)
        do {
            let status = try await run.run(sources)
            await manager.close()
            return status
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

    /// Says what would be fetched. No store is opened, so that none is made.
    private static func dryRun(_ sources: inout PrecacheSources, _ session: CommandSession) async throws -> ExitStatus {
        var refused = 0
        try await sources.forEachGroup(of: nil) { items in
            for item in items {
                switch item {
                case .refused(let error):
                    refused += 1
                    try session.report(error)
                case .warning(let warning): try session.report(warning)
                case .request(let request):
                    let line =
                        session.wantsJSON
                        ? JSONLine.planned(request)
                        : "\(TerminalText.neutralised(URLText.withoutSecrets(request.url)))\n"
                    try session.context.output.write(line)
                }
            }
        }
        return refused > 0 ? .data : .done
    }
}
