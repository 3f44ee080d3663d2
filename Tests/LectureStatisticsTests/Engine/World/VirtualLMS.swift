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

    private struct Pending {
        let due: BootInstant
        let id: TransferID
        let sink: any TransferSink
        let deliver: @Sendable () -> Void
    }

    private struct State {
        var pending: [Pending] = []
        var randomness: SeededGenerator
        var habit: Habit = { _, _ in .good }
        var requests: [LMSRequest] = []
        var running = 0
        var mostRunning = 0
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
    let latency = Duration.milliseconds(20)

    init(clock: VirtualClock, seed: UInt64) {
        self.clock = clock
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
    var mostRunning: Int { state.withLock { $0.mostRunning } }
    var nextDue: BootInstant? { state.withLock { $0.pending.map(\.due).min() } }
    /// Whether a report took effect.
    func knows(_ report: String) -> Bool { state.withLock { $0.known.contains(report) } }
    /// Clears the recorded requests.
    func forget() { state.withLock { $0.requests = [] } }

    /// Delivers what is due.
    func deliver() {
        let now = clock.boot()
        let due = state.withLock { state in
            let due = state.pending.filter { $0.due <= now }.sorted { $0.due < $1.due }
            state.pending.removeAll { $0.due <= now }
            state.running -= due.count
            return due
        }
        for pending in due { pending.deliver() }
    }

    /// The asking process is dead: its answers are lost.
    func hangUp() {
        state.withLock { ($0.pending, $0.running) = ([], 0) }
    }

    // MARK: Transport

    func start(_ request: TransferRequest) {
        let read = Self.read(request, clock.boot())
        let (action, jitter) = state.withLock { state in
            state.requests.append(read)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            let action = state.habit(read, &state.randomness)
            var isRead = true
            if case .failure(let curl) = action.answer, [6, 7, 35].contains(curl) { isRead = false }
            if isRead { Self.take(read, action.takesEffect, &state) }
            return (action, Duration.milliseconds(Int64.random(in: 0...30, using: &state.randomness)))
        }
        var delay = latency + jitter
        let (sink, received) = (request.sink, clock.now() + delay)
        let deliver: @Sendable () -> Void
        switch action.answer {
        case .whole(let status, let headers, let body):
            deliver = { Self.answer(sink, status, headers, body, received, nil) }
        case .half(let status, let headers, let body):
            deliver = { Self.answer(sink, status, headers, body, received, 18) }
        case .failure(let curl):
            if curl == 28 { delay = request.totalTimeout ?? .seconds(60) }
            deliver = { sink.transferEnded(Self.end(.failed(curl: curl, detail: "failed with \(curl)"))) }
        }
        let pending = Pending(due: clock.boot() + delay, id: request.id, sink: sink, deliver: deliver)
        state.withLock { $0.pending.append(pending) }
    }

    func cancel(_ id: TransferID) {
        let sink = state.withLock { state in
            let sink = state.pending.first { $0.id == id }?.sink
            state.pending.removeAll { $0.id == id }
            if sink != nil { state.running -= 1 }
            return sink
        }
        sink?.transferEnded(Self.end(.cancelled))
    }

    func limitRate(_ bytesPerSecond: Int?) {}

    private static func end(_ end: TransferOutcome.End) -> TransferOutcome {
        TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero)
    }

    private static func answer(
        _ sink: any TransferSink, _ status: Int, _ headers: [(String, String)], _ body: [UInt8],
        _ received: Timestamp, _ curl: Int?
    ) {
        var fields = HeaderFields(headers.map { HeaderField(name: $0.0, value: $0.1) })
        let location = fields["Location"]
        fields.append(HeaderField(name: "Server", value: "virtual"))
        _ = sink.headReceived(
            ResponseHead(status: status, fields: fields, redirectURL: location, receivedAt: received))
        var isTaken = true
        var rest = body[...]
        while isTaken, !rest.isEmpty {
            let part = Array(rest.prefix(16_384))
            rest = rest.dropFirst(16_384)
            isTaken = unsafe part.withUnsafeBytes { unsafe sink.bodyReceived($0) }
        }
        let cut = curl.map { TransferOutcome.End.failed(curl: $0, detail: "ended early") }
        sink.transferEnded(end(isTaken ? cut ?? .complete : .stopped))
    }

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
