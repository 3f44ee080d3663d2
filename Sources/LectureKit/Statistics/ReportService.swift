import Dispatch
import LectureArchive
import LectureCrypto
import LectureEngine
import LectureFiles
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

extension SendOrder {
    /// An order of the application; ``ReportService`` numbers it.
    ///
    /// - Parameters:
    ///   - options: how it sends.
    ///   - attempts: the attempts, where the options set none.
    ///   - target: where everything open goes; nil sends each report to its own target.
    init(_ options: SendOptions, attempts: Int, target: TargetID?) {
        self.init(id: 0)
        (self.target, self.attempts) = (target, max(1, options.attempts ?? attempts))
        (longestWait, namesDelivered) = (options.longestWait, options.namesDelivered)
    }
}

/// The active part of reports: their machine, and the waiting callers.
///
/// Created when reports are first sent and not before: storing reports needs no registration at the store.
///
/// `@unchecked Sendable`: every method must be called on the core queue, where the host runs its steps.
final class ReportService: LoopService, @unchecked Sendable {
    private let runner: Runner<ReportMachine>
    private let exchanges: ExchangePerformer
    private let host: EngineHost
    private var stopWaiters = StopWaiters()
    private var waiters = OrderWaiters<ReportSendResult>()

    /// Adds the machine to the loop.
    ///
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile` for the configured values.
    init(
        _ configuration: LectureConfiguration, outbox: SQLiteOutbox, rate: Guarded<Int?>, digests: OpenSSLDigests,
        host: EngineHost
    ) throws {
        self.host = host
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
            ReportMachine(settings, functions, hash: Self.hash(digests), owner: session.owner),
            environment: (), inbox: inbox, rank: 2)
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
        // What was sent and answered is large: only listeners that want it get it.
        case .event(.reportExchange(let exchange)): host.hub.send(.reportExchange(exchange), isCostly: true)
        case .event(let event): host.hub.send(event)
        case .delivered(let count): host.session.observation?.delivered(count)
        case .ended(let order, let result): waiters.answer(order, result)
        case .failure(let error): reportFailure(error)
        case .stopped: finishStop()
        }
    }

    /// Reports a store that cannot be written for several steps to waiting callers: finished work stays, and the next
    /// call continues.
    private func reportFailure(_ error: LectureError) {
        host.hub.send(.trouble(error))
        if runner.isFailingRepeatedly { waiters.failAll(error) }
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
    func send(_ order: SendOrder, _ waiter: Waiter<ReportSendResult>) {
        guard !stopWaiters.isStopped else { return waiter.fail(LectureError(.closing)) }
        var order = order
        order.id = waiters.add(waiter)
        runner.inbox.post(.send(order))
    }

    /// The caller stops waiting; what is due is still sent.
    func forget(_ waiter: Waiter<ReportSendResult>) { waiters.forget(waiter) }

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
        // The machine has ended all orders that it knew.
        waiters.answerAll(ReportSendResult())
        stopWaiters.resume()
    }
}
