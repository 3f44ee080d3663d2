import LectureModel

/// From open reports to running requests.
extension StatisticsEngine {
    /// The most waiting requests of a target; beyond that no new ones are started.
    static let heldLimit = 16

    /// Starts as many requests to a target as its pace allows: those of this engine, then unclaimed ones, then new
    /// ones.
    func fill(_ id: TargetID, _ turn: Turn) throws {
        putAside(id, turn)
        while let next = nextInFlightBatch(id, turn, isFollowing: true) { start(next, turn) }
        work.targets[id]?.isDry = false
        let orders = work.orders.filter { $0.targets.contains(id) }
        while let target = work.targets[id] {
            guard orders.contains(where: { !target.isAbandoned(by: $0.order, at: turn.now) }) else { return }
            switch work.targets[id]?.pace.permission(wall: turn.now, boot: turn.boot) {
            case .yes: break
            case .after(let wait): return wake(at: turn.boot + wait)
            case .busy, .suspended, nil: return
            }
            if let next = nextInFlightBatch(id, turn, isFollowing: false) {
                start(next, turn)
            } else if try !gather(id, turn) {
                return
            }
        }
    }

    /// Sets aside a request that failed repeatedly, or that waits longer than any order does, so that it delays neither
    /// other requests nor the end of an order.
    private func putAside(_ id: TargetID, _ turn: Turn) {
        let orders = work.orders.filter { $0.targets.contains(id) }.map(\.order)
        guard let attempts = orders.map(\.attempts).max(), let longest = orders.map(\.longestWait).max() else { return }
        for inFlightBatch in work.inFlightBatches.values where inFlightBatch.target == id && !inFlightBatch.isRunning {
            let isTooLong = (inFlightBatch.wait?.remaining(at: turn.now) ?? .zero) > longest
            guard inFlightBatch.failures >= max(1, attempts) || isTooLong else { continue }
            work.inFlightBatches[inFlightBatch.id] = nil
            work.aside[inFlightBatch.id] = id
        }
    }

    /// The oldest request of a target that may be sent now.
    private func nextInFlightBatch(_ target: TargetID, _ turn: Turn, isFollowing: Bool) -> InFlightBatchID? {
        var next: InFlightBatchID?
        for inFlightBatch in work.inFlightBatches.values
        where inFlightBatch.target == target && !inFlightBatch.isRunning {
            if case .following = inFlightBatch.phase { if !isFollowing { continue } } else if isFollowing { continue }
            let wait = inFlightBatch.wait?.remaining(at: turn.now) ?? .zero
            if wait > .zero {
                wake(at: turn.boot + wait)
            } else {
                next = min(next ?? inFlightBatch.id, inFlightBatch.id)
            }
        }
        return next
    }

    /// Claims unclaimed requests, or else freezes new ones.
    ///
    /// - Returns: whether there is one more that may be sent.
    private func gather(_ id: TargetID, _ turn: Turn) throws -> Bool {
        guard let target = work.targets[id] else { return false }
        let held = work.inFlightBatches.values.count { $0.target == id }
        let most = target.pace.failures > 0 ? 1 : target.pace.limits.concurrency
        let slots = min(most - target.pace.running, max(most, Self.heldLimit) - held)
        // At the limit, an answer or the end of a wait triggers the next step.
        guard slots > 0 else { return false }
        let claimed = try outbox.claim(id, owner: owner, limit: slots, now: turn.now)
        for stored in claimed { work.inFlightBatches[stored.id] = InFlightBatchWork(stored) }
        if !claimed.isEmpty { return true }
        if try plan(target, slots: slots, turn) { return true }
        work.targets[id]?.isDry = true
        work.targets[id]?.dueAfter = try outbox.nextInFlightBatch(id)?.remaining(at: turn.now)
        return false
    }

    // MARK: New requests

    /// Freezes new requests.
    ///
    /// - Returns: whether there was anything to freeze.
    private func plan(_ target: TargetWork, slots: Int, _ turn: Turn) throws -> Bool {
        let maker = maker(target)
        // One more than wanted: when that is started, the others are full. Most plans need few queues, so few are read.
        var queues = 8
        let most = target.limits.count * slots
        var plan: BatchPlan
        while true {
            var rows = try outbox.planRows(target.id, queues: min(queues, most), rows: target.limits.count + 1)
            for index in rows.indices { rows[index].bytes += maker.envelope }
            plan = BatchPlan(rows, limits: [target.id: target.limits], slots: slots + 1)
            if plan.batches.count > slots || queues >= most { break }
            if Set(rows.lazy.map(\.queue)).count < min(queues, most) { break }
            queues *= 8
        }
        if !plan.superseded.isEmpty {
            try outbox.supersede(plan.superseded.map(\.report), now: turn.now)
            count(target.id) { $0.superseded += plan.superseded.count }
            count(open: -plan.superseded.count, target.id)
        }
        for batch in plan.batches.prefix(slots) {
            guard let (reports, made) = try fitting(batch.reports, target) else {
                throw LectureError(.bug, detail: "a planned report is not there")
            }
            let inFlightBatch = try outbox.begin(made.frozen, rest: [], target: target.id, owner: owner, now: turn.now)
            work.inFlightBatches[inFlightBatch] = InFlightBatchWork(inFlightBatch, target.id, Bisection(reports), made)
        }
        return !plan.batches.isEmpty
    }

    /// As many of the reports as fit into a request; at least one. Nil when one of them is gone.
    private func fitting(_ reports: [OutboxID], _ target: TargetWork) throws -> ([OutboxID], MadeRequest)? {
        var reports = reports
        while let made = try makeRequest(reports, target, wasTried: { $1.attempts > 0 }) {
            if made.rawBytes <= target.limits.bytes || reports.count <= 1 { return (reports, made) }
            reports.removeLast(reports.count / 2)
        }
        return nil
    }

    /// Makes the request of reports.
    ///
    /// - Parameters:
    ///   - reports: at least one.
    ///   - target: its target.
    ///   - id: its id; nil for a single report's own, or a new one.
    ///   - wasTried: whether a report may have been sent alone before it became part of this request.
    /// - Returns: nil when a report was erased.
    /// - Throws: ``LectureError`` from the store.
    func makeRequest(
        _ reports: [OutboxID], _ target: TargetWork, id: String? = nil, wasTried: (OutboxID, ReportRecord) -> Bool
    ) throws -> MadeRequest? {
        let records = try outbox.reports(reports)
        guard let first = records.first, records.count == reports.count else { return nil }
        let tried = Set(zip(reports, records).lazy.filter { $1.attempts > 0 }.map(\.0))
        // If it was sent alone before, that was under its own id, and with the time that was known then.
        let isChanged = wasTried(reports[0], first) && first.corrected != nil && target.address.format != .kollus
        let own = records.count == 1 && !isChanged && Self.isPlain(first.id) ? first.id : nil
        var frozen = maker(target).frozen(id ?? own ?? ports.newID(), reports, records)
        let rawBytes = max(frozen.body.count, frozen.query.utf8.count)
        if let compress = ports.compress, !target.encoding.isEmpty, !frozen.body.isEmpty {
            do {
                frozen.body = try compress(target.encoding, frozen.body)
                frozen.encoding = target.encoding
            } catch {
                // A body that cannot be encoded is sent as it is, which every target accepts.
            }
        }
        let said = ports.wantsExchanges() ? SaidReports(records) : nil
        return MadeRequest(frozen: frozen, rawBytes: rawBytes, tried: tried, said: said)
    }

    /// Whether an id may be used in a header. Scripts choose ids freely.
    private static func isPlain(_ id: String) -> Bool { id.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    private func maker(_ target: TargetWork) -> RequestMaker {
        RequestMaker(address: target.address, statement: statement)
    }

    // MARK: Exchanges

    /// Sends a request after the commit.
    private func start(_ id: InFlightBatchID, _ turn: Turn) {
        guard let inFlightBatch = work.inFlightBatches[id], let target = work.targets[inFlightBatch.target] else {
            return
        }
        let transfer = newTransfer()
        let sink = SendSink(clock: ports.clock) { [inbox] reply in inbox.post(.answered(transfer, reply)) }
        let base = inFlightBatch.url ?? RequestMaker.url(of: target.address)
        var request = TransferRequest(
            id: transfer, url: RequestMaker.url(base, query: inFlightBatch.frozen.query), sink: sink)
        if inFlightBatch.frozen.method != "GET" {
            request.body = RequestBody(inFlightBatch.frozen.body, mediaType: inFlightBatch.frozen.mediaType)
        }
        request.headers = headers(inFlightBatch, target, url: base)
        request.stallTimeout = settings.stallTimeout
        request.totalTimeout = settings.totalTimeout
        guard let ticket = work.targets[inFlightBatch.target]?.pace.started(boot: turn.boot) else { return }
        work.inFlightBatches[id]?.phase = .running(transfer, ticket, started: turn.boot)
        work.exchanges[transfer] = id
        count(inFlightBatch.target) { $0.requests += 1 }
        effects.append(.start(request))
    }

    /// Configured headers are sent only to the target's own origin.
    private func headers(_ inFlightBatch: InFlightBatchWork, _ target: TargetWork, url: String) -> HeaderFields {
        var own: HeaderFields = ["Idempotency-Key": inFlightBatch.frozen.id]
        if !inFlightBatch.frozen.encoding.isEmpty {
            own.append(HeaderField(name: "Content-Encoding", value: inFlightBatch.frozen.encoding))
        }
        if target.address.format == .xapi {
            own.append(HeaderField(name: "X-Experience-API-Version", value: "1.0.3"))
        }
        guard Self.isSameOrigin(url, target.address.url) else { return own }
        let reserved = own.elements.map(\.name) + ["Content-Type", "Content-Encoding", "Content-Length"]
        for field in target.settings.headers.elements
        where !reserved.contains(where: { FieldText.equal($0, field.name) }) { own.append(field) }
        return own
    }

    private static func isSameOrigin(_ one: String, _ other: String) -> Bool {
        do throws(LectureError) { return try Origin(url: one) == Origin(url: other) } catch { return false }
    }
}
