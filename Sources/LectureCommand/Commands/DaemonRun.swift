import LectureDaemon
import LectureKit
import LectureModel

/// A daemon at work: events of the library, of course folders, of timers and signals come in one after the other, and
/// ``DaemonAgenda`` says what follows. Downloads and reports are the library's own business.
///
/// It ends with the library's stream of events, which ends after the last one of a library that was closed.
struct DaemonRun {
    /// What tasks, timers and folders report.
    enum Message: Sendable {
        case foldersChanged
        case listRead(String, Result<DaemonLists.Reading, LectureError>)
        case idle
        case planned(Result<Timestamp?, LectureError>)
        case renewed(Result<RenewalReport, LectureError>)
        case networkChanged
        case rang
        case beat
        case answered
        case statusDue
    }

    private let manager: LectureManager
    private let loop: EventLoop<Message>
    private let notifier: ServiceNotifier
    private let timers: DaemonTimers
    private var reporter: DaemonReporter
    private var session: CommandSession
    private var folders: CourseFolders
    private var agenda: DaemonAgenda
    /// Lists that were read, and of which it is not recorded yet what they name no longer.
    private var unfinished: [String: NamedLists] = [:]
    private var isAwaitingIdle = false
    private var isAskedWhetherAlive = false
    private var isStatusDue = false
    private var isStopping = false
    private var failure: LectureError?

    init(manager: LectureManager, session: CommandSession, signals: SignalWatcher?) {
        (self.manager, self.session) = (manager, session)
        let loop = EventLoop<Message>(manager.eventsWithoutExchanges) {
            Ticker(every: .seconds(Int64.max / 4), signals: signals).events
        }
        self.loop = loop
        notifier = ServiceNotifier(session.context.environment)
        timers = DaemonTimers(beatingEvery: notifier.watchdogInterval) {
            loop.send(.rang)
        } beaten: {
            loop.send(.beat)
        }
        reporter = DaemonReporter(session: session, notifier: notifier)
        folders = CourseFolders(session.configuration.courses.value) { loop.send(.foldersChanged) }
        agenda = DaemonAgenda(renewingWithin: session.configuration.renewWithin.value)
    }

    /// Works until it is stopped.
    ///
    /// - Returns: the exit status: 0 for a signal that stops it.
    /// - Throws: `LectureError` when the store cannot be written; ``OutputError``.
    mutating func run() async throws -> ExitStatus {
        let loop = loop
        await manager.onNetworkChange { loop.send(.networkChanged) }
        if session.isVerbose, let cause = await manager.networkRefusal {
            session.report("changes of the network are not reported (\(cause)); waits end by their timers.")
        }
        try await begin()
        try await loop.run { event in
            switch event {
            case .library(let event): try await take(event)
            case .message(let message): try await take(message)
            case .tick, .signal(.resized): return
            case .signal(.reload): try await reload()
            case .signal(.stop): try stop()
            }
        }
        if let failure { throw failure }
        return .done
    }

    // MARK: Events

    private mutating func take(_ event: LectureEvent) async throws {
        try reporter.take(event)
        switch event {
        case .licenceGranted, .licenceEnded, .licenceDeleted: try await perform(agenda.licencesChanged())
        case .queued, .advanced, .completed, .failed, .stopped, .removed, .reportsSent, .renewalEnded: statusChanged()
        default: return
        }
    }

    private mutating func take(_ message: Message) async throws {
        let now = session.context.clock.now()
        switch message {
        case .foldersChanged: try await perform(agenda.scanned(folders.scan()))
        case .listRead(let path, let result): try await finish(path, result)
        case .idle:
            isAwaitingIdle = false
            try await recordLists()
            ProcessHeaps.returnMemory()
        case .planned(let result):
            if case .failure(let error) = result { try report(error) }
            try await perform(agenda.planned((try? result.get()) ?? nil, at: now))
        case .renewed(let result):
            if case .failure(let error) = result { try report(error) }
            let report = try? result.get()
            let isComplete = report.map { $0.failed == 0 && $0.waiting == 0 } ?? false
            try await perform(agenda.renewed(isComplete: isComplete, at: now))
            ProcessHeaps.returnMemory()
        case .networkChanged:
            if session.isVerbose { session.report("the network has changed.") }
            try await perform(agenda.networkChanged(at: now))
        case .rang: try await perform(agenda.timeCame(at: now))
        case .beat: askWhetherAlive()
        case .answered:
            isAskedWhetherAlive = false
            notifier.send(.watchdog)
        case .statusDue:
            isStatusDue = false
            try await showStatus()
        }
    }

    private mutating func perform(_ actions: [DaemonAgenda.Action]) async throws {
        for action in actions where !isStopping {
            switch action {
            case .read(let path): read(path)
            case .forget(let path):
                unfinished[path] = nil
                try reporter.forgot(path)
            case .ready:
                awaitIdle()
                try reporter.ready(agenda.lists.count)
                try await showStatus()
                // A start reads much that a daemon at rest does not need.
                ProcessHeaps.returnMemory()
            case .plan: plan()
            case .renew: renew()
            case .wake(let moment): timers.ring(at: moment, now: session.context.clock.now())
            }
        }
    }

    // MARK: Lists

    private mutating func begin() async throws {
        for fault in folders.faults { try report(fault) }
        // What was left by a former run, or by another program.
        try await manager.downloads.continueUnfinished()
        try await perform(agenda.scanned(folders.scan()))
    }

    private func read(_ path: String) {
        loop.start { [manager, command = session.command] in
            try await DaemonLists.read(path, command, manager)
        } then: {
            .listRead(path, $0)
        }
    }

    private mutating func finish(_ path: String, _ result: Result<DaemonLists.Reading, LectureError>) async throws {
        switch result {
        case .success(let reading):
            for outcome in reading.outcomes {
                switch outcome {
                case .refused(let error, isLine: _): try report(error)
                case .warning(let warning): try session.report(warning)
                case .complete: break
                }
            }
            unfinished[path] = reading.lists
            try reporter.read(path, reading)
            awaitIdle()
        case .failure(let error):
            // One that is gone meanwhile is forgotten when its folder is looked at.
            if agenda.lists.contains(path) { try report(error) }
        }
        try await perform(agenda.read(path))
    }

    /// What a list no longer names is recorded once everything that it names was asked for.
    private mutating func awaitIdle() {
        guard !isAwaitingIdle, !isStopping, !unfinished.isEmpty else { return }
        isAwaitingIdle = true
        loop.start { [manager] in
            try await manager.downloads.waitUntilIdle(longestWait: .zero)
        } then: { _ in
            .idle
        }
    }

    private mutating func recordLists() async throws {
        guard !isStopping else { return }
        let lists = unfinished.values
        unfinished = [:]
        for var list in lists { try await list.finish(manager) }
    }

    // MARK: Licences

    private func plan() {
        loop.start { [manager] in
            try await manager.licences.planRenewal(of: .all).compactMap(\.deadline).min()
        } then: {
            .planned($0)
        }
    }

    private func renew() {
        let window = session.configuration.renewWithin.value
        loop.start { [manager] in
            try await manager.licences.renew(.within(window))
        } then: {
            .renewed($0)
        }
    }

    // MARK: Signals and the service manager

    /// Reads the configuration and all lists again. What cannot be used changes nothing.
    private mutating func reload() async throws {
        guard !isStopping else { return }
        try reporter.reloading()
        do {
            let new = try CommandSession(session.command, session.context)
            let fixed = try await manager.reconfigure(new.librarySettings())
            if !fixed.isEmpty {
                session.context.say("only a restart changes \(fixed.joined(separator: ", ")).", .warning)
            }
            session = new
            let loop = loop
            folders = CourseFolders(new.configuration.courses.value) { loop.send(.foldersChanged) }
            agenda.renew(within: new.configuration.renewWithin.value)
        } catch let error as LectureError {
            try report(error)
        }
        agenda.reload()
        try await begin()
    }

    private mutating func stop() throws {
        guard !isStopping else { return }
        isStopping = true
        agenda.end()
        try reporter.stopping()
        let manager = manager
        Task { await manager.close() }
    }

    /// The answer comes through the store's own queue and this loop, so only a process that works beats.
    private mutating func askWhetherAlive() {
        guard !isAskedWhetherAlive else { return }
        isAskedWhetherAlive = true
        loop.start { [manager] in
            await manager.networkRefusal
        } then: { _ in
            .answered
        }
    }

    /// Thousands of lectures may change within a second: the store is asked once for all of them.
    private mutating func statusChanged() {
        guard notifier.isConnected, !isStatusDue, !isStopping else { return }
        isStatusDue = true
        loop.start {
            // proof: one wait after changes, for what else changes; nothing is asked again and again.
            try await Task.sleep(for: .milliseconds(200))
        } then: { _ in
            .statusDue
        }
    }

    private func showStatus() async throws {
        guard notifier.isConnected, !isStopping else { return }
        reporter.show(try await manager.status())
    }

    private func report(_ error: LectureError) throws { try session.report(error) }
}
