import Dispatch
import LectureFormats
import LectureModel

/// The timers of a daemon: one for what is due next, one for the watchdog of its service manager.
///
/// `@unchecked Sendable`: the sources are set up once, and scheduling and cancelling them is safe from any thread.
final class DaemonTimers: @unchecked Sendable {
    private let alarm: any DispatchSourceTimer
    private var beat: (any DispatchSourceTimer)?

    /// Creates timers that do not run yet.
    ///
    /// - Parameters:
    ///   - interval: between two beats; nil for none.
    ///   - rang: the moment of ``ring(at:now:)`` has come.
    ///   - beaten: a beat is due.
    init(
        beatingEvery interval: Duration?, rang: @escaping @Sendable () -> Void, beaten: @escaping @Sendable () -> Void
    ) {
        let queue = DispatchQueue(label: "lecturectl.daemon")
        alarm = DispatchSource.makeTimerSource(queue: queue)
        alarm.schedule(wallDeadline: .distantFuture)
        alarm.setEventHandler(handler: rang)
        alarm.activate()
        guard let interval else { return }
        let beat = DispatchSource.makeTimerSource(queue: queue)
        let pause = DispatchTimeInterval.nanoseconds(Int(clamping: interval.nanosecondCount))
        beat.schedule(deadline: .now(), repeating: pause, leeway: .milliseconds(10))
        beat.setEventHandler(handler: beaten)
        beat.activate()
        self.beat = beat
    }

    deinit {
        alarm.cancel()
        beat?.cancel()
    }

    /// Sets the moment, instead of a former one. By the wall clock, so that a machine that was suspended is in time.
    ///
    /// - Parameters:
    ///   - moment: nil for none.
    ///   - now: the wall clock.
    func ring(at moment: Timestamp?, now: Timestamp) {
        guard let moment else { return alarm.schedule(wallDeadline: .distantFuture) }
        let milliseconds = Int(clamping: max(.zero, moment - now).milliseconds + 1)
        alarm.schedule(wallDeadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(500))
    }
}
