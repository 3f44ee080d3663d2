import LectureCrypto
import LectureEngine
import LectureFiles
import LectureFormats
public import LectureModel
import LectureStore
import LectureWebhooks

/// Webhooks: servers of an operator that get an HTTP POST for each thing that happens in the store, also for what
/// happened while they, the network or the program were down.
///
/// The endpoints are those of ``LectureConfiguration/webhooks``. An event is stored in the transaction that makes
/// it true, and stays until the endpoint has answered with a success. With
/// ``LectureConfiguration/isLongRunning`` events are sent by themselves, else by ``send(options:)``.
///
/// ```swift
/// let result = try await manager.webhooks.send()
/// ```
///
/// ## Topics
/// ### Endpoints
/// - ``endpoints()``
/// - ``removed``
/// ### Sending
/// - ``send(options:)``
/// - ``stopSending()``
/// - ``test(_:)``
/// - ``retry(_:)``
/// ### Events
/// - ``events(of:dead:from:limit:)``
public actor Webhooks: CorePart {
    nonisolated let core: StoreCore
    /// Endpoints that were removed when the store was opened, since the configuration does not name them any more:
    /// `webhookRemoved` with the server and how many events were lost. Only those for which some waited.
    public nonisolated let removed: [LectureError]
    private let secrets = WebhookSecrets()
    /// Sends events; created when first used.
    private var service: WebhookService?

    /// The queue of the store's writer, which the manager and all of its façades share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore) {
        self.core = core
        removed = core.wait { core.followWebhooks() }
    }
}

extension StoreCore {
    /// Makes the stored endpoints those of the configuration; one read where they are. A store that cannot be written
    /// keeps its endpoints.
    ///
    /// - Returns: the endpoints that were removed with events that waited for them.
    func followWebhooks() -> [LectureError] {
        guard let webhooks = state.configuration.webhooks, writer.whyReadOnly == nil else { return [] }
        let wanted = webhooks.map { (url: $0.url, kinds: $0.selection) }
        do {
            let known = try writer.webhooks.endpoints()
            let isEqual =
                known.count == wanted.count
                && known.allSatisfy { entry in
                    wanted.contains { $0.url.utf8.elementsEqual(entry.url.utf8) && $0.kinds == entry.kinds }
                }
            if isEqual { return [] }
            let removed = try writer.transaction { try $0.index.webhooks.follow(wanted) }
            return removed.filter { $0.waiting + $0.dead > 0 }.map { entry in
                LectureError(.webhookRemoved, detail: "\(entry.host), \(entry.waiting + entry.dead) events")
            }
        } catch {
            // The next program that opens the store tries again.
            return []
        }
    }
}

extension StoreCore {
    /// The settings are others: endpoints follow them, and what waits for a new one is looked for.
    func webhooksChanged() {
        for error in followWebhooks() { hub.send(.trouble(error)) }
        state.webhooks?.needsLook()
    }
}

extension Webhooks {
    /// After how many days an event that has not arrived is given up, and counted as expired.
    public static let expireDays = 30
    /// How many events an endpoint may have that have not arrived; the oldest beyond are given up, and counted as
    /// expired.
    public static let eventLimit = 100_000

    // MARK: Endpoints

    /// The endpoints that the store has, and what waits for each.
    ///
    /// - Returns: in the order in which they were first configured.
    /// - Throws: ``LectureError`` of the store.
    public func endpoints() throws(LectureError) -> [WebhookStatus] {
        try LectureError.only {
            let now = clock.now()
            return try queries.webhooks.endpoints().map { entry in
                WebhookStatus(entry, isConfigured: configured(entry.url) != nil, now: now)
            }
        }
    }

    private func configured(_ url: String) -> WebhookConfiguration? {
        configuration.webhooks?.first { $0.url.utf8.elementsEqual(url.utf8) }
    }

    /// Events that have not arrived, the oldest first.
    ///
    /// - Parameters:
    ///   - endpoint: the number of the endpoint.
    ///   - dead: whether those that were refused for good, else those that wait.
    ///   - place: the ``WebhookEventPage/next`` of the page before; nil for the first page.
    ///   - limit: how many at the most; one to a thousand.
    /// - Returns: the events.
    /// - Throws: ``LectureError`` of the store.
    public func events(
        of endpoint: Int64, dead: Bool, from place: WebhookEventPage.Place? = nil, limit: Int = 1000
    ) throws(LectureError) -> WebhookEventPage {
        try LectureError.only {
            let limit = max(1, min(limit, 1000))
            let store = try writer.identity().uuid
            let found = try queries.webhooks.deliveries(
                WebhookID(endpoint), in: dead ? .dead : .waiting, after: place?.last, limit: limit)
            let next = found.count < limit ? nil : found.last.map { WebhookEventPage.Place(last: $0.id) }
            return WebhookEventPage(events: found.map { PendingWebhookEvent($0, store: store) }, next: next)
        }
    }

    // MARK: Sending

    /// Sends every event that waits, and returns when nothing more can be done now.
    ///
    /// Events of one lecture are sent in their order. One that may have arrived is sent again, under the same
    /// `webhook-id` with the same body. Events older than ``expireDays``, or beyond ``eventLimit``, are given up.
    ///
    /// A cancelled task stops waiting at once; what waits is still sent. ``stopSending()`` ends it.
    ///
    /// - Parameter options: where to send, and how patiently.
    /// - Returns: the results, and the obstacles for what is left.
    /// - Throws: ``LectureError``: `webhookUnknown` for a URL that the store does not have, a store's code; `closing`
    ///   when the manager is. `CancellationError` when the task is cancelled.
    public func send(options: WebhookSendOptions = WebhookSendOptions()) async throws -> WebhookSendResult {
        try Task.checkCancellation()
        var order = WebhookOrder(id: 0)
        (order.attempts, order.longestWait) = (max(1, options.attempts), options.longestWait)
        if let url = options.url { order.endpoints = [try endpoint(url).id] }
        defer { core.state.webhooks?.needsLook() }
        return WebhookSendResult(try await run(order))
    }

    /// A run of the automatic delivery: sends what may be sent now, and leaves the rest to the next run.
    ///
    /// - Parameter endsWaits: whether waits end that no server has asked for.
    /// - Returns: whether an event arrived or was refused for good.
    /// - Throws: as ``send(options:)``.
    func deliver(endsWaits: Bool) async throws -> Bool {
        var order = WebhookOrder(id: 0)
        (order.attempts, order.longestWait, order.endsWaits) = (1, .zero, endsWaits)
        let result = try await run(order)
        return result.delivered + result.dead > 0
    }

    private func run(_ order: WebhookOrder) async throws -> WebhookResult {
        if isClosed { throw LectureError(.closing) }
        let before = clock.now() + .seconds(-Self.expireDays * 86_400)
        // Nothing is registered at the store while nothing waits.
        guard try writer.webhooks.endpoints().contains(where: { $0.waiting + $0.dead > 0 }) else {
            return WebhookResult()
        }
        _ = try index.transaction { try $0.index.webhooks.expire(before: before, limit: Self.eventLimit) }
        secrets.read(configuration.webhooks ?? [])
        let service = try openService()
        let waiter = Waiter<WebhookResult>()
        service.send(order, waiter)
        defer { service.forget(waiter) }
        return try await waiter.value()
    }

    private func openService() throws -> WebhookService {
        if let service { return service }
        let made = WebhookService(store: try writer.identity().uuid, secrets: secrets, host: try openHost())
        service = made
        return made
    }

    /// Stops sending; ``send(options:)`` returns with what was done. It completes even in a cancelled task.
    public func stopSending() async {
        guard let service else { return }
        self.service = nil
        await withCheckedContinuation { service.stop($0) }
    }

    /// What was refused for good waits again, and waits end; an endpoint that was switched off is asked again.
    ///
    /// - Parameter url: the endpoint; nil for all.
    /// - Returns: how many events wait again that had been refused for good.
    /// - Throws: ``LectureError``: `webhookUnknown`, and of the store.
    @discardableResult
    public func retry(_ url: String? = nil) throws(LectureError) -> Int {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            let chosen = try url.map { [try endpoint($0).id] } ?? writer.webhooks.endpoints().map(\.id)
            let count = try index.transaction { transaction in
                try chosen.reduce(0) { try $0 + transaction.index.webhooks.revive($1) }
            }
            core.state.webhooks?.needsLook()
            return count
        }
    }

    private func endpoint(_ url: String) throws -> WebhookEntry {
        guard let entry = try writer.webhooks.endpoints().first(where: { $0.url.utf8.elementsEqual(url.utf8) }) else {
            throw LectureError(.webhookUnknown)
        }
        return entry
    }

    // MARK: Tests

    /// Sends an event of the type `webhook.test`, which is about nothing and is not stored, and waits for the answer.
    ///
    /// - Parameter url: the endpoint; nil for all of the configuration.
    /// - Returns: the answer of each.
    /// - Throws: ``LectureError``: `webhookUnknown`; `secretReadable`, `readFile`, `webhookSecret` for its secret.
    public func test(_ url: String? = nil) async throws -> [WebhookTestResult] {
        if isClosed { throw LectureError(.closing) }
        let chosen = (configuration.webhooks ?? []).filter { webhook in
            url.map { $0.utf8.elementsEqual(webhook.url.utf8) } ?? true
        }
        guard !chosen.isEmpty else { throw LectureError(.webhookUnknown) }
        var results: [WebhookTestResult] = []
        for webhook in chosen { results.append(try await test(webhook)) }
        return results
    }

    private func test(_ webhook: WebhookConfiguration) async throws -> WebhookTestResult {
        let (session, now) = (try openSession(), clock.now())
        let (id, body) = ("msg_test-\(UUIDv7.text(at: now, random: SystemRandom()))", WebhookBody.test(at: now))
        let signatures = try webhook.signer().signatures(WebhookRequest.signed(id: id, time: now, body: body))
        let request = WebhookRequest.make(
            session.numbers.next(), to: webhook.url, id: id, time: now, body: body, signatures: signatures)
        let waiter = Waiter<ExchangeReply>()
        let exchanges = ExchangePerformer(session.transport, clock: clock) { waiter.answer($1) }
        exchanges.perform(.send(request))
        let reply = try await waiter.value()
        return WebhookTestResult(
            url: webhook.url, status: reply.head?.status, duration: reply.outcome.elapsed,
            error: WebhookMachine.error(of: reply, webhook.server))
    }
}
