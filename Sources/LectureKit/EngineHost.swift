import Dispatch
import LectureEngine
import LectureFiles
import LectureModel
import LectureStore

/// Runs the loop of the store on the core queue, and passes what its steps led to on to the services.
///
///     timer, events → step: commit → each service: effects → notices
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
    /// How many rows the steps have changed; whatever that means for a lecture is reported as an event.
    private(set) var changesInSteps: Int64 = 0
    /// All that are open or still stopping: a new one of a kind may be opened before the former one has stopped.
    private var served: [Served] = []
    private let index: SQLiteDownloadIndex
    private let timer: StepTimer

    /// Weak, since the service has the host.
    private struct Served {
        weak var service: (any LoopService)?
    }

    /// Creates a host without services; nothing happens before the first of them wakes it.
    ///
    /// - Parameters:
    ///   - executor: the core queue.
    ///   - hub: where events go.
    ///   - session: this program's registration at the store.
    ///   - index: the store's writer.
    init(
        _ executor: CoreExecutor, _ hub: EventHub<LectureEvent>, session: StoreSession, index: SQLiteDownloadIndex
    ) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        (self.executor, self.hub, self.session, self.index, clock) = (executor, hub, session, index, SystemClock())
        timer = StepTimer(executor, clock: clock, leeway: 2)
        loop = Loop(
            Loop.Ports(clock: clock, random: SystemRandom(), numbers: session.numbers) { try index.transaction($0) })
        timer.serve(pacedBy: { [weak self] in self?.downloads?.traffic }, step: { [weak self] in self?.step() })
    }

    /// Makes an inbox whose events are handled in the next step.
    func inbox<Event>() -> Inbox<Event> { Inbox { [timer] in timer.wake() } }

    /// Runs a step soon. From any thread.
    func wake() { timer.wake() }

    /// Ends the timer; all services have stopped.
    func end() { timer.stop() }

    // MARK: Services

    /// Passes on what steps lead to, until the service has stopped.
    ///
    /// - Parameter service: its machine is in the loop.
    func serve(_ service: any LoopService) {
        served.append(Served(service: service))
        switch service {
        case let service as DownloadService: downloads = service
        case let service as LicenceService: licences = service
        default: break
        }
    }

    private func step() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        // The claims of killed programs go back to the queue.
        session.dismissDeadOwners(index, clock)
        let before = index.changeCount
        let next = loop.commit()
        changesInSteps += index.changeCount - before
        // A step may have opened one.
        for service in served.compactMap(\.service) { service.finishStep() }
        served.removeAll { $0.service?.isStopped != false }
        timer.schedule(next)
    }
}

/// The active part of a subject: performs the effects of its machine, and reports its notices.
protocol LoopService: AnyObject {
    /// Whether it has stopped for good.
    var isStopped: Bool { get }
    /// Takes what the step led to: performs its effects, reports its notices, and answers callers that wait.
    func finishStep()
}

/// The callers that wait for the end of a service.
struct StopWaiters {
    /// With the service, which would otherwise not be kept until it has stopped.
    private var waiters: [(continuation: CheckedContinuation<Void, Never>, service: any LoopService)] = []
    /// Whether the service has stopped for good.
    private(set) var isStopped = false

    /// A caller waits, unless the service has stopped already.
    ///
    /// - Parameters:
    ///   - continuation: resumed once the service has stopped.
    ///   - service: the service.
    /// - Returns: whether it waits: the service is to be stopped.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>, for service: any LoopService) -> Bool {
        if isStopped {
            continuation.resume()
            return false
        }
        waiters.append((continuation, service))
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
        for waiter in waiters { waiter.continuation.resume() }
        waiters = []
    }
}
