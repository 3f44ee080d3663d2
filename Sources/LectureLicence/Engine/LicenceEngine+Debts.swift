import LectureModel

/// Callbacks that servers must still receive. Each is a row, retried until it is accepted.
extension LicenceEngine {
    /// The waits between attempts: five seconds at first, an hour at the most.
    static let debtBackoff = Backoff(base: .seconds(5), cap: .seconds(3600))
    /// How many pending callbacks are claimed at once.
    private static let debtsAtOnce = 100

    /// Claims pending callbacks that are due.
    func fillDebts(_ turn: inout Turn) throws {
        guard settings.paysDebts, work.heldDebts.count <= Self.debtsAtOnce / 2 else { return }
        if let due = work.debtsAt, due > turn.boot { return wake(at: due) }
        let limit = Self.debtsAtOnce - work.heldDebts.count
        let debts = try ledger.claimDebts(owner: owner, limit: limit, now: turn.now)
        for debt in debts {
            work.heldDebts[debt.id] = debt
            let asked = Asked(key: debt.key, purpose: .debt(debt))
            guard let entry = try ledger.entry(debt.key), entry.record != nil, !entry.source.callbackURL.isEmpty else {
                // There is no server to notify.
                try finish(asked, LectureError(.licenceMissing), &turn)
                continue
            }
            try enqueue(asked, entry, &turn)
        }
        work.debtsAt = nil
        guard debts.count < limit else { return wake(at: turn.boot) }
        guard let next = try ledger.nextDebt() else {
            // Another process may add one.
            work.debtsAt = turn.boot + .seconds(60)
            return
        }
        // One that is due but could not be claimed belongs to another process, which may end.
        let moment = max(boot(of: next, turn), turn.boot + .seconds(5))
        work.debtsAt = moment
        wake(at: moment)
    }

    /// Releases a pending callback until later.
    func postponeDebt(
        _ debt: LicenceDebt, _ error: LectureError, attempts: Int, by delay: Duration, _ turn: Turn
    ) throws {
        work.heldDebts[debt.id] = nil
        try ledger.postponeDebt(
            debt.id, attempts: attempts, until: turn.now + delay, now: turn.now, error: error)
        let moment = turn.boot + delay
        work.debtsAt = work.debtsAt.map { min($0, moment) }
    }
}
