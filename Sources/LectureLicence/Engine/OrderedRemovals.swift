import LectureModel

/// The lectures that servers have ordered to be removed, and the exchanges whose notices wait for that.
struct OrderedRemovals: Sendable {
    /// An exchange that is reported when the lectures that it ordered to be removed are gone.
    private struct HeldExchange {
        let record: ExchangeRecord
        /// The lectures that are still there.
        var waiting: Set<ContentKey>
        let since: BootInstant
    }

    /// Lectures that are still there, with the server's message.
    private var messages: [ContentKey: String?] = [:]
    private var held: [HeldExchange] = []
    /// When the last of these lectures was removed.
    private var removedAt: BootInstant?

    /// A server has ordered the removal of a lecture.
    mutating func order(_ key: ContentKey, _ message: String?) { messages[key] = .some(message) }

    /// Holds the notice of an exchange until the lectures that it ordered to be removed are gone.
    ///
    /// - Parameters:
    ///   - record: the exchange.
    ///   - keys: all its lectures.
    ///   - now: the boot clock.
    /// - Returns: whether it waits for any.
    mutating func hold(_ record: ExchangeRecord, of keys: [ContentKey], at now: BootInstant) -> Bool {
        let leaving = keys.filter { messages[$0] != nil }
        if leaving.isEmpty { return false }
        held.append(HeldExchange(record: record, waiting: Set(leaving), since: now))
        return true
    }

    /// A lecture is gone.
    ///
    /// - Parameters:
    ///   - key: the lecture; any, also one that no server has ordered to be removed.
    ///   - now: the boot clock.
    /// - Returns: the exchanges that waited for nothing else, and its own notice.
    mutating func removed(_ key: ContentKey, at now: BootInstant) -> [LicenceNotice] {
        guard let message = messages.removeValue(forKey: key) else { return [] }
        removedAt = now
        for index in held.indices { held[index].waiting.remove(key) }
        defer { held.removeAll(where: \.waiting.isEmpty) }
        return held.filter(\.waiting.isEmpty).map { .exchange($0.record) } + [.deleted(key, message: message)]
    }

    /// When exchanges are reported although their removals have not completed; the removals continue by themselves. As
    /// long as removals complete, the others keep waiting.
    ///
    /// - Parameter patience: how long they are held back while none completes.
    /// - Returns: nil when none is held back.
    func overdue(_ patience: Duration) -> BootInstant? {
        held.map(\.since).min().map { max($0, removedAt ?? $0) + patience }
    }

    /// The lectures that exchanges wait for.
    var waiting: [ContentKey] { held.flatMap { $0.waiting.sorted { $0.text < $1.text } } }

    /// Reports every exchange that is held back.
    mutating func release() -> [LicenceNotice] {
        defer { held = [] }
        return held.map { .exchange($0.record) }
    }
}
