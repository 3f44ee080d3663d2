import LectureKit
import LectureModel
import LectureRecords

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
                    return try report(lectures, session)
                }
                return try await removal.some(try session.keys())
            }
            let lectures = try await selected(manager, session)
            if isDryRun { return try report(lectures, session) }
            let status = try await removal.some(lectures.map(\.key))
            if status == .done { session.report("\(HumanText.lectures(lectures.count)) removed.") }
            return status
        }
    }

    /// The lectures that the filters select; samples only with `--samples`.
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
            guard let lecture = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            lectures.append(lecture)
        }
        return lectures
    }

    /// Reports what would be removed.
    private static func report(_ lectures: [Content], _ session: CommandSession) throws -> ExitStatus {
        for lecture in lectures { try wouldRemove(lecture, session) }
        let bytes = lectures.reduce(0) { $0 + $1.committedBytes }
        session.report(
            "\(HumanText.lectures(lectures.count)) would be removed (\(HumanText.byteCount(bytes))). "
                + "Nothing was removed.")
        return .done
    }

    /// Reports that a lecture would be removed.
    ///
    /// - Parameters:
    ///   - lecture: the lecture.
    ///   - session: the command's session.
    /// - Throws: ``OutputError``.
    static func wouldRemove(_ lecture: Content, _ session: CommandSession) throws {
        if session.wantsJSON { return try session.context.output.write(machine: JSONLine.plannedRemoval(lecture)) }
        let columns = ["gone", HumanText.byteCount(lecture.committedBytes), lecture.key.text, lecture.title]
        try session.context.output.write(.row(columns))
    }
}

/// Deletes lectures and waits until their files are gone.
struct Removal {
    /// After this time without progress the lectures are in use by another process, which deletes them.
    static let patience = Duration.seconds(30)

    /// The wait without progress after a failed commit or deletion; it is retried once in this time.
    static let patienceAfterFailure = Duration.seconds(5)

    let manager: LectureManager
    let session: CommandSession
    private let loop: EventLoop<Never>

    init(manager: LectureManager, session: CommandSession) {
        self.manager = manager
        self.session = session
        loop = EventLoop(manager.events, tick: .milliseconds(250), session.context)
    }

    /// Deletes some lectures.
    ///
    /// - Parameter keys: which ones.
    /// - Returns: the exit status.
    /// - Throws: `LectureError` when the store cannot be written; ``OutputError``.
    func some(_ keys: [ContentKey]) async throws -> ExitStatus {
        // By the key that the library uses; a gateway may have renamed a lecture since.
        var left: [ContentKey: [ContentKey]] = [:]
        for (key, current) in zip(keys, try await manager.downloads.remove(keys)) {
            // One that is not in the store is already gone.
            if let current { left[current, default: []].append(key) } else { try write(removed: [key]) }
        }
        return try await wait(for: left)
    }

    /// Waits until lectures are gone whose removal is requested.
    ///
    /// - Parameter request: requests it; returns the lectures by the keys that the library uses.
    /// - Returns: the exit status.
    /// - Throws: what `request` throws; `LectureError` when the store cannot be written; ``OutputError``.
    func requested(_ request: () async throws -> [ContentKey]) async throws -> ExitStatus {
        let keys = try await request()
        return try await wait(for: Dictionary(keys.map { ($0, [$0]) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Waits until lectures are gone; by the keys that the library uses, as typed.
    private func wait(for keys: [ContentKey: [ContentKey]]) async throws -> ExitStatus {
        var left = keys
        return try await wait(left.count) { removed in
            if let removed {
                try write(removed: left.removeValue(forKey: removed) ?? [])
                return left.count
            }
            // What another process deletes is not reported here.
            for (key, typed) in left where try await manager.contents.find(key) == nil {
                left[key] = nil
                try write(removed: typed)
            }
            return left.count
        }
    }

    private func write(removed keys: [ContentKey]) throws(OutputError) {
        guard session.wantsJSON else { return }
        for key in keys { try session.context.output.write(machine: JSONLine.removed(key)) }
    }

    /// Deletes everything.
    ///
    /// - Parameter includingSamples: samples as well.
    /// - Returns: the exit status.
    /// - Throws: `LectureError` when the store cannot be written.
    func everything(includingSamples: Bool) async throws -> ExitStatus {
        let count = try await manager.downloads.removeAll(includingSamples: includingSamples)
        // Requests are counted: the state changes only when a process has started the removal.
        var left = try await manager.downloads.removalsLeft()
        let status = try await wait(left) { removed in
            left = removed != nil && left > 1 ? left - 1 : try await manager.downloads.removalsLeft()
            return left
        }
        if status == .done { session.report("\(HumanText.lectures(count)) removed.") }
        return status
    }

    /// Waits until nothing is left.
    ///
    /// - Parameters:
    ///   - count: how many lectures are to be deleted.
    ///   - left: how many are left after the library has reported one; after nil, according to the store.
    /// - Returns: the exit status.
    /// - Throws: what `left` throws; ``OutputError``.
    private func wait(_ count: Int, _ left: (ContentKey?) async throws -> Int) async throws -> ExitStatus {
        let clock = session.context.clock
        var (count, hasProgressed) = (count, false)
        var (end, patience) = (clock.boot() + Self.patience, Self.patience)
        var failure: LectureError?
        guard count > 0 else { return .done }
        let status: ExitStatus? = try await loop.first { event in
            let now: Int
            switch event {
            case .signal(.stop(let number)): return .signal(number)
            case .library(.trouble(let error)):
                if failure == nil { end = min(end, clock.boot() + Self.patienceAfterFailure) }
                (failure, patience) = (error, Self.patienceAfterFailure)
                try session.report(error)
                return nil
            case .library(.removed(let key)):
                now = try await left(key)
                hasProgressed = true
            case .library, .signal(.resized), .signal(.reload): return nil
            case .tick:
                // While the library reports removals, the store is not asked.
                now = hasProgressed ? count : try await left(nil)
                hasProgressed = false
            }
            if now == 0 { return .done }
            if now < count { end = clock.boot() + patience }
            count = now
            return clock.boot() < end ? nil : abandon(count, failure)
        }
        return status ?? .done
    }

    private func abandon(_ count: Int, _ failure: LectureError?) -> ExitStatus {
        guard let failure else {
            session.context.say(
                "\(HumanText.lectures(count)) still in use by another process, which deletes them when it stops.",
                .warning)
            return .tryAgain
        }
        session.context.say("\(HumanText.lectures(count)) could not be deleted; the next run tries again.", .warning)
        return ExitStatus.status(for: failure.code)
    }
}
