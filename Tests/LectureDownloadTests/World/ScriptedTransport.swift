import LectureModel

/// Carries out exchanges with the scripted network in the world's time.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class ScriptedTransport: Transport, @unchecked Sendable {
    private final class Exchange {
        let request: TransferRequest
        let answer: Answer
        let began: Int64
        var sent = 0

        init(_ request: TransferRequest, _ answer: Answer, at began: Int64) {
            self.request = request
            self.answer = answer
            self.began = began
        }
    }

    private let world: VirtualWorld
    private let network: ScriptedNetwork
    private let program: Int
    private var running: [TransferID: Exchange] = [:]
    private(set) var rateLimit: Int?
    private(set) var mostAtOnce = 0

    init(world: VirtualWorld, network: ScriptedNetwork, program: Int) {
        self.world = world
        self.network = network
        self.program = program
    }

    var runningCount: Int { running.count }

    func start(_ request: TransferRequest) {
        let exchange = Exchange(request, network.answer(to: request), at: world.boot)
        running[request.id] = exchange
        mostAtOnce = max(mostAtOnce, running.count)
        world.after(exchange.answer.latency, program: program) { [self] in begin(exchange) }
    }

    func cancel(_ id: TransferID) {
        guard let exchange = running[id] else { return }
        world.after(.milliseconds(1), program: program) { [self] in end(exchange, .cancelled) }
    }

    func limitRate(_ bytesPerSecond: Int?) { rateLimit = bytesPerSecond }

    private func begin(_ exchange: Exchange) {
        guard running[exchange.request.id] != nil else { return }
        let answer = exchange.answer
        if let curl = answer.fails { return end(exchange, .failed(curl: curl, detail: answer.detail)) }
        let head = ResponseHead(
            status: answer.status, fields: answer.fields, redirectURL: answer.redirectURL, receivedAt: world.now)
        guard exchange.request.sink.headReceived(head) else { return end(exchange, .stopped) }
        world.after(.milliseconds(5), program: program) { [self] in deliver(exchange) }
    }

    private func deliver(_ exchange: Exchange) {
        guard running[exchange.request.id] != nil else { return }
        let body = exchange.answer.body
        let last = min(body.count, exchange.answer.breaksAfter ?? body.count)
        let stop = min(last, exchange.sent + exchange.answer.pace)
        while exchange.sent < stop {
            let count = min(16 << 10, stop - exchange.sent)
            let isTaken = unsafe body.withUnsafeBytes { bytes in
                let piece = exchange.sent..<(exchange.sent + count)
                return unsafe exchange.request.sink.bodyReceived(UnsafeRawBufferPointer(rebasing: bytes[piece]))
            }
            exchange.sent += count
            network.delivered += count
            guard isTaken else { return end(exchange, .stopped) }
        }
        if exchange.sent < last {
            world.after(.milliseconds(10), program: program) { [self] in deliver(exchange) }
        } else if exchange.answer.breaksAfter != nil {
            end(exchange, .failed(curl: exchange.answer.curl, detail: "scripted"))
        } else {
            end(exchange, .complete)
        }
    }

    private func end(_ exchange: Exchange, _ end: TransferOutcome.End) {
        guard running.removeValue(forKey: exchange.request.id) != nil else { return }
        exchange.request.sink.transferEnded(
            TransferOutcome(
                end: end, bodyBytes: Int64(exchange.sent), elapsed: .nanoseconds(world.boot - exchange.began)))
    }
}
