import LectureModel

/// The players of a storage: they get its events, and end before it.
final class PlayerRegistry: Sendable {
    private let sessions = Guarded<[PlayerSession]>([])

    /// Adds a session that begins.
    func add(_ session: PlayerSession) { sessions.withLock { $0.append(session) } }

    /// Removes a session that is over.
    func remove(_ session: PlayerSession) { sessions.withLock { $0.removeAll { $0 === session } } }

    /// Sends an event to all of them.
    func send(_ event: KollusEvent) { for session in sessions.withLock(\.self) { session.take(event) } }

    /// Ends all of them and waits until everything is stored.
    func end() async { for session in sessions.withLock(\.self) { await session.finish() } }
}
