import LectureDownload
import LectureFormats
import LectureModel

/// Collects the bytes of one or several exchanges, in order, cuts them into blocks, and passes the blocks to one
/// reader.
///
/// Bounded: when ``StreamAhead/waiting`` blocks wait, there is no space, and the connection is not read.
final class BlockCollector: Sendable {
    /// What the reader gets.
    enum Piece: Sendable {
        /// The next block, whole.
        case block(Int, [UInt8])
        /// The exchange is over and no whole block is left.
        case ended(Ending)
    }

    /// How an exchange ended.
    struct Ending: Sendable {
        /// The verdict on its head; nil without one.
        var verdict: ResponseVerdict?
        var outcome: TransferOutcome
        /// Bytes of the media received in it.
        var gained: UInt64
    }

    private struct State {
        var position: UInt64
        var index: Int
        var partial: [UInt8] = []
        var ready: [(Int, [UInt8])] = []
        var gained: UInt64 = 0
        var ending: Ending?
        var waiter: CheckedContinuation<Piece, Never>?
    }

    /// The blocks to collect.
    let range: Range<Int>
    private let blocks: StreamBlocks
    private let state: Guarded<State>

    /// Starts before the first block of a range.
    init(_ range: Range<Int>, of blocks: StreamBlocks) {
        (self.range, self.blocks) = (range, blocks)
        state = Guarded(State(position: blocks.range(of: range.lowerBound).lowerBound, index: range.lowerBound))
    }

    /// The next expected byte.
    var position: UInt64 { state.withLock { $0.position } }

    /// The block that the reader gets next.
    var next: Int { state.withLock { $0.ready.first?.0 ?? $0.index } }

    /// Where the last block ends.
    var end: UInt64 { blocks.range(of: range.upperBound - 1).upperBound }

    // MARK: For the reader

    /// The next piece; one reader at a time.
    func piece() async -> Piece {
        await withCheckedContinuation { continuation in
            let piece: Piece? = state.withLock { state in
                if let piece = Self.take(&state) { return piece }
                state.waiter = continuation
                return nil
            }
            if let piece { continuation.resume(returning: piece) }
        }
    }

    private static func take(_ state: inout State) -> Piece? {
        if !state.ready.isEmpty {
            let (index, bytes) = state.ready.removeFirst()
            return .block(index, bytes)
        }
        defer { state.ending = nil }
        return state.ending.map { .ended($0) }
    }

    // MARK: For the exchange

    /// Whether there is space for more.
    var canAccept: Bool { state.withLock { $0.ready.count < StreamAhead.waiting } }

    /// Starts an exchange at ``position``.
    func begin() { state.withLock { $0.gained = 0 } }

    /// Adds bytes.
    ///
    /// - Returns: false when there is nothing more to collect.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (continues, waiter, piece) = state.withLock { state in
            var taken = 0
            while taken < bytes.count, state.index < range.upperBound {
                let due = blocks.range(of: state.index)
                if state.partial.isEmpty { state.partial.reserveCapacity(due.count) }
                let end = min(bytes.count, taken + due.count - state.partial.count)
                unsafe state.partial.append(contentsOf: bytes[taken..<end])
                state.position += UInt64(end - taken)
                state.gained += UInt64(end - taken)
                taken = end
                if state.partial.count == due.count {
                    state.ready.append((state.index, state.partial))
                    state.partial = []
                    state.index += 1
                }
            }
            let (waiter, piece) = Self.answer(&state)
            return (state.index < range.upperBound, waiter, piece)
        }
        if let piece { waiter?.resume(returning: piece) }
        return continues
    }

    /// Ends the exchange.
    func end(_ verdict: ResponseVerdict?, _ outcome: TransferOutcome) {
        let (waiter, piece) = state.withLock { state in
            state.ending = Ending(verdict: verdict, outcome: outcome, gained: state.gained)
            return Self.answer(&state)
        }
        if let piece { waiter?.resume(returning: piece) }
    }

    /// The waiting reader and its piece; nil without a reader or a piece.
    private static func answer(_ state: inout State) -> (CheckedContinuation<Piece, Never>?, Piece?) {
        guard let waiter = state.waiter, let piece = take(&state) else { return (nil, nil) }
        state.waiter = nil
        return (waiter, piece)
    }
}

/// One exchange for a collector: its head is judged before the first byte is taken.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread. The exception,
/// ``canAccept``, asks the collector, which locks.
final class BlockSink: TransferSink, @unchecked Sendable {
    private let collector: BlockCollector
    private let expectation: Expectation
    private let first: UInt64
    private let needsProof: Bool
    private var verdict: ResponseVerdict?

    /// Creates a sink for one request.
    ///
    /// - Parameters:
    ///   - collector: where bytes go.
    ///   - expectation: what was requested.
    ///   - needsProof: whether the bytes are combined with those of other answers.
    init(_ collector: BlockCollector, _ expectation: Expectation, needsProof: Bool) {
        (self.collector, self.expectation, self.needsProof) = (collector, expectation, needsProof)
        first = collector.position
        collector.begin()
    }

    var canAccept: Bool { collector.canAccept }

    func headReceived(_ head: ResponseHead) -> Bool {
        var judged = ResponseJudge.judge(head, asked: expectation)
        // A part requested with If-Range proves its version (RFC 9110 section 15.3.7); a whole does not.
        if needsProof, head.status == 200, case .body(let plan) = judged, let known = expectation.validator,
            known.agrees(with: plan.validator) != .same
        {
            judged = .changed(plan, .validator)
        }
        verdict = judged
        // Bytes at another offset than requested are not searched; the caller decides what to do.
        guard case .body(let plan) = judged else { return false }
        return plan.first == first
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe collector.take(bytes) }

    func transferEnded(_ outcome: TransferOutcome) { collector.end(verdict, outcome) }
}
