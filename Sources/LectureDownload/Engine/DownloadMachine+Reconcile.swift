package import LectureEngine
import LectureModel

/// From target states to work: one idempotent function, run after every batch of events.
extension DownloadMachine {
    /// Decides which items are in work, and what each of them does next.
    package mutating func reconcile(_ step: inout Step<Self>) throws {
        shared.countFetched()
        // A path has one part file at a time: those from before a recovery have to be closed first.
        if !needsAdoption || shared.parts.isEmpty { try work(&step) }
        step.notices += try step.context.notices(step.store.index)
        if let next = try nextStep(step) { step.wake(at: next) }
    }

    private mutating func work(_ step: inout Step<Self>) throws {
        if needsAdoption {
            try step.store.index.owners.requeueLeases(of: owner, now: step.now)
            needsAdoption = false
        }
        try followTargetStates(&step)
        try shared.files.publishWanted(&step)
        if step.isStopping {
            try forEachItem(&step) { try $0.end($0.item.machine.setBack()) }
        } else {
            try chores(&step)
            try removeUnwanted(&step)
            try shared.files.clearOrphans(&step)
            if rate.closedUntil == nil {
                // Those that had to wait go before those that are claimed now.
                if shared.items.waitingCount > 0 {
                    try advance(&step) { $0.busyServer != nil }
                }
                try claim(&step)
            }
        }
        try advance(&step)
        try flushIfDue(&step)
        try keepPieces(&step)
        try reportProgress(&step)
        if step.isStopping, shared.items.isEmpty, shared.files.isSettled { step.finish() }
    }

    /// Has each item do what is next, unless it is occupied; or each of those that are meant.
    private mutating func advance(_ step: inout Step<Self>, where isMeant: (ItemWork) -> Bool = { _ in true }) throws {
        // A server that has no place for one has none for the next: within a step nothing ends.
        var busy: Set<Server> = []
        for id in inOrder {
            guard shared.items[id].map(isMeant) == true else { continue }
            guard isOccupied(id, busy, at: step.boot) else {
                try withItem(id, &step) { try $0.advance() }
                if let server = shared.items[id]?.busyServer { busy.insert(server) }
                continue
            }
            #if DEBUG
                // The two agree about what there is to do.
                let before = (step.effects.count, step.notices.count)
                try withItem(id, &step) { try $0.advance() }
                assert((step.effects.count, step.notices.count) == before, "it was occupied")
                assert(isOccupied(id, busy, at: step.boot), "and still is")
            #endif
        }
    }

    private func isOccupied(_ id: ContentID, _ busy: Set<Server>, at boot: BootInstant) -> Bool {
        guard let work = shared.items[id] else { return false }
        if let server = work.busyServer, busy.contains(server) { return true }
        return work.isOccupied(shared.settings, at: boot)
    }

    /// Runs `body` for each item that is not ending.
    private mutating func forEachItem(
        _ step: inout Step<Self>, _ body: (inout ItemStep) throws -> Void
    ) throws {
        for id in inOrder where shared.items[id]?.isEnding == false { try withItem(id, &step, body) }
    }

    /// When the next step is due.
    private mutating func nextStep(_ step: Step<Self>) throws -> BootInstant? {
        if shared.files.orphans.hasUnchecked, !step.isStopping { return step.boot }
        if activeCount > 0 {
            paces.lastWork = step.boot
            let isFast = !shared.items.isEmpty || shared.files.removals.count > 0
            return step.boot + (isFast ? shared.settings.groupInterval : .milliseconds(500))
        }
        guard try isAsleep(step) else { return step.boot + .milliseconds(500) }
        if let closedUntil = rate.closedUntil { return step.boot + max(.zero, closedUntil - step.now) }
        return try step.store.index.owners.nextDue(run: run).map { due in
            step.boot + max(.milliseconds(500), due - step.now)
        }
    }

    /// Whether nothing has to be looked at again: there was nothing to do for a while, no other program works on a
    /// lecture of the run, which it may leave behind when it dies, and what others write is heard of.
    private func isAsleep(_ step: Step<Self>) throws -> Bool {
        guard shared.settings.hearsOthers, !step.isStopping, let last = paces.lastWork,
            step.boot - last >= Paces.untilAsleep
        else { return false }
        return try step.store.index.owners.leasedElsewhere(run: run, owner: owner) == 0
            && step.store.index.contents.contentsToRemove(limit: 1).isEmpty
    }

    // MARK: Target states

    /// Applies changed target states to the items in work, when this or another program has changed something.
    private mutating func followTargetStates(_ step: inout Step<Self>) throws {
        let version = try step.store.index.dataVersion()
        guard shared.needsStep || version != seenDataVersion else { return }
        seenDataVersion = version
        shared.needsStep = false
        for (id, targetState) in try step.store.index.owners.changedTargetStates(owner: owner)
        where shared.items[id]?.isEnding == false {
            try withItem(id, &step) { try $0.follow(targetState) }
        }
    }

    /// Work that is due at most once a second.
    private mutating func chores(_ step: inout Step<Self>) throws {
        guard paces.chores.isDue(every: .seconds(1), at: step.boot) else { return }
        try followTimetable(&step)
        try step.store.index.owners.requeueDue(run: run, now: step.now)
        try shared.files.deleteDiscarded(&step)
        shared.transfers.measure(at: step.boot)
        try forEachItem(&step) { $0.tuneConnections() }
    }

    private mutating func followTimetable(_ step: inout Step<Self>) throws {
        let minute = step.store.minuteOfWeek(step.now)
        if let limit = rate.follow(shared.settings, atMinuteOfWeek: minute, now: step.now) {
            step.effects.append(.transfer(.limitRate(limit.bytesPerSecond)))
        }
        guard let closedUntil = rate.closedUntil else { return }
        try forEachItem(&step) { item in
            let error = LectureError(.schedule)
            try item.end(item.item.machine.stopped(.schedule, error: error, until: closedUntil, now: item.now))
        }
    }

    /// Claims items from the queue. Items that only wait for a busy server, or for the disk to make their last bytes
    /// durable, do not count as jobs, so that the network is used meanwhile; nor do small files of far servers, where
    /// the user has not chosen a number.
    private mutating func claim(_ step: inout Step<Self>) throws {
        let (jobs, extra) = (shared.settings.jobs, shared.placesBesideJobs)
        let most = jobs * 4 + 16 + (extra > 0 ? 2 * DownloadSettings.farTransfers : 0)
        let slots = min(max(0, jobs - shared.items.jobCount) + extra, most - shared.items.count)
        guard slots > 0 else { return }
        for record in try step.store.index.owners.claim(run: run, owner: owner, limit: slots, now: step.now) {
            shared.items.put(ItemWork(record: record))
            try withItem(record.id, &step) { try $0.takeUp() }
        }
    }

    /// Removes lectures that are no longer wanted, after their work has ended.
    private mutating func removeUnwanted(_ step: inout Step<Self>) throws {
        let index = step.store.index
        // The limit includes those that have to wait, so that they do not hide the others.
        let waiting = shared.files.removals.waiting(at: step.boot)
        for id in try index.contents.contentsToRemove(limit: 16 + waiting) where shared.items[id] == nil {
            try shared.files.remove(id, owner: owner, &step)
        }
    }

    // MARK: At intervals

    private mutating func flushIfDue(_ step: inout Step<Self>) throws {
        guard paces.flushes.isDue(every: shared.settings.groupInterval, at: step.boot) else { return }
        for id in inOrder where shared.items[id]?.isWriting == true { try withItem(id, &step) { $0.flush() } }
    }

    /// Stores what the transfers that take long for a chunk have of it.
    private mutating func keepPieces(_ step: inout Step<Self>) throws {
        guard paces.pieces.isDue(every: shared.settings.pieceInterval, at: step.boot) else { return }
        for id in inOrder { try withItem(id, &step) { try $0.keepPieces() } }
    }

    private mutating func reportProgress(_ step: inout Step<Self>) throws {
        guard paces.progress.isDue(every: shared.settings.progressInterval, at: step.boot) else { return }
        for id in inOrder { try withItem(id, &step) { $0.reportProgress() } }
    }
}
