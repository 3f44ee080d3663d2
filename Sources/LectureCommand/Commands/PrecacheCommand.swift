import LectureBundle
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl precache`.
enum PrecacheCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let sources = try PrecacheSources(command)
        let time = try PlanCommand.readyBy(command, context)
        if command.flag("after-input"), try await !isNeeded(session) { return .done }
        if command.flag("dry-run") { return try await PrecachePlan(session: session).run(sources) }
        try sources.prepareOutputs()
        let peers = try peers(session)
        let manager = try session.manager { peers?.apply(to: &$0) }
        var run = PrecacheRun(manager: manager, session: session, readyBy: time, peers: peers)
        do {
            let status = try await run.run(sources)
            await manager.close()
            guard command.flag("prune") else { return status }
            return try await prune(after: run, status, session)
        } catch {
            await manager.close()
            throw error
        }
    }

    /// The branch servers that are asked first; nil without any.
    private static func peers(_ session: CommandSession) throws -> PeerStores? {
        let settings = session.configuration.peers
        guard !settings.servers.value.isEmpty else {
            guard settings.tokenFile.origin != .option, settings.trust.origin != .option else {
                throw UsageError("Options '--from-token-file' and '--from-trust' need '--from'.", path: ["precache"])
            }
            return nil
        }
        guard let file = settings.tokenFile.value else {
            if settings.servers.origin == .option {
                throw UsageError("Option '--from' needs '--from-token-file'.", path: ["precache"])
            }
            throw LectureError(.peerTokens, detail: "peers.token_file", cause: "it is not set, and peers.from is")
        }
        CoreDumps.forbid()
        return try PeerStores(
            settings.servers.value, tokenFile: file, trusting: settings.trust.value,
            device: try BundleCommands.home(session))
    }

    /// Waits until standard input ends. The store is not opened before, so the wait blocks no other process.
    ///
    /// - Returns: whether it ended without a byte.
    private static func isNeeded(_ session: CommandSession) async throws -> Bool {
        let (command, context) = (session.command, session.context)
        guard command.arguments.isEmpty else {
            throw UsageError(
                "Option '--after-input' continues with the lectures in the store; it takes no SOURCE.",
                path: ["precache"])
        }
        if try await InputReader("-", failure: .readFile).next() == nil { return true }
        let now = context.clock.boot()
        if session.wantsJSON {
            try context.output.write(machine: JSONLine.summary(PrecacheResult(began: now).totals(at: now)))
        }
        return false
    }

    /// Removes lectures that have left the lists, once the run is idle.
    private static func prune(
        after run: PrecacheRun, _ status: ExitStatus, _ session: CommandSession
    ) async throws -> ExitStatus {
        guard run.obstaclesToPruning.isEmpty else {
            session.context.say("Nothing was removed: \(run.obstaclesToPruning.joined(separator: "; ")).", .warning)
            return status
        }
        let lists = run.lists.names
        let pruned = try await session.withManager { manager in
            try await Pruning(manager: manager, session: session).run(lists)
        }
        return status == .done ? pruned : status
    }
}
