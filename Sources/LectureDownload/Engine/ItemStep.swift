import LectureEngine
import LectureModel

/// One item's part of a step: what an event means for it, and what it does next.
///
/// It has the item, what all items share and the step itself for as long as it runs, and is discarded afterwards. What
/// is shared and the step are moved in and out, not copied.
struct ItemStep {
    var item: ItemWork
    /// What all items share. This item is not among its items.
    var shared: SharedWork
    var step: Step<DownloadMachine>

    /// Takes over what all items share, and the step, until ``giveBack(to:_:)``.
    init(_ item: ItemWork, taking shared: inout SharedWork, _ step: inout Step<DownloadMachine>) {
        self.item = item
        self.shared = SharedWork(shared.settings)
        var (effects, notices): ([DownloadEffect], [EngineNotice]) = ([], [])
        swap(&effects, &step.effects)
        swap(&notices, &step.notices)
        self.step = step
        swap(&effects, &self.step.effects)
        swap(&notices, &self.step.notices)
        swap(&self.shared, &shared)
    }

    /// Returns what was taken over, and the item unless its work is over.
    mutating func giveBack(to shared: inout SharedWork, _ step: inout Step<DownloadMachine>) {
        item.forgetDiscarded()
        if item.course != .over { self.shared.items.put(item) }
        swap(&self.shared, &shared)
        swap(&self.step, &step)
    }

    // MARK: Shorter names

    var index: any DownloadIndex { step.store.index }
    var settings: DownloadSettings { shared.settings }
    var now: Timestamp { step.now }
    var boot: BootInstant { step.boot }

    // MARK: Beginning and leaving

    /// Takes up an item that was claimed: continues its version, or begins one.
    mutating func takeUp() throws {
        if try StreamActions.losesFiles(self) { item.record.needsRepair = true }
        let record = item.record
        guard !record.content.sourceURL.isEmpty else {
            // Rebuilt from a file. What is readable stays so.
            return try end(item.machine.failed(LectureError(.sourceUnknown, detail: record.content.key.text)))
        }
        if record.needsRepair, let version = try index.versions.completeVersion(item.id),
            settings.canResume(version.media) || version.media.isPlaylist,
            try index.versions.building(item.id) == nil
        {
            // Only its damaged chunks are downloaded again. If nothing could show that the source still has the same
            // file, a new version is downloaded beside it instead.
            try index.versions.reopenVersion(item.lease, version.id, now: now)
        }
        if let (version, resources) = try index.versions.building(item.id) {
            try item.takeVersion(version, resources, &shared, step)
            for resource in item.tokens { item[resource].isRepair = try index.versions.wasComplete(version) }
            item.reuse = ReusedBytes(item.receivedBytes, counts: shared.countedReuse.insert(item.id).inserted)
            shared.statistics.bytesReused += item.reuse.bytes
            // The link changed after the version was started: its URLs are fetched from the gateway before use.
            if record.isGateway, !record.isLoaded { item.loader.request() }
        } else if !record.isGateway {
            shared.countedReuse.insert(item.id)
            try beginVersion(requests: [record.directResource])
        }
        try apply(item.machine.claimed(sourceKnown: record.isLoaded && item.version != nil))
        try CaptureActions.takeUp(&self)
    }

    /// Applies a target state that was changed.
    mutating func follow(_ targetState: TargetState) throws {
        switch targetState {
        case .fetch: break
        case .pause: try end(item.machine.stopped(.user, error: nil, until: nil, now: now))
        case .cancel:
            try end(item.machine.stopped(.user, error: LectureError(.cancelled), until: nil, now: now))
        case .remove: try end(item.machine.removalBegan())
        }
    }

    /// Forgets the item without touching the store.
    mutating func drop() { item.drop(&step) }

    // MARK: At intervals

    /// Lets the disk make received bytes durable.
    mutating func flush() {
        for resource in item.resources where resource.machine.isWriting { resource.command(.flush, &step) }
    }

    /// Stores what the transfers that take long for a chunk have of it.
    func keepPieces() throws {
        for resource in item.resources { try resource.keepPieces(settings, step) }
    }

    /// Reports the bytes received, if they are other ones than last time.
    mutating func reportProgress() {
        let bytes = item.receivedBytes
        guard item.report.measure(bytes, at: boot) || item.hasTransfers else { return }
        item.report.reports(bytes)
        step.notices.append(.event(.progress(item.progress)))
    }
}
