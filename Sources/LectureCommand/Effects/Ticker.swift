import Dispatch
import LectureFormats

/// Ticks and signals in one stream, for commands that poll the store.
package final class Ticker: Sendable {
    /// What it reports.
    package enum Event: Sendable {
        /// Time has passed.
        case tick
        /// The process received a signal.
        case signal(SignalEvent)
    }

    /// Ticks and signals, in order.
    package let events: AsyncStream<Event>

    /// Starts to tick.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks; a year and more means never. Ticks that are not consumed do not pile
    ///     up.
    ///   - signals: the process's signals; the ticker retains the watcher.
    package init(every interval: Duration, signals: SignalWatcher?) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(16))
        self.events = events
        guard interval < .seconds(365 * 86_400) else {
            // Only signals: no timer wakes the process.
            let forwarding = Self.forward(signals, to: continuation)
            continuation.onTermination = { _ in forwarding.cancel() }
            return
        }
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecturectl.ticker"))
        let nanoseconds = Int(clamping: interval.nanosecondCount)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds))
        timer.setEventHandler { continuation.yield(.tick) }
        timer.activate()
        let forwarding = Self.forward(signals, to: continuation)
        // `nonisolated(unsafe)`: `timer` is only cancelled here, and cancelling is safe from any thread.
        nonisolated(unsafe) let source = timer
        continuation.onTermination = { _ in
            unsafe source.cancel()
            forwarding.cancel()
        }
    }

    private static func forward(
        _ signals: SignalWatcher?, to continuation: AsyncStream<Event>.Continuation
    ) -> Task<Void, Never> {
        Task {
            guard let signals else { return }
            for await signal in signals.events { continuation.yield(.signal(signal)) }
        }
    }
}
