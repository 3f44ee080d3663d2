import LectureFormats
import LectureModel

/// Items whose request waits, in queues of those that may share one.
struct RequestQueues: Sendable {
    private var queues: [BatchQueue: [Asked]] = [:]
    /// Servers that answer only the first item of a request.
    private var singles: Set<Origin> = []

    /// Whether nothing waits.
    var isEmpty: Bool { queues.isEmpty }

    /// All items.
    var items: [Asked] { queues.values.flatMap(\.self) }

    /// The most urgent ones first.
    var inOrder: [BatchQueue] { queues.keys.sorted() }

    /// The items of a queue.
    subscript(queue: BatchQueue) -> [Asked] { queues[queue] ?? [] }

    /// Whether an equal request waits.
    func contains(_ asked: Asked) -> Bool {
        queues.contains { $0.key.rank == asked.purpose.rank && $0.value.contains { $0.isSame(asked) } }
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - asked: the item.
    ///   - queue: where to.
    ///   - first: whether before all others.
    mutating func add(_ asked: Asked, to queue: BatchQueue, first: Bool = false) {
        if first {
            queues[queue, default: []].insert(asked, at: 0)
        } else {
            queues[queue, default: []].append(asked)
        }
    }

    /// Removes one item.
    mutating func remove(_ asked: Asked, from queue: BatchQueue) {
        queues[queue]?.removeAll { $0.isSame(asked) }
        removeIfEmpty(queue)
    }

    /// Removes a queue, and returns its items.
    mutating func remove(_ queue: BatchQueue) -> [Asked] { queues.removeValue(forKey: queue) ?? [] }

    /// Removes everything.
    mutating func removeAll() { queues = [:] }

    /// A server has answered one item of several: from now on each is requested alone.
    mutating func requestAlone(_ origin: Origin) { singles.insert(origin) }

    /// Takes the next items of a queue that share a request.
    ///
    /// - Parameters:
    ///   - queue: the queue.
    ///   - origin: the server it is sent to.
    ///   - limit: how many at the most.
    /// - Returns: none for an empty queue.
    mutating func takeGroup(_ queue: BatchQueue, _ origin: Origin, limit: Int) -> [Asked] {
        guard let waiting = queues[queue], let first = waiting.first else { return [] }
        var size = 1
        if !first.isSingle, queue.rank > 0, !singles.contains(origin) {
            size = min(limit, waiting.prefix { !$0.isSingle }.count)
        }
        queues[queue]?.removeFirst(size)
        removeIfEmpty(queue)
        return Array(waiting.prefix(size))
    }

    private mutating func removeIfEmpty(_ queue: BatchQueue) {
        if queues[queue]?.isEmpty == true { queues[queue] = nil }
    }
}

extension Asked {
    /// Whether it needs a request of its own.
    var isSingle: Bool { isAlone || isIsolated }

    /// Whether it is the same request for the same purpose.
    func isSame(_ other: Asked) -> Bool {
        guard key == other.key else { return false }
        return switch (purpose, other.purpose) {
        case (.check, .check), (.grant, .grant): true
        case (.renewal(let one), .renewal(let two)), (.regrant(let one), .regrant(let two)): one == two
        case (.pendingCallback(let one), .pendingCallback(let two)): one.id == two.id
        case (.check, _), (.grant, _), (.renewal, _), (.regrant, _), (.pendingCallback, _): false
        }
    }
}
