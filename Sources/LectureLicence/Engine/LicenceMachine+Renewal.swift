import LectureEngine
import LectureModel

/// Batch renewals. A run and its licences are in the ledger; memory has only what this process works on.
extension LicenceMachine {
    /// Starts a run, or continues the unfinished one of the same selection.
    mutating func beginRun(_ selection: RenewalSelection, _ kind: RenewalKind, _ step: inout Step<Self>) throws {
        let started = try step.store.ledger.beginRenewal(selection, kind, now: step.now)
        // Requested again while it is running.
        guard runs[started.run] == nil else { return }
        var run = RunWork(id: started.run, kind: kind, total: started.total, done: started.done, started: step.boot)
        if started.done > 0 {
            for key in try step.store.ledger.renewedKeys(started.run) { try count(key, in: &run.tally, step) }
        }
        runs[started.run] = run
        step.notices.append(
            .renewalStarted(started.run, total: started.total, done: started.done, isContinued: started.isContinued))
    }

    /// Claims what is due from the ledger ahead of the requests, and ends runs with nothing left.
    mutating func fillRuns(_ step: inout Step<Self>) throws {
        for id in runs.keys.sorted() {
            guard var run = runs[id] else { continue }
            // Enough is claimed, and its end triggers the next check; a wake-up for it would repeat at once.
            if run.claimed.count > settings.lookAhead / 2 { continue }
            if run.claimAt.map({ $0 <= step.boot }) ?? true {
                let limit = settings.lookAhead - run.claimed.count
                let entries = try step.store.ledger.claimRenewals(id, owner: owner, limit: limit, now: step.now)
                put(entries, into: &run, step)
                run.claimAt = nil
                if entries.count < limit { try lookAhead(&run, step) }
            }
            runs[id] = run
            if let moment = run.claimAt { step.wake(at: moment) }
            if run.claimed.isEmpty, run.claimAt != nil { try endIfOver(run, &step) }
        }
    }

    /// The plan decides which licences share a request, so that the printed plan is the one that is followed.
    private mutating func put(_ entries: [LicenceEntry], into run: inout RunWork, _ step: Step<Self>) {
        let candidates = entries.map { entry in
            RenewalCandidate(
                key: entry.key, callbackURL: entry.source.callbackURL, deadline: entry.deadline, notBefore: nil)
        }
        let keyIDs = Dictionary(entries.map { ($0.key, $0.source.keyID) }) { first, _ in first }
        for candidate in RenewalPlan(candidates, now: step.now).groups.flatMap(\.candidates) {
            run.claimed.insert(candidate.key)
            var asked = Asked(
                key: candidate.key, purpose: run.kind == .regrant ? .regrant(run.id) : .renewal(run.id))
            asked.isIsolated = run.isolated.contains(candidate.key)
            let queue = BatchQueue(
                rank: asked.purpose.rank, url: candidate.callbackURL, keyID: keyIDs[candidate.key] ?? "", run: run.id)
            queues[queue, default: []].append(asked)
        }
    }

    /// Nothing more is due now: sets when to check again.
    private func lookAhead(_ run: inout RunWork, _ step: Step<Self>) throws {
        let progress = try step.store.ledger.renewalProgress(run.id)
        var moment = step.boot + settings.longestWait
        if let due = progress.nextDue { moment = min(moment, step.boot(of: due)) }
        // Another process's claims may be released when it ends.
        if progress.elsewhere > 0 { moment = min(moment, step.boot + .seconds(1)) }
        // If the wall clock runs slower than the boot clock, what is due is not due yet: check no more often than this.
        run.claimAt = max(moment, step.boot + .milliseconds(20))
    }

    private mutating func endIfOver(_ run: RunWork, _ step: inout Step<Self>) throws {
        let progress = try step.store.ledger.renewalProgress(run.id)
        if progress.elsewhere > 0 { return }
        let isDone = progress.wanted == 0
        let waits = progress.nextDue.map { $0 - step.now > settings.longestWait } ?? isDone
        guard isDone || waits else { return }
        if isDone { try step.store.ledger.endRenewal(run.id, now: step.now) }
        var summary = RenewalSummary()
        (summary.total, summary.renewed, summary.failed) = (run.total, progress.renewed, progress.failed)
        (summary.waiting, summary.nextDue) = (progress.wanted, progress.nextDue)
        summary.tally = run.tally
        runs[run.id] = nil
        step.notices.append(.renewalEnded(run.id, summary))
    }

    // MARK: Items

    /// A licence is done, renewed or failed.
    mutating func settle(_ key: ContentKey, _ id: RenewalRunID, _ error: LectureError?, _ step: inout Step<Self>) throws
    {
        try step.store.ledger.settleRenewal(id, key, error: error)
        if error == nil, var tally = runs[id]?.tally {
            // Taken out meanwhile, so that the list in it is not copied.
            runs[id]?.tally = RenewalTally()
            try count(key, in: &tally, step)
            runs[id]?.tally = tally
        }
        // In place: a copy would copy all that is claimed.
        runs[id]?.settle(key)
        guard let run = runs[id] else { return }
        let passed = (step.boot - run.started).secondsDouble
        let left = passed > 0 ? passed / Double(run.settled) * Double(max(0, run.total - run.done)) : nil
        step.notices.append(
            .renewalProgress(id, current: run.done, count: run.total, key, error, etaSeconds: left))
    }

    /// A server has answered for a licence: counts whether it may be played now.
    private func count(_ key: ContentKey, in tally: inout RenewalTally, _ step: Step<Self>) throws {
        let (entry, verdict) = try step.context.judged(key)
        if verdict.isPlayable { tally.playable += 1 }
        if let entry, entry.suspicion != nil { tally.unbelieved.append(key) }
    }

    /// Releases a licence, so that it can be claimed again.
    mutating func release(
        _ key: ContentKey, _ id: RenewalRunID, until: BootInstant?, _ step: Step<Self>
    ) throws {
        try step.store.ledger.releaseRenewal(id, key)
        guard runs[id] != nil else { return }
        runs[id]?.claimed.remove(key)
        if let claimAt = runs[id]?.claimAt, let until { runs[id]?.claimAt = min(claimAt, until) }
    }

    /// The exchange for a licence failed: it is requested again, or fails in this run.
    mutating func failedRenewal(
        _ asked: Asked, _ id: RenewalRunID, _ fault: CallbackFault, isInCompany: Bool, _ random: UInt64,
        _ step: inout Step<Self>
    ) throws {
        let key = asked.key
        var run = runs[id] ?? RunWork(id: id, total: 0, done: 0, started: step.boot)
        let isBusy = fault.outcome == .overloaded
        // An overloaded server says nothing about the licence: four times as many attempts are allowed.
        let limit = isBusy ? settings.attempts * 4 : settings.attempts
        let failures = isBusy ? run.overloads[key, default: 0] + 1 : run.attempts[key, default: 0] + 1
        if isBusy { run.overloads[key] = failures } else { run.attempts[key] = failures }
        let isolates = fault.mayBeOfOneItem && isInCompany
        if isolates, fault.isFinal || failures > 1 { run.isolated.insert(key) }
        if runs[id] != nil { runs[id] = run }
        let delay = max(Backoff().delay(failures: failures, random: random), fault.wait ?? .zero)
        guard failures < limit, !fault.isFinal || isolates else {
            try keepError(asked, fault.error, until: nil, &step)
            return try finish(asked, fault.error, &step)
        }
        try keepError(asked, fault.error, until: step.now + delay, &step)
        try release(key, id, until: step.boot + delay, step)
    }
}
