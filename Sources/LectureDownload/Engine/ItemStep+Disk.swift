import LectureEngine
import LectureModel

/// Handles events of the disk, from the first block to the final name.
extension ItemStep {
    /// The work of one resource, restored from the store.
    mutating func resourceWork(_ record: ResourceRecord) throws -> ResourceWork {
        let token = PartToken(value: step.newTransfer().value)
        let post = step.store.post
        let part = step.store.files.make { event in post(.part(token, event)) }
        shared.parts[token] = LivingPart(item: item.id, resource: record.id, file: part)
        let rows = record.state == .absent ? [] : try index.chunks(record.id).map(\.index)
        // A damaged row may name an impossible chunk, which would be counted in place of a missing one.
        let count = record.total.map { record.grid.count(total: $0) }
        let committed = rows.filter { $0 < count ?? Self.longestUnknown }
        var urls = try index.urlLeases(record.id)
        // A refusal in an earlier run may no longer apply; only URLs whose bytes disagreed stay excluded.
        for position in urls.indices where urls[position].state == .refused { urls[position].state = .usable }
        return ResourceWork(
            token: token, lease: item.lease, part: part, record: record, committed: committed, urls: urls)
    }

    /// More chunks than a file of unknown length will have: 4 TiB.
    private static let longestUnknown = 4 << 20

    mutating func openPartIfNeeded(_ resource: PartToken) throws {
        guard item[resource].machine.needsOpening else { return }
        if let error = try item[resource].findCipher(for: item.record, step) {
            return try end(item.machine.failed(error))
        }
        let found = try item[resource].restorePieces(settings, &step)
        shared.statistics.bytesReused += item.reuse.found(found)
        if try item[resource].openPart(settings, &step) == .bug { try endForBug() }
    }

    mutating func partFileReported(_ resource: PartToken, _ event: PartFileEvent) throws {
        switch event {
        case .opened:
            try follow(item[resource].machine.opened(), resource)
        case .flushed(let chunks):
            try recordCommitted(chunks, resource)
        case .failed(let error):
            try diskFailed(error, resource)
        case .digested(let sha256):
            try digestCame(sha256, resource)
        case .finalized:
            try finalNameCame(resource)
        case .closed(let isClean):
            try follow(item[resource].machine.closed(isClean: isClean), resource)
            if item.isEnding { try finishEnding() }
        }
    }

    /// Carries out what the resource's machine decided.
    private mutating func follow(
        _ ruling: ResourceMachine.Ruling, _ resource: PartToken
    ) throws {
        switch ruling {
        case .nothing: return
        case .digest(let total): item[resource].command(.digest(total: total), &step)
        case .check(let chunks, let total): try check(chunks, total: total, resource)
        case .finalize(let total): item[resource].command(.finalize(total: total), &step)
        case .fetchAgain(let chunks): try fetchAgain(chunks, resource)
        case .distrust: try digestDiffers(resource)
        case .close: item[resource].command(.close(deleting: false), &step)
        case .bug: try endForBug()
        }
    }

    /// Ends an item whose work has got into an impossible state. Its committed bytes stay.
    mutating func endForBug() throws {
        let error = LectureError(.bug, detail: "an impossible state of a file")
        try end(item.machine.failed(error))
    }

    private mutating func finalNameCame(_ resource: PartToken) throws {
        let ruling = item[resource].machine.finalized()
        guard ruling != .bug, item[resource].machine.hasFinalName else {
            return try follow(ruling, resource)
        }
        item[resource].record.state = .finalized
        // All its chunks are committed, and so is everything that was sealed.
        if item[resource].record.seal == .open { item[resource].record.seal = .clean }
        try item[resource].save(step)
        try follow(ruling, resource)
        try completeIfWhole()
    }

    mutating func recordCommitted(
        _ chunks: [WrittenChunk], _ resource: PartToken
    ) throws {
        let position = item[resource].record.total == nil ? item[resource].furthestPosition : nil
        let (fresh, again) = item[resource].chunks.written(chunks, lengthUnknownAt: position)
        // A chunk that was committed and written again, because the server has no ranges, has a new proof.
        if !again.isEmpty { try index.markCommitted(item.lease, item[resource].record.id, again, bytes: 0, now: now) }
        if !fresh.isEmpty {
            let bytes = item[resource].chunks.bytes(of: fresh.map(\.index))
            try index.markCommitted(item.lease, item[resource].record.id, fresh, bytes: bytes, now: now)
            item[resource].chunks.committed(fresh.map(\.index))
        }
        if item[resource].record.total == nil, try stopsForQuota() { return }
        if item[resource].book.isWhole, !item.isEnding { try wholeIsCommitted(resource) }
    }

    /// Every chunk is durable: the digest of the whole if one is due, then the final name.
    mutating func wholeIsCommitted(_ resource: PartToken) throws {
        guard let total = item[resource].record.total, item[resource].sinks.isEmpty else { return }
        let ruling = item[resource].machine.allCommitted(total: total, needsDigest: item[resource].dueSHA256 != nil)
        guard ruling != .nothing else { return }
        if item[resource].record.role == .media { try apply(item.machine.allCommitted()) }
        try follow(ruling, resource)
    }

    // MARK: Chunks of an earlier opening

    /// Checks chunks that were committed before this opening of the part file against their proofs. Data may have
    /// changed on the disk while no program used it, and without a digest nothing else would detect that. It costs one
    /// read of these chunks, as a digest does.
    private mutating func check(_ chunks: ChunkSet, total: UInt64, _ resource: PartToken) throws {
        let record = item[resource].record
        let proofs = try index.chunks(record.id).filter { chunks.contains($0.index) }
        // The part file by its own name: the final path may hold a foreign file.
        let check = PartCheck(
            path: record.path + ".part", resource: record.id, total: total, grid: record.grid,
            cipher: item[resource].cipher, proofs: proofs)
        step.effects.append(.check(resource, check))
    }

    /// The chunks of an earlier opening were compared with their proofs, or could not be.
    mutating func checked(
        _ damaged: [Int], _ error: LectureError?, _ resource: PartToken
    ) throws {
        guard !item.isEnding else { return }
        if let error, item[resource].machine.isChecking { return try diskFailed(error, resource) }
        try follow(item[resource].machine.checked(damaged: damaged), resource)
    }

    /// Damaged chunks are fetched again; then the final checks are repeated.
    private mutating func fetchAgain(
        _ damaged: [Int], _ resource: PartToken
    ) throws {
        let bytes = item[resource].chunks.bytes(of: damaged)
        try index.markUncommitted(item.lease, item[resource].record.id, chunks: damaged, bytes: bytes)
        item[resource].chunks.lost(damaged)
        try apply(item.machine.restarted())
    }

    private mutating func digestCame(
        _ sha256: [UInt8], _ resource: PartToken
    ) throws {
        guard !item.isEnding else { return }
        let digests = step.store.digests
        let matches = item[resource].dueSHA256.map { digests.equal($0, sha256) } ?? false
        let ruling = item[resource].machine.digested(matches: matches)
        if case .finalize = ruling { item[resource].record.sha256 = sha256 }
        try follow(ruling, resource)
    }

    /// The bytes are wrong. With several servers it is unknown which one sent them: the next attempt uses only the
    /// first. A single server that was wrong is not used again, unless parallel ranges may have come from several
    /// servers behind its address.
    private mutating func digestDiffers(_ resource: PartToken) throws {
        let error = LectureError(.digestMismatch)
        guard item[resource].record.role.isRequired else {
            _ = try resourceFailed(resource, error)
            return
        }
        let expected = item[resource].record.expectedSHA256
        if let suspects = item[resource].sources.suspects() {
            for url in suspects { markURL(url, .disagrees, resource) }
        } else if item.restarts.count > 0
            || !(item.record.isGateway || item[resource].evidence.validatorWasChanged
                || item[resource].connections.wasParallel
                || item[resource].evidence.mayBeBetterNextTime(expecting: expected))
        {
            return try end(item.machine.failed(error), discarding: true)
        }
        _ = try restart(because: error)
    }

    private mutating func diskFailed(
        _ error: LectureError, _ resource: PartToken
    ) throws {
        guard !item.isEnding else {
            // Its transfers may be waiting for it; `closed` follows.
            return try follow(item[resource].machine.closes(), resource)
        }
        if error.code == .bug || error.code == .cryptography {
            // Not transient: waiting for disk space would not help.
            return try end(item.machine.failed(error))
        }
        if error.code == .damaged, item[resource].book.committed.count > 0 {
            // The part file is gone: its chunks are fetched again, nothing else is lost.
            try index.markUncommitted(
                item.lease, item[resource].record.id, chunks: try index.chunks(item[resource].record.id).map(\.index),
                bytes: item[resource].book.committedBytes)
            try end(item.machine.setBack())
            return
        }
        let reason: StopReason = .space
        try end(item.machine.stopped(reason, error: error, until: now + .seconds(30), now: now))
    }

    // MARK: The end of a download

    mutating func completeIfWhole() throws {
        guard !item.isEnding, !item.resources.isEmpty, let version = item.version else { return }
        let isWhole = item.resources.allSatisfy(\.machine.isOver)
        guard isWhole, let media = item.media ?? item.resources.first else { return }
        _ = item.machine.allCommitted()
        guard item.machine.finalized() == .endWork else { return }
        try index.completeVersion(item.lease, version, sha256: media.record.sha256, now: now)
        try step.store.licensing.completed(item.record.content.key, now: now)
        try index.release(item.lease)
        leave()
        // What this version replaced should not use space until the next run.
        if let old = item.record.currentVersion, old != version { try shared.files.deleteDiscarded(&step) }
        if let due = try index.item(item.id)?.expectedSHA256, let digest = media.record.sha256, due != digest {
            // Other bytes were requested during this download.
            try index.supersede(item.id, version: version, by: .expected, now: now)
        }
        item.report.ended(at: item.receivedBytes)
        step.notices.append(.progress(item.progress))
        step.notices.append(.changed(item.id))
        try shared.files.publish(item.id, &step)
    }
}
