import LectureLicence
public import LectureModel
import LectureStore

/// Batches: licences are renewed, or granted again.
extension LectureManager.Licences {
    /// What a renewal would ask for, and in which requests; no server is asked.
    ///
    /// - Parameter selection: which licences.
    /// - Returns: in the order of the requests; those that have to wait come last.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device; a store's code.
    public func planRenewal(of selection: RenewalSelection) throws(LectureError) -> [PlannedRenewal] {
        try LectureError.only {
            try plan(selection, .renewal)
        }
    }

    /// What ``regrant(_:options:)`` would ask for, and in which requests; no server is asked.
    ///
    /// - Parameter selection: of which licences.
    /// - Returns: in the order of the requests; those that have to wait come last.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device; a store's code.
    public func planRegrant(of selection: RenewalSelection = .all) throws(LectureError) -> [PlannedRenewal] {
        try LectureError.only {
            try plan(selection, .regrant)
        }
    }

    private func plan(_ selection: RenewalSelection, _ kind: RenewalKind) throws -> [PlannedRenewal] {
        guard try writer.hasLicences() else { return [] }
        // A restored store is detected before determining what is due: then everything is.
        try licensing.open(accepting: try acceptsReturn(for: kind))
        let now = try licensing.judge().time.noEarlierThan ?? clock.now()
        let plan = RenewalPlan(
            try licensing.queriesOfLicences().candidates(selection, kind, now: now), now: clock.now())
        return plan.groups.enumerated().flatMap { number, group in
            group.candidates.map { PlannedRenewal($0, request: number + 1) }
        } + plan.waiting.map { PlannedRenewal($0, request: nil) }
    }

    /// Renews licences with their servers, ten per request, and waits until every licence is renewed, has failed, or
    /// has to wait. Progress is reported as events. An interrupted renewal is continued.
    ///
    /// A cancelled task stops waiting at once; the renewal continues. ``stopRenewal()`` ends it.
    ///
    /// - Parameters:
    ///   - selection: which licences.
    ///   - options: the rate and the attempts.
    /// - Returns: the result. Failed licences are unchanged.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, which is left unchanged; a store's
    ///   code, `configuration`; `CancellationError` when the task is cancelled.
    public func renew(
        _ selection: RenewalSelection, options: RenewalOptions = RenewalOptions()
    ) async throws -> RenewalReport {
        try await renew(selection, .renewal, options)
    }

    /// Asks the licence servers for new grants (kind 1, as before a download) for licences that are no longer trusted,
    /// because the store was restored from a backup, changed, or taken over from another device. Nothing is downloaded,
    /// and nothing is granted here: each server decides. Batched and continued like renewals.
    ///
    /// A store last written by another device is taken over by this call where this device has written it before: its
    /// key was imported again, and all licences are granted again. Where it has not, ``acceptDevice()`` comes first.
    ///
    /// A trusted licence is left alone, since a new grant would reset its usage. One whose media this device cannot
    /// open fails with `sealedElsewhere`.
    ///
    /// - Parameters:
    ///   - selection: which licences; of these the untrusted ones.
    ///   - options: the rate and the attempts.
    /// - Returns: the result: ``RenewalReport/renewed`` counts the grants. Failed licences are unchanged.
    /// - Throws: ``LectureError``: `storeCopied` for a store of another device, which is left unchanged; a store's
    ///   code, `configuration`; `CancellationError` when the task is cancelled, as with ``renew(_:options:)``.
    public func regrant(
        _ selection: RenewalSelection = .all, options: RenewalOptions = RenewalOptions()
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
        let service = try licensing.open(accepting: try acceptsReturn(for: kind))
        let left = try left(of: selection, kind)
        service.use(options, attempts: core.state.attemptsOfBatches)
        let waiter = Waiter<RenewalReport>()
        service.renew(selection, kind, waiter)
        defer { service.forget(waiter) }
        var report = try await waiter.value()
        report.left = left
        try await untilRemoved()
        return report
    }

    /// A device that has returned to its store and asks for new grants thereby accepts the store as its own.
    private func acceptsReturn(for kind: RenewalKind) throws -> Bool {
        try kind == .regrant && licensing.deviceLedger().ledger.hasOwnRows()
    }

    /// Named keys for which no server is asked.
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
        guard let entry = try licensing.deviceLedger().ledger.entry(key), let record = entry.record else {
            return .ungranted
        }
        if record.isDeleted { return .deleted }
        if entry.source.callbackURL.isEmpty { return .noServer }
        return kind == .regrant && entry.suspicion == nil ? .believed : nil
    }

    /// Waits until the removals ordered by a server are done.
    func untilRemoved() async throws { if core.state.service != nil { _ = try await core.waitUntilIdle() } }

    /// Ends a running renewal: renewed licences stay, the rest waits for the next one. It completes even in a cancelled
    /// task.
    public func stopRenewal() async {
        guard let service = licensing.takeService() else { return }
        await withCheckedContinuation { service.stop($0) }
    }

    /// A text of the application that is sent to licence servers with every request from now on, as the form field
    /// `extra_drm_param`. It is kept in memory only, and appears in no error, event or log.
    ///
    /// - Parameter text: nil sends none.
    public func setParameter(_ text: String?) { licensing.parameter = text }
}
