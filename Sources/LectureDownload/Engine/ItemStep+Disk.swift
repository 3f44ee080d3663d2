import LectureEngine
import LectureModel

/// Handles events of the disk, from the first block to the final name.
extension ItemStep {
    /// Takes the resources of the version that is being built.
    mutating func takeResources(_ records: [ResourceRecord]) throws {
        item.resources = try records.map { try ResourceWork(restoring: $0, under: item.lease, step) }
        for resource in item.resources {
            let part = LivingPart(item: item.id, resource: resource.record.id, file: resource.part)
            shared.parts[resource.token] = part
        }
    }

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
        case .opened: try follow(item[resource].machine.opened(), resource)
        case .flushed(let chunks): try recordCommitted(chunks, resource)
        case .failed(let error): try diskFailed(error, resource)
        case .digested(let sha256):
            guard !item.isEnding else { return }
            try follow(item[resource].digested(sha256, step), resource)
        case .finalized:
            let ruling = try item[resource].finalized(step)
            try follow(ruling, resource)
            if ruling != .bug, item[resource].machine.hasFinalName { try completeIfWhole() }
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
        case .check(let chunks, let total): try item[resource].check(chunks, total: total, &step)
        case .finalize(let total): item[resource].command(.finalize(total: total), &step)
        case .fetchAgain(let chunks):
            try item[resource].lost(chunks, step)
            try apply(item.machine.restarted())
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

    mutating func recordCommitted(
        _ chunks: [WrittenChunk], _ resource: PartToken
    ) throws {
        try item[resource].written(chunks, step)
        if item[resource].record.total == nil, try stopsForQuota() { return }
        if item[resource].book.isWhole, !item.isEnding { try wholeIsCommitted(resource) }
    }

    /// Every chunk is durable.
    mutating func wholeIsCommitted(_ resource: PartToken) throws {
        let ruling = item[resource].allCommitted()
        guard ruling != .nothing else { return }
        if item[resource].record.role == .media { try apply(item.machine.allCommitted()) }
        try follow(ruling, resource)
    }

    /// The chunks of an earlier opening were compared with their proofs, or could not be.
    mutating func checked(
        _ damaged: [Int], _ error: LectureError?, _ resource: PartToken
    ) throws {
        guard !item.isEnding else { return }
        if let error, item[resource].machine.isChecking { return try diskFailed(error, resource) }
        try follow(item[resource].machine.checked(damaged: damaged), resource)
    }

    private mutating func digestDiffers(_ resource: PartToken) throws {
        let error = LectureError(.digestMismatch)
        let wrong = WrongWhole(
            item[resource], restarts: item.restarts.count, isGateway: item.record.isGateway)
        switch wrong.ruling {
        case .failResource: _ = try resourceFailed(resource, error)
        case .fetchWithout(let suspects):
            for url in suspects { item[resource].markURL(url, .disagrees, step) }
            _ = try restart(because: error)
        case .fetchAgain: _ = try restart(because: error)
        case .failItem: try end(item.machine.failed(error), discarding: true)
        }
    }

    private mutating func diskFailed(
        _ error: LectureError, _ resource: PartToken
    ) throws {
        var failure = DiskFailure(error)
        failure.isEnding = item.isEnding
        failure.hasCommitted = item[resource].book.committed.count > 0
        switch failure.ruling {
        case .close: try follow(item[resource].machine.closes(), resource)
        case .failItem(let error): try end(item.machine.failed(error))
        case .fetchAgain:
            try item[resource].uncommit(step)
            try end(item.machine.setBack())
        case .stop(let error, let pause):
            try end(item.machine.stopped(.space, error: error, until: now + pause, now: now))
        }
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
