import LectureEngine
import LectureModel

/// Starts orders on their targets, and ends them.
extension ReportMachine {
    /// Starts an order, and with it what it resumes.
    mutating func begin(_ order: SendOrder, _ step: inout Step<Self>) throws {
        if let target = order.target { _ = try step.store.readdress(to: target) }
        let entries = try step.store.targets().filter { entry in
            order.target.map { $0 == entry.id } ?? true && (entry.open > 0 || targets[entry.id] != nil)
        }
        var started = OrderWork(order: order, targets: Set(entries.map(\.id)), publishedAt: step.boot)
        started.result.left = entries.reduce(0) { $0 + $1.open }
        started.published = started.result
        orders.append(started)
        isEpochReported = false
        for entry in entries {
            if targets[entry.id] == nil {
                targets[entry.id] = TargetWork(
                    entry, settings.target(entry.address), now: step.now, boot: step.boot)
            }
            targets[entry.id]?.open = entry.open
            targets[entry.id]?.resume(order.resumption, at: step.boot)
        }
    }

    /// Changes the results of the orders that a target belongs to.
    mutating func count(_ target: TargetID, _ change: (inout ReportSendResult) -> Void) {
        for index in orders.indices where orders[index].targets.contains(target) {
            change(&orders[index].result)
        }
    }

    /// Changes the number of open reports.
    mutating func count(open difference: Int, _ target: TargetID) {
        targets[target]?.open += difference
        count(target) { $0.left += difference }
    }

    /// Ends the orders that have nothing left to do, and reports the progress of the others.
    mutating func endOrders(_ step: inout Step<Self>) throws {
        for index in orders.indices {
            let order = orders[index]
            guard order.result != order.published, step.boot - order.publishedAt >= .milliseconds(100) else { continue }
            (orders[index].published, orders[index].publishedAt) = (order.result, step.boot)
            step.notices.append(.event(.reportsProgress(order.result)))
        }
        let over = orders.filter { order in
            order.targets.allSatisfy { !hasWork($0, order.order, &step) }
        }
        guard !over.isEmpty else { return }
        orders.removeAll { order in over.contains { $0.order.id == order.order.id } }
        let left = orders.reduce(into: Set<TargetID>()) { $0.formUnion($1.targets) }
        for inFlightBatch in inFlightBatches.values where !left.contains(inFlightBatch.target) {
            try release(inFlightBatch.id, step)
        }
        for (inFlightBatch, target) in aside where !left.contains(target) { try release(inFlightBatch, step) }
        for order in over { try end(order, &step) }
        for target in targets.values where !left.contains(target.id) {
            if target.condition != target.stored { try step.store.store(target.condition, of: target.id) }
            targets[target.id] = nil
        }
    }

    /// Whether an order still waits for a target.
    private func hasWork(_ id: TargetID, _ order: SendOrder, _ step: inout Step<Self>) -> Bool {
        guard let target = targets[id] else { return false }
        let inFlightBatches = inFlightBatches.values.filter { $0.target == id }
        if inFlightBatches.contains(where: \.isRunning) { return true }
        if target.isAbandoned(by: order, at: step.boot, besides: target.others(in: step.others)) { return false }
        if inFlightBatches.contains(where: { ($0.wait?.remaining(at: step.now) ?? .zero) <= order.longestWait }) {
            return true
        }
        guard let idle = target.idle else { return true }
        guard let due = idle.dueAfter, due <= order.longestWait else { return false }
        step.wake(at: step.boot + due)
        return true
    }

    /// Reports the end of an order.
    func end(_ order: OrderWork, _ step: inout Step<Self>) throws {
        var result = order.result
        result.left = 0
        result.obstacles = []
        for entry in try step.store.targets() where order.targets.contains(entry.id) && entry.open > 0 {
            result.left += entry.open
            let next = try step.store.nextInFlightBatch(entry.id)
            let others = targets[entry.id].map {
                $0.others(in: step.others).left(at: step.boot, servedAt: $0.pacer.servedAt)
            }
            result.obstacles.append(
                ReportObstacle(entry, targets[entry.id], next: next, others: others ?? .zero, now: step.now))
        }
        step.notices.append(.ended(order: order.order.id, result))
    }
}
