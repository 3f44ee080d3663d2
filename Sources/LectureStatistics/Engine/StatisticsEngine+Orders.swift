import LectureModel

/// Starts orders on their targets, and ends them.
extension StatisticsEngine {
    /// Starts an order: resumes its targets, and ends waits that are not the server's.
    func begin(_ order: SendOrder, _ turn: Turn) throws {
        if let target = order.target { _ = try outbox.readdress(to: target) }
        let entries = try outbox.targets().filter { entry in
            order.target.map { $0 == entry.id } ?? true && (entry.open > 0 || work.targets[entry.id] != nil)
        }
        var started = OrderWork(order: order, targets: Set(entries.map(\.id)), reportedAt: turn.boot)
        started.summary.open = entries.reduce(0) { $0 + $1.open }
        started.reported = started.summary
        work.orders.append(started)
        work.isEpochReported = false
        for entry in entries {
            if work.targets[entry.id] == nil {
                work.targets[entry.id] = TargetWork(entry, settings.target(entry.address))
            }
            work.targets[entry.id]?.open = entry.open
            work.targets[entry.id]?.resume(at: turn.now)
        }
    }

    /// Changes the summaries of the orders that a target belongs to.
    func count(_ target: TargetID, _ change: (inout SendSummary) -> Void) {
        for index in work.orders.indices where work.orders[index].targets.contains(target) {
            change(&work.orders[index].summary)
        }
    }

    /// Changes the number of open reports.
    func count(open difference: Int, _ target: TargetID) {
        work.targets[target]?.open += difference
        count(target) { $0.open += difference }
    }

    /// Ends the orders that have nothing left to do, and reports the progress of the others.
    func endOrders(_ turn: Turn) throws {
        for index in work.orders.indices {
            let order = work.orders[index]
            guard order.summary != order.reported, turn.boot - order.reportedAt >= .milliseconds(100) else { continue }
            (work.orders[index].reported, work.orders[index].reportedAt) = (order.summary, turn.boot)
            notices.append(.progress(order: order.order.id, order.summary))
        }
        let over = work.orders.filter { order in
            order.targets.allSatisfy { !hasWork($0, order.order, turn) }
        }
        guard !over.isEmpty else { return }
        work.orders.removeAll { order in over.contains { $0.order.id == order.order.id } }
        let left = work.orders.reduce(into: Set<TargetID>()) { $0.formUnion($1.targets) }
        for inFlightBatch in work.inFlightBatches.values where !left.contains(inFlightBatch.target) {
            try release(inFlightBatch.id)
        }
        for (inFlightBatch, target) in work.aside where !left.contains(target) { try release(inFlightBatch) }
        for order in over { try end(order) }
        for target in work.targets.values where !left.contains(target.id) {
            if target.condition != target.stored { try outbox.store(target.condition, of: target.id) }
            work.targets[target.id] = nil
        }
    }

    /// Whether an order still waits for a target.
    private func hasWork(_ id: TargetID, _ order: SendOrder, _ turn: Turn) -> Bool {
        guard let target = work.targets[id] else { return false }
        let inFlightBatches = work.inFlightBatches.values.filter { $0.target == id }
        if inFlightBatches.contains(where: \.isRunning) { return true }
        if target.isAbandoned(by: order, at: turn.now) { return false }
        if inFlightBatches.contains(where: { ($0.wait?.remaining(at: turn.now) ?? .zero) <= order.longestWait }) {
            return true
        }
        if !target.isDry { return true }
        guard let due = target.dueAfter, due <= order.longestWait else { return false }
        wake(at: turn.boot + due)
        return true
    }

    /// Reports the end of an order.
    func end(_ order: OrderWork) throws {
        var summary = order.summary
        summary.open = 0
        summary.obstacles = []
        for entry in try outbox.targets() where order.targets.contains(entry.id) && entry.open > 0 {
            summary.open += entry.open
            summary.obstacles.append(try obstacle(of: entry))
        }
        notices.append(.ended(order: order.order.id, summary))
    }

    private func obstacle(of entry: TargetEntry) throws -> TargetObstacle {
        let now = ports.clock.now()
        let target = work.targets[entry.id]
        let condition = target?.condition ?? entry.condition
        let host = Self.host(entry.address.url)
        var error = target?.obstacle
        if condition.suspension != nil {
            error = error ?? LectureError(.reportTargetRefuses, detail: host, cause: Self.status(condition.lastFailure))
            return TargetObstacle(
                target: entry.id, error: error ?? LectureError(.reportTargetRefuses, detail: host), again: nil)
        }
        if error == nil, let failure = condition.lastFailure, condition.wait != nil {
            error = LectureError(.reportTargetWaits, detail: host, cause: Self.status(failure))
        }
        // An unclaimed request has its own wait, or another program works on it.
        let due = [condition.wait, try outbox.nextInFlightBatch(entry.id)].compactMap(\.self).map {
            now + $0.remaining(at: now)
        }
        return TargetObstacle(
            target: entry.id, error: error ?? LectureError(.reportTargetWaits, detail: host), again: due.max() ?? now)
    }

    private static func status(_ answer: SendAnswer?) -> String { answer?.status.map { "HTTP \($0)" } ?? "" }

    /// The origin of a URL, without parts that may name learners.
    static func host(_ url: String) -> String {
        do throws(LectureError) { return try Origin(url: url).text } catch { return "" }
    }
}
