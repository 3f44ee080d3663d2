/// The progress of one lecture. Bytes never decrease within one version.
public struct DownloadProgress: Sendable, Hashable {
    /// The lecture.
    public var key: ContentKey
    /// Its title.
    public var title: String
    /// Its state.
    public var state: ItemState
    /// Bytes received; at least as many as are verified.
    public var bytes: Int64
    /// Bytes of all its resources; nil while unknown.
    public var total: Int64?
    /// Bytes a second over the last seconds.
    public var bytesPerSecond: Double
    /// Time left at this speed; nil while unknown.
    public var remaining: Duration?
    /// Verified chunks that are durable.
    public var committedChunks: Int
    /// Chunks of all its resources; 0 while unknown.
    public var totalChunks: Int

    /// Creates a progress report.
    package init(key: ContentKey, title: String, state: ItemState) {
        self.key = key
        self.title = title
        self.state = state
        bytes = 0
        bytesPerSecond = 0
        committedChunks = 0
        totalChunks = 0
    }

    /// Whole percent, 0…100, rounded down; 0 while the total is unknown. The bytes of an adaptive lecture are known at
    /// its end: until then it is the share of its chunks, at most 99.
    public var percent: Int {
        guard let total, total > 0 else {
            guard totalChunks > 0 else { return 0 }
            return min(99, max(0, committedChunks) * 100 / totalChunks)
        }
        return Int(min(100, max(0, Double(bytes) / Double(total) * 100)))
    }
}
