import Dispatch
import LectureArchive
import LectureCrypto
import LectureEngine
import LectureFiles
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// The active part of reports: their machine, and the waiting callers.
///
/// Created when reports are first sent and not before: storing reports needs no registration at the store.
///
/// `@unchecked Sendable`: every method must be called on the core queue, where the host runs its steps.
final class ReportService: LoopService, @unchecked Sendable {
    private let runner: Runner<ReportMachine>
    private let exchanges: ExchangePerformer
    private let outbox: SQLiteOutbox
    private let host: EngineHost
    private var stopWaiters = StopWaiters()
    private var lastOrder = 0
    private var waiters: [Int: Waiter<SendSummary>] = [:]
    private var progress: [Int: SendSummary] = [:]
    /// Orders whose caller wants the delivered reports listed.
    private var namingOrders: Set<Int> = []

    /// Adds the machine to the loop.
    ///
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile` for the configured values.
    init(
        _ configuration: LectureConfiguration, outbox: SQLiteOutbox, rate: Guarded<Int?>, digests: OpenSSLDigests,
        host: EngineHost
    ) throws {
        (self.outbox, self.host) = (outbox, host)
        let (clock, session, hub) = (host.clock, host.session, host.hub)
        let inbox: Inbox<ReportEvent> = host.inbox()
        let functions = ReportFunctions(
            newID: { UUIDv7.text(at: clock.now(), random: SystemRandom()) },
            compress: { encoding, bytes in
                guard let compression = Compression(rawValue: encoding) else { throw LectureError(.bug) }
                return try Compressor.compress(bytes, compression)
            }, wantsExchanges: { hub.hasCostlyListeners })
        var settings = try configuration.statistics.settings(bootID: Machine.bootID(), rate: rate)
        (settings.stallTimeout, settings.totalTimeout) = Self.patience(configuration)
        runner = Runner(
            ReportMachine(settings, functions, hash: Self.hash(digests), owner: session.owner), store: outbox,
            inbox: inbox, rank: 2)
        exchanges = ExchangePerformer(session.transport, clock: clock) { inbox.post(.answered($0, $1)) }
        host.loop.add(runner)
        host.serve(self)
    }

    // MARK: Steps

    var isStopped: Bool { stopWaiters.isStopped }

    func finishStep() {
        let step = runner.take()
        for effect in step.effects { exchanges.perform(effect) }
        for notice in step.notices { notify(notice) }
    }

    private func notify(_ notice: ReportNotice) {
        switch notice {
        case .progress(let order, let summary):
            progress[order] = summary
            host.hub.send(.reportsProgress(result(summary)))
        case .delivered(let ids):
            host.session.observation?.delivered(ids.count)
            if !namingOrders.isEmpty { host.hub.send(.reportsDelivered(ids)) }
        case .exchange(let exchange): host.hub.send(.reportExchange(exchange), isCostly: true)
        case .refused(let id, let reason, let answer):
            let status = answer.status.map { "HTTP \($0)" } ?? ""
            host.hub.send(
                .reportRefused(
                    id: id, reason: reason, error: LectureError(.reportRefused, detail: id, cause: status)))
        case .obstacle(let obstacle): host.hub.send(.reportObstacle(named(obstacle, addresses())))
        case .ended(let order, let summary):
            progress[order] = nil
            namingOrders.remove(order)
            waiters.removeValue(forKey: order)?.answer(summary)
        case .failure(let error): reportFailure(error)
        case .stopped: finishStop()
        }
    }

    /// Reports a store that cannot be written for several steps to waiting callers: finished work stays, and the next
    /// call continues.
    private func reportFailure(_ error: LectureError) {
        host.hub.send(.trouble(error))
        guard runner.isFailingRepeatedly else { return }
        let left = waiters
        waiters = [:]
        for waiter in left.values { waiter.fail(error) }
    }

    // MARK: Sending

    /// Sets the timeout from the next request on.
    func usePatience(_ configuration: LectureConfiguration) {
        let (stall, total) = Self.patience(configuration)
        runner.inbox.post(.setTimeouts(stall: stall, total: total))
    }

    private static func patience(_ configuration: LectureConfiguration) -> (stall: Duration, total: Duration) {
        (configuration.stallTimeout, max(.seconds(60), configuration.stallTimeout))
    }

    /// Sends what is due.
    func send(_ options: SendOptions, attempts: Int, target: TargetID?, _ waiter: Waiter<SendSummary>) {
        guard !stopWaiters.isStopped else { return waiter.fail(LectureError(.closing)) }
        lastOrder += 1
        var order = SendOrder(id: lastOrder)
        (order.target, order.attempts, order.longestWait) = (target, max(1, attempts), options.longestWait)
        if options.namesDelivered { namingOrders.insert(order.id) }
        // Metrics are counted by delivered reports, since two callers may wait for the same ones.
        order.namesDelivered = options.namesDelivered || host.session.observation != nil
        waiters[order.id] = waiter
        runner.inbox.post(.send(order))
    }

    /// The caller stops waiting; what is due is still sent.
    func forget(_ waiter: Waiter<SendSummary>) { waiters = waiters.filter { $0.value !== waiter } }

    /// The result of an order, with its obstacles by URL.
    func result(_ summary: SendSummary) -> ReportSendResult {
        var result = ReportSendResult()
        (result.delivered, result.refused) = (summary.delivered, summary.dead)
        (result.superseded, result.left, result.requests) = (summary.superseded, summary.open, summary.requests)
        if !summary.obstacles.isEmpty {
            let addresses = addresses()
            result.obstacles = summary.obstacles.map { named($0, addresses) }
        }
        return result
    }

    private func named(_ obstacle: TargetObstacle, _ addresses: [TargetID: String]) -> ReportObstacle {
        ReportObstacle(url: addresses[obstacle.target] ?? "", error: obstacle.error, again: obstacle.again)
    }

    private func addresses() -> [TargetID: String] {
        // Names for people only: the engine itself reports a store that cannot be read.
        let targets = (try? outbox.targets()) ?? []
        return Dictionary(targets.map { ($0.id, $0.address.url) }) { first, _ in first }
    }

    /// SHA-256 for names in xAPI. Without memory for a hash there is no usable name: two reports with the same one
    /// would be taken for one.
    private static func hash(_ digests: OpenSSLDigests) -> @Sendable ([UInt8]) -> [UInt8] {
        { bytes in
            do { return try digests.sha256(of: bytes) } catch { preconditionFailure("SHA-256 fails: \(error)") }
        }
    }

    // MARK: Stopping

    /// Ends all work cleanly: requests are cancelled and kept for the next program, with their ids and bytes.
    func stop(_ continuation: CheckedContinuation<Void, Never>) {
        if stopWaiters.wait(continuation, for: self) { runner.stop() }
    }

    private func finishStop() {
        guard stopWaiters.stopped() else { return }
        for (order, waiter) in waiters { waiter.answer(progress[order] ?? SendSummary()) }
        (waiters, progress) = ([:], [:])
        stopWaiters.resume()
    }
}
