import LectureEngine
import LectureModel

/// One resource and its part file, from the first block to the final name.
extension ResourceWork {
    /// More chunks than a file of unknown length will have: 4 TiB.
    private static let longestUnknown = 4 << 20

    /// Restores a resource from its rows.
    ///
    /// - Parameters:
    ///   - record: its row.
    ///   - lease: the claim of its item.
    ///   - step: where the other rows are.
    /// - Throws: what the store throws.
    init(restoring record: ResourceRecord, under lease: ContentLease, _ step: Step<DownloadMachine>) throws {
        let index = step.store.index
        let (token, part) = step.makePart()
        let rows = record.state == .absent ? [] : try index.resources.chunks(record.id).map(\.index)
        // A damaged row may name an impossible chunk, which would be counted in place of a missing one.
        let count = record.total.map { record.grid.count(total: $0) }
        let committed = rows.filter { $0 < count ?? Self.longestUnknown }
        var urls = try index.servers.urlLeases(record.id)
        // A refusal in an earlier run may no longer apply; only URLs whose bytes disagreed stay excluded.
        for position in urls.indices where urls[position].state == .refused { urls[position].state = .usable }
        self.init(token: token, lease: lease, part: part, record: record, committed: committed, urls: urls)
    }

    /// Asks the part file to open. The chunks and the cipher are known.
    ///
    /// - Returns: a bug when it was asked before.
    mutating func openPart(
        _ settings: DownloadSettings, isEncrypted: Bool, _ step: inout Step<DownloadMachine>
    ) throws -> ResourceMachine.Ruling {
        let ruling = machine.opens()
        guard ruling != .bug else { return ruling }
        let plan = PartFilePlan(
            resource: record.id, path: record.path, total: record.total, chunkBytes: book.grid.length,
            needsDigest: dueSHA256 != nil, resumes: book.committed.count > 0, reserveBytes: settings.reserveBytes,
            seal: try sealPlan(step), finish: isEncrypted ? .whenAsked : .init(of: book, due: dueSHA256))
        command(.open(plan), &step)
        return ruling
    }

    // MARK: Chunks

    /// Chunks became durable: commits their rows.
    mutating func written(_ written: [WrittenChunk], _ step: Step<DownloadMachine>) throws {
        let index = step.store.index
        let position = record.total == nil ? furthestPosition : nil
        let (fresh, again) = chunks.written(written, lengthUnknownAt: position)
        // A chunk that was committed and written again, because the server has no ranges, has a new proof.
        if !again.isEmpty { try index.resources.markCommitted(lease, record.id, again, bytes: 0, now: step.now) }
        guard !fresh.isEmpty else { return }
        let bytes = chunks.bytes(of: fresh.map(\.index))
        try index.resources.markCommitted(lease, record.id, fresh, bytes: bytes, now: step.now)
        chunks.committed(fresh.map(\.index))
    }

    /// Chunks were found damaged: they are fetched again.
    mutating func lost(_ damaged: [Int], _ step: Step<DownloadMachine>) throws {
        let bytes = chunks.bytes(of: damaged)
        try step.store.index.resources.markUncommitted(lease, record.id, chunks: damaged, bytes: bytes)
        chunks.lost(damaged)
    }

    /// Deletes the rows of all its chunks.
    func uncommit(_ step: Step<DownloadMachine>) throws {
        let index = step.store.index
        try index.resources.markUncommitted(
            lease, record.id, chunks: try index.resources.chunks(record.id).map(\.index), bytes: book.committedBytes)
    }

    // MARK: The whole

    /// Every chunk is durable: the digest of the whole if one is due, then the final name.
    mutating func allCommitted(isEncrypted: Bool) -> ResourceMachine.Ruling {
        guard let total = record.total, sinks.isEmpty else { return .nothing }
        return machine.allCommitted(total: total, needsDigest: dueSHA256 != nil, isEncrypted: isEncrypted)
    }

    /// Whether the digest of the whole is the one that is due; then it is kept.
    mutating func takesDigest(_ sha256: [UInt8], _ step: Step<DownloadMachine>) -> Bool {
        let digests = step.store.digests
        guard let due = dueSHA256, digests.equal(due, sha256) else { return false }
        record.sha256 = sha256
        return true
    }

    /// It has its final name.
    mutating func finalized(_ step: Step<DownloadMachine>) throws -> ResourceMachine.Ruling {
        let ruling = machine.finalized()
        guard ruling != .bug, machine.hasFinalName else { return ruling }
        record.finalize()
        try save(step)
        return ruling
    }

    /// The part file has finished by itself: `whole` are all its chunks, `sha256` is its digest if one was due. The
    /// counters of the lecture are not raised.
    mutating func finished(
        _ whole: [WrittenChunk], sha256: [UInt8]?, _ step: Step<DownloadMachine>
    ) throws -> ResourceMachine.Ruling {
        let ruling = machine.finished()
        guard ruling != .bug, machine.hasFinalName else { return ruling }
        record.finalize()
        record.sha256 = sha256
        try step.store.index.resources.markFinished(lease, record, whole, now: step.now)
        chunks.committed(whole.map(\.index))
        return ruling
    }

    /// Checks chunks that were committed before this opening of the part file against their proofs. Data may have
    /// changed on the disk while no program used it, and without a digest nothing else would detect that. It costs one
    /// read of these chunks, as a digest does.
    func check(_ chunks: ChunkSet, total: UInt64, _ step: inout Step<DownloadMachine>) throws {
        let proofs = try step.store.index.resources.chunks(record.id).filter { chunks.contains($0.index) }
        var part = FileChunks(of: record, cipher, proofs: proofs)
        // By its own name: the final path may hold a foreign file.
        (part.path, part.total) = (record.path + ".part", total)
        step.effects.append(.check(token, part))
    }

    // MARK: Failures

    /// It cannot be downloaded, and its lecture is complete without it.
    ///
    /// - Parameter step: where the rows are.
    /// - Returns: a bug when it has its final name.
    /// - Throws: what the store throws.
    mutating func failAlone(_ step: inout Step<DownloadMachine>) throws -> ResourceMachine.Ruling {
        let ruling = machine.failed()
        guard ruling != .bug else { return ruling }
        record.state = .failed
        abandon(deleting: true, &step)
        // A resource that will never be complete counts neither as missing nor as present.
        try uncommit(step)
        record.total = nil
        chunks.book = RangeBook(total: nil, grid: record.grid, committed: [])
        try save(step)
        return ruling
    }
}

extension ResourceRecord {
    /// It has its final name: all its chunks are committed, and so is everything that was sealed.
    fileprivate mutating func finalize() {
        state = .finalized
        if seal == .open { seal = .clean }
    }
}

extension PartFilePlan.Finish {
    /// The largest file that finishes by itself, in bytes: what a part file writes before it syncs.
    private static let smallFile: UInt64 = 4 << 20

    /// Whether a part file gets its final name by itself.
    ///
    /// - Parameters:
    ///   - book: its chunks; none of them is committed in a file that does.
    ///   - due: the digest it must have, if one is known.
    fileprivate init(of book: RangeBook, due: [UInt8]?) {
        guard let total = book.total, total > 0, total <= Self.smallFile, book.committed.count == 0 else {
            self = .whenAsked
            return
        }
        self = due.map { .ifDigestIs($0) } ?? .byItself
    }
}

extension WrongWhole {
    /// What a wrong digest says about the sources of a resource.
    ///
    /// - Parameters:
    ///   - file: the resource.
    ///   - restarts: how many versions were discarded in this claim.
    ///   - isGateway: whether a gateway named its URLs.
    init(_ file: ResourceWork, restarts: Int, isGateway: Bool) {
        self.init()
        isOptional = !file.record.role.failsItem
        suspects = file.sources.suspects()
        wasRestarted = restarts > 0
        mayBeBetterNextTime =
            isGateway || file.evidence.validatorWasChanged || file.connections.wasParallel
            || file.evidence.mayBeBetterNextTime(expecting: file.record.expectedSHA256)
    }
}
