package import LectureEngine
package import LectureModel

/// Fetches what a run of a program wants: claims items from the queue, opens transfers, makes bytes durable, commits
/// their proofs, and reports what became true.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send an ``EngineEvent`` through
/// the ``inbox``. ``step()`` handles all waiting events and then reconciles target states with work, in one
/// transaction; effects (transfers, disk) and notices follow only after its commit, so that notices are never ahead of
/// the disk. Under load events gather while a commit runs, which groups commits. There is no `await`, no clock and no
/// randomness of its own: a simulation that provides the ports replays a run from its seed.
package final class DownloadEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// What is stored: queue, versions, chunks, leases.
        package var index: any DownloadIndex
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The numbers of exchanges on that transport.
        package var numbers = TransferNumbers()
        /// The disk.
        package var files: any PartFiles
        /// Makes proofs and digests.
        package var digests: any DigestMaker
        /// Wall time for what is stored, boot time for waits.
        package var clock: any LectureClock
        /// Randomness for the jitter of a backoff.
        package var random: any RandomSource
        /// Runs blocking work away from the engine.
        package var offload: any WorkOffload
        /// The application's source of new URLs.
        package var resolver: any URLResolver
        /// Which lectures need a licence, and whether it is granted.
        package var licensing: any DownloadLicensing
        /// Decides what is sealed, and provides the ciphers.
        package var seals: any ContentSealing

        /// Collects the ports.
        package init(
            index: any DownloadIndex, transport: any Transport, files: any PartFiles, digests: any DigestMaker,
            clock: any LectureClock, random: any RandomSource, offload: any WorkOffload, resolver: any URLResolver,
            licensing: any DownloadLicensing, seals: any ContentSealing
        ) {
            self.index = index
            self.transport = transport
            self.files = files
            self.digests = digests
            self.clock = clock
            self.random = random
            self.offload = offload
            self.resolver = resolver
            self.licensing = licensing
            self.seals = seals
        }
    }

    let ports: Ports
    var index: any DownloadIndex { ports.index }
    /// The settings; they may change while the engine runs.
    package internal(set) var settings: DownloadSettings
    /// Takes events from any thread.
    package let inbox: Inbox<EngineEvent>
    /// This program's row, under which it leases items.
    package internal(set) var owner: OwnerID
    /// The items that this program wants.
    package internal(set) var run: RunID
    /// Counts of this engine's life.
    package internal(set) var statistics = EngineStatistics()

    var items: [ContentID: ItemWork] = [:]
    var transfers: [TransferID: TransferWork] = [:]
    /// Part files that have not reported that they are closed.
    var parts: [PartToken: LivingPart] = [:]
    /// Transfers of this step, which start after its commit.
    var started: [TransferID] = []
    /// Items whose committed bytes were counted as reused.
    var countedReuse: Set<ContentID> = []
    var governor: OriginGovernor
    /// Servers whose stored limits and waits were looked up.
    var knownOrigins: Set<Origin> = []
    var http2Failures: [Origin: Int] = [:]
    var removals = Removals()
    var orphans = Orphans()
    var deleting: Set<VersionID> = []
    var publishing: [ContentID: Int] = [:]
    /// What is performed after the commit of this step, in this order.
    var effects: [DownloadEffect] = []
    var notices: [EngineNotice] = []
    var isStopping = false
    var isStopped = false
    /// Whether a target state may have changed.
    var needsStep = true
    var seenDataVersion: Int64 = -1
    var paces = Paces()
    var rate = RateInForce()
    var failedSteps = FailedSteps()

    /// Makes an engine. Nothing happens before the first ``step()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - run: which items are wanted.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: DownloadSettings, owner: OwnerID, run: RunID, inbox: Inbox<EngineEvent>) {
        self.ports = ports
        self.settings = settings
        self.owner = owner
        self.run = run
        self.inbox = inbox
        governor = OriginGovernor(limits: settings.originLimits)
    }

    // MARK: Entry points

    /// This program changed a target state in the store; the next step applies it.
    package func setNeedsStep() {
        needsStep = true
        isStopped = false
    }

    /// Changes the settings; they apply to what starts from now on.
    package func configure(_ settings: DownloadSettings) {
        self.settings = settings
        governor.limits = settings.originLimits
        rate.forget()
        setNeedsStep()
    }

    /// Ends all work cleanly: received bytes are synced and committed, items go back to the queue. When the engine is
    /// idle, the notice ``EngineNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        failedSteps.reset()
    }

    /// Handles waiting events, reconciles, commits, and then performs the effects.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can change
    ///   something.
    package func step() -> (notices: [EngineNotice], next: BootInstant?) {
        let step = commit()
        for effect in step.effects { perform(effect) }
        return (step.notices, step.next)
    }

    /// Handles waiting events, reconciles and commits, and performs nothing: the first half of ``step()``. The second
    /// half is ``perform(_:)``, called with each of the effects in their order before the next step.
    ///
    /// - Returns: the effects of the committed step. After a failed commit its effects are dropped; then all transfers
    ///   are cancelled and all part files closed instead.
    package func commit() -> CommittedStep<DownloadEffect, EngineNotice> {
        let boot = ports.clock.boot()
        if let until = failedSteps.retry, boot < until { return CommittedStep(next: until) }
        failedSteps.began()
        let events = inbox.take()
        countFetched()
        do {
            try index.transaction {
                for event in events { try handle(event) }
                try reconcile(boot: boot)
            }
            failedSteps.reset()
            started = []
        } catch {
            collapse(error as? LectureError ?? LectureError(.bug), losing: events, boot: boot)
        }
        defer { (effects, notices) = ([], []) }
        return CommittedStep(effects: effects, notices: withoutRepeats(notices), next: nextStep(boot: boot))
    }

    /// An item that changed twice in a step is reported once, after both changes: receivers read its row, and would see
    /// the same state twice.
    private func withoutRepeats(_ notices: [EngineNotice]) -> [EngineNotice] {
        var seen: Set<ContentID> = []
        return notices.reversed().filter { notice in
            if case .changed(let id) = notice { seen.insert(id).inserted } else { true }
        }.reversed()
    }

    /// Whether an item is in work here.
    ///
    /// - Parameter content: the item.
    /// - Returns: false for an item that waits or that another process works on.
    package func isWorking(on content: ContentID) -> Bool { items[content] != nil }

    /// How many items are in work, and how many files are being removed, published or checked against the rows.
    package var activeCount: Int {
        items.count + removals.count + publishing.count + deleting.count + orphans.activeCount
    }

    /// Counts bytes received since the last step, so that the count is right whenever a run ends.
    private func countFetched() {
        for id in transfers.keys {
            guard var transfer = transfers[id] else { continue }
            let received = transfer.sink.receivedBytes
            statistics.bytesFetched += received - transfer.countedBytes
            transfer.countedBytes = received
            transfers[id] = transfer
        }
    }

    // MARK: Events

    private func handle(_ event: EngineEvent) throws {
        switch event {
        case .head(let id, let verdict, let status):
            guard let transfer = transfers[id], let item = transfer.item else { return }
            try guardingLease(of: item) { try headCame(transfer, verdict, status: status) }
        case .ended(let id, let report):
            guard let transfer = transfers.removeValue(forKey: id) else { return }
            statistics.bytesFetched += max(0, report.outcome.bodyBytes - transfer.countedBytes)
            recordEnd(of: transfer, report)
            guard let item = transfer.item else { return }
            try guardingLease(of: item) { try transferEnded(transfer, report) }
        case .part(let token, let event):
            guard let place = parts[token] else { return }
            if case .closed = event { parts[token] = nil }
            guard let item = items[place.item],
                let resource = item.resources.first(where: { $0.token == token })
            else { return }
            try guardingLease(of: item) { try partFileReported(item, resource, event) }
        case .checked(let token, let damaged, let error):
            guard let place = parts[token], let item = items[place.item],
                let resource = item.resources.first(where: { $0.token == token })
            else { return }
            try guardingLease(of: item) { try checked(damaged, error, resource, of: item) }
        case .listed(let paths):
            orphans.listed(paths)
        case .deleted(let purpose, let error):
            try deletionEnded(purpose, error)
        case .published(let content, let path, let outcome):
            try publishEnded(content, path: path, outcome)
        case .resolved(let content, let urls, let error):
            guard let item = items[content] else { return }
            try guardingLease(of: item) { try resolved(item, urls: urls, error) }
        case .granted(let content, let outcome):
            guard let item = items[content] else { return }
            try guardingLease(of: item) { try grantCame(outcome, item) }
        }
    }

    /// Drops an item that another process has taken over: nothing was changed, and nothing more will be.
    func guardingLease(of item: ItemWork, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as LectureError where error.code == .leaseLost {
            drop(item)
        }
    }

    /// Forgets an item without touching the store.
    func drop(_ item: ItemWork) {
        items[item.id] = nil
        for resource in item.resources { abandon(resource, deleting: false) }
        if let loader = item.loader.running { cancel([loader]) }
    }

    /// Ends the transfers of a resource and closes its part file, without waiting for either.
    func abandon(_ resource: ResourceWork, deleting: Bool) {
        cancel(resource.running)
        command(resource, .close(deleting: deleting))
        resource.sinks = [:]
    }

    /// The store could not be written (a full disk, say). The state in memory is discarded and read from the store
    /// again later: a failed commit is handled like a crash.
    private func collapse(_ error: LectureError, losing events: [EngineEvent], boot: BootInstant) {
        effects = []
        notices = [.storeFailed(error)]
        for event in events {
            // Events are not repeated: ended transfers and closed part files are recorded here.
            switch event {
            case .ended(let id, let report):
                guard let transfer = transfers.removeValue(forKey: id) else { continue }
                statistics.bytesFetched += max(0, report.outcome.bodyBytes - transfer.countedBytes)
                governor.ended(transfer.origin, .other)
            case .part(let token, .closed): parts[token] = nil
            case .head, .part, .checked, .listed, .deleted, .published, .resolved, .granted: continue
            }
        }
        // Their start waited for this commit.
        for id in started {
            guard let transfer = transfers.removeValue(forKey: id) else { continue }
            governor.ended(transfer.origin, .other)
        }
        started = []
        cancel(transfers.keys.sorted { $0.value < $1.value })
        // All of them, since the failed step may have dropped an item whose part file it was to close.
        for (token, part) in parts.sorted(by: { $0.key.value < $1.key.value }) {
            effects.append(.part(PartHandle(token: token, file: part.file), .close(deleting: false)))
        }
        items = [:]
        removals.collapse()
        deleting = []
        publishing = [:]
        orphans = Orphans()
        failedSteps.failed(at: boot)
        needsStep = true
        needsAdoption = true
        // The failed step's idle notice was lost. A store that can no longer be written is left to the next program,
        // which recovers it as after a crash.
        isStopped = isStopping && failedSteps.isRepeated
        if isStopped { notices.append(.stopped) }
    }

    /// Whether commits have failed repeatedly, so that no caller should wait for one. Commits are still retried.
    package var isFailing: Bool { failedSteps.isRepeated }

    /// Whether a commit failed and its items, which are still leased, are about to be requeued.
    package var isRecovering: Bool { failedSteps.retry != nil || needsAdoption }

    /// Whether the store has leases of this owner that are not in memory.
    var needsAdoption = false

    func newID() -> UInt64 { ports.numbers.next().value }

    func poster() -> @Sendable (EngineEvent) -> Void {
        { [inbox] event in inbox.post(event) }
    }
}
