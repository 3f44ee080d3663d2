import LectureEngine
import LectureFormats
import LectureModel

/// Batch renewals of this process. A run and its licences are in the ledger; memory has only what this process works
/// on.
struct RenewalRuns: Sendable {
    /// Renewals that no step has begun.
    private var selections: [(selection: RenewalSelection, kind: RenewalKind)] = []
    private var runs: [RenewalRunID: RunWork] = [:]
    /// Claims of runs whose step has failed: they are in the store, but no work is being done on them.
    private var orphans: [(run: RenewalRunID, key: ContentKey)] = []

    /// Whether any run is in work or waits to begin.
    var isBusy: Bool { !runs.isEmpty || !selections.isEmpty }
    /// Whether a run has nothing in work.
    var hasIdleRun: Bool { runs.values.contains { $0.claimed.isEmpty } }
    /// Whether a run has something in work.
    var hasClaims: Bool { runs.values.contains { !$0.claimed.isEmpty } }

    /// A selection is to be renewed.
    mutating func request(_ selection: RenewalSelection, _ kind: RenewalKind) { selections.append((selection, kind)) }

    /// Starts the runs of requested selections, or continues the unfinished ones of the same selections.
    mutating func begin(_ step: inout Step<LicenceMachine>) throws {
        for request in selections {
            let started = try step.store.ledger.renewals.begin(request.selection, request.kind, now: step.now)
            // Requested again while it is running.
            guard runs[started.run] == nil else { continue }
            var run = RunWork(
                id: started.run, kind: request.kind, total: started.total, done: started.done,
                isContinued: started.isContinued)
            if started.done > 0 {
                for key in try step.store.ledger.renewals.renewedKeys(started.run) {
                    try run.tally.count(key, step.context)
                }
            }
            runs[started.run] = run
            step.notices.append(.renewalStarted(started.run, isContinued: started.isContinued))
            step.notices.append(.event(.renewalBegan(total: started.total, done: started.done)))
        }
        selections = []
    }

    /// Claims what is due from the ledger ahead of the requests, and ends runs with nothing left.
    ///
    /// - Parameters:
    ///   - queues: receive what was claimed.
    ///   - owner: claims it.
    ///   - settings: those of the engine.
    ///   - step: its transaction.
    /// - Throws: ``LectureError``: a store's code.
    mutating func fill(
        _ queues: inout RequestQueues, owner: OwnerID, _ settings: LicenceSettings, _ step: inout Step<LicenceMachine>
    ) throws {
        for id in runs.keys.sorted() {
            guard var run = runs[id] else { continue }
            // Enough is claimed, and its end triggers the next check; a wake-up for it would repeat at once.
            if run.claimed.count > settings.lookAhead / 2 { continue }
            if run.claimAt.map({ $0 <= step.boot }) ?? true {
                let limit = settings.lookAhead - run.claimed.count
                let entries = try step.store.ledger.renewals.claim(id, owner: owner, limit: limit, now: step.now)
                step.context.take(entries)
                run.claim(entries, into: &queues, now: step.now)
                run.claimAt = entries.count < limit ? try nextLook(at: run, settings, step) : nil
            }
            runs[id] = run
            if let moment = run.claimAt { step.wake(at: moment) }
            if run.claimed.isEmpty, run.claimAt != nil { try endIfOver(run, settings, &step) }
        }
    }

    /// When to look again for what may be claimed: nothing more is due now.
    private func nextLook(
        at run: RunWork, _ settings: LicenceSettings, _ step: Step<LicenceMachine>
    ) throws -> BootInstant {
        let progress = try step.store.ledger.renewals.progress(run.id)
        var moment = step.boot + settings.longestWait
        if let due = progress.nextDue { moment = min(moment, step.boot(of: due)) }
        // Another process's claims may be released when it ends.
        if progress.elsewhere > 0 { moment = min(moment, step.boot + .seconds(1)) }
        // If the wall clock runs slower than the boot clock, what is due is not due yet: check no more often than this.
        return max(moment, step.boot + .milliseconds(20))
    }

    private mutating func endIfOver(
        _ run: RunWork, _ settings: LicenceSettings, _ step: inout Step<LicenceMachine>
    ) throws {
        let progress = try step.store.ledger.renewals.progress(run.id)
        if progress.elsewhere > 0 { return }
        let isDone = progress.wanted == 0
        let waits = progress.nextDue.map { $0 - step.now > settings.longestWait } ?? isDone
        guard isDone || waits else { return }
        if isDone { try step.store.ledger.renewals.end(run.id, now: step.now) }
        var report = run.report
        (report.renewed, report.failed, report.waiting) = (progress.renewed, progress.failed, progress.wanted)
        runs[run.id] = nil
        step.notices.append(.event(.renewalEnded(report)))
        step.notices.append(.renewalEnded(run.id, report))
    }

    // MARK: Items

    /// A licence is done, renewed or failed.
    mutating func settle(
        _ key: ContentKey, _ id: RenewalRunID, _ error: LectureError?, _ step: inout Step<LicenceMachine>
    ) throws {
        try step.store.ledger.renewals.settle(id, key, error: error)
        if error == nil, var tally = runs[id]?.tally {
            // Taken out meanwhile, so that the list in it is not copied.
            runs[id]?.tally = RenewalTally()
            try tally.count(key, step.context)
            runs[id]?.tally = tally
        }
        // In place: a copy would copy all that is claimed.
        runs[id]?.settle(key)
        guard let run = runs[id] else { return }
        step.notices.append(.event(.renewed(key: key, current: run.done, count: run.total, error: error)))
    }

    /// Releases a licence, so that it can be claimed again.
    mutating func release(
        _ key: ContentKey, _ id: RenewalRunID, until: BootInstant?, _ step: Step<LicenceMachine>
    ) throws {
        try step.store.ledger.renewals.release(id, key)
        guard runs[id] != nil else { return }
        runs[id]?.claimed.remove(key)
        if let claimAt = runs[id]?.claimAt, let until { runs[id]?.claimAt = min(claimAt, until) }
    }

    /// The exchange for a licence failed.
    ///
    /// - Parameters:
    ///   - key: the licence.
    ///   - id: its run.
    ///   - fault: what went wrong.
    ///   - isInCompany: whether the request had other items.
    ///   - attempts: how often a licence is requested before it fails.
    ///   - random: for the wait.
    /// - Returns: after which wait it is requested again; nil when it fails in this run.
    mutating func retry(
        _ key: ContentKey, _ id: RenewalRunID, _ fault: CallbackFault, isInCompany: Bool, attempts: Int,
        random: UInt64
    ) -> Duration? {
        let isBusy = fault.outcome == .overloaded
        // An overloaded server says nothing about the licence: four times as many attempts are allowed.
        let limit = isBusy ? attempts * 4 : attempts
        let failures = runs[id]?.failed(key, isBusy: isBusy) ?? 1
        let isolates = fault.mayBeOfOneItem && isInCompany
        if isolates, fault.isFinal || failures > 1 { runs[id]?.isolated.insert(key) }
        guard failures < limit, !fault.isFinal || isolates else { return nil }
        return max(Backoff().delay(failures: failures, random: random), fault.wait ?? .zero)
    }

    // MARK: Ends

    /// Nothing is in work any more: the steps that worked on it have failed. What was claimed is released later.
    mutating func abandonClaims() {
        for id in runs.keys.sorted() {
            orphans += (runs[id]?.claimed ?? []).map { (id, $0) }
            runs[id]?.claimed = []
            runs[id]?.claimAt = nil
        }
    }

    /// Releases abandoned claims.
    mutating func releaseAbandoned(_ step: Step<LicenceMachine>) throws {
        for (run, key) in orphans { try step.store.ledger.renewals.release(run, key) }
        orphans = []
    }

    /// Forgets requested selections.
    mutating func cancelRequests() { selections = [] }

    /// Ends all runs where they are; the next program continues them.
    mutating func stop() -> [LicenceNotice] {
        defer { runs = [:] }
        return runs.values.sorted { $0.id < $1.id }.map { .renewalStopped($0.id, $0.report) }
    }
}

/// A batch renewal of this process.
private struct RunWork: Sendable {
    var id: RenewalRunID
    var kind = RenewalKind.renewal
    var tally = RenewalTally()
    var total: Int
    var done: Int
    /// Whether an interrupted one is continued.
    let isContinued: Bool
    /// Claimed and neither settled nor released.
    var claimed: Set<ContentKey> = []
    /// How often each failed one was requested, and how often its server was overloaded.
    private var attempts: [ContentKey: Int] = [:]
    private var overloads: [ContentKey: Int] = [:]
    /// Those that are requested alone, since a request with others has failed because of one of them.
    var isolated: Set<ContentKey> = []
    /// Nothing more can be claimed before this moment; nil when something may be available.
    var claimAt: BootInstant?

    init(id: RenewalRunID, kind: RenewalKind, total: Int, done: Int, isContinued: Bool) {
        (self.id, self.kind, self.total, self.done, self.isContinued) = (id, kind, total, done, isContinued)
    }

    /// What only the memory knows of it; the ledger counts the licences.
    var report: RenewalReport {
        var report = RenewalReport()
        (report.total, report.isContinued) = (total, isContinued)
        (report.playable, report.unbelieved) = (tally.playable, tally.unbelieved)
        return report
    }

    /// Queues claimed licences. The plan decides which of them share a request, so that the printed plan is the one
    /// that is followed.
    mutating func claim(_ entries: [LicenceEntry], into queues: inout RequestQueues, now: Timestamp) {
        let candidates = entries.map { entry in
            RenewalCandidate(
                key: entry.key, callbackURL: entry.source.callbackURL, deadline: entry.deadline, notBefore: nil)
        }
        let keyIDs = Dictionary(entries.map { ($0.key, $0.source.keyID) }) { first, _ in first }
        for candidate in RenewalPlan(candidates, now: now).groups.flatMap(\.candidates) {
            claimed.insert(candidate.key)
            var asked = Asked(key: candidate.key, purpose: kind == .regrant ? .regrant(id) : .renewal(id))
            asked.isIsolated = isolated.contains(candidate.key)
            let queue = BatchQueue(
                rank: asked.purpose.rank, url: candidate.callbackURL, keyID: keyIDs[candidate.key] ?? "", run: id)
            queues.add(asked, to: queue)
        }
    }

    /// A request for a licence has failed; returns how often by now.
    mutating func failed(_ key: ContentKey, isBusy: Bool) -> Int {
        if isBusy {
            overloads[key, default: 0] += 1
            return overloads[key] ?? 0
        }
        attempts[key, default: 0] += 1
        return attempts[key] ?? 0
    }

    /// A licence is done.
    mutating func settle(_ key: ContentKey) {
        claimed.remove(key)
        (attempts[key], overloads[key]) = (nil, nil)
        isolated.remove(key)
        done += 1
    }
}

extension RenewalTally {
    /// A server has answered for a licence: counts whether it may be played now.
    fileprivate mutating func count(_ key: ContentKey, _ transaction: LicenceTransaction) throws {
        let (entry, verdict) = try transaction.judged(key)
        if verdict.isPlayable { playable += 1 }
        if let entry, entry.suspicion != nil { unbelieved.append(key) }
    }
}
