import LectureModel

/// The lectures that servers have ordered to be removed, and the exchanges that are published after that.
struct OrderedRemovals: Sendable {
    /// An exchange that is published when the lectures that it ordered to be removed are gone.
    private struct HeldExchange {
        let exchange: LicenceExchange
        /// The lectures that are still there.
        var waiting: Set<ContentKey>
        let since: BootInstant
    }

    /// Lectures that are still there.
    private var ordered: Set<ContentKey> = []
    private var held: [HeldExchange] = []
    /// When the last of these lectures was removed.
    private var removedAt: BootInstant?

    /// A server has ordered the removal of a lecture.
    mutating func order(_ key: ContentKey) { ordered.insert(key) }

    /// Holds an exchange until the lectures that it ordered to be removed are gone.
    ///
    /// - Parameters:
    ///   - exchange: the exchange.
    ///   - keys: all its lectures.
    ///   - now: the boot clock.
    /// - Returns: whether it waits for any.
    mutating func hold(_ exchange: LicenceExchange, of keys: [ContentKey], at now: BootInstant) -> Bool {
        let leaving = keys.filter(ordered.contains)
        if leaving.isEmpty { return false }
        held.append(HeldExchange(exchange: exchange, waiting: Set(leaving), since: now))
        return true
    }

    /// A lecture is gone.
    ///
    /// - Parameters:
    ///   - key: the lecture; any, also one that no server has ordered to be removed.
    ///   - now: the boot clock.
    /// - Returns: the exchanges that waited for nothing else, and its own event.
    mutating func removed(_ key: ContentKey, at now: BootInstant) -> [LectureEvent] {
        guard ordered.remove(key) != nil else { return [] }
        removedAt = now
        for index in held.indices { held[index].waiting.remove(key) }
        defer { held.removeAll(where: \.waiting.isEmpty) }
        return held.filter(\.waiting.isEmpty).map { .licenceExchange($0.exchange) } + [.licenceDeleted(key)]
    }

    /// When exchanges are published although their removals have not completed; the removals continue by themselves. As
    /// long as removals complete, the others keep waiting.
    ///
    /// - Parameter patience: how long they are held back while none completes.
    /// - Returns: nil when none is held back.
    func overdue(_ patience: Duration) -> BootInstant? {
        held.map(\.since).min().map { max($0, removedAt ?? $0) + patience }
    }

    /// The lectures that exchanges wait for.
    var waiting: [ContentKey] { held.flatMap { $0.waiting.sorted { $0.text < $1.text } } }

    /// Publishes every exchange that is held back.
    mutating func release() -> [LectureEvent] {
        defer { held = [] }
        return held.map { .licenceExchange($0.exchange) }
    }
}
