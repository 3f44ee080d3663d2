import Dispatch
import LectureEngine
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// The timer of the loop: steps that find little wait for each other while servers are far.
@Suite(.timeLimit(.minutes(1))) struct StepTimerTests {
    /// Counts steps on the core queue.
    ///
    /// `@unchecked Sendable`: used on the core queue only.
    private final class Steps: @unchecked Sendable { var count = 0 }

    private static let clock = VirtualClock(
        wall: Timestamp(milliseconds: 1_700_000_000_000), boot: BootInstant(nanoseconds: 5_000_000_000))

    /// How many steps a hundred wakes make, each of which finds the same traffic; and whether one more wake makes one.
    private func steps(exchanges: Int, events: Int) -> (count: Int, isLastOneRun: Bool) {
        let (executor, steps, ran) = (CoreExecutor(), Steps(), DispatchSemaphore(value: 0))
        let timer = StepTimer(executor, clock: Self.clock, leeway: 1)
        let traffic = StepTimer.Traffic(exchanges: exchanges, events: events)
        executor.queue.sync { timer.serve(pacedBy: { traffic }) { steps.count += 1 } }
        for _ in 0..<100 {
            timer.wake()
            executor.queue.sync {}
        }
        let count = executor.queue.sync { steps.count }
        executor.queue.sync { timer.serve(pacedBy: { traffic }) { ran.signal() } }
        timer.wake()
        let isRun = ran.wait(timeout: .now() + 20) == .success
        executor.queue.sync { timer.stop() }
        return (count, isRun)
    }

    @Test func `without many exchanges every wake is a step`() {
        for exchanges in [0, StepPace.manyExchanges - 1] {
            #expect(steps(exchanges: exchanges, events: 1) == (100, true))
        }
    }

    @Test func `steps with many events do not wait`() { #expect(steps(exchanges: 100, events: 1000) == (100, true)) }

    @Test func `steps with few events wait for each other, and none is lost`() {
        let result = steps(exchanges: StepPace.manyExchanges, events: 1)
        #expect(result.count < 50 && result.isLastOneRun)
    }

    @Test func `a timer that was stopped runs no step`() {
        let (executor, steps) = (CoreExecutor(), Steps())
        let timer = StepTimer(executor, clock: Self.clock, leeway: 1)
        executor.queue.sync {
            timer.serve(pacedBy: { nil }) { steps.count += 1 }
            timer.stop()
        }
        timer.wake()
        timer.schedule(BootInstant(nanoseconds: 0))
        executor.queue.sync { #expect(steps.count == 0) }
    }
}
