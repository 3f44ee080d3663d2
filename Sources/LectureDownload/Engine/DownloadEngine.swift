package import LectureModel

/// Fetches what a run of a program wants: takes items off the queue, opens transfers, has bytes made durable, commits
/// their proofs, and tells what became true.
///
/// Confined to one executor, the one on which the store's writer lives. Everything that comes from other threads comes
/// as an ``EngineEvent`` through the ``EngineInbox``. ``step()`` handles all waiting events and then reconciles wishes
/// with reality, in one transaction; effects (transfers, disk) and notices follow only after its commit, so that what
/// the outside was told is never ahead of the disk. Under load events gather while a commit runs, so that commits
/// become groups by themselves. There is no `await`, no clock and no chance of its own: a simulation that brings the
/// ports replays a run from its seed.
package final class DownloadEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// What is kept: queue, versions, chunks, leases.
        package var index: any DownloadIndex
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The disk.
        package var files: any PartFiles
        /// Makes proofs and digests.
        package var digests: any DigestMaker
        /// Wall time for what is stored, boot time for what is waited for.
        package var clock: any LectureClock
        /// Chance for the jitter of a backoff.
        package var random: any RandomSource
        /// Runs what blocks away from the engine.
        package var offload: any WorkOffload
        /// The application's source of new URLs.
        package var resolver: any URLResolver
        /// Which contents need a licence, and whether it is granted.
        package var licensing: any DownloadLicensing
        /// Decides what is sealed, and hands the ciphers out.
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
    /// What bounds the engine; changed while it runs.
    package internal(set) var settings: DownloadSettings
    /// Takes events from any thread.
    package let inbox: EngineInbox
    /// This program's row, under which it leases contents.
    package internal(set) var owner: OwnerID
    /// The contents that this program wants.
    package internal(set) var run: RunID
    /// Counts of this engine's life.
    package internal(set) var statistics = EngineStatistics()

    var items: [ContentID: ItemWork] = [:]
    var transfers: [TransferID: TransferWork] = [:]
    /// Part files that have not told that they are closed.
    var parts: [PartToken: LivingPart] = [:]
    /// Transfers of this step, which begin with its commit.
    var begun: [TransferID] = []
    /// Contents whose proven bytes were counted as reused.
    var countedReuse: Set<ContentID> = []
    var governor: OriginGovernor
    /// Servers whose stored limits and waits were looked up.
    var knownOrigins: Set<Origin> = []
    var http2Failures: [Origin: Int] = [:]
    var removing: Set<ContentID> = []
    var removalLeases: [ContentID: (lease: ContentLease, key: ContentKey)] = [:]
    /// Contents whose files could not be deleted, and when that is tried again.
    var undeletable: [ContentID: BootInstant] = [:]
    var deleting: Set<VersionID> = []
    var publishing: [ContentID: Int] = [:]
    /// Waits for the commit of this step.
    var effects: [() -> Void] = []
    var notices: [EngineNotice] = []
    var nextID: UInt64 = 1
    var isStopping = false
    var isAtRest = false
    /// Whether somebody changed a wish.
    var wasPoked = true
    var seenDataVersion: Int64 = -1
    var lastChore: BootInstant?
    var lastProgress: BootInstant?
    var lastFlush: BootInstant?
    /// The bound that holds now; from the settings and the timetable.
    var rateInForce: Int?
    var hasRateInForce = false
    /// Until when the timetable allows nothing; nil while it allows something.
    var closedUntil: Timestamp?
    /// After a commit failed nothing is tried before this moment.
    var troubledUntil: BootInstant?
    var troubles = 0

    /// Makes an engine. Nothing moves before the first ``step()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: how to work.
    ///   - owner: the row of this program's run.
    ///   - run: which contents are wanted.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: DownloadSettings, owner: OwnerID, run: RunID, inbox: EngineInbox) {
        self.ports = ports
        self.settings = settings
        self.owner = owner
        self.run = run
        self.inbox = inbox
        governor = OriginGovernor(limits: settings.originLimits)
    }

    // MARK: Entry points

    /// A wish in the store was changed by this program; looked at in the next step.
    package func poke() {
        wasPoked = true
        isAtRest = false
    }

    /// Changes how to work; holds for what begins from now on.
    package func configure(_ settings: DownloadSettings) {
        self.settings = settings
        governor.limits = settings.originLimits
        hasRateInForce = false
        poke()
    }

    /// Ends all work cleanly: what is received is synced and committed, items go back to the queue. When everything
    /// has come to rest the notice ``EngineNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        troubledUntil = nil
        troubles = 0
    }

    /// Handles what has come, reconciles, commits, and lets the effects follow.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can bring
    ///   something new.
    package func step() -> (notices: [EngineNotice], next: BootInstant?) {
        let boot = ports.clock.boot()
        if let until = troubledUntil, boot < until { return ([], until) }
        troubledUntil = nil
        let events = inbox.take()
        countFetched()
        do {
            try index.transaction {
                for event in events { try handle(event) }
                try reconcile(boot: boot)
            }
            troubles = 0
            begun = []
            let due = effects
            effects = []
            for effect in due { effect() }
        } catch {
            collapse(error as? LectureError ?? LectureError(.bug), losing: events, boot: boot)
        }
        let told = withoutRepeats(notices)
        notices = []
        return (told, nextStep(boot: boot))
    }

    /// A content that changed twice in a step is told once, after both: who is told looks at its row, and would see the
    /// same outcome twice.
    private func withoutRepeats(_ notices: [EngineNotice]) -> [EngineNotice] {
        var seen: Set<ContentID> = []
        return notices.reversed().filter { notice in
            if case .changed(let id) = notice { seen.insert(id).inserted } else { true }
        }.reversed()
    }

    /// Whether an item is in work here.
    ///
    /// - Parameter content: the item.
    /// - Returns: false for what waits, and for what another process works on.
    package func isWorking(on content: ContentID) -> Bool { items[content] != nil }

    /// How many items are in work, files are being removed or given out, or held against the rows.
    package var activeCount: Int {
        items.count + removing.count + publishing.count + deleting.count + unchecked.count + (isClearing ? 1 : 0)
    }

    /// Counts what has come since the last step, so that the count is right whenever a run ends.
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
            noteEnd(of: transfer, report)
            guard let item = transfer.item else { return }
            try guardingLease(of: item) { try transferEnded(transfer, report) }
        case .part(let token, let event):
            guard let place = parts[token] else { return }
            if case .closed = event { parts[token] = nil }
            guard let item = items[place.item],
                let resource = item.resources.first(where: { $0.token == token })
            else { return }
            try guardingLease(of: item) { try partFileTold(item, resource, event) }
        case .checked(let token, let damaged, let error):
            guard let place = parts[token], let item = items[place.item],
                let resource = item.resources.first(where: { $0.token == token })
            else { return }
            try guardingLease(of: item) { try checked(damaged, error, resource, of: item) }
        case .listed(let paths):
            unchecked = paths
            isClearing = false
        case .deleted(let purpose, let error):
            try deletionEnded(purpose, error)
        case .published(let content, let path, let error):
            try publishEnded(content, path: path, error)
        case .resolved(let content, let urls, let error):
            guard let item = items[content] else { return }
            try guardingLease(of: item) { try resolved(item, urls: urls, error) }
        case .granted(let content, let outcome):
            guard let item = items[content] else { return }
            try guardingLease(of: item) { try grantCame(outcome, item) }
        }
    }

    /// Another process has taken the item over: nothing was changed, and nothing more will be.
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
        if let loader = item.loader { ports.transport.cancel(loader) }
    }

    /// Ends the transfers of a resource and closes its part file; nothing waits for either.
    func abandon(_ resource: ResourceWork, deleting: Bool) {
        let ids = resource.sinks.keys.sorted { $0.value < $1.value }
        let part = resource.part
        effects.append { [ports] in
            for id in ids { ports.transport.cancel(id) }
            part.close(deleting: deleting)
        }
        resource.sinks = [:]
    }

    /// The store could not be written (a full disk, say). Memory is given up and read anew from the store later: a
    /// failed commit is handled like a crash.
    private func collapse(_ error: LectureError, losing events: [EngineEvent], boot: BootInstant) {
        effects = []
        notices = [.storeTrouble(error)]
        for event in events {
            // Events do not come again: what has ended, has ended.
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
        for id in begun {
            guard let transfer = transfers.removeValue(forKey: id) else { continue }
            governor.ended(transfer.origin, .other)
        }
        begun = []
        for id in transfers.keys.sorted(by: { $0.value < $1.value }) { ports.transport.cancel(id) }
        // All of them, since the step that failed may have forgotten an item whose part file it was to close.
        for (_, part) in parts.sorted(by: { $0.key.value < $1.key.value }) { part.file.close(deleting: false) }
        items = [:]
        removing = []
        removalLeases = [:]
        deleting = []
        publishing = [:]
        unchecked = []
        hasListed = false
        isClearing = false
        troubles += 1
        troubledUntil = boot + .seconds(min(60, 1 << min(troubles, 6)))
        wasPoked = true
        needsAdoption = true
        // The rest that the failed step had found was not told. A store that will not be written any more is left to
        // the next program, which finds it as after a crash.
        isAtRest = isStopping && troubles >= Self.troublesBeforeRest
        if isAtRest { notices.append(.stopped) }
    }

    /// Whether commits have failed again and again, so that nobody should wait for what needs one. It is tried on.
    package var isTroubled: Bool { troubles >= Self.troublesBeforeRest }

    /// Whether a commit failed and its items, which are still leased, are about to be taken up again.
    package var isRecovering: Bool { troubledUntil != nil || needsAdoption }

    /// How many commits may fail before a stop does without them.
    private static let troublesBeforeRest = 3

    /// Files of the media directory that were not yet held against the rows.
    var unchecked: [String] = []
    var hasListed = false
    /// The directory is being listed, or orphans deleted.
    var isClearing = false

    /// Whether leases of this owner stand in the store that memory knows nothing of.
    var needsAdoption = false

    func newID() -> UInt64 {
        defer { nextID += 1 }
        return nextID
    }

    func poster() -> @Sendable (EngineEvent) -> Void {
        { [inbox] event in inbox.post(event) }
    }
}

/// Takes the engine's events from any thread and wakes its executor once for many.
package final class EngineInbox: Sendable {
    private let events = Guarded<[EngineEvent]>([])
    private let wake: @Sendable () -> Void

    /// Makes an inbox.
    ///
    /// - Parameter wake: called when the first event of a batch has come, on the thread that brings it; makes the
    ///   engine's executor run a step soon.
    package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Queues an event.
    package func post(_ event: EngineEvent) {
        let isFirst = events.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if isFirst { wake() }
    }

    func take() -> [EngineEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
