import LectureEngine
import LectureFormats
import LectureModel

/// The items in work, and what they share.
struct SharedWork: Sendable {
    private(set) var settings: DownloadSettings
    /// The items that this program has leased; one whose ``ItemStep`` runs is not among them.
    var items: [ContentID: ItemWork] = [:]
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
        transfers = RunningTransfers(settings.originLimits)
    }

    /// Changes the settings; they apply to what starts from now on.
    mutating func configure(_ settings: DownloadSettings) {
        self.settings = settings
        transfers.governor.limits = settings.originLimits
        needsStep = true
    }

    /// Counts bytes received since the last step, so that the count is right whenever a run ends.
    mutating func countFetched() { statistics.bytesFetched += transfers.countReceived() }

    /// A transfer is over; returns it, once.
    mutating func ended(_ id: TransferID, _ report: TransferReport) -> TransferWork? {
        guard let transfer = transfers.ended(id, report) else { return nil }
        statistics.bytesFetched += max(0, report.outcome.bodyBytes - transfer.countedBytes)
        return transfer
    }
}

/// The transfers that run, and what is known of their servers.
struct RunningTransfers: Sendable {
    private var running: [TransferID: TransferWork] = [:]
    var governor: OriginGovernor
    /// Servers whose stored limits and waits were looked up.
    private var knownOrigins: Set<Origin> = []
    private var http2Failures: [Origin: Int] = [:]

    /// None runs.
    init(_ limits: OriginGovernor.Limits) { governor = OriginGovernor(limits: limits) }

    /// Those that run.
    var ids: some Sequence<TransferID> { running.keys }

    /// One that runs.
    subscript(id: TransferID) -> TransferWork? { running[id] }

    /// One more runs.
    mutating func started(_ transfer: TransferWork) {
        running[transfer.id] = transfer
        governor.started(transfer.origin)
    }

    /// One is over; returns it, once.
    mutating func ended(_ id: TransferID, _ report: TransferReport) -> TransferWork? {
        guard let transfer = running.removeValue(forKey: id) else { return nil }
        governor.ended(transfer.origin, report.governorOutcome)
        recordHTTP2(of: transfer, report)
        return transfer
    }

    /// One broken stream is an accident; a server where it happens repeatedly is used over HTTP/1.1.
    private mutating func recordHTTP2(of transfer: TransferWork, _ report: TransferReport) {
        guard transfer.usesHTTP2 else { return }
        if report.verdict == .retry(ResponseJudge.unframed) { return governor.http2Failed(at: transfer.origin) }
        guard case .failed(let curl, _) = report.outcome.end, RetryTable.mayBeHTTP2(transfer: curl) else {
            if report.outcome.end == .complete { http2Failures[transfer.origin] = nil }
            return
        }
        http2Failures[transfer.origin, default: 0] += 1
        if http2Failures[transfer.origin, default: 0] >= 3 { governor.http2Failed(at: transfer.origin) }
    }

    /// How many bytes they have received since this was asked last.
    mutating func countReceived() -> Int64 {
        var sum: Int64 = 0
        for id in running.keys {
            guard let transfer = running[id] else { continue }
            let received = transfer.sink.receivedBytes
            guard received != transfer.countedBytes else { continue }
            sum += received - transfer.countedBytes
            running[id]?.countedBytes = received
        }
        return sum
    }

    /// Measures the speed of each.
    mutating func measure(at boot: BootInstant) {
        for (id, transfer) in running where transfer.resource != nil {
            running[id]?.speed.measure(transfer.sink.position, at: boot)
        }
    }

    /// Whether one more may start at a server. What the store has about the server is looked up once.
    mutating func mayStart(_ origin: Origin, _ step: Step<DownloadMachine>) -> Bool {
        if knownOrigins.insert(origin).inserted, let stored = (try? step.store.index.origin(origin.text)) ?? nil {
            // Waits survive a restart, and a wall clock that was set back during the wait.
            let due = stored.waitUntil.map { RetryWait(setAt: stored.waitSet ?? step.now, due: $0) }
            let left = due?.remaining(at: step.now) ?? .zero
            governor.restore(
                OriginGovernor.Stored(
                    origin: origin, limit: stored.limit, waitUntil: left > .zero ? step.now + left : nil),
                at: step.boot, wall: step.now)
        }
        return governor.mayStart(origin, at: step.boot) == .yes
    }
}

extension TransferReport {
    /// What the governor learns of it.
    fileprivate var governorOutcome: OriginGovernor.Outcome {
        if case .wait = verdict { return .overloaded }
        if case .failed(let curl, _) = outcome.end { return curl == 7 ? .overloaded : .other }
        return verdict?.mediaPlan != nil && outcome.end != .cancelled ? .served : .other
    }
}
