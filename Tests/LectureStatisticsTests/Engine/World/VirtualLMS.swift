import LectureFormats
import LectureModel
import LectureTestSupport

/// A request as an LMS parses it.
struct LMSRequest: Sendable {
    let url: String
    let method: String
    let headers: HeaderFields
    /// The body as sent.
    let wire: [UInt8]
    let mediaType: String
    let started: BootInstant
    /// The body, decoded.
    let body: [UInt8]

    var id: String { headers["Idempotency-Key"] ?? "" }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONScanner.value(of: body) }
    /// The ids of the reports, in the order of the body.
    var events: [String] {
        if let events = json?["events"]?.elements { return events.compactMap { $0["event_id"]?.string } }
        if let statements = json?.elements { return statements.compactMap { $0["id"]?.string } }
        return [id]
    }
    /// The bytes that belong to the id.
    var sealed: [UInt8] { Array("\(method) \(url.drop { $0 != "?" }) \(mediaType)\n".utf8) + wire }
}

/// What an LMS does with a request.
struct LMSAction: Sendable {
    enum Answer: Sendable {
        case whole(Int, [(String, String)], [UInt8])
        /// The head and a part of the body.
        case half(Int, [(String, String)], [UInt8])
        /// The connection fails; 28 after the timeout.
        case failure(curl: Int)
    }

    var answer: Answer
    var takesEffect: Bool

    static func answer(
        _ status: Int, _ body: String = "", headers: [(String, String)] = [], takesEffect: Bool? = nil
    ) -> LMSAction {
        LMSAction(
            answer: .whole(status, headers, Array(body.utf8)),
            takesEffect: takesEffect ?? ((200...299).contains(status) && !body.hasPrefix("<")))
    }
    static func half(_ status: Int, _ body: String, takesEffect: Bool) -> LMSAction {
        LMSAction(answer: .half(status, [], Array(body.utf8)), takesEffect: takesEffect)
    }
    static func failure(_ curl: Int, takesEffect: Bool = false) -> LMSAction {
        LMSAction(answer: .failure(curl: curl), takesEffect: takesEffect)
    }
    /// Accepts everything and acknowledges it.
    static let good = answer(200, #"{"ok":true}"#)
}

/// LMSes behind the port of the transport, in virtual time. They record what took effect, by the ids of reports,
/// and violations of the protocol.
final class VirtualLMS: Transport {
    typealias Habit = @Sendable (LMSRequest, inout SeededGenerator) -> LMSAction

    private struct State {
        var randomness: SeededGenerator
        var habit: Habit = { _, _ in .good }
        var requests: [LMSRequest] = []
        /// In the order in which they took effect for the first time.
        var effects: [String] = []
        var known: Set<String> = []
        var repeats = 0
        var bytesOfID: [String: [UInt8]] = [:]
        /// Under which id a report was accepted.
        var acceptedIn: [String: String] = [:]
        var breaches: [String] = []
    }

    private let state: Guarded<State>
    private let clock: VirtualClock
    let network: VirtualNetwork
    let latency = Duration.milliseconds(20)

    init(clock: VirtualClock, seed: UInt64) {
        (self.clock, network) = (clock, VirtualNetwork(clock: clock))
        state = Guarded(State(randomness: SeededGenerator(seed: seed)))
    }

    /// Sets the behaviour from now on.
    func behave(_ habit: @escaping Habit) { state.withLock { $0.habit = habit } }
    /// Answers this status to everything.
    func answer(_ status: Int, _ body: String = "", headers: [(String, String)] = []) {
        behave { _, _ in .answer(status, body, headers: headers) }
    }

    var requests: [LMSRequest] { state.withLock { $0.requests } }
    var effects: [String] { state.withLock { $0.effects } }
    var repeats: Int { state.withLock { $0.repeats } }
    var breaches: [String] { state.withLock { $0.breaches } }
    /// Whether a report took effect.
    func knows(_ report: String) -> Bool { state.withLock { $0.known.contains(report) } }
    /// Clears the recorded requests.
    func forget() { state.withLock { $0.requests = [] } }

    // MARK: Transport

    func start(_ request: TransferRequest) {
        let read = Self.read(request, clock.boot())
        let (action, jitter) = state.withLock { state in
            state.requests.append(read)
            let action = state.habit(read, &state.randomness)
            var isRead = true
            if case .failure(let curl) = action.answer, [6, 7, 35].contains(curl) { isRead = false }
            if isRead { Self.take(read, action.takesEffect, &state) }
            return (action, Duration.milliseconds(Int64.random(in: 0...30, using: &state.randomness)))
        }
        let delay = latency + jitter
        let server = [("Server", "virtual")]
        switch action.answer {
        case .whole(let status, let headers, let body):
            network.send(VirtualAnswer(status, headers + server, body), to: request, after: delay)
        case .half(let status, let headers, let body):
            let end = TransferOutcome.End.failed(curl: 18, detail: "ended early")
            network.send(VirtualAnswer(status, headers + server, body, end: end), to: request, after: delay)
        case .failure(let curl):
            network.send(
                VirtualAnswer(failure: curl, "failed with \(curl)"), to: request,
                after: curl == 28 ? request.totalTimeout ?? .seconds(60) : delay)
        }
    }

    func cancel(_ id: TransferID) { network.cancel(id) }

    func limitRate(_ bytesPerSecond: Int?) {}

    // MARK: What an LMS receives

    private static func take(_ request: LMSRequest, _ takesEffect: Bool, _ state: inout State) {
        let bytes = request.sealed
        if let old = state.bytesOfID.updateValue(bytes, forKey: request.id), old != bytes {
            state.breaches.append(
                "\(request.id) has other bytes: \(String(decoding: old, as: UTF8.self)) \(request.text)")
        }
        guard takesEffect else { return }
        for event in request.events {
            if let other = state.acceptedIn.updateValue(request.id, forKey: event), other != request.id {
                state.breaches.append("\(event) was accepted in \(other) and in \(request.id)")
            }
            if state.known.insert(event).inserted { state.effects.append(event) } else { state.repeats += 1 }
        }
    }

    private static func read(_ request: TransferRequest, _ now: BootInstant) -> LMSRequest {
        let wire = request.body?.bytes ?? []
        let isEncoded = request.headers["Content-Encoding"] != nil
        return LMSRequest(
            url: request.url, method: request.body == nil ? "GET" : "POST", headers: request.headers, wire: wire,
            mediaType: request.body?.mediaType ?? "", started: now, body: isEncoded ? TurnedBits.turn(wire) : wire)
    }
}
