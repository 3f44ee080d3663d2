package import LectureFormats
package import LectureModel

/// The messages of a channel in order, each once, whatever the event stream does: messages are numbered without a gap,
/// so what is missing is known, and asked for.
///
/// ```
///           connect ──opened──▶ open ──lost──▶ waiting ──time──▶ connect, with `Last-Event-ID`
///                                │ each opening but the first, and each gap
///                                ▼
///             history after the last one, page by page ──▶ messages in order; what the server no longer has is skipped
/// ```
///
/// Without a message to begin after, the newest one is read before the first connection, which then goes on after it:
/// so messages count from a known place even if the stream is lost before one has come.
package struct ChatFeed: Hashable, Sendable {
    /// What has to be done.
    package enum Output: Hashable, Sendable {
        /// Open the event stream.
        case connect(lastEventID: String?)
        /// Call ``ChatFeed/timePassed(now:)`` then.
        case wait(until: BootInstant)
        /// Read up to ``ChatFeed/page`` messages after this one.
        case readHistory(after: UInt64)
        /// Read the newest message.
        case readNewest
        /// These are next.
        case deliver([LiveMessage])
        /// The server no longer has these.
        case skipped(ClosedRange<UInt64>)
    }

    /// So many messages are read at once.
    package static let page = 100
    /// A connection that lasted so long was a good one.
    package static let steadyTime = Duration.seconds(30)
    /// So many messages wait for a gap to be filled; those beyond are read again from the history.
    package static let pendingLimit = 1000

    /// The number of the last message that was delivered; nil before anything is known.
    package private(set) var lastID: UInt64?
    private let backoff: Backoff
    private var pending: [UInt64: LiveMessage] = [:]
    private var isOpen = false
    private var wasOpen = false
    private var openedAt: BootInstant?
    private var isReading = false
    /// Whether the last reading failed.
    private var needsReading = false
    /// Whether something happened during the reading that it may not have seen.
    private var readsAgain = false
    /// The newest message that had come when the history was asked for: it answers for all before that one.
    private var bound: UInt64 = 0
    private var failures = 0
    private var due: BootInstant?
    private var serverWait: Duration?

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - lastID: the last message that is known; nil for what comes from now on.
    ///   - backoff: the waits between connections.
    package init(after lastID: UInt64? = nil, backoff: Backoff = Backoff(cap: .seconds(30))) {
        (self.lastID, self.backoff) = (lastID, backoff)
    }

    /// Begins.
    ///
    /// - Returns: what has to be done.
    package mutating func begin() -> [Output] { lastID == nil ? ask(.readNewest) : [connection] }

    private var connection: Output { .connect(lastEventID: lastID.map(String.init)) }

    // MARK: The stream

    /// The event stream is open.
    ///
    /// - Parameter now: when.
    /// - Returns: what has to be done.
    package mutating func opened(now: BootInstant) -> [Output] {
        defer { (isOpen, wasOpen, openedAt) = (true, true, now) }
        return wasOpen && lastID != nil ? readAgain() : []
    }

    /// The server wants so long a wait between connections (`retry`).
    ///
    /// - Parameter wait: how long.
    package mutating func setServerWait(_ wait: Duration) { serverWait = min(max(wait, .zero), backoff.cap) }

    /// The event stream has ended, or could not be opened.
    ///
    /// - Parameters:
    ///   - now: when.
    ///   - random: a uniformly random number.
    /// - Returns: what has to be done.
    package mutating func lost(now: BootInstant, random: UInt64) -> [Output] {
        // A server that takes connections and drops them at once gets longer and longer waits, too.
        if let openedAt, isOpen, now - openedAt >= Self.steadyTime { failures = 0 }
        isOpen = false
        failures += 1
        let wait = backoff.delay(failures: failures, random: random)
        due = now + (failures == 1 ? max(wait, serverWait ?? .zero) : wait)
        return due.map { [.wait(until: $0)] } ?? []
    }

    /// Time has passed.
    ///
    /// - Parameter now: when.
    /// - Returns: what has to be done.
    package mutating func timePassed(now: BootInstant) -> [Output] {
        guard let due else { return [] }
        guard now >= due else { return [.wait(until: due)] }
        self.due = nil
        var outputs: [Output] = isOpen ? [] : [connection]
        if needsReading, !isReading { outputs += readAgain() }
        return outputs
    }

    /// A message has come over the event stream.
    ///
    /// - Parameter message: the message.
    /// - Returns: what has to be done.
    package mutating func received(_ message: LiveMessage) -> [Output] {
        failures = 0
        // The newest one could not be read: messages count from the first that comes.
        let lastID = lastID ?? max(message.id, 1) - 1
        self.lastID = lastID
        if message.id <= lastID { return [] }
        add(message)
        return advance()
    }

    private mutating func add(_ message: LiveMessage) {
        if message.id == 0 || pending[message.id] != nil { return }
        if pending.count < Self.pendingLimit { pending[message.id] = message } else { readsAgain = true }
    }

    // MARK: The history

    /// Messages of the history have come.
    ///
    /// - Parameters:
    ///   - messages: in any order.
    ///   - isEnd: whether nothing follows.
    /// - Returns: what has to be done.
    package mutating func read(_ messages: [LiveMessage], isEnd: Bool) -> [Output] {
        (isReading, needsReading) = (false, false)
        guard let last = lastID else {
            lastID = messages.map(\.id).max() ?? 0
            return [connection]
        }
        let fresh = messages.filter { $0.id > last }
        for message in fresh { pending[message.id] = message }
        // A page that brings nothing new would be asked for again without end.
        let hasEnded = isEnd || fresh.isEmpty
        let newest = fresh.map(\.id).max() ?? last
        // What is missing before this one the server no longer has.
        let known = hasEnded ? max(bound, newest) : newest
        var outputs = deliver()
        while let last = lastID, let next = pending.keys.min(), next <= known {
            outputs.append(.skipped(last + 1...next - 1))
            lastID = next - 1
            outputs += deliver()
        }
        return !hasEnded || readsAgain || !pending.isEmpty ? outputs + readAgain() : outputs
    }

    /// The history could not be read; it is asked for again later.
    ///
    /// - Parameters:
    ///   - now: when.
    ///   - random: a uniformly random number.
    /// - Returns: what has to be done.
    package mutating func readFailed(now: BootInstant, random: UInt64) -> [Output] {
        isReading = false
        if lastID == nil { return [connection] }
        needsReading = true
        if due != nil { return [] }
        failures += 1
        due = now + backoff.delay(failures: failures, random: random)
        return due.map { [.wait(until: $0)] } ?? []
    }

    private mutating func readAgain() -> [Output] { ask(.readHistory(after: lastID ?? 0)) }

    private mutating func ask(_ question: Output) -> [Output] {
        readsAgain = isReading
        if isReading { return [] }
        (isReading, bound) = (true, pending.keys.max() ?? 0)
        return [question]
    }

    private mutating func advance() -> [Output] {
        let outputs = deliver()
        return pending.isEmpty || isReading || needsReading ? outputs : outputs + readAgain()
    }

    private mutating func deliver() -> [Output] {
        guard var last = lastID else { return [] }
        for id in pending.keys where id <= last { pending[id] = nil }
        var ready: [LiveMessage] = []
        while let next = pending.removeValue(forKey: last + 1) {
            ready.append(next)
            last = next.id
        }
        lastID = last
        return ready.isEmpty ? [] : [.deliver(ready)]
    }
}
