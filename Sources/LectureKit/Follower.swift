import LectureModel

/// Detects what other processes have done with lectures that were requested here.
///
/// An engine reports what it does itself. A lecture that another process has claimed (a background worker, a second
/// application) changes in the store only, so its row is compared with what was reported last.
struct Follower {
    /// Something that has become true.
    enum Change: Equatable {
        /// The lecture is in another state.
        case state(Content)
        /// More of its bytes are on disk.
        case bytes(Content)
        /// The lecture was removed.
        case gone
    }

    /// What was reported last.
    private struct Seen {
        let key: ContentKey
        var state: ItemState
        var bytes: Int64
    }

    private static let interval: Duration = .milliseconds(250)
    private var seen: [ContentID: Seen] = [:]
    private var lastCheck: BootInstant?
    private var version: Int64?

    /// Whether nothing is followed.
    var isIdle: Bool { seen.isEmpty }

    /// What is followed, in the order of the rows.
    var lectures: [(ContentID, ContentKey)] {
        seen.map { ($0.key, $0.value.key) }.sorted { $0.0 < $1.0 }
    }

    /// Follows a lecture from its current state.
    mutating func add(_ id: ContentID, _ content: Content) {
        seen[id] = Seen(key: content.key, state: content.state, bytes: content.committedBytes)
        version = nil
    }

    /// Whether the next check is due; if so, it counts as done.
    mutating func isDue(_ now: BootInstant) -> Bool {
        if let lastCheck, now - lastCheck < Self.interval { return false }
        lastCheck = now
        return true
    }

    /// Whether another process has written since the last check.
    ///
    /// - Parameter version: of the data, as this connection sees it.
    /// - Returns: true at the first check, too.
    mutating func isNews(_ version: Int64) -> Bool {
        defer { self.version = version }
        return version != self.version
    }

    /// Records what this process has reported itself.
    mutating func reported(_ id: ContentID, _ content: Content) {
        guard seen[id] != nil else { return }
        let now = Seen(key: content.key, state: content.state, bytes: content.committedBytes)
        seen[id] = Self.isFinal(content.state) ? nil : now
    }

    /// Stops following a lecture: this process has reported that it is gone.
    mutating func forget(_ key: ContentKey) { seen = seen.filter { $0.value.key != key } }

    /// What is new in a row.
    ///
    /// - Parameters:
    ///   - id: of the row.
    ///   - key: of the lecture.
    ///   - content: as it is in the store; nil when the row is gone.
    /// - Returns: what has become true since the last report, in its order.
    mutating func changes(of id: ContentID, _ key: ContentKey, _ content: Content?) -> [Change] {
        guard let last = seen[id] else { return [] }
        guard let content else {
            seen[id] = nil
            return [.gone]
        }
        var changes: [Change] = []
        if content.committedBytes > last.bytes, !Self.isFinal(content.state) { changes.append(.bytes(content)) }
        if content.state != last.state { changes.append(.state(content)) }
        reported(id, content)
        return changes
    }

    /// Whether nothing follows until the lecture is requested again.
    private static func isFinal(_ state: ItemState) -> Bool {
        switch state {
        case .completed, .failed: true
        case .queued, .loading, .downloading, .verifying, .stopped, .removing: false
        }
    }
}
