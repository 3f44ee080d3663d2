import LectureEngine
import LectureModel

/// Callbacks that servers must still receive. Each is a row, retried until it is accepted.
extension LicenceMachine {
    /// The waits between attempts: five seconds at first, an hour at the most.
    static let callbackBackoff = Backoff(base: .seconds(5), cap: .seconds(3600))
    /// How many pending callbacks are claimed at once.
    private static let callbacksAtOnce = 100

    /// Claims pending callbacks that are due.
    mutating func fillCallbacks(_ step: inout Step<Self>) throws {
        guard settings.sendsPendingCallbacks, callbacks.held.count <= Self.callbacksAtOnce / 2 else { return }
        if let due = callbacks.lookUpAt, due > step.boot { return step.wake(at: due) }
        let limit = Self.callbacksAtOnce - callbacks.held.count
        let claimed = try step.store.ledger.callbacks.claim(owner: owner, limit: limit, now: step.now)
        for callback in claimed {
            callbacks.held[callback.id] = callback
            let asked = Asked(key: callback.key, purpose: .pendingCallback(callback))
            guard let entry = try step.context.entry(callback.key), entry.record != nil,
                !entry.source.callbackURL.isEmpty
            else {
                // There is no server to notify.
                try finish(asked, LectureError(.licenceMissing), &step)
                continue
            }
            try enqueue(asked, entry, &step)
        }
        callbacks.lookUpAt = nil
        guard claimed.count < limit else { return step.wake(at: step.boot) }
        guard let next = try step.store.ledger.callbacks.nextDue() else {
            // Another process may add one.
            callbacks.lookUpAt = step.boot + .seconds(60)
            return
        }
        // One that is due but could not be claimed belongs to another process, which may end.
        let moment = max(step.boot(of: next), step.boot + .seconds(5))
        callbacks.lookUpAt = moment
        step.wake(at: moment)
    }

    /// Releases a pending callback until later.
    mutating func postponeCallback(
        _ callback: PendingCallback, _ error: LectureError, attempts: Int, by delay: Duration, _ step: inout Step<Self>
    ) throws {
        callbacks.held[callback.id] = nil
        try step.store.ledger.callbacks.postpone(
            callback.id, attempts: attempts, until: step.now + delay, now: step.now, error: error)
        let moment = step.boot + delay
        callbacks.lookUpAt = callbacks.lookUpAt.map { min($0, moment) }
    }
}

/// The pending callbacks that a process has claimed.
struct CallbackClaims: Sendable {
    /// Those that wait for a request or an answer.
    var held: [PendingCallbackID: PendingCallback] = [:]
    /// When others are looked up; nil at once.
    var lookUpAt: BootInstant?
    /// Claims of a failed step: they are in the store, but no work is being done on them.
    private var orphans: [PendingCallback] = []

    /// No work is being done on any.
    mutating func abandon() {
        orphans += held.values
        (held, lookUpAt) = ([:], nil)
    }

    /// Releases abandoned claims.
    mutating func releaseAbandoned(_ step: Step<LicenceMachine>) throws {
        for callback in orphans {
            try step.store.ledger.callbacks.postpone(
                callback.id, attempts: callback.attempts, until: step.now, now: step.now,
                error: callback.error ?? LectureError(.interrupted))
        }
        orphans = []
    }
}
