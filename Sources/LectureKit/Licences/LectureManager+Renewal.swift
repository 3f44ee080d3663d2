import LectureLicence
public import LectureModel
import LectureStore

/// Batches: licences are renewed, or granted anew.
extension LectureManager {
    /// What a renewal would ask for, and in which requests; nobody is asked.
    ///
    /// - Parameter selection: which licences.
    /// - Returns: in the order of the requests; those that have to wait come last.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device; a store's code.
    public func planRenewal(_ selection: RenewalSelection) throws -> [PlannedRenewal] {
        try plan(selection, .renewal)
    }

    /// What ``regrantLicences(_:_:)`` would ask for, and in which requests; nobody is asked.
    ///
    /// - Parameter selection: of which licences.
    /// - Returns: in the order of the requests; those that have to wait come last.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device; a store's code.
    public func planRegrant(_ selection: RenewalSelection = .all) throws -> [PlannedRenewal] {
        try plan(selection, .regrant)
    }

    private func plan(_ selection: RenewalSelection, _ kind: RenewalKind) throws -> [PlannedRenewal] {
        guard try writer.hasLicences() else { return [] }
        // A store that was put back is noticed before it is asked what is due: then everything is.
        try openLicences()
        let now = try judge().time.noEarlierThan ?? clock.now()
        let plan = RenewalPlan(try licenceQueries().candidates(selection, kind, now: now), now: clock.now())
        return plan.groups.enumerated().flatMap { number, group in
            group.candidates.map { PlannedRenewal($0, request: number + 1) }
        } + plan.waiting.map { PlannedRenewal($0, request: nil) }
    }

    /// Asks the licence servers anew, ten licences a request, and waits until every licence is renewed, has failed, or
    /// has to wait. What happens meanwhile comes as events. A renewal that was interrupted is gone on with.
    ///
    /// A task that is cancelled stops waiting at once; the renewal goes on. ``stopRenewal()`` ends it.
    ///
    /// - Parameters:
    ///   - selection: which licences.
    ///   - options: how fast, how often.
    /// - Returns: what became of it. Failed licences are as they were.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, of which nothing is touched; a store's
    ///   code, `configuration`; `CancellationError` when the task is cancelled.
    public func renewLicences(
        _ selection: RenewalSelection, _ options: RenewalOptions = RenewalOptions()
    ) async throws -> RenewalReport {
        try await renew(selection, .renewal, options)
    }

    /// Asks the licence servers for new grants (kind 1, as before a download) for licences that are not believed any
    /// more, because the store was put back from a backup, changed, or taken over from another device. Nothing is
    /// downloaded, and nothing is granted here: each server decides. Batched and gone on with like renewals.
    ///
    /// A store that another device has written last is taken over by this call where this device has written it before:
    /// its key was imported again, and all licences are granted anew. Where it has not, ``acceptDevice()`` comes first.
    ///
    /// A licence that is believed is left alone, since a new grant gives back what was used of it. One whose media this
    /// device cannot open fails with `sealedElsewhere`.
    ///
    /// - Parameters:
    ///   - selection: which licences; of these those that are not believed.
    ///   - options: how fast, how often.
    /// - Returns: what became of it: ``RenewalReport/renewed`` counts the grants. Failed licences are as they were.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, of which nothing is touched; a store's
    ///   code, `configuration`; `CancellationError` when the task is cancelled, as with ``renewLicences(_:_:)``.
    public func regrantLicences(
        _ selection: RenewalSelection = .all, _ options: RenewalOptions = RenewalOptions()
    ) async throws -> RenewalReport {
        try await renew(selection, .regrant, options)
    }

    private func renew(
        _ selection: RenewalSelection, _ kind: RenewalKind, _ options: RenewalOptions
    ) async throws -> RenewalReport {
        try Task.checkCancellation()
        guard try writer.hasLicences() else {
            var report = RenewalReport()
            report.left = try left(of: selection, kind)
            return report
        }
        // The device that has come back to its store, and asks for new grants, says with that whose the store is.
        let accepts = try kind == .regrant && deviceLedger().ledger.hasOwnRows()
        let room = try openLicences(accepting: accepts)
        let left = try left(of: selection, kind)
        room.use(options, attempts: attemptsOfBatches)
        let waiter = Waiter<RenewalReport>()
        room.renew(selection, kind, waiter)
        defer { room.forget(waiter) }
        var report = try await waiter.value()
        report.left = left
        try await untilRemoved()
        return report
    }

    /// Named keys that no server is asked about.
    ///
    /// - Parameters:
    ///   - selection: which licences; only keys are named.
    ///   - kind: what servers would be asked for.
    /// - Returns: the keys in their order.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func left(of selection: RenewalSelection, _ kind: RenewalKind) throws -> [RenewalReport.Left] {
        guard case .keys(let keys) = selection else { return [] }
        return try Set(keys).sorted().compactMap { key in
            try reason(toLeave: key, kind).map { RenewalReport.Left(key, $0) }
        }
    }

    private func reason(toLeave key: ContentKey, _ kind: RenewalKind) throws -> RenewalReport.Left.Reason? {
        guard try queries.item(key) != nil else { return .unknown }
        guard try writer.hasLicence(key) || isSealedForLicence(key) else { return .unlicensed }
        guard let entry = try deviceLedger().ledger.entry(key), let record = entry.record else { return .ungranted }
        if record.isDeleted { return .deleted }
        if entry.source.callbackURL.isEmpty { return .noServer }
        return kind == .regrant && entry.suspicion == nil ? .believed : nil
    }

    /// Waits until what a server has ordered away is gone.
    func untilRemoved() async throws { if room != nil { try await untilRest() } }

    /// Ends a renewal that is under way: what is renewed stays, the rest waits for the next one. It runs to its end
    /// in a task that is cancelled as well.
    public func stopRenewal() async {
        guard let room = licences else { return }
        licences = nil
        await withCheckedContinuation { room.stop($0) }
    }
}
