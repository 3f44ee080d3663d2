import Dispatch
import LectureFiles
import LectureModel

/// Delivers records and metrics to the application's observer, in order, on a queue of its own.
package final class Observation: Sendable {
    private enum Item {
        case log(LectureLogRecord)
        case metric(LectureMetric)
    }

    /// What all values of a metric have in common.
    private struct Series: Hashable {
        let kind: LectureMetric.Kind
        let name: String
        let labels: [String: String]
    }

    private struct State {
        var waiting: [Item] = []
        /// Metrics for which the queue has no space: they are combined.
        var sums: [Series: Int64] = [:]
        var dropped: Int64 = 0
        var isDraining = false
        /// Lectures that are being downloaded.
        var active: Set<ContentKey> = []
        var activeCount = 0
        var countedBytes: Int64 = 0
    }

    private let observer: any LectureObserver
    private let limit: Int
    private let clock: any LectureClock = SystemClock()
    private let queue = DispatchQueue(label: "lecturekit.observer", qos: .utility)
    private let state = Guarded(State())

    /// Starts delivering.
    ///
    /// - Parameters:
    ///   - observer: gets everything.
    ///   - limit: how many records and metrics may be queued for it.
    package init(_ observer: any LectureObserver, limit: Int = 10_000) {
        (self.observer, self.limit) = (observer, limit)
    }

    // MARK: Adding

    /// Adds a log record with the current time.
    package func log(
        _ level: LectureLogRecord.Level, _ category: LectureLogRecord.Category, _ message: String,
        _ fields: [String: String] = [:]
    ) {
        add(
            .log(
                LectureLogRecord(
                    level: level, time: clock.now(), category: category, message: message, fields: fields)))
    }

    /// Raises a counter.
    package func count(_ name: String, _ value: Int64 = 1, _ labels: [String: String] = [:]) {
        guard value > 0 else { return }
        add(.metric(LectureMetric(kind: .counter, name: name, value: value, labels: labels)))
    }

    private func add(_ item: Item) {
        let isFirst = state.withLock { state in
            if state.waiting.count < limit {
                state.waiting.append(item)
            } else {
                switch item {
                case .log: state.dropped += 1
                case .metric(let metric): Self.put(metric, into: &state.sums)
                }
            }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if isFirst { queue.async { self.drain() } }
    }

    private static func put(_ metric: LectureMetric, into sums: inout [Series: Int64]) {
        let series = Series(kind: metric.kind, name: metric.name, labels: metric.labels)
        switch metric.kind {
        case .counter: sums[series, default: 0] += metric.value
        case .gauge: sums[series] = metric.value
        }
    }

    // MARK: Delivering

    private func drain() {
        while let items = take() {
            for item in items {
                switch item {
                case .log(let record): observer.log(record)
                case .metric(let metric): observer.record(metric)
                }
            }
        }
    }

    /// Everything queued; nil at the end, and then the next record starts draining again.
    private func take() -> [Item]? {
        state.withLock { state in
            var items = state.waiting
            state.waiting = []
            for (series, value) in state.sums {
                items.append(
                    .metric(
                        LectureMetric(kind: series.kind, name: series.name, value: value, labels: series.labels)))
            }
            state.sums = [:]
            if state.dropped > 0 {
                items.append(
                    .metric(
                        LectureMetric(
                            kind: .counter, name: "lecturekit_log_records_dropped_total", value: state.dropped)))
                state.dropped = 0
            }
            if items.isEmpty { state.isDraining = false }
            return items.isEmpty ? nil : items
        }
    }

    /// Returns when everything added before has been delivered.
    package func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Downloads

    /// A lecture is being downloaded, or no longer is.
    ///
    /// - Returns: whether that changed.
    func recordActivity(_ key: ContentKey, isActive: Bool) -> Bool {
        state.withLock { state in
            isActive ? state.active.insert(key).inserted : state.active.remove(key) != nil
        }
    }

    /// Sets the number of lectures being downloaded.
    func active(_ count: Int) {
        let isNews = state.withLock { state in
            defer { state.activeCount = count }
            return state.activeCount != count
        }
        guard isNews else { return }
        add(.metric(LectureMetric(kind: .gauge, name: "lecturekit_downloads_active", value: Int64(count))))
    }

    /// Records the bytes of media received since the manager was created.
    ///
    /// - Parameters:
    ///   - sum: the total.
    ///   - isExact: whether small increases are also counted at once.
    func fetched(_ sum: Int64, isExact: Bool) {
        let news = state.withLock { state in
            let news = sum - state.countedBytes
            guard news >= Self.bytesAtOnce || isExact else { return Int64(0) }
            state.countedBytes = sum
            return news
        }
        count("lecturekit_downloaded_bytes_total", news)
    }

    private static let bytesAtOnce: Int64 = 1 << 20
}
