package import LectureCommand
import LectureLive
import LectureModel

/// The commands of `lecture-live`.
package enum LiveActions {
    /// The runner of the program.
    ///
    /// - Parameter effects: the effects beside those of the context.
    /// - Returns: a runner for a context whose program is ``LiveTable/program``.
    package static func runner(_ effects: LiveEffects) -> CommandRunner {
        let commands: [String: @Sendable (LiveSession) async throws -> ExitStatus] = [
            "login": { try await LoginCommand.run($0) }, "rooms list": { try await RoomCommands.list($0) },
            "rooms show": { try await RoomCommands.show($0) }, "rooms end": { try await RoomCommands.end($0) },
            "rooms delete": { try await ModerationCommands.delete($0) },
            "rooms ban": { try await ModerationCommands.ban($0, isBanned: true) },
            "rooms unban": { try await ModerationCommands.ban($0, isBanned: false) },
            "rooms hide": { try await ModerationCommands.hide($0) },
            "rooms slow": { try await ModerationCommands.slow($0) },
            "broadcast": { try await BroadcastCommand.run($0) }, "watch": { try await WatchCommand.run($0) },
            "chat": { try await ChatCommand.run($0) }, "archive": { try await ArchiveCommand.run($0) },
        ]
        var actions: [String: CommandRunner.Action] = [:]
        for (words, action) in commands {
            actions[words] = { command, context in
                if let file = command.text("file") { return try ChatCommand.printFile(file, command, context) }
                if let key = command.text("lecture") {
                    return try await ChatCommand.printLecture(try ContentKey(key), command, context)
                }
                return try await action(try LiveSession(command, context, effects))
            }
        }
        return CommandRunner(actions: actions, explain: { LiveEnding.explain($0, $1) })
    }
}
