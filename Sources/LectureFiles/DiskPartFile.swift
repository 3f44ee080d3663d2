import Dispatch
import Glibc
package import LectureModel

/// A part file on disk.
///
/// ```
///   made ──open──▶ open ──submit, flush, digest──▶ open ──finalize──▶ finalized
///     │              │ │ a flush finds it whole                         │
///     │              │ └────────▶ finished ──────────┐                  │
///     │              │ a call fails                  │                  │
///     │              ▼                               ▼                  │
///     └──close──▶ (failed) ──close──▶ closed ◀──close───────────────────┘
/// ```
///
/// Everything that blocks runs on two queues of the file: `writes` computes proofs, writes and digests in the order of
/// the calls; `syncs` waits for the disk, so that writing continues meanwhile, and also finalizes and closes the file,
/// so that no sync is running then. A file that finishes by itself has nothing more to write: it does so on `writes`.
/// The digest of a large file has a queue of its own, ``DigestLine``.
/// Only ``submit(_:from:endsObject:)`` blocks its caller.
///
/// `@unchecked Sendable`: `body`, `hasEnded`, `hasFinished` and `isAbandoned` are touched only on `writes`,
/// `isDirectoryDurable` and `hasLostBytes` only on `syncs`; the rest is constant and `Sendable`.
package final class DiskPartFile: PartFile, @unchecked Sendable {
    /// What exists while the file is open.
    private struct Body {
        let plan: PartFilePlan
        let paths: PartFilePaths
        var kept: Kept
        var assembler: ChunkAssembler
        /// The digest; nil where none is to be checked.
        let line: DigestLine?
        /// Whole chunks that are written but not yet handed to a sync, and their length.
        var written: [WrittenChunk] = []
        var writtenBytes: UInt64 = 0
        /// When they began to be collected.
        var groupStart = ContinuousClock.now
        /// Whether chunks were handed to a sync before.
        var hasSynced = false
    }

    /// How the bytes are stored.
    private enum Kept {
        case clear(MediaWriter, ReadableFile)
        case sealed(SealedPart)

        /// The open file; a sealed one may be replaced.
        var file: Descriptor {
            switch self {
            case .clear(let writer, _): writer.file
            case .sealed(let part): part.file
            }
        }

        /// Reads the written bytes, in clear.
        var reader: any ByteSource {
            switch self {
            case .clear(_, let reader): reader
            case .sealed(let part): part.reader
            }
        }

        /// Whether a sealed file could be continued under its header.
        var isClean: Bool {
            switch self {
            case .clear: true
            case .sealed(let part): part.isClean
            }
        }
    }

    /// What a sync needs of the body.
    private struct Target: Sendable {
        let paths: PartFilePaths
        let file: Descriptor
    }

    /// A block on its way to the file.
    private struct Submission {
        let block: Block
        let transfer: TransferID
        let endsObject: Bool
        /// Dropped with the last use of the block.
        let ticket: DiskBudget.Ticket
    }

    /// What arrived before ``open(_:)``: the first bytes of an answer arrive before its length is committed as a plan.
    private struct Early {
        var isOver = false
        /// Known once the file is asked to open.
        var plan: PartFilePlan?
        var blocks: [Submission] = []
        /// A small file is often whole, and asked to flush, before it is opened.
        var wantsFlush = false
    }

    private let early = Guarded(Early())
    private let media: MediaDirectory
    private let digests: any DigestMaker
    private let budget: DiskBudget
    private let account: DiskBudget.Account
    private let notify: @Sendable (PartFileEvent) -> Void
    private let writes: DispatchQueue
    private let syncs: DispatchQueue

    private var body: Body?
    private var hasEnded = false
    private var hasFinished = false
    /// What remains at the end: handed from `writes` to the last task on `syncs`.
    private var last: Group?
    /// A segment was not sealed because the file is about to be closed; the blocks after it would follow a gap.
    private var isAbandoned = false
    private var isDirectoryDurable = false
    private var hasLostBytes = false

    /// Creates a part file that is not open.
    ///
    /// - Parameters:
    ///   - media: the directory of all files.
    ///   - digests: makes proofs and digests.
    ///   - budget: bounds what waits for the disk.
    ///   - receiver: gets the events, on a thread of a queue; must only pass them on.
    init(
        media: MediaDirectory, digests: any DigestMaker, budget: DiskBudget,
        receiver: @escaping @Sendable (PartFileEvent) -> Void
    ) {
        self.media = media
        self.digests = digests
        self.budget = budget
        account = budget.open()
        notify = receiver
        // Without a common target: separate serial queues get a thread each when they have work. On one concurrent
        // queue Dispatch runs only as many as there are cores, even when all of them wait for the disk (32 waits of 50
        // ms on 2 cores: 0.8 s instead of 0.06 s).
        writes = DispatchQueue(label: "lecturekit.files.writes")
        syncs = DispatchQueue(label: "lecturekit.files.syncs")
    }

    deinit { budget.close(account) }

    // MARK: The port

    /// Creates or opens the file on `writes`, and queues the blocks that arrived before.
    package func open(_ plan: PartFilePlan) {
        writes.async { [self] in
            do throws(LectureError) {
                body = try makeBody(plan)
                if body != nil, plan.finish == .whenAsked { notify(.opened) }
            } catch {
                fail(error)
            }
        }
        // Inside the lock, so that no later block overtakes an early one.
        early.withLock { early in
            early.isOver = true
            early.plan = plan
            for waiting in early.blocks { queueWrite(waiting) }
            early.blocks = []
            if early.wantsFlush { queueFlush() }
        }
    }

    /// Begins a proof with the plan that the file is asked to open with.
    package func proof(ofChunkAt offset: UInt64) -> (any RunningDigest)? {
        guard let plan = early.withLock({ $0.plan }), plan.grid.isStart(offset) else { return nil }
        return try? chunkDigests(plan).proof(resource: plan.resource, chunk: plan.grid.chunk(at: offset))
    }

    /// Makes the proofs: a sealed lecture has a key of its own.
    private func chunkDigests(_ plan: PartFilePlan) -> any DigestMaker { plan.seal?.cipher.digests ?? digests }

    /// Queues a block; waits first while the block budget is exhausted.
    package func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool {
        guard budget.enter(account, bytes: block.count) else { return false }
        let submitted = Submission(
            block: block, transfer: transfer, endsObject: endsObject,
            ticket: DiskBudget.Ticket(budget, account, bytes: block.count))
        early.withLock { early in
            if early.isOver { queueWrite(submitted) } else { early.blocks.append(submitted) }
        }
        return true
    }

    private func queueWrite(_ submitted: Submission) {
        writes.async { [self] in
            defer { withExtendedLifetime(submitted.ticket) {} }
            // A block that entered the budget just before `close` may be queued just after it.
            guard isWriting, !hasEnded, !isAbandoned else { return }
            do throws(LectureError) {
                try write(submitted)
                if isSyncDue { syncWritten() }
            } catch {
                fail(error)
            }
        }
    }

    /// Hands the whole chunks that are written to `syncs`.
    package func flush() {
        early.withLock { early in
            if early.isOver { queueFlush() } else { early.wantsFlush = true }
        }
    }

    private func queueFlush() {
        writes.async { [self] in
            do throws(LectureError) {
                if try !finishIfWhole() { syncWritten() }
            } catch {
                fail(error)
            }
        }
    }

    /// Drops a transfer's open chunk, also one that still waits for the file.
    package func abandon(_ transfer: TransferID) {
        early.withLock { $0.blocks.removeAll { $0.transfer == transfer } }
        writes.async { [self] in
            body?.assembler.abandon(transfer)
            if case .sealed(let part) = body?.kept { part.abandon(transfer) }
        }
    }

    /// Finishes the digest that was kept while chunks were written.
    package func digest(total: UInt64) {
        writes.async { [self] in
            guard isWriting else { return }
            do throws(LectureError) {
                if let sha256 = try digestOfWhole(total) { notify(.digested(sha256: sha256)) }
            } catch {
                fail(error)
            }
        }
    }

    /// Finalizes the file on `syncs`, after every running sync.
    package func finalize(total: UInt64) {
        writes.async { [self] in
            guard isWriting, let target else { return }
            let length: UInt64
            do throws(LectureError) { length = try lengthToFinalize(total) } catch { return fail(error) }
            syncs.async { [self] in
                guard !hasLostBytes else { return }
                do throws(LectureError) {
                    try target.paths.finalize(target.file, total: length)
                    notify(.finalized)
                } catch {
                    fail(error)
                }
            }
        }
    }

    /// Ends waiting callers at once; writes, syncs and reports the rest in order.
    package func close(deleting: Bool) {
        // At once, so that callers waiting in `submit` and a running digest end.
        guard budget.beginClosing(account, deleting: deleting) else { return }
        early.withLock { $0 = Early(isOver: true) }
        writes.async { [self] in
            last = takeWritten()
            let isClean = body?.kept.isClean ?? hasFinished
            body?.line?.end()
            body = nil
            hasEnded = true
            syncs.async { [self] in
                finishLast(deleting: deleting)
                notify(.closed(isClean: isClean && !hasLostBytes && budget.stage(account) != .failed))
            }
        }
    }

    // MARK: On `writes`

    /// Whether waiting work is still wanted.
    private var isWriting: Bool {
        switch budget.stage(account) {
        case .open, .closing: true
        case .deleting, .failed: false
        }
    }

    private var target: Target? { body.map { Target(paths: $0.paths, file: $0.kept.file) } }

    /// Nil when the file is about to be closed and was not opened for that.
    private func makeBody(_ plan: PartFilePlan) throws(LectureError) -> Body? {
        guard body == nil else { throw LectureError(.bug, detail: plan.path, cause: "opened twice") }
        let path = try MediaPath(plan.path)
        let assembler = try ChunkAssembler(plan, chunkDigests(plan))
        let bucket: Descriptor
        do throws(SystemError) {
            guard let found = try media.bucket(of: path, creating: true) else {
                throw SystemError(number: ENOENT)
            }
            bucket = found
        } catch {
            throw FileIntent.makeDirectory.error(error, plan.path)
        }
        let paths = PartFilePaths(path: path, bucket: bucket, syncs: media.syncs)
        if let seal = plan.seal {
            let part = try SealedPart.open(plan, seal, paths, media) { [budget, account] in
                budget.stage(account) == .open
            }
            guard let part else { return nil }
            let line = try plan.needsDigest ? makeLine { part.reader } : nil
            return Body(plan: plan, paths: paths, kept: .sealed(part), assembler: assembler, line: line)
        }
        let file = plan.resumes ? try paths.reopen(total: plan.total) : try paths.create()
        do {
            try paths.reserve(file, length: plan.total ?? 0, reserve: plan.reserveBytes, in: media)
        } catch {
            // No half-made file: a new file without space is deleted. Its error matters more than that of the deletion.
            if !plan.resumes { try? paths.deletePart() }
            throw error
        }
        let writer = MediaWriter(file, total: plan.total)
        let reader = ReadableFile(file, plan.path, direct: writer.direct)
        let line = try plan.needsDigest ? makeLine(isBeside: plan.total ?? 0 >= DigestLine.leastBytes) { reader } : nil
        return Body(plan: plan, paths: paths, kept: .clear(writer, reader), assembler: assembler, line: line)
    }

    private func makeLine(
        isBeside: Bool = false, _ reader: @escaping () -> any ByteSource
    ) throws(LectureError) -> DigestLine {
        try DigestLine(digests, isBeside: isBeside, reader: reader) { [weak self] in self?.fail($0) }
    }

    /// The length of the file that gets the final name.
    private func lengthToFinalize(_ total: UInt64) throws(LectureError) -> UInt64 {
        guard case .sealed(let part) = body?.kept else { return total }
        // An empty resource never gets a block.
        if total == 0 { try part.sealNothing() }
        return try SealedFormat.fileLength(total: total)
    }

    private func write(_ submitted: Submission) throws(LectureError) {
        guard var body = self.body else { throw LectureError(.bug, cause: "a block came before the file was opened") }
        // Kept as the only reference while it is changed, so that the collections inside are not copied.
        self.body = nil
        defer { self.body = body }
        let block = submitted.block
        if body.plan.total == nil {
            try PartFilePaths.check(
                free: try media.freeBytes(), needs: UInt64(block.count), reserve: body.plan.reserveBytes,
                body.plan.path)
        }
        switch body.kept {
        case .clear(let writer, let reader):
            var finished: [ChunkAssembler.Finished] = []
            try unsafe block.withStrips { (bytes, offset) throws(LectureError) in
                // The assembler finds a place that overflows.
                let isLast = Int(offset - block.offset) + bytes.count == block.count
                finished += try unsafe body.assembler.take(
                    bytes, at: offset, from: submitted.transfer, endsObject: submitted.endsObject && isLast,
                    of: block)
            }
            try body.line?.willWrite(block, ending: finished.map(\.range), submitted.ticket)
            var output = writer
            do throws(SystemError) {
                try unsafe block.withAllStrips { (strips) throws(SystemError) in
                    try unsafe output.write(strips, at: block.offset)
                }
            } catch {
                throw FileIntent.write.error(error, body.plan.path)
            }
            body.kept = .clear(output, reader)
            for chunk in finished { record(chunk, in: &body) }
            try body.line?.didWrite(finished.map(\.range))
        case .sealed(let part):
            try unsafe block.withSpare(SealedFormat.tagBytes) { (memory) throws(LectureError) in
                let finished = try unsafe body.assembler.take(
                    UnsafeRawBufferPointer(rebasing: memory.dropLast(SealedFormat.tagBytes)), at: block.offset,
                    from: submitted.transfer, endsObject: submitted.endsObject, of: block)
                // While it is still their text.
                try body.line?.willWrite(block, ending: finished.map(\.range), submitted.ticket)
                isAbandoned = try unsafe !part.take(
                    memory, at: block.offset, from: submitted.transfer, endsObject: submitted.endsObject,
                    finished: finished
                ) { (chunk) throws(LectureError) in
                    record(chunk, in: &body)
                    try body.line?.didWrite([chunk.range])
                }
            }
        }
    }

    /// A whole chunk is written.
    private func record(_ chunk: ChunkAssembler.Finished, in body: inout Body) {
        let count = UInt64(chunk.range.count)
        body.written.append(chunk.chunk)
        body.writtenBytes += count
        budget.wrote(count, account)
    }

    // MARK: Finishing by itself

    /// Syncs the file and gives it its final name, if that is planned and the whole of it is written.
    ///
    /// - Returns: false when its chunks are to be synced and reported as usual.
    /// - Throws: ``LectureError``: what a sync or a rename can have. Nothing of it was reported.
    private func finishIfWhole() throws(LectureError) -> Bool {
        guard let body, let total = body.plan.total, body.plan.finish != .whenAsked, !body.hasSynced,
            total > 0, body.written.count == body.plan.grid.count(total: total), isWriting, !isAbandoned
        else { return false }
        var digest: [UInt8]?
        if case .ifDigestIs(let due) = body.plan.finish {
            digest = try digestOfWhole(total)
            guard let digest, digests.equal(due, digest) else { return false }
        }
        // Not reported if this fails: after a failed sync a later one would prove nothing.
        self.body?.written = []
        self.body?.writtenBytes = 0
        defer { budget.settled(body.writtenBytes, account) }
        let length = try lengthToFinalize(total)
        try body.paths.finalize(body.kept.file, total: length)
        self.body = nil
        (hasEnded, hasFinished) = (true, true)
        notify(.finished(body.written, sha256: digest))
        return true
    }

    private func digestOfWhole(_ total: UInt64) throws(LectureError) -> [UInt8]? {
        guard let body else { throw LectureError(.bug, cause: "a digest of a file that is not open") }
        let line: DigestLine
        if let started = body.line { line = started } else { line = try makeLine { body.kept.reader } }
        return try line.finish(total: total) { budget.stage(account) == .open }
    }

    /// Whole chunks on their way to a sync.
    private struct Group: Sendable {
        let target: Target
        let chunks: [WrittenChunk]
        let byteCount: UInt64
    }

    /// Whether enough is written for a sync. While one half of the unsynced allowance is synced, the other half arrives
    /// from the network.
    private var isSyncDue: Bool {
        guard let body, body.writtenBytes >= DiskBudget.groupBytes.slow else { return false }
        return body.writtenBytes >= DiskBudget.groupBytes.fast
            || body.groupStart.duration(to: .now) >= budget.groupTime
    }

    private func syncWritten() {
        guard let group = takeWritten(), !group.chunks.isEmpty else { return }
        syncs.async { [self] in sync(group) }
    }

    private func takeWritten() -> Group? {
        guard let target else { return nil }
        let group = Group(target: target, chunks: body?.written ?? [], byteCount: body?.writtenBytes ?? 0)
        body?.written = []
        body?.writtenBytes = 0
        body?.groupStart = .now
        body?.hasSynced = true
        return group
    }

    // MARK: On `syncs`

    /// Makes the written bytes durable and reports it: first the bytes, then, once, the file name.
    private func sync(_ group: Group) {
        defer { budget.settled(group.byteCount, account) }
        let target = group.target
        // After a failed sync the kernel may mark the lost pages clean; a later success would prove nothing.
        guard !hasLostBytes else { return }
        do {
            try systemCall { fdatasync(target.file.number) }
            if !isDirectoryDurable { try target.paths.bucket.sync() }
            isDirectoryDurable = true
            notify(.flushed(group.chunks))
        } catch {
            hasLostBytes = true
            fail(FileIntent.write.error(error, target.paths.path.text))
        }
    }

    /// The file is closed when this returns: its space is free before that is reported.
    private func finishLast(deleting: Bool) {
        guard let group = last else { return }
        last = nil
        if !deleting {
            if !group.chunks.isEmpty { sync(group) }
            return
        }
        do throws(LectureError) {
            try group.target.paths.deletePart()
        } catch {
            fail(error)
        }
    }

    // MARK: On either

    private func fail(_ error: LectureError) {
        if budget.fail(account) { notify(.failed(error)) }
    }
}
