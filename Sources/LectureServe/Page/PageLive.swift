import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// Sends what has changed to open pages: at most one message a second to each.
final class PageLive: Sendable {
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
        var next = 0
        var isListening = false
        var known = StoreStatus?.none
        /// Since the server began.
        var seconds = 0
    }

    private let manager: LectureManager
    private let state = Guarded(State())

    /// Creates a value; it listens from the first page on.
    init(_ manager: LectureManager) { self.manager = manager }

    /// Answers a request with the event stream.
    func answer(_ request: SiteRequest, _ exchange: HTTPExchange) -> HTTPAnswer? {
        let (id, isFirst) = state.withLock { state in
            state.next += 1
            defer { state.isListening = true }
            return (state.next, !state.isListening)
        }
        if isFirst { listen() }
        let stream = HTTPEventStream(ended: { [weak self] in self?.state.withLock { $0.clients[id] = nil } })
        state.withLock { $0.clients[id] = Client(PageLanguage(request.head), stream) }
        stream.start(on: exchange, SiteHandler.fields.filter { $0.0 != "Cache-Control" })
        stream.send(Array("retry: 1000\nevent: hello\ndata: {}\n\n".utf8))
        return nil
    }

    /// Takes the events of the store, until it is closed.
    private func listen() {
        let events = manager.events
        Task { [weak self] in
            for await event in events { self?.take(event) }
        }
    }

    private func take(_ event: LectureEvent) {
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

    /// A second has gone by. On a thread of the server's.
    func tick() {
        let (clients, isDue) = state.withLock { state in
            state.seconds += 1
            return (Array(state.clients.values), state.seconds % 3 == 0)
        }
        for client in clients { client.flush() }
        if isDue, !clients.isEmpty { look() }
    }

    /// Other processes may change the store too, and send no events here.
    private func look() {
        Task { [weak self] in
            guard let self, let status = try? await manager.status() else { return }
            let clients = state.withLock { state in
                defer { state.known = status }
                return state.known == nil || state.known == status ? [] : Array(state.clients.values)
            }
            for client in clients { client.changes.withLock { $0.parts.formUnion(Self.lectureParts) } }
        }
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
