import LectureEngine
import LectureFormats
import LectureModel

/// The items in work, and what they share.
struct SharedWork: Sendable {
    private(set) var settings: DownloadSettings
    /// The items that this program has leased; one whose ``ItemStep`` runs is not among them.
    var items = LeasedItems()
    var transfers: RunningTransfers
    /// Part files that have not reported that they are closed.
    var parts: [PartToken: LivingPart] = [:]
    /// Files that are removed or published.
    var files = FileWork()
    /// Counts of this engine's life.
    var statistics = EngineStatistics()
    /// Items whose committed bytes were counted as reused.
    var countedReuse: Set<ContentID> = []
    /// Whether a target state may have changed.
    var needsStep = true

    /// Nothing is in work.
    init(_ settings: DownloadSettings) {
        self.settings = settings
        transfers = RunningTransfers(settings.pacing)
    }

    /// Changes the settings; they apply to what starts from now on.
    mutating func configure(_ settings: DownloadSettings) {
        self.settings = settings
        transfers.pacer.rules = settings.pacing
        needsStep = true
    }

    /// How many items may be taken up beside the jobs; see ``mayStartBesideJobs(_:at:)``.
    var placesBesideJobs: Int { settings.exceedsJobs ? transfers.farPlaces : 0 }

    /// Whether an item may start a transfer although there are as many jobs as there should be: a small file of a far
    /// server, for which hardly anything is done before it has come. That it is small may turn out to be wrong.
    func mayStartBesideJobs(_ item: ItemWork, at origin: Origin) -> Bool {
        settings.exceedsJobs && transfers.hasFarPlace(origin) && !item.isLarge
    }

    /// Counts bytes received since the last step, so that the count is right whenever a run ends.
    mutating func countFetched() { statistics.bytesFetched += transfers.countReceived() }

    /// A transfer is over; returns it, once.
    mutating func ended(_ id: TransferID, _ report: TransferReport, at boot: BootInstant) -> TransferWork? {
        let counted = transfers.countedBytes(id)
        guard let transfer = transfers.ended(id, report, at: boot) else { return nil }
        statistics.bytesFetched += max(0, report.outcome.bodyBytes - counted)
        return transfer
    }
}

/// The items in work. How many count as jobs is asked for each transfer that starts, so it is kept and not counted.
struct LeasedItems: Sendable {
    /// An item, as the machine keeps it. A machine is copied for each step, since the one of before comes back if the
    /// step fails: of an item that the step does not touch, that copies a reference.
    private final class Leased: Sendable {
        let work: ItemWork
        let usesSlot: Bool
        let waitsForServer: Bool

        init(_ work: ItemWork) {
            (self.work, usesSlot, waitsForServer) = (work, work.usesSlot, work.busyServer != nil)
        }
    }

    private var items: [ContentID: Leased] = [:]
    /// How many count as jobs.
    private(set) var jobCount = 0
    /// How many wait for a server that has no place for their first request.
    private(set) var waitingCount = 0

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }
    /// The items, in no order.
    var works: some Sequence<ItemWork> { items.values.lazy.map(\.work) }
    /// In the order in which they were added to the store.
    var inOrder: [ContentID] { items.keys.sorted() }

    subscript(id: ContentID) -> ItemWork? { items[id]?.work }

    /// Adds an item, or puts it back as it is now.
    mutating func put(_ work: ItemWork) {
        let item = Leased(work)
        count(items.updateValue(item, forKey: work.id), by: -1)
        count(item, by: 1)
    }

    /// Takes an item out.
    mutating func take(_ id: ContentID) -> ItemWork? {
        let item = items.removeValue(forKey: id)
        count(item, by: -1)
        return item?.work
    }

    private mutating func count(_ item: Leased?, by one: Int) {
        guard let item else { return }
        if item.usesSlot { jobCount += one }
        if item.waitsForServer { waitingCount += one }
    }
}

/// The transfers that run, and what is known of their servers.
struct RunningTransfers: Sendable {
    /// One that runs, and what changes while it does.
    private struct Running {
        let transfer: TransferWork
        var speed: TransferSpeed
        /// Bytes that the statistics have counted.
        var countedBytes: Int64 = 0
    }

    private var running: [TransferID: Running] = [:]
    /// When the next one may start.
    var pacer: TrafficPacer
    /// What else is known of servers.
    var servers = OriginTraits()
    /// How far servers are.
    private var ways = FarServers()
    /// Servers whose stored limits and waits were looked up.
    private var knownOrigins: Set<Origin> = []

    /// None runs.
    init(_ rules: OriginPacer.Rules) { pacer = TrafficPacer(rules) }

    /// Those that run.
    var ids: some Sequence<TransferID> { running.keys }

    /// One that runs.
    subscript(id: TransferID) -> TransferWork? { running[id]?.transfer }

    /// Bytes of one that the statistics have counted.
    func countedBytes(_ id: TransferID) -> Int64 { running[id]?.countedBytes ?? 0 }

    /// One more runs.
    mutating func started(_ transfer: TransferWork) {
        let speed = TransferSpeed(position: transfer.span.start, at: transfer.startedBoot)
        running[transfer.id] = Running(transfer: transfer, speed: speed)
        pacer.started(transfer.id, at: transfer.origin, by: transfer.carrier, boot: transfer.startedBoot)
    }

    /// One is over; returns it, once.
    mutating func ended(_ id: TransferID, _ report: TransferReport, at boot: BootInstant) -> TransferWork? {
        guard let transfer = running.removeValue(forKey: id)?.transfer else { return nil }
        let sharing = sharing(transfer)
        pacer.ended(id, report.pacingOutcome, at: boot, random: 0)
        recordHTTP2(of: transfer, report)
        recordWay(of: transfer, report, sharing: sharing)
        return transfer
    }

    /// An answer has begun.
    mutating func answered(_ transfer: TransferWork, _ verdict: ResponseVerdict) {
        guard let plan = verdict.mediaPlan, let arrival = transfer.sink.arrival else { return }
        ways.answered(
            transfer.origin, distance: arrival.distance, delay: arrival.delay, total: plan.total,
            sharing: sharing(transfer))
        pacer.located(transfer.origin, isFar: ways.isFar(transfer.origin))
    }

    /// How many more small files far servers may be asked for.
    var farPlaces: Int {
        ways.far.reduce(0) { sum, origin in
            let pacer = pacer[origin]
            return sum + max(0, min(pacer.limit, DownloadSettings.farTransfers) - pacer.runningCount)
        }
    }

    /// Whether one more small file of a far server may be asked for beside the jobs.
    func hasFarPlace(_ origin: Origin) -> Bool {
        ways.isFar(origin) && pacer[origin].runningCount < DownloadSettings.farTransfers
    }

    /// The network is another one.
    mutating func networkChanged() {
        for origin in Array(ways.far) { pacer.located(origin, isFar: false) }
        ways.forget()
    }

    /// How many of the transfers that run share the connection of one, with it. Large files of its server, which have
    /// connections of their own, are few and counted as well.
    private func sharing(_ transfer: TransferWork) -> Int {
        pacer.isStream(transfer.carrier, of: transfer.origin) ? pacer[transfer.origin].runningCount : 1
    }

    private mutating func recordWay(of transfer: TransferWork, _ report: TransferReport, sharing: Int) {
        if case .failed = report.outcome.end { ways.failed(transfer.origin) }
        if report.outcome.end == .complete, report.reachedEnd, report.position <= FarServers.smallFile {
            ways.ended(transfer.origin, after: report.outcome.sinceSent, sharing: sharing)
        }
        pacer.located(transfer.origin, isFar: ways.isFar(transfer.origin))
    }

    private mutating func recordHTTP2(of transfer: TransferWork, _ report: TransferReport) {
        if report.status != nil { servers.answered(transfer.origin) }
        if case .failed(let curl, _) = report.outcome.end, RetryTable.isHandshake(transfer: curl) {
            servers.handshakeFailed(at: transfer.origin)
        }
        guard transfer.carrier == .stream else { return }
        if report.status != nil { pacer.answered(transfer.origin, carriesStreams: report.isHTTP2) }
        if report.verdict == .retry(ResponseJudge.unframed) { return servers.http2Failed(at: transfer.origin) }
        if case .failed(let curl, _) = report.outcome.end, RetryTable.mayBeHTTP2(transfer: curl) {
            servers.streamBroke(at: transfer.origin)
        } else if report.outcome.end == .complete {
            servers.streamEnded(at: transfer.origin)
        }
    }

    /// How many bytes they have received since this was asked last.
    mutating func countReceived() -> Int64 {
        var sum: Int64 = 0
        for (id, one) in running {
            let received = one.transfer.sink.receivedBytes
            guard received != one.countedBytes else { continue }
            sum += received - one.countedBytes
            running[id]?.countedBytes = received
        }
        return sum
    }

    /// Measures the speed of each.
    mutating func measure(at boot: BootInstant) {
        for (id, one) in running where !one.transfer.isLoader {
            running[id]?.speed.measure(one.transfer.sink.position, at: boot)
        }
    }

    /// A connection that is ten seconds old and slower than a quarter of the others' mean speed.
    ///
    /// - Parameters:
    ///   - ids: those of one resource, the oldest first.
    ///   - boot: the time.
    /// - Returns: nil when there is none.
    func slow(among ids: [TransferID], at boot: BootInstant) -> TransferID? {
        guard ids.count > 1 else { return nil }
        let together = ids.compactMap { running[$0] }
        return together.first { one in
            guard boot - one.transfer.startedBoot > .seconds(10) else { return false }
            let others = together.filter { $0.transfer.id != one.transfer.id }
            let mean = others.reduce(0) { $0 + $1.speed.bytesPerSecond } / Double(max(1, others.count))
            return one.speed.bytesPerSecond * 4 < mean
        }?.transfer.id
    }

    /// Whether one more may start at a server. What the store has about the server is looked up once.
    mutating func admission(_ server: Server, _ step: inout Step<DownloadMachine>) -> OriginPacer.Admission {
        let origin = server.origin
        if knownOrigins.insert(origin).inserted, let stored = (try? step.store.index.servers.origin(origin.text)) ?? nil
        {
            // Waits survive a restart, and a wall clock that was set back during the wait.
            let wait = stored.waitUntil.map { RetryWait(setAt: stored.waitSet ?? step.now, due: $0) }
            pacer.restore(origin, limit: stored.limit, wait: wait, now: step.now, boot: step.boot)
        }
        pacer.respect(step.others, at: origin, boot: step.boot)
        let admission = pacer.admission(origin, by: server.carrier, at: step.boot, besides: step.others)
        if admission == .busy(.budget) { step.waitsForOthers = true }
        return admission
    }

    /// How long a server must not be asked; nil when it may be.
    func wait(of origin: Origin, _ step: Step<DownloadMachine>) -> Duration? {
        let left = pacer[origin].waitLeft(at: step.boot, besides: step.others[origin])
        return left > .zero ? left : nil
    }

    /// A server asked to wait; returns what is stored of it.
    mutating func wait(
        _ origin: Origin, for delay: Duration, _ step: Step<DownloadMachine>
    ) -> OriginRecord {
        pacer.wait(origin, for: delay, now: step.now, boot: step.boot)
        let (limit, wait) = (pacer[origin].limit, pacer[origin].storedWait)
        return OriginRecord(origin: origin.text, limit: limit, waitUntil: wait?.due, waitSet: wait?.setAt)
    }
}

extension TransferReport {
    /// What it says about the load of the server.
    fileprivate var pacingOutcome: OriginPacer.Outcome {
        if case .wait = verdict { return .overloaded }
        if case .failed(let curl, _) = outcome.end { return curl == 7 ? .overloaded : .neutral }
        return verdict?.mediaPlan != nil && outcome.end != .cancelled ? .served : .neutral
    }
}
