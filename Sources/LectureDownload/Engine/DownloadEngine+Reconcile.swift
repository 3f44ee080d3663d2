import LectureEngine
package import LectureModel

/// From target states to work: one idempotent function, run after every batch of events.
extension DownloadEngine {
    func reconcile(boot: BootInstant) throws {
        let now = ports.clock.now()
        if needsAdoption {
            // A path has one part file at a time: those from before the failed commit have to be closed first.
            guard parts.isEmpty else { return }
            try adoptLeases(now: now)
        }
        try followTargetStates(now: now)
        if isStopping {
            for item in inOrder where !item.isEnding { try end(item, item.machine.setBack()) }
        } else {
            try chores(now: now, boot: boot)
            try removeUnwanted(now: now, boot: boot)
            try clearOrphans()
            if rate.closedUntil == nil { try claim(now: now) }
        }
        for item in inOrder {
            try guardingLease(of: item) { try advance(item, now: now, boot: boot) }
        }
        flushIfDue(boot: boot)
        try keepPieces(boot: boot)
        try reportProgress(boot: boot)
        if isStopping, items.isEmpty, removals.count == 0, deleting.isEmpty, publishing.isEmpty, !isStopped {
            isStopped = true
            notices.append(.stopped)
        }
    }

    /// The items in work, sorted. A dictionary's order differs between processes, so a seed could not replay it.
    var inOrder: [ItemWork] { items.values.sorted { $0.id < $1.id } }

    /// When the next step is due.
    func nextStep(boot: BootInstant) -> BootInstant? {
        if isStopped { return nil }
        if let retry = failedSteps.retry { return retry }
        if orphans.hasUnchecked, !isStopping { return boot }
        if !items.isEmpty || removals.count > 0 { return boot + settings.groupInterval }
        return boot + .milliseconds(500)
    }

    /// After a commit failed: the leased items of this owner go back to the queue.
    private func adoptLeases(now: Timestamp) throws {
        try index.requeueLeases(of: owner, now: now)
        needsAdoption = false
    }

    /// Applies changed target states to the items in work, when this or another program has changed something.
    private func followTargetStates(now: Timestamp) throws {
        let version = try index.dataVersion()
        guard needsStep || version != seenDataVersion else { return }
        seenDataVersion = version
        needsStep = false
        for (id, targetState) in try index.changedTargetStates(owner: owner) {
            guard let item = items[id], !item.isEnding else { continue }
            try guardingLease(of: item) {
                switch targetState {
                case .fetch: break
                case .pause: try end(item, item.machine.stopped(.user, error: nil, until: nil, now: now))
                case .cancel:
                    let error = LectureError(.cancelled)
                    try end(item, item.machine.stopped(.user, error: error, until: nil, now: now))
                case .remove: try end(item, item.machine.removalBegan())
                }
            }
        }
    }

    /// Work that is due at most once a second.
    private func chores(now: Timestamp, boot: BootInstant) throws {
        guard paces.chores.isDue(every: .seconds(1), at: boot) else { return }
        try followTimetable(now: now)
        try index.requeueDue(run: run, now: now)
        try deleteDiscarded()
        measureSpeeds(boot: boot)
    }

    /// Deletes the files of versions that were replaced.
    func deleteDiscarded() throws {
        for (version, paths) in try index.discardedVersions() where deleting.insert(version).inserted {
            delete(paths, for: .version(version))
        }
    }

    private func followTimetable(now: Timestamp) throws {
        if let limit = rate.follow(settings, atMinuteOfWeek: ports.clock.minuteOfWeek(now), now: now) {
            effects.append(.transfer(.limitRate(limit.bytesPerSecond)))
        }
        guard let closedUntil = rate.closedUntil else { return }
        let error = LectureError(.schedule)
        for item in inOrder where !item.isEnding {
            try end(item, item.machine.stopped(.schedule, error: error, until: closedUntil, now: now))
        }
    }

    /// Claims items from the queue. Items that only wait for a busy server, or for the disk to make their last bytes
    /// durable, do not count as jobs, so that the network is used meanwhile.
    private func claim(now: Timestamp) throws {
        let busy = items.values.count { $0.hasTransfers || !($0.isBlocked || $0.isReceived) }
        let slots = min(settings.jobs - busy, settings.jobs * 4 + 16 - items.count)
        guard slots > 0 else { return }
        for record in try index.claim(run: run, owner: owner, limit: slots, now: now) { try takeUp(record, now: now) }
    }

    private func takeUp(_ record: ItemRecord, now: Timestamp) throws {
        let item = ItemWork(record: record)
        items[item.id] = item
        try guardingLease(of: item) {
            guard !record.content.sourceURL.isEmpty else {
                // Rebuilt from a file. What is readable stays so.
                return try end(item, item.machine.failed(LectureError(.sourceUnknown, detail: record.content.key.text)))
            }
            if record.needsRepair, let version = try index.completeVersion(item.id), canResume(version.media),
                try index.building(item.id) == nil
            {
                // Only its damaged chunks are downloaded again. If nothing could show that the source still has the
                // same file, a new version is downloaded beside it instead.
                try index.reopenVersion(item.lease, version.id, now: now)
            }
            if let (version, resources) = try index.building(item.id) {
                item.version = version
                item.resources = try resources.map { try resourceWork($0, item) }
                for resource in item.resources { resource.isRepair = try index.wasComplete(version) }
                item.reuse = ReusedBytes(item.receivedBytes, counts: countedReuse.insert(item.id).inserted)
                statistics.bytesReused += item.reuse.bytes
                // The link changed after the version was started: its URLs are fetched from the gateway before use.
                if record.isGateway, !record.isLoaded { item.loader.request() }
            } else if !record.isGateway {
                countedReuse.insert(item.id)
                try beginVersion(item, requests: [item.record.directResource], now: now)
            }
            try apply(item, item.machine.claimed(sourceKnown: record.isLoaded && item.version != nil), now: now)
        }
    }

    /// Whether later bytes can be shown to belong to the present ones: by a validator or a digest, or because the user
    /// trusts the length.
    func canResume(_ media: ResourceRecord) -> Bool {
        settings.trustsLength || media.entityTag != nil || media.lastModified != nil || media.expectedSHA256 != nil
    }

    /// Removes lectures that are no longer wanted, after their work has ended.
    private func removeUnwanted(now: Timestamp, boot: BootInstant) throws {
        // The limit includes those that have to wait, so that they do not hide the others.
        for id in try index.contentsToRemove(limit: 16 + removals.waiting(at: boot))
        where items[id] == nil && removals.mayBegin(id) {
            guard let record = try index.claim(content: id, owner: owner, now: now) else { continue }
            removals.began(id, record.lease, record.content.key)
            try index.setStatus(record.lease, ItemStatus(.removing), now: now)
            delete(try index.paths(id), for: .content(id))
        }
    }

    /// Deletes files that no row refers to.
    private func clearOrphans() throws {
        if orphans.needsList() { effects.append(.list) }
        let paths = try orphans.takeSlice().filter { try index.isOrphan(path: $0) }
        guard !paths.isEmpty else { return }
        orphans.deletes()
        delete(paths, for: .orphans)
    }

    /// Deletes files away from this executor, after the commit.
    func delete(_ paths: [String], for purpose: DeletionPurpose) {
        effects.append(.delete(paths, purpose))
    }

    func deletionEnded(_ purpose: DeletionPurpose, _ error: LectureError?) throws {
        switch purpose {
        case .orphans: orphans.deleted()
        case .version(let version):
            deleting.remove(version)
            if error == nil { try index.forgetVersion(version) }
        case .content(let content):
            guard let (lease, key) = removals.ended(content) else { return }
            do {
                if let error {
                    try index.release(lease)
                    removals.failed(content, at: ports.clock.boot())
                    notices.append(.storeFailed(error))
                } else {
                    try index.deleteContent(lease)
                    notices.append(.removed(key))
                }
            } catch let error as LectureError where error.code == .leaseLost {
                // Another program has taken over the removal.
                return
            }
        }
    }

    private func flushIfDue(boot: BootInstant) {
        guard paces.flushes.isDue(every: settings.groupInterval, at: boot) else { return }
        for item in inOrder {
            for resource in item.resources where resource.machine.isWriting {
                command(resource, .flush)
            }
        }
    }

    private func reportProgress(boot: BootInstant) throws {
        guard paces.progress.isDue(every: settings.progressInterval, at: boot) else { return }
        for item in inOrder {
            let bytes = item.receivedBytes
            guard item.report.measure(bytes, at: boot) || item.hasTransfers else { continue }
            item.report.reports(bytes)
            notices.append(.progress(progress(of: item)))
        }
    }

    func progress(of item: ItemWork) -> DownloadProgress {
        var progress = DownloadProgress(
            key: item.record.content.key, title: item.record.content.title, state: item.machine.status.state)
        progress.bytes = item.report.bytes
        progress.total = item.totalBytes
        progress.bytesPerSecond = item.report.speed.bytesPerSecond
        if let total = progress.total, progress.bytesPerSecond >= 1 {
            progress.remaining = .seconds(Double(max(0, total - progress.bytes)) / progress.bytesPerSecond)
        }
        progress.committedChunks = item.resources.reduce(0) { $0 + $1.book.committed.count }
        progress.totalChunks = item.resources.reduce(0) { $0 + ($1.book.chunkCount ?? 0) }
        return progress
    }

    /// The items in work, for a status display.
    package var progressOfActive: [DownloadProgress] {
        inOrder.map(progress)
    }
}
