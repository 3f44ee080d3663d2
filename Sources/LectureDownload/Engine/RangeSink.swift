package import LectureFormats
package import LectureModel

/// Receives one transfer: judges the header before accepting the body, collects the body in blocks of 1 MiB, or of a
/// segment of a sealed file, and hands them to the part file.
///
/// `@unchecked Sendable`: the transport calls the `TransferSink` methods one after the other on one thread, and only
/// they touch `body`; what the engine reads and changes during the transfer is behind the lock `shared`; the rest is
/// immutable.
package final class RangeSink: TransferSink, @unchecked Sendable {
    /// The size and alignment of blocks: writes of 1 MiB cost a third of writes of 16 KiB.
    package static let blockBytes: UInt64 = 1 << 20
    /// A file of at most this many bytes, or of unknown length, is received in blocks that take memory in strips. There
    /// are as many of them as jobs; a larger one is written past the page cache, where whole blocks are cheaper.
    private static let mostInStrips: UInt64 = 8 << 20
    /// How many bytes of memory such a block takes at once.
    private static let stripBytes = 1 << 17
    /// The least number of bytes that is a piece during a transfer.
    package static let leastPiece = 16_384
    /// The largest descriptor.
    package static let documentLimit = 1 << 20

    /// What the engine and the transport's thread share.
    private struct Shared {
        var position: UInt64
        var border: UInt64
        /// Where the block being filled ends; the border cannot move below it.
        var blockEnd: UInt64
        /// Bytes of the body so far.
        var received: Int64 = 0
        /// The block that is being filled, if a chunk starts with it. Bytes are appended under the lock.
        var beginning: Block?
        /// How many bytes of it were taken as pieces.
        var kept = 0
        /// Where it ended when a piece was last asked for.
        var askedAt: UInt64?
        /// How the header came.
        var arrival: Arrival?
    }

    /// How the header came.
    struct Arrival: Sendable, Hashable {
        /// How far the server is; nil when the connection was there already.
        let distance: Duration?
        /// How long the answer took to begin; nil when that is not known.
        let delay: Duration?
    }

    /// What only the transport's thread touches.
    private struct Body {
        var verdict: ResponseVerdict?
        var answer: (status: Int, isHTTP2: Bool)?
        var cause = TransferReport.Cause.none
        var offset: UInt64
        var end: UInt64?
        var total: UInt64?
        var grid: ChunkGrid
        var block: Block?
        var isDocument = false
        var isRefusal = false
        var document: [UInt8] = []
        var hasUnflushed = false
        var isSkipping = false
        var streamStart: UInt64
        /// The end of the last block that was handed over without being marked as the last.
        var heldAt: UInt64?
    }

    /// Names the exchange.
    package let id: TransferID
    /// The stream of the part file: the transfer itself, or the one whose chunk it continues.
    package let stream: TransferID
    /// What was requested of the server.
    package let asked: Expectation
    /// Whether a whole body is accepted although a range was requested; otherwise its head is refused.
    package let acceptsWholeBody: Bool
    /// Where bytes are written; nil while only the source's kind is queried.
    private let part: (any PartFile)?
    private let committed: ChunkSet
    private let learnsGrid: Bool
    private let post: @Sendable (EngineEvent) -> Void
    private let shared: Guarded<Shared>
    private var body: Body

    /// Makes the sink of one transfer.
    ///
    /// - Parameters:
    ///   - id: names the exchange.
    ///   - asked: what the header is checked against.
    ///   - start: the first requested byte.
    ///   - border: the byte after the last one to take; nil for the end of the object.
    ///   - grid: how the object is divided into chunks.
    ///   - learnsGrid: whether the chunk length follows from the object's, which the answer states.
    ///   - committed: chunks to skip when the server can only send the whole.
    ///   - acceptsWholeBody: whether a whole body is accepted although a range was requested.
    ///   - remainder: a partial chunk to continue.
    ///   - part: where bytes are written; nil while only the source's kind is queried.
    ///   - post: takes events; called on the transport's thread.
    package init(
        id: TransferID, asked: Expectation, start: UInt64, border: UInt64?, grid: ChunkGrid, learnsGrid: Bool,
        committed: ChunkSet, acceptsWholeBody: Bool, remainder: ChunkRemainder?, part: (any PartFile)?,
        post: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.id = id
        self.asked = asked
        self.part = part
        self.committed = committed
        self.acceptsWholeBody = acceptsWholeBody
        self.post = post
        stream = remainder?.stream ?? id
        shared = Guarded(Shared(position: start, border: border ?? .max, blockEnd: start))
        self.learnsGrid = learnsGrid
        let grid = learnsGrid ? RangeBook.grid(total: asked.total, isSealed: grid.isSealed) : grid
        shared.withLock { [block = remainder?.block, kept = remainder?.kept ?? 0] shared in
            if let block, grid.isStart(block.offset) { (shared.beginning, shared.kept) = (block, kept) }
        }
        body = Body(
            offset: start, total: asked.total, grid: grid, block: remainder?.block,
            streamStart: grid.start(of: grid.chunk(at: start)))
    }

    // MARK: Called by the engine

    /// The next byte.
    package var position: UInt64 { shared.withLock { $0.position } }

    /// How the header came; nil before it has.
    var arrival: Arrival? { shared.withLock { $0.arrival } }

    /// Bytes of the body received so far.
    package var receivedBytes: Int64 { shared.withLock { $0.received } }

    /// Takes what was received of the current chunk since the last time. Nothing, if it is another chunk than then:
    /// such a transfer will soon have the whole chunk. Nothing below ``leastPiece``, which would cost more rows than it
    /// saves.
    ///
    /// - Parameter grid: how the object is divided into chunks.
    /// - Returns: bytes that follow those taken before.
    package func takePiece(grid: ChunkGrid) -> ChunkPiece? {
        shared.withLock { shared in
            guard let block = shared.beginning else { return nil }
            defer { shared.askedAt = block.end }
            guard shared.askedAt == block.end, block.count >= shared.kept + Self.leastPiece else { return nil }
            let remainder = ChunkRemainder(stream: stream, offset: block.offset, block: block, kept: shared.kept)
            shared.kept = block.count
            return remainder.unkept(grid: grid)
        }
    }

    /// Removes the border: the server sends the whole or nothing, so no other transfer takes over there.
    package func liftBorder() { shared.withLock { $0.border = .max } }

    /// Moves the border down, as far as the block being filled allows.
    ///
    /// - Parameters:
    ///   - border: the byte after the last one to take; the start of a chunk.
    ///   - grid: how the object is divided into chunks.
    /// - Returns: the new border; the start of a chunk, beyond `border` when the transfer was faster.
    package func lower(border: UInt64, grid: ChunkGrid) -> UInt64 {
        shared.withLock { shared in
            let end = shared.blockEnd
            let reached = grid.isStart(end) ? end : grid.start(of: grid.chunk(at: end) + 1)
            shared.border = min(shared.border, max(border, reached))
            return shared.border
        }
    }

    // MARK: Called by the transport

    /// Judges the header and posts the verdict.
    package func headReceived(_ head: ResponseHead) -> Bool {
        var verdict = ResponseJudge.judge(head, asked: asked)
        if case .body(let plan) = verdict, plan.first != body.offset, plan.first == 0, !asked.sentIfRange {
            // Another validator, the same length and a known digest that will decide, but the server sends only the
            // whole.
            verdict = .noRanges(plan)
        }
        body.verdict = verdict
        body.answer = (head.status, head.isHTTP2)
        shared.withLock { $0.arrival = Arrival(distance: head.distance, delay: head.delay) }
        let accepted = accept(verdict)
        if !accepted, body.cause == .none { body.cause = .refusedHead }
        post(.head(id, verdict, status: head.status))
        return accepted
    }

    private func accept(_ verdict: ResponseVerdict) -> Bool {
        switch verdict {
        case .body(let plan):
            guard part != nil, fits(for: plan) else { return false }
            begin(plan)
            return plan.first == body.offset
        case .noRanges(let plan):
            guard part != nil, acceptsWholeBody, fits(for: plan) else { return false }
            // The partial chunk is sent again from its first byte.
            if body.block != nil || stream != id { part?.abandon(stream) }
            dropBlock()
            body.offset = plan.first
            body.streamStart = plan.first
            begin(plan)
            return true
        case .descriptor:
            body.isDocument = true
            return true
        case .renewLease, .refuse:
            // The body of a gateway's refusal may name the reason.
            body.isRefusal = part == nil && GatewayRefusal.mayBeReported(verdict)
            body.isDocument = body.isRefusal
            return body.isRefusal
        case .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .retry:
            return false
        }
    }

    /// Whether the announced length fits, so that a body which cannot be kept is not read.
    private func fits(for plan: BodyPlan) -> Bool {
        guard let total = plan.total, let code = asked.space?.refusal(total) else { return true }
        body.cause = .noSpace(code)
        return false
    }

    private func begin(_ plan: BodyPlan) {
        body.total = plan.total ?? body.total
        // A body without an announced length must not exceed the known length.
        body.end = plan.count.map { plan.first + $0 } ?? body.total
        if learnsGrid { body.grid = RangeBook.grid(total: body.total, isSealed: body.grid.isSealed) }
        shared.withLock { $0.position = body.offset }
    }

    /// Takes bytes of the body.
    package func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if body.isDocument { return unsafe takeDocument(bytes) }
        var rest = unsafe bytes
        while rest.count > 0 {
            guard prepareBlock() else { return false }
            let taken = body.isSkipping ? unsafe skip(rest) : unsafe fill(rest)
            guard taken > 0, finishBlockIfFull() else { return false }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
        }
        return true
    }

    /// Ends the block: its bytes are with the disk, or were given up.
    private func dropBlock() {
        body.block = nil
        shared.withLock { $0.beginning = nil }
    }

    private func takeDocument(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let limit = body.isRefusal ? GatewayRefusal.bodyLimit : Self.documentLimit
        guard body.document.count + bytes.count <= limit else {
            body.cause = body.isRefusal ? .refusedHead : .tooLarge
            return false
        }
        unsafe body.document.append(contentsOf: bytes)
        return true
    }

    /// Makes sure that there is a block to fill or to skip.
    private func prepareBlock() -> Bool {
        if let end = body.end, body.offset >= end {
            body.cause = .tooLong
            return false
        }
        if let limit = asked.maximumBytes, body.offset >= limit {
            body.cause = .tooLarge
            return false
        }
        if body.block != nil { return true }
        let end = Self.blockEnd(after: body.offset, grid: body.grid, limit: body.end)
        let atBorder = shared.withLock { shared in
            if body.offset >= shared.border { return true }
            shared.blockEnd = end
            return false
        }
        if atBorder {
            body.cause = .border
            return false
        }
        body.isSkipping = committed.contains(body.grid.chunk(at: body.offset))
        if body.grid.isStart(body.offset) { body.streamStart = body.offset }
        // A segment of a sealed file is sealed where it is: in one piece of memory, with space for its tag.
        let inStrips = !body.grid.isSealed && body.total ?? 0 <= Self.mostInStrips
        let block = Block(
            offset: body.offset, capacity: body.isSkipping ? 0 : Int(end - body.offset),
            length: Int(end - body.offset), strips: inStrips ? Self.stripBytes : nil,
            spare: body.grid.spareBytes)
        body.block = block
        if !body.isSkipping, body.grid.isStart(body.offset) {
            block.proof = part?.proof(ofChunkAt: body.offset)
            shared.withLock { ($0.beginning, $0.kept) = (block, 0) }
        }
        return true
    }

    /// Where a block ends: on a MiB, or where a segment of a sealed file does, so that none spans two chunks.
    ///
    /// - Parameters:
    ///   - offset: its first byte.
    ///   - grid: how the object is divided into chunks.
    ///   - limit: the end of the body or of the object; nil while unknown.
    /// - Returns: the byte after its last one.
    package static func blockEnd(after offset: UInt64, grid: ChunkGrid, limit: UInt64?) -> UInt64 {
        let blocks = grid.isSealed ? SealedFormat.grid(segments: 1) : ChunkGrid(length: blockBytes)
        let boundary = blocks.start(of: blocks.chunk(at: offset) + 1)
        return min(boundary, limit ?? boundary)
    }

    private func fill(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let block = body.block else { return 0 }
        let taken = shared.withLock { _ in unsafe block.append(bytes) }
        advance(taken)
        return taken
    }

    private func skip(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, Int((body.block?.end ?? body.offset) - body.offset))
        advance(taken)
        return taken
    }

    private func advance(_ count: Int) {
        body.offset += UInt64(count)
        shared.withLock { shared in
            shared.position = body.offset
            shared.received += Int64(count)
        }
    }

    /// Hands the block over when it is full; returns false when the part file accepts no more.
    private func finishBlockIfFull() -> Bool {
        guard let block = body.block, body.offset >= block.end else { return true }
        dropBlock()
        if body.isSkipping { return true }
        return handOver(block, endsObject: body.offset == body.total)
    }

    private func handOver(_ block: Block, endsObject: Bool) -> Bool {
        guard let part else { return false }
        if block.offset == 0, let refusal = refusal(of: block) {
            body.cause = .firstBytes(refusal)
            return false
        }
        // The part file decides how often it syncs during a transfer.
        body.hasUnflushed = true
        guard part.submit(block, from: stream, endsObject: endsObject) else {
            body.cause = .disk
            return false
        }
        body.heldAt = endsObject ? nil : block.end
        return true
    }

    /// Why the first bytes of media cannot belong to a lecture. A known digest decides at the end, and only a page of
    /// unexpected length is refused here, by the rule of ``ResponseJudge``.
    private func refusal(of block: Block) -> FirstBytes.Refusal? {
        let start = block.first(FirstBytes.length)
        if asked.acceptsPlaylist, let type = FirstBytes.playlistType(start) {
            // Before the block can be committed: a playlist is never taken for the lecture itself.
            post(.recognised(id, mediaType: type))
            return nil
        }
        if asked.role.isOfStream { return FirstBytes.streamRefusal(start) }
        guard asked.role == .media, asked.checksFirstBytes, !(asked.digestIsKnown && asked.total != nil) else {
            return nil
        }
        if asked.digestIsKnown {
            return FirstBytes.isPage(start) ? FirstBytes.refusal(start, mediaType: nil) : nil
        }
        return FirstBytes.refusal(start, mediaType: body.verdict?.mediaPlan?.mediaType)
    }

    /// Hands over what is left, and reports.
    package func transferEnded(_ outcome: TransferOutcome) {
        let isWholeAnswer = outcome.end == .complete && (body.end.map { body.offset >= $0 } ?? true)
        if isWholeAnswer, body.total == nil, body.verdict?.mediaPlan != nil { body.total = body.offset }
        let reachedEnd = body.total.map { body.offset >= $0 && body.verdict?.mediaPlan != nil } ?? false
        if reachedEnd, let block = body.block, block.count > 0, !body.isSkipping {
            dropBlock()
            _ = handOver(block, endsObject: true)
        }
        if reachedEnd, body.offset == 0, !asked.mayBeEmpty, asked.checksFirstBytes, !asked.digestIsKnown,
            asked.total != 0,
            let refusal = FirstBytes.refusal([], mediaType: nil)
        {
            body.cause = .firstBytes(refusal)
        }
        if reachedEnd, body.grid.isSealed, body.heldAt == body.offset {
            // The last segment is held back until the next byte, or until the end is known.
            _ = handOver(Block(offset: body.offset, capacity: 0), endsObject: true)
        }
        var handedOver = reachedEnd ? body.offset : body.grid.start(of: body.grid.chunk(at: body.offset))
        if body.cause == .disk { handedOver = min(handedOver, body.streamStart) }
        let remainder = remainder(reachedEnd: reachedEnd)
        dropBlock()
        post(
            .ended(
                id,
                TransferReport(
                    outcome: outcome, verdict: body.verdict, status: body.answer?.status, cause: body.cause,
                    position: body.offset, handedOver: handedOver, reachedEnd: reachedEnd,
                    isHTTP2: body.answer?.isHTTP2 ?? false, document: body.isDocument ? body.document : nil,
                    remainder: remainder)))
        // After the report: what the flush brings finds a transfer that has ended.
        if body.hasUnflushed { part?.flush() }
    }

    /// The partial chunk, if there is one.
    private func remainder(reachedEnd: Bool) -> ChunkRemainder? {
        guard part != nil, !reachedEnd, !body.isSkipping, body.cause != .disk,
            body.verdict?.mediaPlan != nil || stream != id, !body.grid.isStart(body.offset)
        else { return nil }
        let kept = shared.withLock { $0.kept }
        return ChunkRemainder(stream: stream, offset: body.offset, block: body.block, kept: kept)
    }
}
