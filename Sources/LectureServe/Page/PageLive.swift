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
        let changes = Guarded(Changes())
        let seconds = Guarded(0)

        init(_ language: PageLanguage) { self.language = language }

        /// Sends what has changed.
        func flush(_ stream: HTTPEventStream) {
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
    }

    private let manager: LectureManager
    private let state = Guarded(State())

    /// Creates a value; it listens from the first page on.
    init(_ manager: LectureManager) { self.manager = manager }

    /// Answers a request with the event stream.
    func answer(_ request: SiteRequest, _ exchange: HTTPExchange) -> HTTPAnswer? {
        let client = Client(PageLanguage(request.head))
        let (id, isFirst) = state.withLock { state in
            state.next += 1
            state.clients[state.next] = client
            defer { state.isListening = true }
            return (state.next, !state.isListening)
        }
        if isFirst { listen() }
        let stream = HTTPEventStream(
            everySecond: { [weak self] stream in
                client.flush(stream)
                self?.look(for: client)
            },
            ended: { [weak self] in self?.state.withLock { $0.clients[id] = nil } })
        stream.start(on: exchange, Array(SiteHandler.fields.dropFirst()))
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

    /// Other processes may change the store too, and send no events here.
    private func look(for client: Client) {
        let isDue = client.seconds.withLock { seconds in
            seconds = (seconds + 1) % 3
            return seconds == 0
        }
        guard isDue else { return }
        // proof: it runs with the server's tick for open pages, and reads a few rows of sums; nothing waits for it.
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
