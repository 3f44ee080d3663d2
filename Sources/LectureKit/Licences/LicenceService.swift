import Dispatch
import LectureCrypto
import LectureDownload
import LectureEngine
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore
import LectureTransport

/// The active part of licences: the engine with its ports, and the waiting callers.
///
/// Created with the first lecture that needs a licence and not before: a store without licences needs no device key.
///
/// `@unchecked Sendable`: every method must be called on the core queue, where the host runs its steps.
final class LicenceService: LoopService, @unchecked Sendable {
    let engine: LicenceEngine
    let ledger: SQLiteLicenceLedger
    let device: [UInt8]
    private let host: EngineHost
    private var stopWaiters = StopWaiters()
    private var checks: [ContentKey: [Waiter<CheckOutcome>]] = [:]
    private var started: [Waiter<RenewalReport>] = []
    private var renewals: [RenewalRunID: [Waiter<RenewalReport>]] = [:]
    /// What the engine knows of runs that were stopped.
    private var interrupted: [RenewalRunID: RenewalReport] = [:]
    private var idleWaiters: [Waiter<Void>] = []

    /// Opens the ledger, checks it against its anchor, and adds its machine to the loop.
    ///
    /// - Throws: ``LectureError``: `storeCopied` for another device's store that is not accepted, `configuration`,
    ///   `secretReadable`, a store's or a disk's code.
    init(
        _ configuration: LectureConfiguration, index: SQLiteDownloadIndex, host: EngineHost, device own: DeviceLedger,
        accepting: Bool, followRemovals: @escaping () -> Void
    ) throws {
        (device, ledger, self.host) = (own.device, own.ledger, host)
        let (session, inbox): (StoreSession, Inbox<LicenceEvent>) = (host.session, host.inbox())
        let queue = DispatchQueue(label: "lecturekit.anchors", qos: .utility)
        let ports = LicenceEngine.Ports(
            store: index, contents: StoreContents(own, followRemovals), transport: session.transport,
            verifier: try ConfiguredAnswerVerifier(configuration.rights), anchors: own.anchors, clock: host.clock,
            random: SystemRandom(), offload: { work in queue.async(execute: work) })
        var settings = LicenceSettings(
            store: own.store, device: device, bootID: Machine.bootID(), playerID: own.playerID,
            deviceName: Machine.model())
        settings.isStrict = configuration.rights.isStrict
        settings.hasOwnAuthority = configuration.hasOwnAuthority
        (settings.stallTimeout, settings.totalTimeout) = Self.patience(configuration)
        engine = LicenceEngine(ports: ports, settings: settings, owner: session.owner, inbox: inbox, in: host.loop)
        try engine.open(accepting: accepting)
        engine.start()
        host.serve(self)
        session.dates.listen { date, boot in inbox.post(.witnessed(date, at: boot)) }
    }

    // MARK: Steps

    var isStopped: Bool { stopWaiters.isStopped }

    func finishStep() {
        let step = engine.take()
        for effect in step.effects { engine.perform(effect) }
        for notice in step.notices { notify(notice) }
        guard !engine.isBusy else { return }
        let waiters = idleWaiters
        idleWaiters = []
        for waiter in waiters { waiter.answer(()) }
    }

    private func notify(_ notice: LicenceNotice) {
        switch notice {
        case .event(let event): host.hub.send(event)
        case .granted(let outcome): host.downloads?.engine.inbox.post(.granted(outcome.content, outcome.answer))
        case .checked(let key, let outcome):
            for waiter in checks.removeValue(forKey: key) ?? [] { waiter.answer(outcome) }
        case .renewalStarted(let run, _):
            renewals[run, default: []] += started
            started = []
        case .renewalEnded(let run, let report):
            for waiter in renewals.removeValue(forKey: run) ?? [] { waiter.answer(report) }
        case .renewalStopped(let run, let report): interrupted[run] = report
        case .failure(let error): reportFailure(error)
        case .stopped: finishStop()
        }
    }

    /// Reports a store that cannot be written. A person waits for a check, and the play could not be stored either: the
    /// stored licence decides at once. Callers waiting for a batch are informed after several steps: finished work
    /// stays, and the next run continues.
    private func reportFailure(_ error: LectureError) {
        if engine.isFailing {
            let waiters = checks.values.flatMap(\.self)
            checks = [:]
            for waiter in waiters { waiter.answer(.unreachable(error)) }
        }
        host.hub.send(.trouble(error))
        guard engine.isFailingRepeatedly else { return }
        let waiters = started + renewals.values.flatMap(\.self)
        (started, renewals) = ([], [:])
        for waiter in waiters { waiter.fail(error) }
    }

    // MARK: Waiting

    /// Asks a server whether a lecture may be played now.
    func check(_ key: ContentKey, within time: Duration, _ waiter: Waiter<CheckOutcome>) {
        guard !stopWaiters.isStopped else {
            waiter.answer(.unreachable(LectureError(.closing)))
            return
        }
        checks[key, default: []].append(waiter)
        engine.check(key, within: time)
    }

    /// Renews a selection or asks for new grants, or continues an interrupted run.
    func renew(_ selection: RenewalSelection, _ kind: RenewalKind, _ waiter: Waiter<RenewalReport>) {
        guard !stopWaiters.isStopped else { return waiter.fail(LectureError(.closing)) }
        started.append(waiter)
        engine.renew(selection, kind)
    }

    /// Sets the timeout from the next request on.
    func usePatience(_ configuration: LectureConfiguration) {
        let (stall, total) = Self.patience(configuration)
        engine.configure(.timeouts(stall: stall, total: total))
    }

    private static func patience(_ configuration: LectureConfiguration) -> (stall: Duration, total: Duration) {
        (configuration.stallTimeout, max(.seconds(60), configuration.stallTimeout))
    }

    /// Changes how fast and how often servers are asked.
    ///
    /// - Parameters:
    ///   - options: the requested rate and attempts.
    ///   - attempts: the attempts, where the options set none.
    func use(_ options: RenewalOptions, attempts: Int) {
        engine.configure(.pace(.callbacks(requestsPerSecond: options.requestsPerSecond, requests: options.jobs)))
        engine.configure(.attempts(options.maxAttempts ?? attempts))
    }

    /// Whether a server is being asked, or about to be.
    var isBusy: Bool { !stopWaiters.isStopped && engine.isBusy }

    /// Waits until no server is being asked.
    func untilIdle(_ waiter: Waiter<Void>) {
        guard isBusy else {
            waiter.answer(())
            return
        }
        idleWaiters.append(waiter)
    }

    /// The caller stops waiting; requests to servers are completed.
    func forget(_ waiter: Waiter<CheckOutcome>) {
        checks = checks.mapValues { $0.filter { $0 !== waiter } }.filter { !$0.value.isEmpty }
    }

    /// The caller stops waiting; the renewal continues.
    func forget(_ waiter: Waiter<RenewalReport>) {
        started.removeAll { $0 === waiter }
        renewals = renewals.mapValues { $0.filter { $0 !== waiter } }
    }

    /// The caller stops waiting; requests to servers are completed.
    func forget(_ waiter: Waiter<Void>) { idleWaiters.removeAll { $0 === waiter } }

    // MARK: Stopping

    /// Ends all work cleanly: claims are released.
    func stop(_ continuation: CheckedContinuation<Void, Never>) {
        if stopWaiters.wait(continuation, for: self) { engine.stop() }
    }

    private func finishStop() {
        guard stopWaiters.stopped() else { return }
        for (run, waiters) in renewals {
            let report = unfinished(run)
            host.hub.send(.renewalEnded(report))
            for waiter in waiters { waiter.answer(report) }
        }
        for waiter in started { waiter.fail(LectureError(.interrupted)) }
        for waiter in checks.values.flatMap(\.self) {
            waiter.answer(.unreachable(LectureError(.closing)))
        }
        for waiter in idleWaiters { waiter.answer(()) }
        (started, renewals, checks, idleWaiters) = ([], [:], [:], [])
        stopWaiters.resume()
    }

    /// How far a renewal came that the next program continues.
    private func unfinished(_ run: RenewalRunID) -> RenewalReport {
        var report = interrupted[run] ?? RenewalReport()
        if let progress = try? ledger.renewals.progress(run) {
            (report.renewed, report.failed) = (progress.renewed, progress.failed)
            report.waiting = progress.wanted + progress.elsewhere
            report.total = report.renewed + report.failed + report.waiting
        }
        return report
    }
}

/// The lectures as the licence engine sees them. Confined to the core queue.
private final class StoreContents: LicensedContents {
    private let device: DeviceLedger
    private let follow: () -> Void

    init(_ device: DeviceLedger, _ followRemovals: @escaping () -> Void) {
        (self.device, follow) = (device, followRemovals)
    }

    func content(_ key: ContentKey, in transaction: any StoreTransaction) throws -> ContentPresence? {
        let rows = try SQLiteTransaction.rows(transaction)
        guard let media = try rows.index.contents.media(key) else { return nil }
        var presence = ContentPresence(id: media.id, isComplete: media.isComplete)
        let seal = try device.seal(of: media.key)
        (presence.isSealedElsewhere, presence.grantingKeys) = (seal.isElsewhere, seal.grantingKeys)
        presence.sealPurpose = media.key?.purpose
        return presence
    }

    func bind(_ key: ContentKey, to keys: GrantingKeys, in transaction: any StoreTransaction) throws {
        try device.bind(key, to: keys, SQLiteTransaction.rows(transaction).ledger.contentKeys)
    }

    func orderRemoval(_ key: ContentKey, now: Timestamp, in transaction: any StoreTransaction) throws -> Bool {
        try SQLiteTransaction.rows(transaction).index.targets.setTargetState(key, .remove, now: now)
    }

    func followRemovals() { follow() }
}
