package import LectureModel

/// Handles events of the disk, from the first block to the final name.
extension DownloadEngine {
    /// The work of one resource, restored from the store.
    func resourceWork(_ record: ResourceRecord, _ item: ItemWork) throws -> ResourceWork {
        let token = PartToken(value: newID())
        let post = poster()
        let part = ports.files.make { event in post(.part(token, event)) }
        parts[token] = LivingPart(item: item.id, resource: record.id, file: part)
        let rows = record.state == .absent ? [] : try index.chunks(record.id).map(\.index)
        // A damaged row may name an impossible chunk, which would be counted in place of a missing one.
        let count = record.total.map { record.grid.count(total: $0) }
        let committed = rows.filter { $0 < count ?? Self.longestUnknown }
        var urls = try index.urlLeases(record.id)
        // A refusal in an earlier run may no longer apply; only URLs whose bytes disagreed stay excluded.
        for position in urls.indices where urls[position].state == .refused { urls[position].state = .usable }
        return ResourceWork(
            token: token, part: part, record: record, committed: committed, urls: urls)
    }

    /// More chunks than a file of unknown length will have: 4 TiB.
    private static let longestUnknown = 4 << 20

    func openPartIfNeeded(_ resource: ResourceWork, of item: ItemWork) throws {
        guard resource.machine.needsOpening, try findCipher(resource, of: item) else { return }
        try restorePieces(resource, of: item)
        guard resource.machine.opens() != .bug else { return try endForBug(item) }
        let plan = PartFilePlan(
            resource: resource.record.id, path: resource.record.path, total: resource.record.total,
            chunkBytes: resource.book.grid.length, needsDigest: resource.dueSHA256 != nil,
            resumes: resource.book.committed.count > 0, reserveBytes: settings.reserveBytes,
            seal: try sealPlan(resource, of: item))
        command(resource, .open(plan))
    }

    func partFileReported(_ item: ItemWork, _ resource: ResourceWork, _ event: PartFileEvent) throws {
        let now = ports.clock.now()
        switch event {
        case .opened:
            try follow(resource.machine.opened(), resource, of: item, now: now)
        case .flushed(let chunks):
            try recordCommitted(chunks, resource, of: item, now: now)
        case .failed(let error):
            try diskFailed(error, resource, of: item, now: now)
        case .digested(let sha256):
            try digestCame(sha256, resource, of: item, now: now)
        case .finalized:
            try finalNameCame(resource, of: item, now: now)
        case .closed(let isClean):
            try follow(resource.machine.closed(isClean: isClean), resource, of: item, now: now)
            if item.isEnding { try finishEnding(item, now: now) }
        }
    }

    /// Carries out what the resource's machine decided.
    private func follow(
        _ ruling: ResourceMachine.Ruling, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws {
        switch ruling {
        case .nothing: return
        case .digest(let total): command(resource, .digest(total: total))
        case .check(let chunks, let total): try check(chunks, total: total, resource)
        case .finalize(let total): command(resource, .finalize(total: total))
        case .fetchAgain(let chunks): try fetchAgain(chunks, resource, of: item, now: now)
        case .distrust: try digestDiffers(resource, of: item, now: now)
        case .close: command(resource, .close(deleting: false))
        case .bug: try endForBug(item)
        }
    }

    /// Ends an item whose work has got into an impossible state. Its committed bytes stay.
    func endForBug(_ item: ItemWork) throws {
        let error = LectureError(.bug, detail: "an impossible state of a file")
        try end(item, item.machine.failed(error))
    }

    private func finalNameCame(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        let ruling = resource.machine.finalized()
        guard ruling != .bug, resource.machine.hasFinalName else {
            return try follow(ruling, resource, of: item, now: now)
        }
        resource.record.state = .finalized
        // All its chunks are committed, and so is everything that was sealed.
        if resource.record.seal == .open { resource.record.seal = .clean }
        try index.updateResource(item.lease, resource.record)
        try follow(ruling, resource, of: item, now: now)
        try completeIfWhole(item, now: now)
    }

    func recordCommitted(
        _ chunks: [WrittenChunk], _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws {
        let position = resource.record.total == nil ? resource.furthestPosition : nil
        let (fresh, again) = resource.chunks.written(chunks, lengthUnknownAt: position)
        // A chunk that was committed and written again, because the server has no ranges, has a new proof.
        if !again.isEmpty { try index.markCommitted(item.lease, resource.record.id, again, bytes: 0, now: now) }
        if !fresh.isEmpty {
            let bytes = resource.chunks.bytes(of: fresh.map(\.index))
            try index.markCommitted(item.lease, resource.record.id, fresh, bytes: bytes, now: now)
            resource.chunks.committed(fresh.map(\.index))
        }
        if resource.record.total == nil, try stopsForQuota(item, now: now) { return }
        if resource.book.isWhole, !item.isEnding { try wholeIsCommitted(resource, of: item, now: now) }
    }

    /// Every chunk is durable: the digest of the whole if one is due, then the final name.
    func wholeIsCommitted(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        guard let total = resource.record.total, resource.sinks.isEmpty else { return }
        let ruling = resource.machine.allCommitted(total: total, needsDigest: resource.dueSHA256 != nil)
        guard ruling != .nothing else { return }
        if resource.record.role == .media { try apply(item, item.machine.allCommitted(), now: now) }
        try follow(ruling, resource, of: item, now: now)
    }

    // MARK: Chunks of an earlier opening

    /// Checks chunks that were committed before this opening of the part file against their proofs. Data may have
    /// changed on the disk while no program used it, and without a digest nothing else would detect that. It costs one
    /// read of these chunks, as a digest does.
    private func check(_ chunks: ChunkSet, total: UInt64, _ resource: ResourceWork) throws {
        let record = resource.record
        let proofs = try index.chunks(record.id).filter { chunks.contains($0.index) }
        // The part file by its own name: the final path may hold a foreign file.
        let check = PartCheck(
            path: record.path + ".part", resource: record.id, total: total, grid: record.grid,
            cipher: resource.cipher, proofs: proofs)
        effects.append(.check(resource.token, check))
    }

    /// The chunks of an earlier opening were compared with their proofs, or could not be.
    func checked(
        _ damaged: [Int], _ error: LectureError?, _ resource: ResourceWork, of item: ItemWork
    ) throws {
        let now = ports.clock.now()
        guard !item.isEnding else { return }
        if let error, resource.machine.isChecking { return try diskFailed(error, resource, of: item, now: now) }
        try follow(resource.machine.checked(damaged: damaged), resource, of: item, now: now)
    }

    /// Damaged chunks are fetched again; then the final checks are repeated.
    private func fetchAgain(
        _ damaged: [Int], _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws {
        let bytes = resource.chunks.bytes(of: damaged)
        try index.markUncommitted(item.lease, resource.record.id, chunks: damaged, bytes: bytes)
        resource.chunks.lost(damaged)
        try apply(item, item.machine.restarted(), now: now)
    }

    private func digestCame(
        _ sha256: [UInt8], _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws {
        guard !item.isEnding else { return }
        let matches = resource.dueSHA256.map { ports.digests.equal($0, sha256) } ?? false
        let ruling = resource.machine.digested(matches: matches)
        if case .finalize = ruling { resource.record.sha256 = sha256 }
        try follow(ruling, resource, of: item, now: now)
    }

    /// The bytes are wrong. With several servers it is unknown which one sent them: the next attempt uses only the
    /// first. A single server that was wrong is not used again, unless parallel ranges may have come from several
    /// servers behind its address.
    private func digestDiffers(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        let error = LectureError(.digestMismatch)
        guard resource.record.role.isRequired else {
            _ = try resourceFailed(resource, of: item, error)
            return
        }
        let expected = resource.record.expectedSHA256
        if let suspects = resource.sources.suspects() {
            for url in suspects { markURL(url, .disagrees, resource) }
        } else if item.restarts.count > 0
            || !(item.record.isGateway || resource.evidence.validatorWasChanged || resource.connections.wasParallel
                || resource.evidence.mayBeBetterNextTime(expecting: expected))
        {
            return try end(item, item.machine.failed(error), discarding: true)
        }
        _ = try restart(item, because: error, now: now)
    }

    private func diskFailed(
        _ error: LectureError, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws {
        guard !item.isEnding else {
            // Its transfers may be waiting for it; `closed` follows.
            return try follow(resource.machine.closes(), resource, of: item, now: now)
        }
        if error.code == .bug || error.code == .cryptography {
            // Not transient: waiting for disk space would not help.
            return try end(item, item.machine.failed(error))
        }
        if error.code == .damaged, resource.book.committed.count > 0 {
            // The part file is gone: its chunks are fetched again, nothing else is lost.
            try index.markUncommitted(
                item.lease, resource.record.id, chunks: try index.chunks(resource.record.id).map(\.index),
                bytes: resource.book.committedBytes)
            try end(item, item.machine.setBack())
            return
        }
        let reason: StopReason = .space
        try end(item, item.machine.stopped(reason, error: error, until: now + .seconds(30), now: now))
    }

    // MARK: The end of a download

    func completeIfWhole(_ item: ItemWork, now: Timestamp) throws {
        guard !item.isEnding, !item.resources.isEmpty, let version = item.version else { return }
        let isWhole = item.resources.allSatisfy(\.machine.isOver)
        guard isWhole, let media = item.media ?? item.resources.first else { return }
        _ = item.machine.allCommitted()
        guard item.machine.finalized() == .endWork else { return }
        try index.completeVersion(item.lease, version, sha256: media.record.sha256, now: now)
        try ports.licensing.completed(item.record.content.key, now: now)
        try index.release(item.lease)
        for resource in item.resources where resource.machine.part == .unopened { parts[resource.token] = nil }
        items[item.id] = nil
        // What this version replaced should not use space until the next run.
        if let old = item.record.currentVersion, old != version { try deleteDiscarded() }
        if let due = try index.item(item.id)?.expectedSHA256, let digest = media.record.sha256, due != digest {
            // Other bytes were requested during this download.
            try index.supersede(item.id, version: version, by: .expected, now: now)
        }
        item.report.ended(at: item.receivedBytes)
        notices.append(.progress(progress(of: item)))
        notices.append(.changed(item.id))
        try publish(item.id)
    }

    /// Publishes the finished file to the user's output paths.
    ///
    /// - Parameter content: a complete lecture.
    /// - Throws: ``LectureError`` from the store.
    package func publish(_ content: ContentID) throws {
        guard publishing[content] == nil, let record = try index.item(content), let version = record.currentVersion,
            let media = try index.resources(version).first(where: { $0.role == .media && $0.state == .finalized })
        else { return }
        let outputs = try index.outputs(content)
        guard !outputs.isEmpty else { return }
        publishing[content] = outputs.count
        let own = OutputRight.own(try index.writtenOutputs(record.content.key))
        for output in outputs {
            let file = Publication(
                path: media.path, isSealed: media.seal != .plain, output: output.path,
                right: output.mayReplace ? .any : own)
            effects.append(.publish(content, file))
        }
    }

    func publishEnded(
        _ content: ContentID, path: String, _ outcome: Result<OutputFacts, LectureError>
    ) throws {
        guard let left = publishing[content] else { return }
        publishing[content] = left > 1 ? left - 1 : nil
        guard let record = try index.item(content) else { return }
        var failure: LectureError?
        switch outcome {
        case .success(let facts): try index.recordOutput(record.content.key, path: path, facts, now: ports.clock.now())
        case .failure(let error): failure = error
        }
        // An unusable path is reported once. If it were kept, it would fail every later run.
        try index.deleteOutput(content, path: path)
        notices.append(.published(record.content.key, path: path, failure))
    }
}

/// The path of a resource below the store; no name ever comes from a server.
package enum MediaPath {
    /// `media/<bucket>/<resource><extension>`: 1,024 resources a directory, the extension from a short list. A sheet of
    /// small pictures carries its shape: `media/0000/7.160x90x10.jpg`, where the vendor's players look for it.
    ///
    /// - Parameter record: the resource.
    /// - Returns: the path relative to the store.
    package static func path(_ record: ResourceRecord) -> String {
        let shape = record.role == .thumbnail && TileGeometry.isShape(record.name) ? ".\(record.name)" : ""
        return "media/\(record.id.bucket)/\(record.id.value)\(shape)\(suffix(record))"
    }

    private static func suffix(_ record: ResourceRecord) -> String {
        suffixes.first { $0.type == record.mediaType }?.suffix ?? (record.role == .media ? mediaSuffix : ".data")
    }

    /// The media type of a file that has its final name.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: `application/octet-stream` for media of another type than the names have; nil for the file of a
    ///   subtitle or a picture, and for every other name.
    package static func mediaType(ofMediaAt path: String) -> String? {
        if path.hasSuffix(mediaSuffix) { return "application/octet-stream" }
        let type = suffixes.first { path.hasSuffix($0.suffix) }?.type
        return type?.hasPrefix("video/") == true || type?.hasPrefix("audio/") == true ? type : nil
    }

    /// Media of another type than those of ``suffixes``.
    private static let mediaSuffix = ".media"
    private static let suffixes: [(type: String, suffix: String)] = [
        ("video/mp4", ".mp4"), ("video/x-m4v", ".m4v"), ("video/webm", ".webm"),
        ("video/quicktime", ".mov"), ("video/mp2t", ".ts"), ("audio/mp4", ".m4a"), ("audio/x-m4a", ".m4a"),
        ("audio/mpeg", ".mp3"), ("image/jpeg", ".jpg"), ("image/png", ".png"), ("text/vtt", ".vtt"),
        ("application/x-subrip", ".srt"),
    ]
}
