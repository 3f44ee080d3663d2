import Dispatch
import LectureModel

/// Has an engine's steps run on the core queue: soon when something has come, and when its last step asked for one.
///
/// It breaks the circle between an engine's inbox, which needs somebody to wake, and the room, which needs the engine.
///
/// `@unchecked Sendable`: `step` is set and called on the core queue only; the timer may be used from anywhere.
final class StepTimer: @unchecked Sendable {
    private let executor: CoreExecutor
    private let clock: any LectureClock
    private let leeway: DispatchTimeInterval
    private let timer: any DispatchSourceTimer
    private var step: () -> Void = {}

    /// Makes a timer that does nothing until it serves a room.
    ///
    /// - Parameters:
    ///   - executor: the core queue.
    ///   - clock: measures what is left to wait.
    ///   - leeway: by how much a step may be late, in milliseconds.
    init(_ executor: CoreExecutor, clock: any LectureClock, leeway: Int) {
        (self.executor, self.clock, self.leeway) = (executor, clock, .milliseconds(leeway))
        timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.setEventHandler { [weak self] in self?.step() }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Begins to serve a room. On the core queue.
    func serve(_ step: @escaping () -> Void) { self.step = step }

    /// Has a step run soon. From any thread.
    func wake() { executor.queue.async { [weak self] in self?.step() } }

    /// Has the next step run at the latest at this moment; nil waits for a wake.
    func schedule(_ next: BootInstant?) {
        guard let next else { return timer.schedule(deadline: .distantFuture) }
        let delay = max(.zero, next - clock.boot())
        timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay.milliseconds)), leeway: leeway)
    }

    /// Ends. A step that was asked for before does not run any more.
    func stop() {
        timer.cancel()
        step = {}
    }
}
