import Glibc
import LectureFormats
import LectureModel

extension UnsafeMutableRawPointer {
    /// Sets so many bytes to zero.
    func zero(_ count: Int) { unsafe memset(self, 0, count) }
}

/// Whether two ranges have the same bytes.
func isSame(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    unsafe memcmp(left, right, count) == 0
}

/// A part file on the memory disk. Calls are executed in order, a little later; bytes that break the contract
/// of `PartFile` are a finding.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class MemoryPartFile: PartFile, @unchecked Sendable {
    private struct Stream {
        var chunk: Int
        var next: UInt64
        var end: UInt64
        var proof: any RunningDigest
    }

    private let disk: MemoryDisk
    private let program: Int
    private let receiver: @Sendable (PartFileEvent) -> Void
    private var plan: PartFilePlan?
    private var node: MemoryDisk.Node?
    private var holdsPath = false
    private var early: [(what: String, work: () -> Void)] = []
    private var wasOpened = false
    private var isClosing = false
    private var isDeleting = false
    private var hasFailed = false
    private var isFinalized = false
    /// Whether it is finishing by itself, or has finished.
    private var finishes = false
    private var hasSynced = false
    private var areNamesDurable = false
    private var streams: [TransferID: Stream] = [:]
    private var finished: [WrittenChunk] = []
    /// Bytes of whole chunks received since the last sync.
    private var unsynced: UInt64 = 0
    private var lastAt: Int64 = 0
    /// Chunks of a sealed file that were committed at its opening or completed since.
    private var whole: Set<Int> = []
    /// Chunks completed by the current block.
    private var ending: [(chunk: Int, place: Range<UInt64>, isLast: Bool)] = []
    private var isEndKnown = false

    init(disk: MemoryDisk, program: Int, receiver: @escaping @Sendable (PartFileEvent) -> Void) {
        self.disk = disk
        self.program = program
        self.receiver = receiver
    }

    private var world: VirtualWorld { disk.world }

    /// Executes an operation after everything that was requested before.
    private func queue(_ what: @autoclosure @escaping () -> String, _ work: @escaping () -> Void) {
        let longest = Int(disk.world.diskDelay.nanosecondCount)
        let at = max(lastAt, world.boot + Int64(world.some(0...longest)))
        lastAt = at
        world.after(.nanoseconds(at - world.boot), program: program, what(), work)
    }

    private func notify(_ what: @autoclosure @escaping () -> String, _ event: PartFileEvent) {
        world.after(.zero, program: program, "hears: \(what())") { [receiver] in receiver(event) }
    }

    private func fail(_ error: LectureError) {
        guard !hasFailed else { return }
        hasFailed = true
        if error.code == .bug { world.found("a part file was used against its contract: \(error.cause)") }
        notify("the file failed, \(error)", .failed(error))
    }

    // MARK: The port

    func open(_ plan: PartFilePlan) {
        guard !isClosing else { return }
        queue("opens \(plan.path), \(plan.resumes ? "going on" : "new"), \(plan.total.map(String.init) ?? "?") bytes") {
            [self] in carryOutOpen(plan)
        }
        wasOpened = true
        for waiting in early { queue(waiting.what, waiting.work) }
        early = []
    }

    private func carryOutOpen(_ plan: PartFilePlan) {
        if let holder = disk.openPaths[plan.path] { world.found("\(plan.path) was opened twice, by \(holder) before") }
        disk.openPaths[plan.path] = program
        holdsPath = true
        self.plan = plan
        if let error = disk.openFailure ?? disk.fault(.open, plan.path) { return fail(error) }
        let part = plan.path + MemoryDisk.suffix
        if plan.resumes {
            // After a crash behind the rename the file is taken back from its final name.
            if disk.node(plan.path) != nil, disk.node(part) == nil { disk.rename(plan.path, to: part) }
            guard let found = disk.node(part), found.bytes.count >= Int(plan.total ?? 0) else {
                return fail(LectureError(.damaged))
            }
            node = found
            whole = Set(plan.seal?.committed ?? [])
            if let seal = plan.seal { takeUp(found, seal, plan.path) }
        } else {
            // Nothing is committed: the file under the final name was left by a crash.
            if disk.node(plan.path) != nil { disk.remove(plan.path) }
            let made = disk.node(part) ?? MemoryDisk.Node([])
            if disk.node(part) == nil { disk.make(part, made) }
            made.bytes = blankBytes(Int(plan.total ?? 0))
            made.dirty = []
            node = made
            if plan.seal != nil { disk.renew(made) { _ in false } }
        }
        if plan.finish == .whenAsked { notify("the file is open", .opened) }
    }

    func proof(ofChunkAt offset: UInt64) -> (any RunningDigest)? { nil }

    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool {
        guard !isClosing, !hasFailed, world.isAlive(program) else { return false }
        let what = { "writes \(block.offset)+\(block.count) of transfer \(transfer.value)" }
        let work = { [self] in write(block, from: transfer, endsObject: endsObject) }
        if wasOpened { queue(what(), work) } else { early.append((what(), work)) }
        return true
    }

    func flush() {
        guard !isClosing else { return }
        if wasOpened { queue("syncs") { [self] in sync() } } else { early.append(("syncs", { [self] in sync() })) }
    }

    func abandon(_ transfer: TransferID) {
        let work = { [self] in streams[transfer] = nil }
        if wasOpened { queue("", work) } else { early.append(("", work)) }
    }

    func digest(total: UInt64) {
        guard !isClosing else { return }
        queue("computes the digest") { [self] in
            guard !hasFailed, !isClosing, let node, let running = try? disk.digests.sha256() else { return }
            unsafe node.bytes.withUnsafeBytes { bytes in
                unsafe running.update(UnsafeRawBufferPointer(rebasing: bytes[..<Int(total)]))
            }
            if let sha256 = try? running.finish() { notify("the digest", .digested(sha256: sha256)) }
        }
    }

    /// The steps are separate actions, so that a crash can come between them.
    func finalize(total: UInt64) {
        guard !isClosing else { return }
        finalize(total: total) { [self] in notify("the file stands", .finalized) }
    }

    private func finalize(total: UInt64, _ report: @escaping () -> Void) {
        queue("syncs before its final name") { [self] in
            guard !hasFailed, !isDeleting, let node else { return }
            if let error = disk.fault(.sync, plan?.path ?? "") { return failSync(error) }
            node.cut(to: Int(total))
            node.dirty = []
        }
        queue("gives it its final name") { [self] in
            guard !hasFailed, !isDeleting, let plan, let node else { return }
            if let error = disk.fault(.place, plan.path) { return fail(error) }
            guard node.bytes.count >= Int(total) else { return fail(LectureError(.damaged)) }
            guard disk.node(plan.path) == nil else { return fail(LectureError(.writeFile, detail: plan.path)) }
            disk.rename(plan.path + MemoryDisk.suffix, to: plan.path)
        }
        queue("makes its final name durable") { [self] in
            guard !hasFailed, !isDeleting, let plan, disk.node(plan.path) === node else { return }
            disk.syncNames(of: plan.path)
            isFinalized = true
            report()
        }
    }

    /// Begins to finish the file, if that is planned and the whole of it is written.
    private func finishesIfWhole() -> Bool {
        guard let plan, let total = plan.total, total > 0, plan.finish != .whenAsked, !hasSynced, !finishes,
            finished.count == plan.grid.count(total: total)
        else { return finishes }
        var digest: [UInt8]?
        if case .ifDigestIs(let due) = plan.finish, let node, let running = try? disk.digests.sha256() {
            unsafe node.bytes.withUnsafeBytes { unsafe running.update($0) }
            digest = try? running.finish()
            if digest != due { return false }
        }
        let chunks = finished
        (finishes, finished) = (true, [])
        finalize(total: total) { [self] in
            if holdsPath { disk.openPaths[plan.path] = nil }
            holdsPath = false
            notify("the file has finished", .finished(chunks, sha256: digest))
        }
        return true
    }

    func close(deleting: Bool) {
        guard !isClosing else { return }
        isClosing = true
        isDeleting = deleting
        early = []
        queue(deleting ? "closes and deletes" : "closes") { [self] in
            if !deleting { sync() }
            if let plan {
                if holdsPath { disk.openPaths[plan.path] = nil }
                if deleting, node != nil {
                    disk.remove(plan.path + MemoryDisk.suffix)
                    disk.syncNames(of: plan.path)
                }
            }
            notify("the file is closed", .closed(isClean: !hasFailed && !hasStrays))
        }
    }

    // MARK: Work

    private func write(_ block: Block, from transfer: TransferID, endsObject: Bool) {
        guard !hasFailed, !isDeleting, let plan, let node else { return }
        if let error = disk.writeFailure ?? disk.fault(.write, plan.path) { return fail(error) }
        unsafe block.withBytes { bytes in
            let end = block.offset + UInt64(bytes.count)
            if let total = plan.total, end > total { return fail(LectureError(.bug, cause: "bytes past the end")) }
            guard unsafe prove(bytes, at: block.offset, from: transfer, endsObject: endsObject, plan) else { return }
            unsafe node.write(bytes, at: Int(block.offset))
            for (chunk, place, isLast) in ending { seal(chunk, place, isLast: isLast, node) }
            ending = []
        }
    }

    // MARK: The nonce invariant

    /// A file whose header is used again has nothing sealed under it but committed chunks.
    private func takeUp(_ node: MemoryDisk.Node, _ seal: SealPlan, _ path: String) {
        let strays = node.sealed.keys.filter { !whole.contains($0) }
        guard seal.isClean else { return disk.renew(node, keeping: whole.contains) }
        disk.headersUsedOn += 1
        if !strays.isEmpty { world.found("\(path) was called clean, and chunks \(strays) were sealed besides") }
    }

    /// The adapter's handling of a whole segment: nothing for the same bytes, a new header for other ones.
    private func seal(_ chunk: Int, _ place: Range<UInt64>, isLast: Bool, _ node: MemoryDisk.Node) {
        guard plan?.seal != nil else { return }
        whole.insert(chunk)
        let bytes = Array(node.bytes[Int(place.lowerBound)..<Int(place.upperBound)])
        let fresh = MemoryDisk.Sealed(bytes: bytes, isLast: isLast)
        if let before = node.sealed[chunk], before != fresh { disk.renew(node) { $0 != chunk } }
        node.sealed[chunk] = fresh
    }

    private var hasStrays: Bool { node?.sealed.keys.contains { !whole.contains($0) } ?? false }

    /// Returns whether the bytes keep the contract.
    private func prove(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, from transfer: TransferID, endsObject: Bool,
        _ plan: PartFilePlan
    ) -> Bool {
        var position = offset
        let end = offset + UInt64(bytes.count)
        while position < end {
            if let held = streams[transfer], held.next == held.end { finish(transfer, isLast: false) }
            guard var stream = streams[transfer] ?? begin(at: position, plan) else { return false }
            guard stream.next == position else {
                fail(LectureError(.bug, cause: "bytes at \(position) out of order"))
                return false
            }
            let stop = min(end, stream.end)
            let piece = Int(position - offset)..<Int(stop - offset)
            unsafe stream.proof.update(UnsafeRawBufferPointer(rebasing: bytes[piece]))
            stream.next = stop
            position = stop
            streams[transfer] = stream
            // A segment is sealed once it is known whether it is the last.
            if stop == stream.end, plan.seal == nil || plan.total != nil || isEndKnown {
                finish(transfer, isLast: stop == plan.total)
            }
        }
        if endsObject, streams[transfer] != nil {
            if plan.total != nil {
                fail(LectureError(.bug, cause: "the object ended early"))
                return false
            }
            isEndKnown = true
            finish(transfer, isLast: true)
        }
        return true
    }

    private func begin(at position: UInt64, _ plan: PartFilePlan) -> Stream? {
        let chunk = plan.grid.chunk(at: position)
        let digests = plan.seal?.cipher.digests ?? disk.digests
        guard plan.grid.isStart(position), let proof = try? digests.proof(resource: plan.resource, chunk: chunk) else {
            fail(LectureError(.bug, cause: "bytes at \(position) begin inside a chunk"))
            return nil
        }
        let end = plan.grid.range(of: chunk, total: plan.total).upperBound
        return Stream(chunk: chunk, next: position, end: end, proof: proof)
    }

    private func finish(_ transfer: TransferID, isLast: Bool) {
        guard let plan, let stream = streams.removeValue(forKey: transfer), let proof = try? stream.proof.finish()
        else {
            return
        }
        ending.append((stream.chunk, plan.grid.start(of: stream.chunk)..<stream.next, isLast))
        finished.append(WrittenChunk(index: stream.chunk, proof: proof))
        unsynced += stream.end - plan.grid.start(of: stream.chunk)
        guard unsynced >= disk.syncsAfter else { return }
        unsynced = 0
        queue("syncs by itself") { [self] in sync() }
    }

    private func sync() {
        guard !hasFailed, !isDeleting, let plan, let node, !finished.isEmpty else { return }
        if finishesIfWhole() { return }
        if let error = disk.fault(.sync, plan.path) { return failSync(error) }
        node.dirty = []
        hasSynced = true
        if !areNamesDurable { disk.syncNames(of: plan.path) }
        areNamesDurable = true
        let chunks = finished
        notify("durable: \(chunks.map(\.index))", .flushed(chunks))
        finished = []
    }

    /// After a failed sync the kernel may mark the lost pages clean: they are gone, without an error.
    private func failSync(_ error: LectureError) {
        if let node {
            for range in node.dirty { disk.lose(some: range, of: node) }
            node.dirty = []
        }
        fail(error)
    }
}
