import LectureBundle
import LectureKit
import LectureModel
import LectureRecords
import LectureUpkeep

/// One run: requests in, events out, until the library is idle.
///
/// The sources are read beside the ``EventLoop``: standard input may block for long, and signals must be handled
/// meanwhile.
///
/// When idle, at the deadline and at a signal the library is closed; its stream then ends after its last event, and the
/// loop with it.
struct PrecacheRun {
    /// What the tasks of the run report.
    private enum Message: Sendable {
        case enqueued([PrecacheSources.Outcome])
        case sourcesEnded(Result<NamedLists, LectureError>)
        case idle(isReached: Bool)
    }

    /// Lines from which on a list is long.
    private static let longList = 1000

    private let manager: LectureManager
    private let session: CommandSession
    private let peers: PeerStores?
    private let loop: EventLoop<Message>
    private var renderer: ProgressRenderer
    private var tracker = ProgressTracker()
    private var pace = CountPace()
    private var result: PrecacheResult
    private var isClosing = false
    /// Whether it will be done in time; nil where no time was named.
    private var readiness: RunReadiness?

    /// The lists that were read.
    var lists: NamedLists { result.lists }
    /// Why nothing may be removed; empty when every list was read as a whole and the run came to its end.
    var obstaclesToPruning: [String] { result.obstaclesToPruning }

    private var context: CommandContext { session.context }
    private var command: ParsedCommand { session.command }

    init(manager: LectureManager, session: CommandSession, readyBy: Timestamp?, peers: PeerStores? = nil) {
        self.manager = manager
        self.session = session
        self.peers = peers
        // Subscribed before the first request, so that no event is missed.
        loop = EventLoop(manager.events, tick: .milliseconds(250), session.context)
        result = PrecacheResult(began: session.context.clock.boot())
        readiness = readyBy.map { RunReadiness(by: $0, manager) }
        let mode = ProgressRenderer.mode(
            choice: session.command.text("progress"), isQuiet: session.isQuiet,
            isTerminal: session.mayDraw, environment: session.context.environment)
        renderer = ProgressRenderer(mode: mode, style: session.diagnosticStyle)
    }

    /// Downloads everything.
    ///
    /// - Parameter sources: what to download.
    /// - Returns: the exit status.
    /// - Throws: `LectureError` when the store cannot be written; ``OutputError``.
    mutating func run(_ sources: some RunSources) async throws -> ExitStatus {
        enqueue(sources)
        try await follow()
        // Includes what was in flight when the run ended.
        let final = try await manager.summary()
        result.summary.fetchedBytes = final.fetchedBytes
        result.summary.reusedBytes = final.reusedBytes
        result.peers = peers?.summary
        for fault in result.peers?.faults ?? [] { try report(fault) }
        tracker.finish(fetched: result.summary.fetchedBytes, elapsed: context.clock.boot() - result.began)
        try? context.diagnostics.write(renderer.finish(tracker.snapshot, size: size))
        if let error = result.error { throw error }
        for sentence in result.failureSentences() { context.say(sentence) }
        for sentence in result.sentences() { session.report(sentence) }
        let totals = result.totals(at: context.clock.boot())
        if session.wantsJSON { try context.output.write(machine: JSONLine.summary(totals)) }
        return result.status
    }

    // MARK: Tasks

    private func enqueue(_ sources: some RunSources) {
        let isContinuing = command.arguments.isEmpty
        let check = command.text("check").flatMap(SourceCheck.init) ?? .list
        let directories = sources
        loop.start { [manager, loop] in
            var sources = sources
            var lists = NamedLists(sources.listNames)
            var lineCount = 0
            if isContinuing { try await manager.downloads.continueUnfinished() }
            try await sources.forEachGroup(of: manager) { group in
                try directories.makeDirectories(group)
                let (outcomes, used) = try await PrecacheSources.enqueue(group, manager, check: check)
                lists.record(group.list, used: used, refused: group.lineCount - used)
                lineCount += group.lineCount
                loop.send(.enqueued(outcomes))
            }
            // What reading and queueing a long list took is not needed by its downloads.
            if lineCount >= Self.longList { ProcessHeaps.returnMemory() }
            return lists
        } then: {
            .sourcesEnded($0)
        }
    }

    private func awaitIdle() {
        let deadline = command.duration("deadline").map { limit in
            max(.zero, limit - (context.clock.boot() - result.began))
        }
        // A signal closes the manager, which ends the wait.
        loop.start { [manager] in
            try await manager.downloads.waitUntilIdle(deadline: deadline)
        } then: {
            .idle(isReached: (try? $0.get()) ?? false)
        }
    }

    // MARK: The loop

    /// Handles events until the library's stream has ended.
    private mutating func follow() async throws {
        let loop = loop
        try await loop.run { event in
            switch event {
            case .library(let event): try take(event)
            case .tick: try await count(atLeastEvery: .seconds(1))
            case .signal(.resized): draw()
            case .signal(.reload): return
            case .signal(.stop(let number)):
                if result.signal == nil { result.signal = number }
                try await close()
            case .message(.enqueued(let outcomes)): for outcome in outcomes { try take(outcome) }
            case .message(.sourcesEnded(.success(let lists))):
                result.lists = lists
                if !isClosing { awaitIdle() }
            case .message(.sourcesEnded(.failure(let error))):
                result.error = error
                try await close()
            case .message(.idle(let isReached)):
                if !isClosing {
                    result.isDeadlineOver = !isReached
                    if isReached { try await result.lists.finish(manager) }
                }
                try await close()
            }
        }
    }

    /// Counts the run a last time and closes the library. Its stream of events ends after the last one.
    private mutating func close() async throws {
        guard !isClosing else { return }
        isClosing = true
        // A closed library no longer has the run's counts.
        try await count(atLeastEvery: .zero)
        result.unfinished = try await manager.downloads.fetched(in: .stopped, limit: PrecacheResult.namedLimit)
        result.failures = try await manager.downloads.fetched(in: .failed, limit: PrecacheResult.namedLimit)
        try await writeReport()
        let manager = manager
        Task { await manager.close() }
    }

    /// Writes what failed or stopped to the list of `--report`.
    private mutating func writeReport() async throws {
        guard let path = command.text("report") else { return }
        let stopped = try await manager.downloads.fetched(in: .stopped).filter(PrecacheResult.isFailure)
        let keys = (try await manager.downloads.fetched(in: .failed) + stopped).map(\.key)
        do {
            try await manager.contents.writeCourseList(of: keys, to: path)
        } catch {
            result.unpublished += 1
            try report(error)
        }
    }

    private mutating func take(_ outcome: PrecacheSources.Outcome) throws {
        switch outcome {
        case .refused(let error, let isLine):
            switch error.code {
            case _ where isLine: result.refusedLines += 1
            case .outputRefused, .outputExists: result.refusedOutputs += 1
            default: result.refusedRequests += 1
            }
            try report(error)
        case .warning(let warning):
            try? context.diagnostics.write(renderer.interrupt(size: size))
            try session.report(warning)
        case .complete(let key):
            guard result.skipped.insert(key).inserted else { return }
            if session.wantsJSON { try context.output.write(machine: JSONLine.skipped(key)) }
            try acknowledge(key)
        }
    }

    private mutating func take(_ event: LectureEvent) throws {
        switch event {
        case .progress(let progress):
            tracker.update(progress)
            if session.wantsJSON, progress.state == .downloading {
                try context.output.write(machine: JSONLine.progress(progress))
            }
            draw()
        case .queued(let content), .advanced(let content):
            tracker.update(content)
            if session.wantsJSON, content.state == .queued {
                try context.output.write(machine: JSONLine.queued(content))
            }
        case .completed(let content):
            // Publishing a lecture that was complete before reports it again; it is already counted as skipped.
            guard !result.skipped.contains(content.key) else { return }
            result.reported.insert(content.key)
            tracker.update(content)
            if session.wantsJSON { try context.output.write(machine: JSONLine.completed(content)) }
            try acknowledge(content.key)
            if session.isVerbose { say("complete: \(content.title) (\(content.key.text))", .information) }
        case .unchanged(let content): try take(.complete(content.key))
        case .outdated(let content):
            result.outdated.insert(content.key)
            if session.wantsJSON { try context.output.write(machine: JSONLine.outdated(content)) }
            if session.isVerbose {
                say("outdated: \(content.title) (\(content.key.text)): downloading the new version", .information)
            }
        case .checkFailed(let key, let error):
            // It stays complete; whether it is what is requested is unknown.
            result.skipped.insert(key)
            result.uncheckedCodes.append(error.code)
            if session.wantsJSON { try context.output.write(machine: JSONLine.checkFailed(key, error)) }
            say("not checked: \(key.text): \(error.message)", .warning, about: error)
        case .failed(let content):
            tracker.update(content)
            if session.wantsJSON { try context.output.write(machine: JSONLine.failed(content)) }
            let reason = content.error?.message ?? ""
            say("failed: \(content.title) (\(content.key.text)): \(reason)", about: content.error)
        case .stopped(let content):
            tracker.update(content)
            if session.wantsJSON { try context.output.write(machine: JSONLine.stopped(content)) }
            if session.isVerbose { say(PrecacheResult.sentence(stopped: content), .warning, about: content.error) }
        case .removed(let key):
            tracker.remove(key)
            if session.wantsJSON { try context.output.write(machine: JSONLine.removed(key)) }
        case .published(let key, let path):
            if session.wantsJSON { try context.output.write(machine: JSONLine.published(key, path: path)) }
        case .publishingFailed(let key, _, let error):
            result.unpublished += 1
            try report(error, key: key)
        case .trouble(let error): try report(error)
        case .licenceGranted(let key): try reportLicence(key, "granted")
        case .licenceEnded(let key): try reportLicence(key, "ended")
        case .licenceDeleted(let key): try reportLicence(key, "deleted")
        case .renewalBegan, .renewed, .renewalEnded, .licenceExchange, .reportsProgress, .reportsDelivered,
            .reportRefused, .reportObstacle, .reportsSent, .reportExchange:
            return
        }
    }

    private mutating func reportLicence(_ key: ContentKey, _ change: String) throws(OutputError) {
        if session.wantsJSON { try context.output.write(machine: JSONLine.licenceChanged(key, change: change)) }
        if session.isVerbose { say("licence \(change): \(key.text)", .information) }
    }

    private func acknowledge(_ key: ContentKey) throws(OutputError) {
        if command.flag("acks") { try context.writeData("ACK \(key.text)") }
    }

    // MARK: Progress and messages

    private mutating func count(atLeastEvery interval: Duration) async throws {
        let now = context.clock.boot()
        if !(isClosing && interval > .zero), pace.isDue(every: interval, at: now) {
            result.summary = try await manager.summary()
            pace.counted(from: now, to: context.clock.boot())
            tracker.update(result.summary, refused: result.refused)
            try await watch()
        }
        draw()
    }

    /// Says when the run begins to be late, and when it is in time again.
    private mutating func watch() async throws {
        guard var readiness else { return }
        let change = try await readiness.take(
            result.summary, now: context.clock.now(), at: context.clock.boot())
        self.readiness = readiness
        guard let change else { return }
        let (time, end) = (readiness.time, readiness.end)
        if session.wantsJSON {
            try context.output.write(
                machine: JSONLine.slipped(isInTime: change == .inTime, by: time, end: end))
        }
        try? context.diagnostics.write(renderer.interrupt(size: size))
        let when = end.map { "; done \(PlanAnswer.date($0))" } ?? ""
        switch change {
        case .inTime: session.report("In time again for \(PlanAnswer.date(time))\(when).")
        case .late, .unknown:
            let error = LectureError(.notInTime, detail: "\(PlanAnswer.date(time))\(when)")
            context.say(error.message, .warning, about: error)
        }
    }

    /// The size of the terminal, where it matters: asking for it at each event would be a system call.
    private var size: TerminalSize { renderer.drawsBars ? context.terminalSize() : .standard }

    private mutating func draw() {
        let text = renderer.update(tracker.snapshot, at: context.clock.boot(), size: size)
        if let text { context.writeProgress(text) }
    }

    /// Prints a message above the bars.
    private mutating func say(
        _ sentence: String, _ priority: MessagePriority = .error, about error: LectureError? = nil
    ) {
        try? context.diagnostics.write(renderer.interrupt(size: size))
        context.say(sentence, priority, about: error)
    }

    private mutating func report(_ error: LectureError, key: ContentKey? = nil) throws(OutputError) {
        try? context.diagnostics.write(renderer.interrupt(size: size))
        try session.report(error, key: key)
    }
}
