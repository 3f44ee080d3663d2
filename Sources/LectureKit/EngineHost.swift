import Dispatch
import LectureEngine
import LectureFiles
import LectureModel
import LectureStore

/// Runs the loop of the store on the core queue, and passes what its steps led to on to the services.
///
///     timer, events → step: commit → effects of all services → notices of all services
///
/// Created with this program's registration at the store. Confined to the core queue, except for ``wake()``.
final class EngineHost {
    /// The core queue.
    let executor: CoreExecutor
    /// Both clocks.
    let clock: any LectureClock
    /// Where events go.
    let hub: EventHub<LectureEvent>
    /// This program's registration at the store.
    let session: StoreSession
    /// Runs the machines of the services.
    let loop: Loop
    /// Downloads, while they are open.
    private(set) weak var downloads: DownloadService?
    /// Licences, while they are open.
    private(set) weak var licences: LicenceService?
    /// Learning reports, while they are open.
    private(set) weak var reports: ReportService?
    private let index: SQLiteDownloadIndex
    private let timer: StepTimer

    /// Creates a host without services; nothing happens before the first of them wakes it.
    ///
    /// - Parameters:
    ///   - executor: the core queue.
    ///   - hub: where events go.
    ///   - session: this program's registration at the store.
    ///   - index: the store's writer.
    ///   - checkRows: called at the end of each transaction of the loop; an error that it throws rolls it back.
    init(
        _ executor: CoreExecutor, _ hub: EventHub<LectureEvent>, session: StoreSession, index: SQLiteDownloadIndex,
        checkRows: @escaping () throws -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        (self.executor, self.hub, self.session, self.index, clock) = (executor, hub, session, index, SystemClock())
        timer = StepTimer(executor, clock: clock, leeway: 2)
        loop = Loop(
            Loop.Ports(clock: clock, random: SystemRandom(), numbers: session.numbers) { body in
                try index.transaction {
                    try body()
                    try checkRows()
                }
            })
        timer.serve { [weak self] in self?.step() }
    }

    /// Makes an inbox whose events are handled in the next step.
    func inbox<Event>() -> Inbox<Event> { Inbox { [timer] in timer.wake() } }

    /// Runs a step soon. From any thread.
    func wake() { timer.wake() }

    /// Ends the timer; all services have stopped.
    func end() { timer.stop() }

    // MARK: Services

    /// Passes on what steps lead to, until the service has stopped.
    func serve(_ service: DownloadService) { downloads = service }

    /// Passes on what steps lead to, until the service has stopped.
    func serve(_ service: LicenceService) { licences = service }

    /// Passes on what steps lead to, until the service has stopped.
    func serve(_ service: ReportService) { reports = service }

    /// In the order of their machines.
    private var services: [any LoopService] {
        let all: [(any LoopService)?] = [downloads, licences, reports]
        return all.compactMap(\.self)
    }

    private func step() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        // The claims of killed programs go back to the queue.
        session.dismissDeadOwners(index, clock)
        let next = loop.commit()
        // A step may have opened one.
        let services = services
        for service in services { service.performEffects() }
        for service in services { service.reportNotices() }
        timer.schedule(next)
    }
}

/// The active part of a subject: performs the effects of its machine, and reports its notices.
protocol LoopService: AnyObject {
    /// Takes what the step led to, and performs its effects.
    func performEffects()
    /// Reports its notices, and answers callers that wait.
    func reportNotices()
}

/// The callers that wait for the end of a service.
struct StopWaiters {
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Whether the service has stopped for good.
    private(set) var isStopped = false

    /// A caller waits, unless the service has stopped already.
    ///
    /// - Parameter continuation: resumed once the service has stopped.
    /// - Returns: whether it waits: the service is to be stopped.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        if isStopped {
            continuation.resume()
            return false
        }
        waiters.append(continuation)
        return true
    }

    /// The service has stopped.
    ///
    /// - Returns: whether this is the first time.
    mutating func stopped() -> Bool {
        defer { isStopped = true }
        return !isStopped
    }

    /// Resumes those who wait, after other callers were answered.
    mutating func resume() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
