import LectureFormats
package import LectureModel

/// Executes exchanges with the scripted network in the world's time.
///
/// `@unchecked Sendable`: used by the one thread of its test.
package final class ScriptedTransport: Transport, @unchecked Sendable {
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
    /// The limit of all exchanges together, as set by the engine.
    package private(set) var rateLimit: Int?
    /// The most exchanges that ran at once.
    package private(set) var mostAtOnce = 0

    init(world: VirtualWorld, network: ScriptedNetwork, program: Int) {
        self.world = world
        self.network = network
        self.program = program
    }

    /// How many exchanges run.
    package var runningCount: Int { running.count }

    /// Sends the request; the answer comes in the world's time.
    package func start(_ request: TransferRequest) {
        let asks = { "asks \(request.url) \(request.range?.headerValue ?? "whole") as \(request.id.value)" }
        world.act(program, asks()) {
            let exchange = Exchange(request, network.answer(to: request, from: program), at: world.boot)
            running[request.id] = exchange
            mostAtOnce = max(mostAtOnce, running.count)
            world.after(exchange.answer.latency, program: program, "header of \(request.id.value)") { [self] in
                begin(exchange)
            }
        }
    }

    /// Ends an exchange a moment later.
    package func cancel(_ id: TransferID) {
        guard let exchange = running[id] else { return }
        world.act(program, "cancels \(id.value)") {
            world.after(.milliseconds(1), program: program, "end of \(id.value)") { [self] in
                end(exchange, .cancelled)
            }
        }
    }

    /// Records the limit; answers are delivered at their own pace.
    package func limitRate(_ bytesPerSecond: Int?) { rateLimit = bytesPerSecond }

    private func begin(_ exchange: Exchange) {
        guard running[exchange.request.id] != nil else { return }
        let answer = exchange.answer
        if answer.isSilent { return stall(exchange) }
        if let curl = answer.fails { return end(exchange, .failed(curl: curl, detail: answer.detail)) }
        var head = ResponseHead(
            status: answer.status, fields: answer.fields, redirectURL: answer.redirectURL, receivedAt: world.now,
            isHTTP2: answer.isHTTP2)
        (head.distance, head.delay) = (answer.distance, answer.latency)
        network.onHead(program, exchange.request, exchange.answer)
        guard exchange.request.sink.headReceived(head) else { return end(exchange, .stopped) }
        next(exchange, in: .milliseconds(5))
    }

    private func next(_ exchange: Exchange, in delay: Duration) {
        world.after(delay, program: program, "bytes of \(exchange.request.id.value) from \(exchange.sent)") { [self] in
            deliver(exchange)
        }
    }

    /// Nothing more comes; after a while the transport times out.
    private func stall(_ exchange: Exchange) {
        let id = exchange.request.id.value
        world.after(exchange.request.stallTimeout, program: program, "silence of \(id) is too long") { [self] in
            end(exchange, .failed(curl: 28, detail: "scripted"))
        }
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
            network.onBytes(exchange.request, count)
            guard isTaken else { return end(exchange, .stopped) }
        }
        if exchange.sent < last {
            next(exchange, in: .milliseconds(10))
        } else if exchange.answer.stallsAtEnd {
            stall(exchange)
        } else if exchange.answer.breaksAfter != nil {
            end(exchange, .failed(curl: exchange.answer.curl, detail: "scripted"))
        } else {
            end(exchange, .complete)
        }
    }

    private func end(_ exchange: Exchange, _ end: TransferOutcome.End) {
        guard running.removeValue(forKey: exchange.request.id) != nil else { return }
        world.record("    \(exchange.request.id.value) \(end), \(exchange.sent) bytes")
        let elapsed = Duration.nanoseconds(world.boot - exchange.began)
        var outcome = TransferOutcome(end: end, bodyBytes: Int64(exchange.sent), elapsed: elapsed)
        outcome.sinceSent = elapsed
        exchange.request.sink.transferEnded(outcome)
    }
}
