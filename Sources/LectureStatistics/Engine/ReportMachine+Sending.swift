import LectureEngine
import LectureModel

/// From open reports to running requests.
extension ReportMachine {
    /// The most waiting requests of a target; beyond that no new ones are started.
    static let heldLimit = 16

    /// Starts as many requests to a target as its pace allows: those of this engine, then unclaimed ones, then new
    /// ones.
    mutating func fill(_ id: TargetID, _ step: inout Step<Self>) throws {
        putAside(id, &step)
        targets[id]?.pacer.recordWaits(now: step.now, boot: step.boot)
        while let next = nextInFlightBatch(id, &step, isFollowing: true) { start(next, &step) }
        targets[id]?.idle = nil
        let orders = orders.filter { $0.targets.contains(id) }
        while let target = targets[id] {
            let others = target.others(in: step.others)
            targets[id]?.pacer.respect(others, at: step.boot)
            let isWanted = orders.contains { !target.isAbandoned(by: $0.order, at: step.boot, besides: others) }
            guard isWanted else { return }
            switch target.admission(at: step.boot, besides: others) {
            case .yes: break
            case .busy(.budget):
                step.waitsForOthers = true
                return
            case .later(let left), .waiting(let left), .broken(let left): return step.wake(at: step.boot + left)
            case .busy, nil: return
            }
            if let next = nextInFlightBatch(id, &step, isFollowing: false) {
                start(next, &step)
            } else if try !gather(id, &step) {
                return
            }
        }
    }

    /// Sets aside a request that failed repeatedly, or that waits longer than any order does, so that it delays neither
    /// other requests nor the end of an order.
    private mutating func putAside(_ id: TargetID, _ step: inout Step<Self>) {
        let orders = orders.filter { $0.targets.contains(id) }.map(\.order)
        guard let attempts = orders.map(\.attempts).max(), let longest = orders.map(\.longestWait).max() else { return }
        for inFlightBatch in inFlightBatches.values where inFlightBatch.target == id && !inFlightBatch.isRunning {
            let isTooLong = (inFlightBatch.wait?.remaining(at: step.now) ?? .zero) > longest
            guard inFlightBatch.failures >= max(1, attempts) || isTooLong else { continue }
            inFlightBatches[inFlightBatch.id] = nil
            aside[inFlightBatch.id] = id
        }
    }

    /// The oldest request of a target that may be sent now.
    private func nextInFlightBatch(_ target: TargetID, _ step: inout Step<Self>, isFollowing: Bool) -> InFlightBatchID?
    {
        var next: InFlightBatchID?
        for inFlightBatch in inFlightBatches.values
        where inFlightBatch.target == target && !inFlightBatch.isRunning {
            if case .following = inFlightBatch.phase { if !isFollowing { continue } } else if isFollowing { continue }
            let wait = inFlightBatch.wait?.remaining(at: step.now) ?? .zero
            if wait > .zero {
                step.wake(at: step.boot + wait)
            } else {
                next = min(next ?? inFlightBatch.id, inFlightBatch.id)
            }
        }
        return next
    }

    /// Claims unclaimed requests, or else freezes new ones.
    ///
    /// - Returns: whether there is one more that may be sent.
    private mutating func gather(_ id: TargetID, _ step: inout Step<Self>) throws -> Bool {
        guard let target = targets[id] else { return false }
        let held = inFlightBatches.values.count { $0.target == id }
        let most = target.pacer.openings > 0 ? 1 : target.pacer.limit
        let slots = min(most - target.pacer.runningCount, max(most, Self.heldLimit) - held)
        // At the limit, an answer or the end of a wait triggers the next step.
        guard slots > 0 else { return false }
        let claimed = try step.store.claim(id, owner: owner, limit: slots, now: step.now)
        for stored in claimed { inFlightBatches[stored.id] = InFlightBatchWork(stored) }
        if !claimed.isEmpty { return true }
        if try plan(target, slots: slots, &step) { return true }
        let due = try step.store.nextInFlightBatch(id)?.remaining(at: step.now)
        targets[id]?.idle = TargetWork.Idle(dueAfter: due)
        return false
    }

    // MARK: New requests

    /// Freezes new requests.
    ///
    /// - Returns: whether there was anything to freeze.
    private mutating func plan(_ target: TargetWork, slots: Int, _ step: inout Step<Self>) throws -> Bool {
        let envelope = maker.envelope(target)
        // One more than wanted: when that is started, the others are full. Most plans need few queues, so few are read.
        var queues = 8
        let most = target.limits.count * slots
        var plan: BatchPlan
        while true {
            var rows = try step.store.planRows(target.id, queues: min(queues, most), rows: target.limits.count + 1)
            for index in rows.indices { rows[index].bytes += envelope }
            plan = BatchPlan(rows, limits: [target.id: target.limits], slots: slots + 1)
            if plan.batches.count > slots || queues >= most { break }
            if Set(rows.lazy.map(\.queue)).count < min(queues, most) { break }
            queues *= 8
        }
        if !plan.superseded.isEmpty {
            try step.store.supersede(plan.superseded.map(\.report), now: step.now)
            count(target.id) { $0.superseded += plan.superseded.count }
            count(open: -plan.superseded.count, target.id)
        }
        for batch in plan.batches.prefix(slots) {
            guard let (reports, made) = try maker.fitting(batch.reports, target, step.store) else {
                throw LectureError(.bug, detail: "a planned report is not there")
            }
            let inFlightBatch = try step.store.begin(
                made.frozen, rest: [], target: target.id, owner: owner, now: step.now)
            inFlightBatches[inFlightBatch] = InFlightBatchWork(inFlightBatch, target.id, Bisection(reports), made)
        }
        return !plan.batches.isEmpty
    }

    // MARK: Exchanges

    /// Sends a request after the commit.
    private mutating func start(_ id: InFlightBatchID, _ step: inout Step<Self>) {
        guard let inFlightBatch = inFlightBatches[id], let target = targets[inFlightBatch.target] else {
            return
        }
        let base = inFlightBatch.url ?? RequestMaker.url(of: target.address)
        let url = RequestMaker.url(base, query: inFlightBatch.frozen.query)
        var request = ExchangeRequest(id: step.newTransfer(), url: url, bodyLimit: AnswerJudge.bodyLimit)
        if inFlightBatch.frozen.method != "GET" {
            request.body = RequestBody(inFlightBatch.frozen.body, mediaType: inFlightBatch.frozen.mediaType)
        }
        request.headers = target.headers(of: inFlightBatch.frozen, to: base)
        (request.stallTimeout, request.totalTimeout) = (settings.stallTimeout, settings.totalTimeout)
        targets[inFlightBatch.target]?.pacer.started(request.id, at: step.boot)
        inFlightBatches[id]?.phase = .running(request.id, started: step.boot)
        exchanges[request.id] = id
        count(inFlightBatch.target) { $0.requests += 1 }
        step.effects.append(.send(request))
    }
}
