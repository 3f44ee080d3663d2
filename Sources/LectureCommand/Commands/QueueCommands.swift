import LectureKit
import LectureModel

/// What steers the queue: `pause`, `resume`, `cancel`, `reorder`, `remove`.
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
            throw UsageError("One of --first, --last and --priority is needed.", path: ["reorder"])
        }
        if command.flag("all"), place != nil {
            throw UsageError("--all can be given a priority, but not be first or last.", path: ["reorder"])
        }
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var keys = try session.keys()
            if command.flag("all") {
                let pages = ContentPages(manager: manager, filter: ContentFilter(), sort: .added)
                try await pages.forEachPage { keys += $0.map(\.key) }
            }
            // Each one put first goes before those put first earlier: backwards keeps the order given.
            if place == .first { keys.reverse() }
            return try await each(keys, session) { key in
                if let priority { try await manager.setPriority(key, priority) }
                if let place { try await manager.move(key, to: place) }
            }
        }
    }

    @Sendable static func remove(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let removal = Removal(manager: manager, session: session)
            return try await command.flag("all")
                ? removal.everything(includingSamples: command.flag("samples")) : removal.some(try session.keys())
        }
    }

    // MARK: Parts

    private static func steer(
        _ command: ParsedCommand, _ context: CommandContext, verb: String,
        one: @Sendable (LectureManager, ContentKey) async throws -> Void,
        all: @Sendable (LectureManager) async throws -> Int
    ) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            if command.flag("all") {
                let count = try await all(manager)
                session.tell("\(count) \(count == 1 ? "content" : "contents") \(verb).")
                return .done
            }
            return try await each(try session.keys(), session) { key in
                try await one(manager, key)
                if session.wantsJSON, let content = try await manager.content(key) {
                    try context.output.write(JSONLine.content(content))
                }
            }
        }
    }

    /// Does something to every key; one that fails is named and does not stop the others.
    private static func each(
        _ keys: [ContentKey], _ session: CommandSession, _ body: (ContentKey) async throws -> Void
    ) async throws -> ExitStatus {
        var status = ExitStatus.done
        for key in keys {
            do {
                try await body(key)
            } catch let error as LectureError where error.code == .alreadyDownloaded {
                session.tell(error.message)
            } catch let error as LectureError where error.code == .unknownContent {
                try session.report(error, key: key)
                status = .someFailed
            }
        }
        return status
    }
}

/// Deletes contents and waits until their files are gone.
private struct Removal {
    /// Who waits longer than this waits for another process that is busy with the content; that one deletes it.
    static let patience = Duration.seconds(30)

    /// A failed commit or deletion is tried again, once in this time.
    static let patienceInTrouble = Duration.seconds(5)

    let manager: LectureManager
    let session: CommandSession
    private let troubles = Guarded<[LectureError]>([])

    init(manager: LectureManager, session: CommandSession) {
        self.manager = manager
        self.session = session
        // Listening begins before the wish. The stream ends when the manager is closed.
        let events = manager.events
        Task { [troubles] in
            for await event in events {
                if case .trouble(let error) = event { troubles.withLock { $0.insert(error, at: 0) } }
            }
        }
    }

    func some(_ keys: [ContentKey]) async throws -> ExitStatus {
        for key in keys { try await manager.remove(key) }
        var left = keys
        return try await wait {
            var still: [ContentKey] = []
            for key in left {
                if try await manager.content(key) != nil {
                    still.append(key)
                } else if session.wantsJSON {
                    try session.context.output.write(JSONLine.removed(key))
                }
            }
            left = still
            return left.count
        }
    }

    func everything(includingSamples: Bool) async throws -> ExitStatus {
        let count = try await manager.removeAll(includingSamples: includingSamples)
        // What is wanted is counted: a state follows only when somebody has begun with it.
        let status = try await wait { try await manager.removalsLeft() }
        if status == .done { session.tell("\(count) \(count == 1 ? "content" : "contents") removed.") }
        return status
    }

    private func wait(_ left: () async throws -> Int) async throws -> ExitStatus {
        let ticker = Ticker(every: .milliseconds(20), signals: session.context.signals())
        var end = session.context.clock.boot() + Self.patience
        var trouble: LectureError?
        if try await left() == 0 { return .done }
        for await event in ticker.events {
            if case .signal(.stop(let number)) = event { return .signal(number) }
            let count = try await left()
            if count == 0 { return .done }
            while let error = troubles.withLock({ $0.popLast() }) {
                if trouble == nil { end = min(end, session.context.clock.boot() + Self.patienceInTrouble) }
                trouble = error
                try session.report(error)
            }
            guard session.context.clock.boot() < end else {
                if let trouble {
                    session.context.say("\(count) could not be deleted; the next run tries again.")
                    return ExitStatus.status(for: trouble.code)
                }
                session.context.say(
                    "\(count) are still in work elsewhere; they are deleted as soon as that has stopped.")
                return .tryAgain
            }
        }
        return .done
    }
}
