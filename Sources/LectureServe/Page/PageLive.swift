import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// Sends what has changed to open pages: at most one message a second to each.
final class PageLive: StoreWatcher {
    /// What has changed since the last message.
    struct Changes: Sendable {
        var parts: Set<String> = []
        var progress: [ContentKey: ProgressFigures] = [:]
        /// Whether there was nothing yet.
        var isEmpty: Bool { parts.isEmpty && progress.isEmpty }
    }

    private final class Client: Sendable {
        let language: PageLanguage
        let stream: HTTPEventStream
        let changes = Guarded(Changes())

        init(_ language: PageLanguage, _ stream: HTTPEventStream) { (self.language, self.stream) = (language, stream) }

        /// Sends what has changed.
        func flush() {
            let changes = changes.withLock { changes in
                defer { changes = Changes() }
                return changes
            }
            if !changes.isEmpty { stream.send(PageLive.message(changes, language)) }
        }
    }

    private struct State {
        var clients: [Int: Client] = [:]
        /// Those that are about to be among the clients.
        var opening = 0
        var next = 0
    }

    private let watch: StoreWatch
    private let state = Guarded(State())

    /// Creates a value.
    ///
    /// - Parameter watch: says what changes.
    init(_ watch: StoreWatch) {
        self.watch = watch
        watch.add(self)
    }

    /// Whether a page is open.
    var isWatched: Bool { state.withLock { !$0.clients.isEmpty } }

    /// How many pages get the changes. Each has a connection of its own, of which other clients need some, too.
    static let most = 400

    /// Answers a request with the event stream.
    func answer(_ request: SiteRequest, _ exchange: HTTPExchange) -> HTTPAnswer? {
        if let answer = HTTPEventStream.headOnly(exchange) { return answer }
        let place = state.withLock { state -> Int? in
            guard state.clients.count + state.opening < Self.most else { return nil }
            state.next += 1
            state.opening += 1
            return state.next
        }
        // A page tries again by itself.
        guard let id = place else { return SiteRefusal.manyPages.answer([("Retry-After", "10")]) }
        watch.start()
        let stream = HTTPEventStream(ended: { [weak self] in self?.state.withLock { $0.clients[id] = nil } })
        state.withLock { state in
            state.clients[id] = Client(PageLanguage(request.head), stream)
            state.opening -= 1
        }
        stream.startOnSite(exchange)
        stream.send(Array("retry: 1000\nevent: hello\ndata: {}\n\n".utf8))
        return nil
    }

    /// An event of this process.
    func take(_ event: LectureEvent) {
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients {
            client.changes.withLock { changes in
                if case .progress(let progress) = event {
                    changes.progress[progress.key] = ProgressFigures(progress)
                } else {
                    changes.parts.formUnion(Self.parts(event))
                }
            }
        }
    }

    /// Open pages get what has changed.
    func flush() {
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients { client.flush() }
    }

    /// Lists and figures are others.
    func countsChanged() {
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients { client.changes.withLock { $0.parts.formUnion(Self.lectureParts) } }
    }

    private static let lectureParts: Set = ["status", "downloads", "attention", "list", "summary", "why", "disk"]

    /// The parts of pages that an event changes.
    static func parts(_ event: LectureEvent) -> Set<String> {
        switch event {
        case .progress: []
        case .queued, .advanced, .completed, .unchanged, .outdated, .checkFailed, .failed, .stopped, .removed:
            lectureParts.union(["details", "attempts", "programs"])
        case .published, .publishingFailed: ["status", "attention", "disk", "why"]
        case .trouble(let error) where error.code == .storageFull: ["status", "attention", "disk", "why"]
        case .trouble(_): ["status", "attention", "why"]
        case .licenceGranted, .renewalBegan, .renewed, .renewalEnded, .licenceExchange, .licenceEnded, .licenceDeleted:
            ["licence", "calendar", "ends", "list", "summary"]
        case .reportsProgress, .reportsDelivered, .reportExchange, .reportRefused, .reportObstacle, .reportsSent:
            ["lms", "states", "targets", "dead"]
        }
    }

    /// One event: which parts have changed, and how far downloads are.
    static func message(_ changes: Changes, _ language: PageLanguage) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.array("changed") { json in for part in changes.parts.sorted() { json.element(part) } }
            json.array("progress") { json in
                for figures in changes.progress.values.sorted(by: { $0.key < $1.key }) {
                    json.object { json in
                        json.member("key", figures.key.text)
                        json.member("percent", figures.percent)
                        json.member("text", figures.text(language))
                    }
                }
            }
        }
        return Array("event: change\ndata: ".utf8) + json.bytes + Array("\n\n".utf8)
    }
}
