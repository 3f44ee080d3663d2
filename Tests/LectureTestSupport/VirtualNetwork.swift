package import LectureModel

/// What a server sends.
package struct VirtualAnswer: Sendable {
    /// Status, header fields and body; nil for none.
    package var response: (status: Int, headers: [(String, String)], body: [UInt8])?
    /// How the transfer ends after it.
    package var end = TransferOutcome.End.complete

    /// A response.
    ///
    /// - Parameters:
    ///   - status: its status.
    ///   - headers: its header fields; where `Location` leads is taken as absolute.
    ///   - body: its body.
    ///   - end: how the transfer ends after it.
    package init(
        _ status: Int, _ headers: [(String, String)] = [], _ body: [UInt8] = [],
        end: TransferOutcome.End = .complete
    ) { (response, self.end) = ((status, headers, body), end) }

    /// No response.
    ///
    /// - Parameters:
    ///   - curl: the result of libcurl.
    ///   - detail: the transport's detail.
    package init(failure curl: Int, _ detail: String) { end = .failed(curl: curl, detail: detail) }

    /// Sends everything to a sink.
    fileprivate func deliver(to sink: any TransferSink, receivedAt: Timestamp, elapsed: Duration) {
        var end = end
        if let (status, headers, body) = response {
            let fields = HeaderFields(headers.map { HeaderField(name: $0.0, value: $0.1) })
            _ = sink.headReceived(
                ResponseHead(status: status, fields: fields, redirectURL: fields["Location"], receivedAt: receivedAt))
            var rest = body[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(16_384))
                rest = rest.dropFirst(16_384)
                guard unsafe part.withUnsafeBytes({ unsafe sink.bodyReceived($0) }) else {
                    end = .stopped
                    break
                }
            }
        }
        sink.transferEnded(TransferOutcome(end: end, bodyBytes: 0, elapsed: elapsed))
    }
}

/// The answers on their way from servers to programs, in virtual time.
package final class VirtualNetwork: Sendable {
    private struct Pending {
        let id: TransferID
        let sink: any TransferSink
        let answer: VirtualAnswer
        /// When the answer arrives, as the wall clock showed it at the request.
        let received: Timestamp
        let elapsed: Duration
    }

    private struct State {
        var pending = TimedQueue<Pending>()
        var running = 0
        var mostRunning = 0
        var cancelled = 0
    }

    private let state = Guarded(State())
    private let clock: VirtualClock

    /// Creates a network without requests.
    ///
    /// - Parameter clock: what advances as answers arrive.
    package init(clock: VirtualClock) { self.clock = clock }

    /// When the next answer arrives.
    package var nextDue: BootInstant? { state.withLock { $0.pending.next } }
    /// The most requests that were on their way at once.
    package var mostRunning: Int { state.withLock { $0.mostRunning } }
    /// How many requests were cancelled.
    package var cancelled: Int { state.withLock { $0.cancelled } }

    /// Sends an answer.
    ///
    /// - Parameters:
    ///   - answer: what is sent.
    ///   - request: whose answer it is.
    ///   - delay: when all of it arrives.
    package func send(_ answer: VirtualAnswer, to request: TransferRequest, after delay: Duration) {
        let pending = Pending(
            id: request.id, sink: request.sink, answer: answer, received: clock.now() + delay, elapsed: delay)
        state.withLock { state in
            state.pending.add(pending, at: clock.boot() + delay)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
    }

    /// Delivers the answers that have arrived.
    package func deliver() {
        let now = clock.boot()
        let due = state.withLock { state in
            var due: [Pending] = []
            while let (_, pending) = state.pending.popFirst(until: now) { due.append(pending) }
            state.running -= due.count
            return due
        }
        for pending in due {
            pending.answer.deliver(to: pending.sink, receivedAt: pending.received, elapsed: pending.elapsed)
        }
    }

    /// Ends a request without its answer.
    package func cancel(_ id: TransferID) {
        let removed = state.withLock { state in
            let removed = state.pending.removeAll { $0.id == id }
            state.running -= removed.count
            state.cancelled += removed.count
            return removed
        }
        for pending in removed {
            pending.sink.transferEnded(TransferOutcome(end: .cancelled, bodyBytes: 0, elapsed: .zero))
        }
    }

    /// The asking program is dead: its answers are lost.
    package func hangUp() {
        state.withLock { state in
            state.pending.removeAll { _ in true }
            state.running = 0
        }
    }

    // MARK: Time

    /// How a run ended.
    package enum End: Sendable {
        /// The condition is true.
        case reached
        /// Nothing more happens within the time.
        case idle
        /// The programs take steps without any work: they would burn a processor.
        case spinning
    }

    /// Steps programs and advances time until a condition is true.
    ///
    /// - Parameters:
    ///   - limit: how much time may pass.
    ///   - step: steps every program; returns when the next step is due, and whether one is due at once.
    ///   - isOver: when to stop.
    /// - Returns: how it ended.
    package func run(
        for limit: Duration, step: () -> (next: BootInstant?, isDue: Bool), until isOver: () throws -> Bool
    ) rethrows -> End {
        let end = clock.boot() + limit
        var idle = 0
        while true {
            let (next, isDue) = step()
            if try isOver() { return .reached }
            if isDue { continue }
            guard let moment = [next, nextDue].compactMap(\.self).min(), moment <= end else { return .idle }
            idle = moment > clock.boot() ? 0 : idle + 1
            if idle > 50 { return .spinning }
            clock.advance(to: moment)
            deliver()
        }
    }
}
