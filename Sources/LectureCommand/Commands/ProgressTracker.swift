import LectureFormats
import LectureKit
import LectureModel

/// Keeps the snapshot that progress is drawn from, updated by the library's events and summaries.
struct ProgressTracker: Sendable {
    private(set) var snapshot = ProgressSnapshot()

    /// An item received bytes or changed its state.
    mutating func update(_ progress: DownloadProgress) {
        // The last progress event of an item comes after its last byte; it must not bring the item back.
        guard Self.moves(progress.state) else { return remove(progress.key) }
        place(Self.item(progress))
    }

    /// Whether an item in this state has a line of its own.
    private static func moves(_ state: ItemState) -> Bool {
        switch state {
        case .loading, .downloading, .verifying: true
        case .queued, .completed, .stopped, .failed, .removing: false
        }
    }

    /// The library's progress event in the form that is drawn and printed.
    static func item(_ progress: DownloadProgress) -> ProgressSnapshot.Item {
        ProgressSnapshot.Item(
            key: progress.key.text, title: progress.title, bytes: progress.bytes, total: progress.total,
            speed: Int64(progress.bytesPerSecond), secondsLeft: progress.remaining.map { $0.milliseconds / 1000 },
            state: progress.state)
    }

    /// An item changed its state.
    mutating func update(_ content: Content) {
        guard Self.moves(content.state) else { return remove(content.key) }
        var item = snapshot.items.first { $0.key == content.key.text } ?? Self.item(content)
        item.state = content.state
        place(item)
    }

    /// An item was removed.
    mutating func remove(_ key: ContentKey) { snapshot.items.removeAll { $0.key == key.text } }

    /// The whole run was counted.
    ///
    /// - Parameters:
    ///   - summary: what the library counted.
    ///   - refused: items that were refused before the library saw them.
    mutating func update(_ summary: FetchSummary, refused: Int) {
        snapshot.done = summary.counts[.completed] ?? 0
        snapshot.failed = (summary.counts[.failed] ?? 0) + refused
        snapshot.paused = summary.stops[.user] ?? 0
        snapshot.waiting = max(0, (summary.counts[.stopped] ?? 0) - snapshot.paused)
        snapshot.count = summary.counts.values.reduce(0, +) + refused
        snapshot.bytes = summary.committedBytes
        // The total is unknown as long as an item's size is.
        let unknown = (summary.counts[.queued] ?? 0) + (summary.counts[.loading] ?? 0)
        snapshot.total = unknown == 0 ? summary.totalBytes : nil
        // Verified bytes grow in steps of a group; the speeds of the active items are already smoothed.
        let speed = snapshot.items.reduce(0) { $0 + $1.speed }
        snapshot.speed = speed
        snapshot.secondsLeft = snapshot.total.flatMap { speed > 0 ? max(0, $0 - summary.committedBytes) / speed : nil }
    }

    /// The run is over: the speed shown is the mean over the whole run.
    mutating func finish(fetched: Int64, elapsed: Duration) {
        let seconds = elapsed.secondsDouble
        snapshot.speed = seconds > 0 ? Int64(Double(fetched) / seconds) : 0
        snapshot.secondsLeft = nil
        snapshot.items = []
    }

    private mutating func place(_ item: ProgressSnapshot.Item) {
        if let position = snapshot.items.firstIndex(where: { $0.key == item.key }) {
            snapshot.items[position] = item
        } else {
            snapshot.items.append(item)
        }
    }

    private static func item(_ content: Content) -> ProgressSnapshot.Item {
        ProgressSnapshot.Item(
            key: content.key.text, title: content.title, bytes: content.committedBytes, total: content.totalBytes,
            speed: 0,
            secondsLeft: nil, state: content.state)
    }
}
