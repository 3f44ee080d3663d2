package import LectureModel

/// How much a target accepts in one request.
package struct BatchLimits: Hashable, Sendable {
    /// The largest number of reports in a request.
    package var count: Int
    /// The largest body in bytes. One report alone may be larger.
    package var bytes: Int
    /// What a body has around its reports, in bytes.
    package var overhead: Int

    /// Limits.
    ///
    /// - Parameters:
    ///   - count: the largest number of reports, at least 1.
    ///   - bytes: the largest body.
    ///   - overhead: what a body has around its reports.
    package init(count: Int, bytes: Int, overhead: Int) {
        (self.count, self.bytes, self.overhead) = (max(1, count), bytes, overhead)
    }

    /// The defaults for targets: one report per request for `kollus`, whose receivers support arrays only if they say
    /// so; else 100, and no more than half of nginx's limit of 1 MiB.
    ///
    /// - Parameter format: how reports go over the wire.
    package init(_ format: ReportFormat) {
        switch format {
        case .kollus: self.init(count: 1, bytes: 524_288, overhead: 64)
        case .json: self.init(count: 100, bytes: 524_288, overhead: 128)
        case .xapi: self.init(count: 100, bytes: 524_288, overhead: 2)
        }
    }

    /// The size of a body: its reports, a comma after each, and what is around them.
    ///
    /// - Parameter sizes: of the reports in bytes.
    /// - Returns: bytes.
    package func bodyBytes(_ sizes: some Sequence<Int>) -> Int { sizes.reduce(overhead) { $0 + $1 + 1 } }

    /// The limits after the target refused a body as too large: half of what it refused, never more than before.
    ///
    /// - Parameter refused: the size of the refused body.
    /// - Returns: limits under which that body would not have been made.
    package func lowered(refused: Int) -> BatchLimits {
        BatchLimits(count: count, bytes: min(bytes, max(overhead, refused / 2)), overhead: overhead)
    }
}

/// Which reports are sent together, which wait, and which became unnecessary.
///
/// A queue is walked from its lowest number. A report that is in flight, frozen (`isSealed`), or not due stops it:
/// nothing after it is sent, so nothing overtakes an earlier one that waits. Dead, delivered, superseded or expired
/// reports do not stop it. A queue is in at most one batch of a plan, in order, so all batches of a plan can be sent at
/// the same time. The oldest queues go first.
///
/// Superseding drops only reports that were never in a batch, and only when a newer one of the same queue may be sent
/// too. When that one is refused permanently, an older one counts again: ``uncovered(_:)``.
package struct BatchPlan: Hashable, Sendable {
    /// A batch.
    package struct Batch: Hashable, Sendable {
        /// The target of all its reports.
        package let target: TargetID
        /// The reports in the order of the request.
        package let reports: [OutboxID]
    }

    /// A report that became unnecessary.
    package struct Superseded: Hashable, Sendable {
        /// The unnecessary one.
        package let report: OutboxID
        /// The one that includes it.
        package let by: OutboxID
    }

    /// What to send.
    package private(set) var batches: [Batch] = []
    /// What became unnecessary.
    package private(set) var superseded: [Superseded] = []

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - rows: in any order. For each queue, every row with a lower number that holds its session must be included.
    ///   - limits: how much each target accepts in one request; targets without limits get nothing.
    ///   - slots: how many batches there may be for one target.
    package init(_ rows: [PlanRow], limits: [TargetID: BatchLimits], slots: Int) {
        var open: [TargetID: Filling] = [:]
        var counts: [TargetID: Int] = [:]
        for queue in Self.queues(rows) {
            guard let target = queue.first?.queue.target, let limit = limits[target] else { continue }
            let kept = withoutSuperseded(Self.ready(queue))
            guard let first = kept.first else { continue }
            var filling = open[target] ?? Filling(limit)
            if !filling.takes(first) {
                close(filling, target, &counts, slots)
                filling = Filling(limit)
            }
            for row in kept {
                guard filling.takes(row) else { break }
                filling.add(row)
            }
            open[target] = filling
        }
        for (target, filling) in open.sorted(by: { $0.key < $1.key }) { close(filling, target, &counts, slots) }
    }

    /// The superseded reports that no newer one covers any more, because all newer ones were refused or expired.
    ///
    /// It depends on the states alone, so it may be called after any change and any number of times.
    ///
    /// - Parameter rows: all rows of the queues in question.
    /// - Returns: of each queue at most one, its newest; the others are covered by that one once it is restored.
    package static func uncovered(_ rows: [PlanRow]) -> [OutboxID] {
        // Superseded reports count even if the channel no longer allows superseding.
        let words = rows.lazy.filter { $0.isCumulative || $0.state == .superseded }
        return Dictionary(grouping: words, by: \.queue).values.compactMap { queue in
            let standing = queue.filter { row in
                switch row.state {
                case .pending, .leased, .delivered, .superseded: true
                case .dead, .expired: false
                }
            }
            let newest = standing.max { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
            return newest?.state == .superseded ? newest?.id : nil
        }.sorted()
    }

    /// The rows that hold their session, by queue and in order, the oldest queue first.
    private static func queues(_ rows: [PlanRow]) -> [[PlanRow]] {
        Dictionary(grouping: rows.lazy.filter { $0.state.holdsSession }, by: \.queue).values
            .map { $0.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) } }
            .sorted { ($0.first?.id ?? OutboxID(0)) < ($1.first?.id ?? OutboxID(0)) }
    }

    private static func ready(_ queue: [PlanRow]) -> ArraySlice<PlanRow> {
        queue.prefix { $0.state == .pending && !$0.isSealed && $0.isDue }
    }

    /// Drops each cumulative report that has a newer one.
    private mutating func withoutSuperseded(_ ready: ArraySlice<PlanRow>) -> [PlanRow] {
        guard let newest = ready.last(where: \.isCumulative) else { return Array(ready) }
        return ready.filter { row in
            guard row.isCumulative, row.id != newest.id else { return true }
            superseded.append(Superseded(report: row.id, by: newest.id))
            return false
        }
    }

    private mutating func close(_ filling: Filling, _ target: TargetID, _ counts: inout [TargetID: Int], _ slots: Int) {
        guard !filling.reports.isEmpty, counts[target, default: 0] < slots else { return }
        counts[target, default: 0] += 1
        batches.append(Batch(target: target, reports: filling.reports))
    }
}

/// A batch that is being filled.
private struct Filling {
    private let limits: BatchLimits
    private var bytes: Int
    private(set) var reports: [OutboxID] = []

    init(_ limits: BatchLimits) { (self.limits, bytes) = (limits, limits.overhead) }

    /// One report alone always fits, since it cannot be made smaller.
    func takes(_ row: PlanRow) -> Bool {
        reports.isEmpty || (reports.count < limits.count && bytes + row.bytes + 1 <= limits.bytes)
    }

    mutating func add(_ row: PlanRow) {
        reports.append(row.id)
        bytes += row.bytes + 1
    }
}
