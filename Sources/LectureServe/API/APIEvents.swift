import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import LectureRecords

/// Sends the events of the store to programs, as the lines that `--json` prints: at most once a second to each.
///
/// Every event but `progress` has a number, and the last ones are kept. A client that comes back says with
/// `Last-Event-ID` which one it has, and gets those after it; where they are no longer there, it gets `gap` first.
final class APIEvents: StoreWatcher {
    /// How many events are kept.
    static let most = 1000
    /// How many programs get the events. Each has a connection of its own, of which other clients need some, too.
    static let mostClients = 400
    /// How many bytes of events are kept: fewer than wait for a client, so that all of them can be sent at once.
    static let mostBytes = 128 << 10

    /// What is kept, and who has got how much of it. A value, which knows no socket.
    struct Feed: Sendable {
        /// An event with a number.
        struct Entry: Sendable, Hashable {
            let number: Int
            let line: String
        }

        /// Of this run of the server: numbers of another one mean nothing.
        let run: String
        /// The number of the latest event.
        private(set) var last = 0
        private(set) var entries: [Entry] = []
        private var bytes = 0
        private var progress: [ContentKey: String] = [:]

        init(run: String) { self.run = run }

        /// What a client sends back as `Last-Event-ID`.
        func id(_ number: Int) -> String { "\(run)-\(number)" }

        /// Keeps an event.
        ///
        /// - Parameters:
        ///   - line: the line.
        ///   - key: its lecture, whose progress is old news then.
        mutating func add(_ line: String, about key: ContentKey? = nil) {
            if let key { progress[key] = nil }
            last += 1
            entries.append(Entry(number: last, line: line))
            bytes += line.utf8.count
            var surplus = max(0, entries.count - APIEvents.most)
            var rest = bytes - entries.prefix(surplus).reduce(0) { $0 + $1.line.utf8.count }
            while rest > APIEvents.mostBytes, surplus < entries.count {
                rest -= entries[surplus].line.utf8.count
                surplus += 1
            }
            entries.removeFirst(surplus)
            bytes = rest
        }

        /// Keeps how far a lecture is, until it was sent.
        mutating func setProgress(_ line: String, of key: ContentKey) { progress[key] = line }

        /// The number after which a client wants events.
        ///
        /// - Parameter id: what it has sent as `Last-Event-ID`; nil for a client that comes for the first time.
        /// - Returns: nil when it may have missed some that are gone.
        func place(_ id: String?) -> Int? {
            guard let id else { return last }
            guard let dash = id.lastIndex(of: "-"), id[..<dash] == run, let number = Int(id[id.index(after: dash)...]),
                (0...last).contains(number), number >= last - entries.count
            else { return nil }
            return number
        }

        /// What a client gets that has everything up to a number.
        ///
        /// - Parameter number: nil for one that may have missed some.
        /// - Returns: the text of the stream; empty when there is nothing new.
        func text(after number: Int?) -> String {
            var text = ""
            if let number, number >= last - entries.count {
                for entry in entries.suffix(last - number) { text += Self.message(entry.line, id: id(entry.number)) }
            } else {
                text = Self.message(JSONLine.gap(), id: id(last))
            }
            for line in progress.values.sorted() { text += Self.message(line, id: nil) }
            return text
        }

        /// Everybody has got what there is of progress.
        mutating func forgetProgress() { progress = [:] }

        /// One event: its name is that of the line.
        private static func message(_ line: String, id: String?) -> String {
            // `{"event":"progress",…` or `{"record":"status",…`
            let name = line.split(separator: "\"", maxSplits: 4, omittingEmptySubsequences: false).dropFirst(3).first
            return "event: \(name ?? "message")\n" + (id.map { "id: \($0)\n" } ?? "") + "data: \(line)\n"
        }
    }

    private struct Client {
        let stream: HTTPEventStream
        /// The last number that it has got; nil when it may have missed some.
        var place: Int?
        /// After how many seconds it is ended; nil for never.
        var seconds: Int?
    }

    private struct State {
        var feed: Feed
        var clients: [Int: Client] = [:]
        /// Those that are about to be among the clients.
        var opening = 0
        var next = 0
    }

    private let manager: LectureManager
    private let watch: StoreWatch
    private let state: Guarded<State>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - watch: says what happens.
    init(_ manager: LectureManager, _ watch: StoreWatch) {
        (self.manager, self.watch) = (manager, watch)
        state = Guarded(State(feed: Feed(run: String(SystemTime.clock.now().milliseconds, radix: 36))))
        watch.add(self)
    }

    /// Answers a request with the stream.
    ///
    /// - Parameter call: the request.
    /// - Returns: an answer without a stream for HEAD, and where there are too many streams; else nil.
    func answer(_ call: APICall) -> HTTPAnswer? {
        if let answer = HTTPEventStream.headOnly(call.exchange) { return answer }
        let number = state.withLock { state -> Int? in
            guard state.clients.count + state.opening < Self.mostClients else { return nil }
            state.next += 1
            state.opening += 1
            return state.next
        }
        guard let id = number else {
            var problem = APIProblem(.manyEvents)
            problem.patience = 10
            return problem.answer()
        }
        watch.start()
        let stream = HTTPEventStream(ended: { [weak self] in self?.state.withLock { $0.clients[id] = nil } })
        let first = state.withLock { state in
            let place = state.feed.place(call.request.head.value("last-event-id"))
            state.clients[id] = Client(stream: stream, place: place, seconds: call.integer("seconds"))
            state.opening -= 1
            return "retry: 1000\nid: \(state.feed.id(place ?? state.feed.last))\n\n"
        }
        // Before anything else: it is on its way only after this.
        stream.send(Array(first.utf8))
        stream.startOnSite(call.exchange)
        return nil
    }

    // MARK: The store

    /// Whether a program is connected.
    var isWatched: Bool { state.withLock { !$0.clients.isEmpty } }

    /// An event of this process.
    func take(_ event: LectureEvent) {
        if case .progress(let progress) = event {
            return state.withLock { $0.feed.setProgress(JSONLine.progress(progress), of: progress.key) }
        }
        guard let (line, key) = Self.line(event) else { return }
        state.withLock { $0.feed.add(line, about: key) }
    }

    /// The figures of the store are others.
    func countsChanged() {
        Task { [weak self] in
            guard let self, let overview = try? await manager.overview() else { return }
            state.withLock { $0.feed.add(JSONLine.status(overview)) }
        }
    }

    /// Clients get what is new.
    func flush() {
        let due = state.withLock { state in
            var due: [(HTTPEventStream, String, Bool)] = []
            for (id, client) in state.clients {
                let text = state.feed.text(after: client.place)
                let seconds = client.seconds.map { $0 - 1 }
                due.append((client.stream, text, seconds == 0))
                state.clients[id] = Client(stream: client.stream, place: state.feed.last, seconds: seconds)
            }
            state.feed.forgetProgress()
            return due
        }
        for (stream, text, isLast) in due {
            if !text.isEmpty { stream.send(Array(text.utf8)) }
            if isLast { stream.end() }
        }
    }

    /// The line of an event, and its lecture; nil for what `--json` has no line for.
    static func line(_ event: LectureEvent) -> (String, ContentKey?)? {
        switch event {
        case .queued(let lecture): (JSONLine.queued(lecture), lecture.key)
        case .completed(let lecture): (JSONLine.completed(lecture), lecture.key)
        case .failed(let lecture): (JSONLine.failed(lecture), lecture.key)
        case .stopped(let lecture): (JSONLine.stopped(lecture), lecture.key)
        case .outdated(let lecture): (JSONLine.outdated(lecture), lecture.key)
        case .unchanged(let lecture): (JSONLine.skipped(lecture.key), lecture.key)
        case .checkFailed(let key, let error): (JSONLine.checkFailed(key, error), key)
        case .removed(let key): (JSONLine.removed(key), key)
        case .published(let key, let path): (JSONLine.published(key, path: path), nil)
        case .publishingFailed(let key, _, let error):
            (JSONLine.error(error.code, message: error.message, key: key.text), nil)
        case .licenceGranted(let key): (JSONLine.licenceChanged(key, change: "granted"), nil)
        case .licenceEnded(let key): (JSONLine.licenceChanged(key, change: "ended"), nil)
        case .licenceDeleted(let key): (JSONLine.licenceChanged(key, change: "deleted"), nil)
        case .renewed(let key, let current, let count, let error):
            (JSONLine.renewed(key, current: current, count: count, licence: nil, error: error), nil)
        case .reportRefused(let id, let reason, let error): (JSONLine.refused(id, reason, error), nil)
        case .reportObstacle(let obstacle): (JSONLine.obstacle(obstacle), nil)
        case .reportsSent(let result): (JSONLine.sending(result), nil)
        case .trouble(let error): (JSONLine.error(error.code, message: error.message), nil)
        case .advanced, .progress, .renewalBegan, .renewalEnded, .licenceExchange, .reportsProgress, .reportsDelivered,
            .reportExchange:
            nil
        }
    }
}
