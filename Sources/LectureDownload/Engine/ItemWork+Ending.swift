import LectureEngine
import LectureModel

/// How the work on an item ends, and how one of its versions does.
extension ItemWork {
    /// Carries out the action that its machine returned.
    mutating func apply(
        _ action: ItemMachine.Action, _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        switch action {
        case .nothing: return
        case .store: try store(isLoaded: false, &step)
        case .endWork: try end(action, &shared, &step)
        }
    }

    /// Stores its status.
    ///
    /// - Parameters:
    ///   - isLoaded: whether the source's facts are known from now on.
    ///   - step: where its row is.
    /// - Throws: what the store throws.
    mutating func store(isLoaded: Bool, _ step: inout Step<DownloadMachine>) throws {
        try step.store.index.contents.setStatus(lease, machine.status, isLoaded: isLoaded, now: step.now)
        record.content.state = machine.status.state
        if isLoaded { record.isLoaded = true }
        step.context.changed(id)
    }

    /// Starts to end all work, if that is the action. Received bytes are synced and committed first; then the machine's
    /// status is stored and the lease released.
    mutating func end(
        _ action: ItemMachine.Action, discarding: Bool = false, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws {
        guard action == .endWork, !isEnding else { return }
        course = .ending(discarding: discarding)
        var running = resources.flatMap(\.running)
        if let loader = loader.running { running.append(loader) }
        step.cancel(running)
        for resource in resources where resource.machine.part == .unopened {
            // Blocks wait for the part file to be opened, and block the transport's thread; this one never will be.
            resource.command(.close(deleting: false), &step)
        }
        try finishEnding(&shared, &step)
    }

    /// Stops for a while.
    mutating func stop(
        _ reason: StopReason, _ error: LectureError, for pause: Duration, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws {
        let action = machine.stopped(reason, error: error, until: step.now + pause, now: step.now)
        try end(action, &shared, &step)
    }

    /// Ends the work as far as its transfers and its part files have ended.
    mutating func finishEnding(_ shared: inout SharedWork, _ step: inout Step<DownloadMachine>) throws {
        guard loader.running == nil, resources.all({ $0.sinks.isEmpty }) else { return }
        let isDiscarded = course == .ending(discarding: true)
        for position in resources.indices {
            try resources[position].keepRemainders(isDiscarded: isDiscarded, shared.settings, step)
        }
        for position in resources.indices where resources[position].machine.closes() == .close {
            resources[position].command(.flush, &step)
            resources[position].command(.close(deleting: false), &step)
        }
        guard resources.all({ $0.machine.isSettled }) else { return }
        if isDiscarded { try abandonVersion(&shared, &step) }
        for position in resources.indices { try resources[position].recordClean(step) }
        let index = step.store.index
        machine.settled(wanting: try index.contents.item(id)?.targetState ?? .fetch)
        try index.contents.setStatus(lease, machine.status, now: step.now)
        try index.owners.release(lease)
        for resource in resources { shared.parts[resource.token] = nil }
        leave(&shared)
        shared.needsStep = true
        step.context.changed(id)
    }

    /// Its work is over, and its row is another's now.
    private mutating func leave(_ shared: inout SharedWork) {
        for resource in resources where resource.machine.part == .unopened { shared.parts[resource.token] = nil }
        course = .over
    }

    /// Forgets the item without touching the store.
    mutating func drop(_ step: inout Step<DownloadMachine>) {
        for position in resources.indices { resources[position].abandon(deleting: false, &step) }
        if let loader = loader.running { step.cancel([loader]) }
        course = .over
    }

    /// Completes it, if every file has its final name.
    mutating func completeIfWhole(_ shared: inout SharedWork, _ step: inout Step<DownloadMachine>) throws {
        guard !isEnding, !resources.isEmpty, stream.isDrained, let version else { return }
        // Its files are not known before its playlists were read.
        if isPlaylist, !stream.isOpen || stream.capture != nil { return }
        guard resources.all({ $0.machine.isOver && $0.sinks.isEmpty }), let media = media ?? resources.first
        else { return }
        switch try StreamCompletion(of: self, shared.settings)?.ending(&stream, &step) ?? .whole {
        case .whole: break
        case .open: return
        case .lacking(let error): return try end(machine.failed(error), &shared, &step)
        }
        _ = machine.allCommitted()
        guard machine.finalized() == .endWork else { return }
        let index = step.store.index
        try index.versions.completeVersion(lease, version, sha256: media.record.sha256, now: step.now)
        try step.store.licensing.completed(
            record.content.key, now: step.now, in: step.store.transaction)
        leave(&shared)
        // What this version replaced should not use space until the next run.
        if let old = record.currentVersion, old != version { try shared.files.deleteDiscarded(&step) }
        if let due = try index.contents.expectedSHA256(id), let digest = media.record.sha256, due != digest {
            // Other bytes were requested during this download.
            try index.versions.supersede(id, version: version, by: .expected, now: step.now)
        }
        report.ended(at: receivedBytes)
        step.notices.append(.event(.progress(progress)))
        step.context.changed(id)
        if let lecture = FinishedLecture(record, media.record) { try shared.files.publish(lecture, &step) }
    }

    // MARK: Versions

    /// Begins a version.
    mutating func beginVersion(
        _ requests: [ResourceRequest], _ shared: inout SharedWork, _ step: inout Step<DownloadMachine>
    ) throws {
        let new = try step.store.index.versions.beginVersion(lease, requests: requests, now: step.now)
        (version, resources, stream) = (new.id, [], StreamWork())
        StreamActions.take(new, into: &self, &shared, step)
    }

    /// Takes the version that is being built.
    mutating func takeVersion(
        _ version: VersionID, _ records: [ResourceRecord], _ shared: inout SharedWork, _ step: Step<DownloadMachine>
    ) throws {
        self.version = version
        (resources, stream) = ([], StreamWork())
        try StreamActions.take(records, into: &self, &shared, step)
        if isPlaylist, try step.store.index.adaptive.hasPlaylists(version) {
            try StreamActions.open(&self, version, step)
        }
    }

    /// Discards the version that is being built, and its files.
    mutating func abandonVersion(_ shared: inout SharedWork, _ step: inout Step<DownloadMachine>) throws {
        guard let version else { return }
        for position in resources.indices { resources[position].abandon(deleting: true, &step) }
        shared.statistics.bytesReused -= reuse.discarded()
        let paths = try step.store.index.versions.discardVersion(lease, version)
        shared.files.delete(version, paths, &step)
        discardVersion()
    }
}
