import LectureCrypto
import LectureEngine
import LectureModel
import LectureStore
import LectureWebhooks

/// The secrets of the configured endpoints, as they were when the last run began.
final class WebhookSecrets: Sendable {
    private let signers = Guarded<[String: Result<WebhookSigner, LectureError>]>([:])

    /// Reads all secrets again.
    func read(_ webhooks: [WebhookConfiguration]) {
        var found: [String: Result<WebhookSigner, LectureError>] = [:]
        for webhook in webhooks {
            do throws(LectureError) { found[webhook.url] = .success(try webhook.signer()) } catch {
                found[webhook.url] = .failure(error)
            }
        }
        let read = found
        signers.withLock { $0 = read }
    }

    /// Signs bytes with the secrets of an endpoint.
    func sign(_ url: String, _ bytes: [UInt8]) throws(LectureError) -> String {
        guard let signer = signers.withLock({ $0[url] }) else {
            throw LectureError(.webhookUnknown, cause: "the configuration in use does not name it")
        }
        return try signer.get().signatures(bytes)
    }
}

/// The active part of webhooks: their machine, and the waiting callers. Created when something is first sent.
///
/// `@unchecked Sendable`: every method must be called on the core queue, where the host runs its steps.
final class WebhookService: LoopService, @unchecked Sendable {
    private let runner: Runner<WebhookMachine>
    private let exchanges: ExchangePerformer
    private let host: EngineHost
    private var stopWaiters = StopWaiters()
    private var waiters = OrderWaiters<WebhookResult>()

    /// Adds the machine to the loop.
    ///
    /// - Parameters:
    ///   - store: the UUID of the store.
    ///   - secrets: sign requests.
    ///   - host: runs the loop.
    init(store: String, secrets: WebhookSecrets, host: EngineHost) {
        self.host = host
        let inbox: Inbox<WebhookMachineEvent> = host.inbox()
        let functions = WebhookFunctions { url, bytes throws(LectureError) in try secrets.sign(url, bytes) }
        runner = Runner(
            WebhookMachine(owner: host.session.owner, store: store, functions), environment: (), inbox: inbox, rank: 3)
        exchanges = ExchangePerformer(host.session.transport, clock: host.clock) { inbox.post(.answered($0, $1)) }
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

    private func notify(_ notice: WebhookNotice) {
        switch notice {
        case .ended(let order, let result): waiters.answer(order, result)
        case .failure(let error): reportFailure(error)
        case .stopped: finishStop()
        }
    }

    /// Reports a store that cannot be written for several steps to waiting callers.
    private func reportFailure(_ error: LectureError) {
        host.hub.send(.trouble(error))
        if runner.isFailingRepeatedly { waiters.failAll(error) }
    }

    // MARK: Sending

    /// Sends what waits.
    func send(_ order: WebhookOrder, _ waiter: Waiter<WebhookResult>) {
        guard !stopWaiters.isStopped else { return waiter.fail(LectureError(.closing)) }
        var order = order
        order.id = waiters.add(waiter)
        runner.inbox.post(.send(order))
    }

    /// The caller stops waiting; what waits is still sent.
    func forget(_ waiter: Waiter<WebhookResult>) { waiters.forget(waiter) }

    // MARK: Stopping

    /// Ends all work cleanly: requests are cancelled, and their events wait for the next program.
    func stop(_ continuation: CheckedContinuation<Void, Never>) {
        if stopWaiters.wait(continuation, for: self) { runner.stop() }
    }

    private func finishStop() {
        guard stopWaiters.stopped() else { return }
        waiters.answerAll(WebhookResult())
        stopWaiters.resume()
    }
}
