import Dispatch
import LectureEngine
import LectureModel

/// Runs the steps of the loop on the core queue: soon after input, and when the last step asked for one.
///
/// `@unchecked Sendable`: `step`, `traffic` and `pace` are used on the core queue only; the timer may be used from
/// anywhere.
final class StepTimer: @unchecked Sendable {
    private let executor: CoreExecutor
    private let clock: any LectureClock
    private let leeway: DispatchTimeInterval
    private let timer: any DispatchSourceTimer
    private var step: () -> Void = {}
    private var traffic: () -> Traffic? = { nil }
    private var pace = StepPace()

    /// What a step finds, for ``StepPace``.
    struct Traffic {
        /// How many exchanges are under way.
        let exchanges: Int
        /// How many events wait.
        let events: Int
    }

    /// Creates a timer that does nothing until it is given a step.
    ///
    /// - Parameters:
    ///   - executor: the core queue.
    ///   - clock: measures the remaining wait.
    ///   - leeway: by how much a step may be late, in milliseconds.
    init(_ executor: CoreExecutor, clock: any LectureClock, leeway: Int) {
        (self.executor, self.clock, self.leeway) = (executor, clock, .milliseconds(leeway))
        timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.setEventHandler { [weak self] in self?.run() }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Sets the step to run. On the core queue.
    ///
    /// - Parameters:
    ///   - traffic: of the service whose steps may wait for each other; nil while it is closed.
    ///   - step: the step.
    func serve(pacedBy traffic: @escaping () -> Traffic?, step: @escaping () -> Void) {
        (self.traffic, self.step) = (traffic, step)
    }

    /// Runs a step soon. From any thread.
    func wake() {
        executor.queue.async { [weak self] in
            guard let self else { return }
            let wait = pace.wait(at: clock.boot(), exchanges: traffic()?.exchanges ?? 0)
            if wait == .zero { return run() }
            timer.schedule(deadline: .now() + .nanoseconds(Int(wait.nanosecondCount)), leeway: .milliseconds(1))
        }
    }

    private func run() {
        pace.began(at: clock.boot(), events: traffic()?.events ?? 0)
        step()
    }

    /// Runs the next step at this moment at the latest; nil waits for a wake.
    func schedule(_ next: BootInstant?) {
        guard let next else { return timer.schedule(deadline: .distantFuture) }
        // Rounded up: a step that came early would find nothing due.
        let delay = max(.zero, next - clock.boot()) + .microseconds(999)
        timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay.milliseconds)), leeway: leeway)
    }

    /// Stops the timer. A pending step does not run any more. On the core queue.
    func stop() {
        timer.cancel()
        step = {}
    }
}
