import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl pin` and `unpin`.
enum PinCommands {
    @Sendable static func pin(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        try await set(command, context) { try await $0.contents.pin($1) }
    }

    @Sendable static func unpin(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        try await set(command, context) { try await $0.contents.unpin($1) }
    }

    private static func set(
        _ command: ParsedCommand, _ context: CommandContext, _ change: (LectureManager, ContentKey) async throws -> Void
    ) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let keys =
                command.flag("all")
                ? try await manager.contents.pinned().keys.sorted { $0.text < $1.text } : try session.keys()
            return try await QueueCommands.each(keys, session) { key in
                try await change(manager, key)
                guard session.wantsJSON, let content = try await manager.contents.find(key) else { return }
                let pins = try await manager.contents.pinned()
                try context.output.write(machine: JSONLine.content(content, pinned: pins[content.key]))
            }
        }
    }
}
