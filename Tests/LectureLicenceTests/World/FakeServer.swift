import LectureFormats
import LectureModel
import LectureSimulation
import LectureTestSupport

/// A request as a licence server parses it.
struct ServerRequest {
    let url: String
    let items: [JSONValue]
    let started: BootInstant

    /// The keys, in the order of the request.
    var keys: [String] { items.compactMap { $0["media_content_key"]?.string } }
    var kind: Int64 { items.first?["kind"]?.integer ?? 0 }
}

/// What a licence server does.
enum ServerAction {
    /// Answers with a signed payload.
    case payload(String, headers: [(String, String)] = [])
    /// Answers with a body, unchanged.
    case body(String, status: Int = 200, headers: [(String, String)] = [])
    /// The connection fails.
    case failure(curl: Int)
    /// No answer ever comes.
    case silence
}

/// Licence servers behind the port of the transport, in virtual time. A behaviour and a seed decide what they do.
final class FakeServer: Transport {
    private struct State {
        var randomness: SeededGenerator
        var habit: (ServerRequest, inout SeededGenerator) -> ServerAction = { request, _ in
            .payload(FakeServer.permit(request.items))
        }
        var latency: Duration = .milliseconds(50)
        var requests: [ServerRequest] = []
        var breaches: [String] = []
    }

    /// The key that signs answers.
    static let secret = VirtualCallback.secret
    private let state: Guarded<State>
    private let clock: VirtualClock
    let network: VirtualNetwork

    init(clock: VirtualClock, seed: UInt64) {
        (self.clock, network) = (clock, VirtualNetwork(clock: clock))
        state = Guarded(State(randomness: SeededGenerator(seed: seed)))
    }

    /// Permits every item, until the end of 2028.
    static func permit(_ items: [JSONValue], _ members: String = #""expiration_date":1861919999"#) -> String {
        VirtualCallback.permit(items, members)
    }

    static func answer(_ key: String, kind: Int64, _ members: String, session: String? = nil) -> String {
        VirtualCallback.answer(key, kind: kind, members, session: session)
    }

    /// Sets the behaviour from now on.
    func behave(_ habit: @escaping @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction) {
        state.withLock { $0.habit = habit }
    }

    func setLatency(_ latency: Duration) { state.withLock { $0.latency = latency } }

    /// The received requests, in order.
    var requests: [ServerRequest] { state.withLock { $0.requests } }
    /// Requests that were not what a licence server expects.
    var breaches: [String] { state.withLock { $0.breaches } }

    // MARK: Transport

    func start(_ request: TransferRequest) {
        let now = clock.boot()
        guard let read = Self.read(request, now) else {
            state.withLock { $0.breaches.append("not a form with items: \(request.url)") }
            return
        }
        let (action, latency) = state.withLock { state in
            state.requests.append(read)
            if read.items.isEmpty || read.items.count > 10 { state.breaches.append("\(read.items.count) items") }
            let action = state.habit(read, &state.randomness)
            let jitter = Duration.milliseconds(Int64.random(in: 0...20, using: &state.randomness))
            return (action, state.latency + jitter)
        }
        let limit = request.totalTimeout ?? .seconds(3600)
        let late = VirtualAnswer(failure: 28, "not complete")
        let answer: VirtualAnswer
        switch action {
        case .payload(let payload, let headers): answer = VirtualAnswer(200, headers, Self.sign(payload))
        case .body(let body, let status, let headers): answer = VirtualAnswer(status, headers, Array(body.utf8))
        case .failure(let curl):
            return network.send(VirtualAnswer(failure: curl, "failed"), to: request, after: latency)
        case .silence: return network.send(late, to: request, after: limit)
        }
        network.send(latency < limit ? answer : late, to: request, after: min(latency, limit))
    }

    func cancel(_ id: TransferID) { network.cancel(id) }

    func limitRate(_ bytesPerSecond: Int?) {}

    // MARK: Wire

    /// A compact token, as a provider's server makes it.
    static func sign(_ payload: String) -> [UInt8] { VirtualCallback.sign(payload) }

    private static func read(_ request: TransferRequest, _ now: BootInstant) -> ServerRequest? {
        VirtualCallback.items(of: request).map { ServerRequest(url: request.url, items: $0, started: now) }
    }
}
