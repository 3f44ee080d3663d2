package import LectureEngine
import LectureFormats
package import LectureModel

/// Requests, answers and the ends of orders.
extension WebhookMachine {
    // MARK: Orders

    /// Ends the waits that an order ends. One that a server has asked for stays.
    mutating func begin(_ index: Int, _ entries: inout [WebhookEntry], _ step: Step<Self>) throws {
        orders[index].isStarted = true
        guard orders[index].order.endsWaits else { return }
        for place in entries.indices where orders[index].concerns(entries[place].id) {
            guard entries[place].condition.wait != nil, !entries[place].condition.isAskedToWait else { continue }
            entries[place].condition.wait = nil
            try step.store.store(entries[place].condition, of: entries[place].id)
        }
    }

    /// Ends the orders whose endpoints have nothing left to do.
    mutating func endOrders(_ entries: [WebhookEntry], _ step: inout Step<Self>) throws {
        var outlooks: [WebhookID: WebhookOutlook] = [:]
        for entry in entries where entry.waiting > 0 {
            outlooks[entry.id] = try step.store.outlook(entry.id, owner: owner, now: step.now)
        }
        var left: [Work] = []
        for work in orders {
            if entries.contains(where: { isBusy($0, outlooks[$0.id], work, &step) }) {
                left.append(work)
            } else {
                end(work, entries, &step)
            }
        }
        orders = left
    }

    /// Whether an order still waits for an endpoint.
    private func isBusy(
        _ entry: WebhookEntry, _ outlook: WebhookOutlook?, _ work: Work, _ step: inout Step<Self>
    ) -> Bool {
        guard work.concerns(entry.id) else { return false }
        if running.values.contains(where: { $0.delivery.endpoint == entry.id }) { return true }
        guard mayUse(entry, work), let next = outlook?.next else { return false }
        let wait = max(next, entry.condition.wait?.remaining(at: step.now) ?? .zero)
        guard wait <= work.order.longestWait else { return false }
        // No less than this: where the wall clock is behind the boot clock, what is due is not due yet.
        step.wake(at: step.boot + max(wait, .milliseconds(20)))
        return true
    }

    /// Whether an order still tries an endpoint.
    private func mayUse(_ entry: WebhookEntry, _ work: Work) -> Bool {
        !entry.condition.isSuspended && work.errors[entry.id] == nil
            && work.failures[entry.id, default: 0] < work.order.attempts
    }

    /// Reports the end of an order.
    func end(_ work: Work, _ entries: [WebhookEntry], _ step: inout Step<Self>) {
        var result = work.result
        for entry in entries where work.concerns(entry.id) {
            result.left += entry.waiting
            guard entry.waiting > 0 || work.lastErrors[entry.id]?.code == .webhookRefused else { continue }
            let error = work.errors[entry.id] ?? work.lastErrors[entry.id] ?? entry.error
            guard let error else { continue }
            let wait = entry.condition.wait.flatMap { $0.remaining(at: step.now) > .zero ? $0.due : nil }
            result.obstacles.append(
                WebhookResult.Obstacle(endpoint: entry.id, url: entry.url, error: error, again: wait))
        }
        step.notices.append(.ended(order: work.order.id, result))
    }

    // MARK: Requests

    /// Sends to an endpoint what may be sent now.
    mutating func fill(_ entry: WebhookEntry, _ step: inout Step<Self>) throws {
        let isWanted = orders.contains { $0.concerns(entry.id) && mayUse(entry, $0) }
        guard isWanted, entry.waiting > 0, entry.condition.wait?.remaining(at: step.now) ?? .zero == .zero else {
            return
        }
        let count = running.values.count { $0.delivery.endpoint == entry.id }
        let free = (entry.condition.failures > 0 ? 1 : Self.window) - count
        guard free > 0 else { return }
        // Before anything is claimed: without a secret nothing can be sent.
        do throws(LectureError) { _ = try functions.sign(entry.url, []) } catch {
            for index in orders.indices where orders[index].concerns(entry.id) {
                orders[index].errors[entry.id] = error
            }
            return
        }
        for delivery in try step.store.claim(entry.id, owner: owner, limit: free, now: step.now) {
            try send(delivery, to: entry.url, &step)
        }
    }

    private mutating func send(_ delivery: WebhookDelivery, to url: String, _ step: inout Step<Self>) throws {
        let transfer = step.newTransfer()
        let (id, body) = (WebhookBody.id(of: delivery.event, store: store), WebhookBody.text(delivery.event))
        let signatures = try functions.sign(url, WebhookRequest.signed(id: id, time: step.now, body: body))
        running[transfer] = Running(delivery: delivery, url: url)
        for index in orders.indices where orders[index].concerns(delivery.endpoint) {
            orders[index].result.requests += 1
        }
        step.effects.append(
            .send(
                WebhookRequest.make(transfer, to: url, id: id, time: step.now, body: body, signatures: signatures)))
    }

    // MARK: Answers

    /// Stores what an answer means.
    mutating func answered(_ request: Running, _ reply: ExchangeReply, _ step: inout Step<Self>) throws {
        var delivery = request.delivery
        guard let entry = try step.store.endpoints().first(where: { $0.id == delivery.endpoint }) else { return }
        var condition = entry.condition
        delivery.attempts += 1
        (delivery.answered, delivery.status) = (step.now, reply.head?.status)
        let verdict = WebhookVerdict(reply.head)
        switch verdict {
        case .arrived:
            try step.store.delivered(delivery.id, now: step.now)
            // That it is gone stays: this answers a request that had begun before.
            (condition.failures, condition.wait) = (0, nil)
            count(delivery.endpoint) { $0.delivered += 1 }
        case .gone:
            condition.isSuspended = true
        case .later(let wanted):
            fail(&condition, wanted, reply, &step)
        case .refused:
            delivery.refusals += 1
            if delivery.refusals >= WebhookVerdict.refusalLimit {
                delivery.state = .dead
                count(delivery.endpoint) { $0.dead += 1 }
            } else {
                delivery.wait = RetryWait(
                    setAt: step.now, delay: WebhookWaits.event(refusals: delivery.refusals, random: step.random()))
            }
            fail(&condition, nil, reply, &step)
        }
        if verdict != .arrived {
            // A wait that was asked for stays one, whatever a request that had begun before ends with.
            let keepsWait = entry.condition.isAskedToWait && condition.wait == entry.condition.wait
            (condition.answered, condition.status) = (
                step.now, keepsWait ? entry.condition.status : reply.head?.status
            )
            try step.store.settle(delivery, owner: owner)
            var error = Self.error(of: reply, entry.host)
            if delivery.state == .dead {
                error = LectureError(
                    .webhookRefused, detail: entry.host, cause: delivery.status.map { "HTTP \($0)" } ?? "")
            }
            for index in orders.indices where orders[index].concerns(delivery.endpoint) {
                orders[index].failures[delivery.endpoint, default: 0] += 1
                orders[index].lastErrors[delivery.endpoint] = error
            }
        } else {
            for index in orders.indices { orders[index].failures[delivery.endpoint] = nil }
        }
        if condition != entry.condition { try step.store.store(condition, of: entry.id) }
    }

    private func fail(
        _ condition: inout WebhookCondition, _ wanted: Duration?, _ reply: ExchangeReply, _ step: inout Step<Self>
    ) {
        condition.failures += 1
        let delay = WebhookWaits.endpoint(failures: condition.failures, wanted: wanted, random: step.random())
        let wait = RetryWait(setAt: step.now, delay: delay)
        // The answer to a request that began earlier does not shorten what the server asked for.
        let former = condition.wait.flatMap { $0.remaining(at: step.now) > delay ? $0 : nil }
        condition.wait = former ?? wait
    }

    private mutating func count(_ endpoint: WebhookID, _ change: (inout WebhookResult) -> Void) {
        for index in orders.indices where orders[index].concerns(endpoint) { change(&orders[index].result) }
    }
}

extension WebhookMachine {
    /// Why an event has not arrived.
    ///
    /// - Parameters:
    ///   - reply: how the exchange ended.
    ///   - host: the receiver's.
    /// - Returns: nil for a 2xx.
    package static func error(of reply: ExchangeReply, _ host: String) -> LectureError? {
        if let head = reply.head {
            if (200...299).contains(head.status) { return nil }
            return LectureError(head.status == 410 ? .webhookGone : .status(head.status), detail: host)
        }
        guard case .failed(let curl, let words) = reply.outcome.end else {
            return LectureError(.interrupted, detail: host)
        }
        return LectureError(.transfer(curl), detail: host, cause: words)
    }
}

extension WebhookCondition {
    /// Whether the wait is one that the server may have asked for.
    var isAskedToWait: Bool { wait != nil && (status == 429 || status == 503) }
}

extension WebhookEntry {
    /// Scheme, host and port, for messages: the rest of the URL may be a secret.
    package var host: String {
        do throws(LectureError) { return try Origin(url: url).text } catch { return "" }
    }

    /// Why nothing is sent; nil for one whose last answer was a success.
    package var error: LectureError? {
        if condition.isSuspended { return LectureError(.webhookGone, detail: host) }
        guard condition.failures > 0 else { return nil }
        return LectureError(condition.status.map { .status($0) } ?? .transfer(7), detail: host)
    }
}
