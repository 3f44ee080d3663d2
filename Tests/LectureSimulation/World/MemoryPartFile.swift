import LectureModel

/// A part file on the memory disk. Calls are carried out in their order, a little later; bytes that break the contract
/// of `PartFile` are a finding.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class MemoryPartFile: PartFile, @unchecked Sendable {
    private struct Lane {
        var chunk: Int
        var next: UInt64
        var end: UInt64
        var proof: any RunningDigest
    }

    private let disk: MemoryDisk
    private let program: Int
    private let receiver: @Sendable (PartFileEvent) -> Void
    private var plan: PartFilePlan?
    private var heldPath: String?
    private var early: [() -> Void] = []
    private var wasOpened = false
    private var isClosing = false
    private var isDeleting = false
    private var hasFailed = false
    private var lanes: [TransferID: Lane] = [:]
    private var finished: [WrittenChunk] = []
    private var lastAt: Int64 = 0

    init(disk: MemoryDisk, program: Int, receiver: @escaping @Sendable (PartFileEvent) -> Void) {
        self.disk = disk
        self.program = program
        self.receiver = receiver
    }

    private var world: VirtualWorld { disk.world }

    /// Carries something out after everything that was asked for before.
    private func queue(_ work: @escaping () -> Void) {
        let longest = Int(disk.world.diskDelay.nanosecondCount)
        let at = max(lastAt, world.boot + Int64(world.some(0...longest)))
        lastAt = at
        world.after(.nanoseconds(at - world.boot), program: program, work)
    }

    private func tell(_ event: PartFileEvent) {
        world.after(.zero, program: program) { [receiver] in receiver(event) }
    }

    private func fail(_ error: LectureError) {
        guard !hasFailed else { return }
        hasFailed = true
        if error.code == .bug { world.found("a part file was used against its contract: \(error.cause)") }
        tell(.failed(error))
    }

    // MARK: The port

    func open(_ plan: PartFilePlan) {
        guard !isClosing else { return }
        queue { [self] in
            if let error = disk.openFailure { return fail(error) }
            if !disk.openPaths.insert(plan.path).inserted { world.found("\(plan.path) was opened twice") }
            heldPath = plan.path
            if plan.resumes {
                if let final = disk.files.removeValue(forKey: plan.path) {
                    let part = MemoryDisk.Part()
                    part.synced = final
                    disk.parts[plan.path] = part
                }
                let length = disk.parts[plan.path]?.content().count
                guard let length, length >= Int(plan.total ?? 0) else { return fail(LectureError(.damaged)) }
            } else {
                let part = MemoryDisk.Part()
                part.synced = [UInt8](repeating: 0, count: Int(plan.total ?? 0))
                disk.parts[plan.path] = part
            }
            self.plan = plan
            tell(.opened)
        }
        wasOpened = true
        for waiting in early { queue(waiting) }
        early = []
    }

    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool {
        guard !isClosing, !hasFailed else { return false }
        let work = { [self] in write(block, from: transfer, endsObject: endsObject) }
        if wasOpened { queue(work) } else { early.append(work) }
        return true
    }

    func flush() {
        guard !isClosing else { return }
        queue { [self] in sync() }
    }

    func abandon(_ transfer: TransferID) {
        let work = { [self] in lanes[transfer] = nil }
        if wasOpened { queue(work) } else { early.append(work) }
    }

    func digest(total: UInt64) {
        guard !isClosing else { return }
        queue { [self] in
            guard !hasFailed, !isClosing, let plan, let part = disk.parts[plan.path] else { return }
            guard let running = try? disk.digests.sha256() else { return }
            unsafe part.content().withUnsafeBytes { bytes in
                unsafe running.update(UnsafeRawBufferPointer(rebasing: bytes[..<Int(total)]))
            }
            if let sha256 = try? running.finish() { tell(.digested(sha256: sha256)) }
        }
    }

    func place(total: UInt64) {
        guard !isClosing else { return }
        queue { [self] in
            guard !hasFailed, !isDeleting, let plan, let part = disk.parts.removeValue(forKey: plan.path)
            else { return }
            disk.files[plan.path] = Array(part.content().prefix(Int(total)))
            tell(.placed)
        }
    }

    func close(deleting: Bool) {
        guard !isClosing else { return }
        isClosing = true
        isDeleting = deleting
        early = []
        queue { [self] in
            if !deleting { sync() }
            if let heldPath { disk.openPaths.remove(heldPath) }
            if deleting, let plan { disk.parts[plan.path] = nil }
            tell(.closed)
        }
    }

    // MARK: Work

    private func write(_ block: Block, from transfer: TransferID, endsObject: Bool) {
        guard !hasFailed, !isDeleting, let plan, let part = disk.parts[plan.path] else { return }
        if let error = disk.writeFailure { return fail(error) }
        unsafe block.withBytes { bytes in
            let end = block.offset + UInt64(bytes.count)
            if let total = plan.total, end > total { return fail(LectureError(.bug, cause: "bytes past the end")) }
            unsafe prove(bytes, at: block.offset, from: transfer, endsObject: endsObject, plan)
            unsafe part.written.append((Int(block.offset), Array(bytes)))
        }
    }

    private func prove(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, from transfer: TransferID, endsObject: Bool,
        _ plan: PartFilePlan
    ) {
        var position = offset
        let end = offset + UInt64(bytes.count)
        while position < end {
            guard var lane = lanes[transfer] ?? begin(at: position, plan) else { return }
            guard lane.next == position else {
                return fail(LectureError(.bug, cause: "bytes at \(position) out of order"))
            }
            let stop = min(end, lane.end)
            let piece = Int(position - offset)..<Int(stop - offset)
            unsafe lane.proof.update(UnsafeRawBufferPointer(rebasing: bytes[piece]))
            lane.next = stop
            position = stop
            lanes[transfer] = lane
            if stop == lane.end { finish(transfer) }
        }
        if endsObject, lanes[transfer] != nil {
            if plan.total != nil { return fail(LectureError(.bug, cause: "the object ended early")) }
            finish(transfer)
        }
    }

    private func begin(at position: UInt64, _ plan: PartFilePlan) -> Lane? {
        let (chunk, inside) = position.quotientAndRemainder(dividingBy: plan.chunkBytes)
        guard inside == 0, let proof = try? disk.digests.proof(resource: plan.resource, chunk: Int(chunk)) else {
            fail(LectureError(.bug, cause: "bytes at \(position) begin inside a chunk"))
            return nil
        }
        let end = min(position + plan.chunkBytes, plan.total ?? .max)
        return Lane(chunk: Int(chunk), next: position, end: end, proof: proof)
    }

    private func finish(_ transfer: TransferID) {
        guard let lane = lanes.removeValue(forKey: transfer), let proof = try? lane.proof.finish() else { return }
        finished.append(WrittenChunk(index: lane.chunk, proof: proof))
    }

    private func sync() {
        guard !hasFailed, !isDeleting, let plan, let part = disk.parts[plan.path] else { return }
        for write in part.written { MemoryDisk.Part.apply(write, to: &part.synced) }
        part.written = []
        guard !finished.isEmpty else { return }
        tell(.flushed(finished))
        finished = []
    }
}
