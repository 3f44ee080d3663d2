import LectureKit
import LectureModel
import LectureRecords

/// The commands that control the queue: `pause`, `resume`, `cancel`, `reorder`.
enum QueueCommands {
    @Sendable static func pause(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        try await steer(command, context, verb: "paused") {
            try await $0.pause($1)
        } all: {
            try await $0.pauseAll()
        }
    }

    @Sendable static func resume(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        try await steer(command, context, verb: "resumed") {
            try await $0.resume($1)
        } all: {
            try await $0.resumeAll()
        }
    }

    @Sendable static func cancel(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        try await steer(command, context, verb: "cancelled") {
            try await $0.cancel($1)
        } all: {
            try await $0.cancelAll()
        }
    }

    @Sendable static func reorder(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let place: QueuePlace? = command.flag("first") ? .first : command.flag("last") ? .last : nil
        let priority = command.integer("priority")
        guard place != nil || priority != nil else {
            throw UsageError("One of --first, --last and --priority is required.", path: ["reorder"])
        }
        if command.flag("all"), place != nil {
            throw UsageError("--all can be used with --priority, but not with --first or --last.", path: ["reorder"])
        }
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var keys = try session.keys()
            if command.flag("all") {
                keys = try await ContentPages(manager: manager, filter: ContentFilter(), sort: .added).keys()
            }
            // Each key put first goes before those put first earlier; the reverse keeps the given order.
            if place == .first { keys.reverse() }
            return try await each(keys, session) { key in
                if let priority { try await manager.downloads.setPriority(priority, of: key) }
                if let place { try await manager.downloads.move(key, to: place) }
            }
        }
    }

    // MARK: Parts

    private static func steer(
        _ command: ParsedCommand, _ context: CommandContext, verb: String,
        one: @Sendable (LectureManager.Downloads, ContentKey) async throws -> Void,
        all: @Sendable (LectureManager.Downloads) async throws -> Int
    ) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            if command.flag("all") {
                let count = try await all(manager.downloads)
                session.report("\(HumanText.lectures(count)) \(verb).")
                return .done
            }
            return try await each(try session.keys(), session) { key in
                try await one(manager.downloads, key)
                if session.wantsJSON, let content = try await manager.contents.find(key) {
                    try context.output.write(machine: JSONLine.content(content))
                }
            }
        }
    }

    /// Runs an action on every key; one that fails is reported and does not stop the others.
    static func each(
        _ keys: [ContentKey], _ session: CommandSession, _ body: (ContentKey) async throws -> Void
    ) async throws -> ExitStatus {
        var status = ExitStatus.done
        for key in keys {
            do {
                try await body(key)
            } catch let error as LectureError where error.code == .alreadyDownloaded {
                session.report(error.message)
            } catch let error as LectureError where error.code == .unknownContent {
                try session.report(error, key: key)
                status = .someFailed
            }
        }
        return status
    }
}
