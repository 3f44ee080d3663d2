import LectureKit
import LectureModel

/// `lecturectl remove`.
enum RemoveCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let removal = Removal(manager: manager, session: session)
            let isDryRun = command.flag("dry-run")
            if command.flag("all"), !isDryRun {
                return try await removal.everything(includingSamples: command.flag("samples"))
            }
            guard command.flag("all") || ContentSelection.isGiven(command) else {
                if isDryRun {
                    let lectures = try await lectures(try session.keys(), manager)
                    return try tell(lectures, session)
                }
                return try await removal.some(try session.keys())
            }
            let lectures = try await selected(manager, session)
            if isDryRun { return try tell(lectures, session) }
            let status = try await removal.some(lectures.map(\.key))
            if status == .done { session.tell("\(HumanText.lectures(lectures.count)) removed.") }
            return status
        }
    }

    /// What the filters select; samples only with `--samples`.
    private static func selected(_ manager: LectureManager, _ session: CommandSession) async throws -> [Content] {
        let filter = try await ContentSelection.filter(session.command, manager, now: session.context.clock.now())
        let takesSamples = session.command.flag("samples")
        var lectures: [Content] = []
        try await ContentPages(manager: manager, filter: filter, sort: .added).forEachPage { page in
            lectures += page.filter { takesSamples || $0.type != .sample }
        }
        return lectures
    }

    private static func lectures(_ keys: [ContentKey], _ manager: LectureManager) async throws -> [Content] {
        var lectures: [Content] = []
        for key in keys {
            guard let lecture = try await manager.content(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            lectures.append(lecture)
        }
        return lectures
    }

    /// Says what would be removed.
    private static func tell(_ lectures: [Content], _ session: CommandSession) throws -> ExitStatus {
        for lecture in lectures { try wouldRemove(lecture, session) }
        let bytes = lectures.reduce(0) { $0 + $1.provenBytes }
        session.tell(
            "\(HumanText.lectures(lectures.count)) would be removed (\(HumanText.byteCount(bytes))). "
                + "Nothing was removed.")
        return .done
    }

    /// Says that a lecture would be removed.
    ///
    /// - Parameters:
    ///   - lecture: the lecture.
    ///   - session: of the command.
    /// - Throws: ``OutputError``.
    static func wouldRemove(_ lecture: Content, _ session: CommandSession) throws {
        if session.wantsJSON { return try session.context.output.write(JSONLine.plannedRemoval(lecture)) }
        let columns = ["gone", HumanText.byteCount(lecture.provenBytes), lecture.key.text, lecture.title]
        try session.context.output.write("\(columns.map(TerminalText.neutralised).joined(separator: "\t"))\n")
    }
}

/// Deletes lectures and waits until their files are gone.
struct Removal {
    /// Who waits longer than this waits for another process that is busy with the lecture; that one deletes it.
    static let patience = Duration.seconds(30)

    /// A failed commit or deletion is tried again, once in this time.
    static let patienceInTrouble = Duration.seconds(5)

    let manager: LectureManager
    let session: CommandSession
    private let troubles = Guarded<[LectureError]>([])

    init(manager: LectureManager, session: CommandSession) {
        self.manager = manager
        self.session = session
        // Listening begins before the request. The stream ends when the manager is closed.
        let events = manager.events
        Task { [troubles] in
            for await event in events {
                if case .trouble(let error) = event { troubles.withLock { $0.insert(error, at: 0) } }
            }
        }
    }

    /// Deletes some lectures.
    ///
    /// - Parameter keys: which ones.
    /// - Returns: how the command ends.
    /// - Throws: `LectureError` when a key is unknown or the store cannot be written.
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

    /// Deletes everything.
    ///
    /// - Parameter includingSamples: samples as well.
    /// - Returns: how the command ends.
    /// - Throws: `LectureError` when the store cannot be written.
    func everything(includingSamples: Bool) async throws -> ExitStatus {
        let count = try await manager.removeAll(includingSamples: includingSamples)
        // Requests are counted: the state changes only when a process has begun with it.
        let status = try await wait { try await manager.removalsLeft() }
        if status == .done { session.tell("\(HumanText.lectures(count)) removed.") }
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
                    session.context.say("\(HumanText.lectures(count)) could not be deleted; the next run tries again.")
                    return ExitStatus.status(for: trouble.code)
                }
                session.context.say(
                    "\(HumanText.lectures(count)) still in use by another process; they are deleted when it stops.")
                return .tryAgain
            }
        }
        return .done
    }
}
