import Dispatch
import LectureFiles
import LectureModel

/// What the services of the engines share: steps on the core queue, the count of steps that failed, and a clean end.
///
/// Confined to the core queue, except for ``wake()``.
final class EngineHost {
    /// The core queue.
    let executor: CoreExecutor
    /// Both clocks.
    let clock: any LectureClock
    /// Where events go.
    let hub: EventHub<LectureEvent>
    /// Whether the engine has stopped for good.
    private(set) var isStopped = false
    private let timer: StepTimer
    private var stopWaiters: [CheckedContinuation<Void, Never>] = []
    private var failedSteps = 0
    /// After this many failed steps in a row callers no longer wait.
    private static let patience = 3

    /// Creates a host that does nothing until it serves a step.
    ///
    /// - Parameters:
    ///   - executor: the core queue.
    ///   - hub: where events go.
    ///   - leeway: by how much a step may be late, in milliseconds.
    init(_ executor: CoreExecutor, _ hub: EventHub<LectureEvent>, leeway: Int) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        (self.executor, self.hub, clock) = (executor, hub, SystemClock())
        timer = StepTimer(executor, clock: clock, leeway: leeway)
    }

    /// Wakes the engine soon; for its inbox, from any thread.
    var waking: @Sendable () -> Void { { [timer] in timer.wake() } }

    /// Sets the step to run.
    func serve(_ step: @escaping () -> Void) { timer.serve(step) }

    /// Wakes the engine soon. From any thread.
    func wake() { timer.wake() }

    /// Runs a step, unless the engine has stopped.
    ///
    /// - Parameter body: the step; returns when the next one is due, nil for none until something wakes the engine.
    func step(_ body: () -> BootInstant?) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        guard !isStopped else { return }
        let next = body()
        // The step may have been the last one.
        if !isStopped { timer.schedule(next) }
    }

    // MARK: Failures

    /// A step has written the store.
    func stepSucceeded() { failedSteps = 0 }

    /// Reports a store that cannot be written.
    ///
    /// - Parameter error: why.
    /// - Returns: whether several steps in a row have failed, so that callers should no longer wait. What is finished
    ///   stays, and the next call continues.
    func stepFailed(_ error: LectureError) -> Bool {
        hub.send(.trouble(error))
        failedSteps += 1
        return failedSteps >= Self.patience
    }

    // MARK: Stopping

    /// Stops the engine cleanly.
    ///
    /// - Parameters:
    ///   - continuation: resumed once it has stopped.
    ///   - engine: makes the engine stop.
    func stop(_ continuation: CheckedContinuation<Void, Never>, _ engine: () -> Void) {
        if isStopped { return continuation.resume() }
        stopWaiters.append(continuation)
        engine()
        wake()
    }

    /// The engine has stopped.
    ///
    /// - Parameter answer: answers the callers that still wait; not called a second time.
    func finishStop(_ answer: () -> Void) {
        guard !isStopped else { return }
        isStopped = true
        timer.stop()
        answer()
        for waiter in stopWaiters { waiter.resume() }
        stopWaiters = []
    }
}
