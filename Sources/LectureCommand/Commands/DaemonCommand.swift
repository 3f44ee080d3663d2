import LectureDaemon
import LectureKit
import LectureModel

/// `lecturectl daemon`.
enum DaemonCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        // Before anything takes long, so that no signal ends the process.
        let signals = context.signals()
        signals?.takeHangups()
        let manager = try session.manager()
        var run = DaemonRun(manager: manager, session: session, signals: signals)
        do {
            let status = try await run.run()
            await manager.close()
            return status
        } catch {
            await manager.close()
            throw error
        }
    }
}

/// What a daemon reads of course lists.
struct DaemonLists: Sendable {
    /// How far a list was read.
    struct Reading: Sendable {
        /// How many lines were used, and how many refused.
        var lists: NamedLists
        /// What is to be reported.
        var outcomes: [PrecacheSources.Outcome] = []
    }

    /// Requests the lectures of a list.
    ///
    /// - Parameters:
    ///   - path: the list.
    ///   - command: the daemon's command line.
    ///   - manager: downloads them.
    /// - Returns: what was read.
    /// - Throws: `LectureError` when the store cannot be written, or the list not read.
    static func read(
        _ path: String, _ command: ParsedCommand, _ manager: LectureManager
    ) async throws -> Reading {
        var one = command
        (one.path, one.arguments) = (["precache"], [path])
        var sources = try PrecacheSources(one)
        var reading = Reading(lists: NamedLists(sources.listNames))
        for name in sources.listNames { await manager.downloads.beginCourseList(name) }
        try await sources.forEachGroup(of: manager) { group in
            let (outcomes, used) = try await PrecacheSources.enqueue(group, manager, check: .list)
            reading.lists.record(group.list, used: used, refused: group.lineCount - used)
            reading.outcomes += outcomes
        }
        return reading
    }
}
