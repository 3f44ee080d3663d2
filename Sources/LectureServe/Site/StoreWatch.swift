import LectureKit
import LectureModel

/// Who wants to know what happens in a store, for clients that stay connected.
protocol StoreWatcher: AnyObject, Sendable {
    /// Whether a client is connected.
    var isWatched: Bool { get }
    /// This process has reported an event. Never blocking.
    func take(_ event: LectureEvent)
    /// The counts by state are others than three seconds ago, by the work of this process or of another; also once
    /// after the first client is connected.
    func countsChanged()
    /// A second has gone by: clients get what has changed.
    func flush()
}

/// Watches a store for all clients that stay connected: open pages, and programs that read events. It is read once for
/// all of them, and only while there are some.
final class StoreWatch: SitePart {
    private struct State {
        var watchers: [any StoreWatcher] = []
        var isListening = false
        var known = StoreStatus?.none
        /// Since the server began.
        var seconds = 0
    }

    private let manager: LectureManager
    private let state = Guarded(State())

    /// Creates a value; it listens from the first client on.
    init(_ manager: LectureManager) { self.manager = manager }

    /// It has no paths.
    func routes(_ path: [String]) -> [String: SiteRoute]? { nil }

    /// Adds one who wants to know.
    func add(_ watcher: any StoreWatcher) { state.withLock { $0.watchers.append(watcher) } }

    /// A client is connected: from now on events are taken, until the store is closed.
    func start() {
        let isFirst = state.withLock { state in
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return }
        let events = manager.events
        Task { [weak self] in
            for await event in events {
                guard let watchers = self?.state.withLock(\.watchers) else { return }
                for watcher in watchers { watcher.take(event) }
            }
        }
    }

    /// A second has gone by. On a thread of the server's.
    func tick() {
        let (watchers, isDue) = state.withLock { state in
            state.seconds += 1
            return (state.watchers, state.seconds % 3 == 0)
        }
        for watcher in watchers { watcher.flush() }
        guard isDue else { return }
        if watchers.contains(where: \.isWatched) { look() } else { state.withLock { $0.known = nil } }
    }

    /// Other processes may change the store too, and send no events here. What they did between the page that a client
    /// shows and the first look is not known, so the first look counts as a change.
    private func look() {
        Task { [weak self] in
            guard let self, let status = try? await manager.status() else { return }
            let watchers = state.withLock { state in
                defer { state.known = status }
                return state.known == status ? [] : state.watchers
            }
            for watcher in watchers where watcher.isWatched { watcher.countsChanged() }
        }
    }
}
