import LectureModel

/// Callbacks that servers must still receive. Each is a row, retried until it is accepted.
extension LicenceEngine {
    /// The waits between attempts: five seconds at first, an hour at the most.
    static let callbackBackoff = Backoff(base: .seconds(5), cap: .seconds(3600))
    /// How many pending callbacks are claimed at once.
    private static let callbacksAtOnce = 100

    /// Claims pending callbacks that are due.
    func fillCallbacks(_ turn: inout Turn) throws {
        guard settings.sendsPendingCallbacks, work.heldCallbacks.count <= Self.callbacksAtOnce / 2 else { return }
        if let due = work.callbacksAt, due > turn.boot { return wake(at: due) }
        let limit = Self.callbacksAtOnce - work.heldCallbacks.count
        let callbacks = try ledger.claimCallbacks(owner: owner, limit: limit, now: turn.now)
        for callback in callbacks {
            work.heldCallbacks[callback.id] = callback
            let asked = Asked(key: callback.key, purpose: .pendingCallback(callback))
            guard let entry = try ledger.entry(callback.key), entry.record != nil, !entry.source.callbackURL.isEmpty
            else {
                // There is no server to notify.
                try finish(asked, LectureError(.licenceMissing), &turn)
                continue
            }
            try enqueue(asked, entry, &turn)
        }
        work.callbacksAt = nil
        guard callbacks.count < limit else { return wake(at: turn.boot) }
        guard let next = try ledger.nextCallback() else {
            // Another process may add one.
            work.callbacksAt = turn.boot + .seconds(60)
            return
        }
        // One that is due but could not be claimed belongs to another process, which may end.
        let moment = max(boot(of: next, turn), turn.boot + .seconds(5))
        work.callbacksAt = moment
        wake(at: moment)
    }

    /// Releases a pending callback until later.
    func postponeCallback(
        _ callback: PendingCallback, _ error: LectureError, attempts: Int, by delay: Duration, _ turn: Turn
    ) throws {
        work.heldCallbacks[callback.id] = nil
        try ledger.postponeCallback(
            callback.id, attempts: attempts, until: turn.now + delay, now: turn.now, error: error)
        let moment = turn.boot + delay
        work.callbacksAt = work.callbacksAt.map { min($0, moment) }
    }
}
