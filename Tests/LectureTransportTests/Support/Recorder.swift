import LectureFormats
import LectureModel
import LectureTransport

/// A sink that records its calls and lets tests wait for them.
final class Recorder: TransferSink {
    private struct State {
        var heads: [ResponseHead] = []
        var body: [UInt8] = []
        var outcome: TransferOutcome?
        /// Calls that break the contract: bytes before a head, anything after the end.
        var breaches: [String] = []
        var endWaiters: [CheckedContinuation<TransferOutcome, Never>] = []
        var byteWaiters: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())
    private let takesHead: @Sendable (ResponseHead) -> Bool
    private let takesBody: @Sendable (Int) -> Bool

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - takesHead: the answer to the head; accepts every one when left out.
    ///   - takesBody: the answer to bytes, given how many were received so far; accepts all when left out.
    init(
        takesHead: @escaping @Sendable (ResponseHead) -> Bool = { _ in true },
        takesBody: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) {
        self.takesHead = takesHead
        self.takesBody = takesBody
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            if state.outcome != nil { state.breaches.append("head after end") }
            state.heads.append(head)
        }
        return takesHead(head)
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (count, due) = state.withLock { state in
            if state.heads.isEmpty { state.breaches.append("body before head") }
            if state.outcome != nil { state.breaches.append("body after end") }
            if bytes.count > 16_384 { state.breaches.append("\(bytes.count) bytes at once") }
            unsafe state.body.append(contentsOf: bytes)
            let count = state.body.count
            let due = state.byteWaiters.filter { $0.0 <= count }
            state.byteWaiters.removeAll { $0.0 <= count }
            return (count, due)
        }
        for waiter in due { waiter.1.resume() }
        return takesBody(count)
    }

    func transferEnded(_ outcome: TransferOutcome) {
        let (ends, bytes) = state.withLock { state in
            if state.outcome != nil { state.breaches.append("ended twice") }
            state.outcome = outcome
            defer { (state.endWaiters, state.byteWaiters) = ([], []) }
            return (state.endWaiters, state.byteWaiters)
        }
        for waiter in ends { waiter.resume(returning: outcome) }
        for waiter in bytes { waiter.1.resume() }
    }

    /// The head, once there is one.
    var head: ResponseHead? { state.withLock { $0.heads.first } }
    /// How many heads were received.
    var headCount: Int { state.withLock { $0.heads.count } }
    /// The body so far.
    var body: [UInt8] { state.withLock { $0.body } }
    /// The body so far as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// How it ended, if it has.
    var ended: TransferOutcome? { state.withLock { $0.outcome } }
    /// Violations of the port's contract.
    var breaches: [String] { state.withLock { $0.breaches } }

    /// Waits for the end.
    func outcome() async -> TransferOutcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.endWaiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Waits until so many bytes of body were received, or for the end.
    func bytes(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.outcome != nil || state.body.count >= count { return true }
                state.byteWaiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
