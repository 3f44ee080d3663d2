package import LectureFormats
package import LectureModel

/// A small request whose whole answer is kept in memory. A value, so that tests compare what an engine has decided.
package struct ExchangeRequest: Equatable, Sendable {
    /// Identifies the exchange in this process.
    package let id: TransferID
    /// An absolute http or https URL.
    package let url: String
    /// Header fields besides those of the body.
    package var headers = HeaderFields()
    /// The body to send; nil makes a GET.
    package var body: RequestBody?
    /// How long without a byte is too long; also bounds connecting.
    package var stallTimeout = Duration.seconds(30)
    /// How long the whole exchange may take.
    package var totalTimeout = Duration.seconds(60)
    /// How many bytes of the answer's body are kept; a longer one ends the exchange.
    package let bodyLimit: Int

    /// Creates a GET.
    ///
    /// - Parameters:
    ///   - id: identifies the exchange in this process.
    ///   - url: an absolute http or https URL.
    ///   - bodyLimit: how many bytes of the answer's body are kept.
    package init(id: TransferID, url: String, bodyLimit: Int) {
        (self.id, self.url, self.bodyLimit) = (id, url, bodyLimit)
    }
}

/// The reply of one exchange.
package struct ExchangeReply: Sendable {
    /// The header; nil when none was received.
    package var head: ResponseHead?
    /// The boot clock when the header was received.
    package var headBoot: BootInstant?
    /// The body, up to the limit of its request.
    package var body: [UInt8]
    /// Whether there was more of it.
    package var isLong: Bool
    /// How it ended.
    package var outcome: TransferOutcome

    /// Creates a reply.
    ///
    /// - Parameters:
    ///   - head: the header; nil when none was received.
    ///   - headBoot: the boot clock when the header was received.
    ///   - body: the body, up to the limit of its request.
    ///   - isLong: whether there was more of it.
    ///   - outcome: how it ended.
    package init(
        head: ResponseHead?, headBoot: BootInstant? = nil, body: [UInt8], isLong: Bool, outcome: TransferOutcome
    ) {
        (self.head, self.headBoot, self.body) = (head, headBoot, body)
        (self.isLong, self.outcome) = (isLong, outcome)
    }
}

/// What an engine asks of the transport after a commit.
package enum ExchangeEffect: Equatable, Sendable {
    /// Sends a request; its reply follows as an event. One that is also cancelled is sent first.
    case send(ExchangeRequest)
    /// Ends exchanges, in this order; each still has a reply, and unknown ones are ignored.
    case cancel([TransferID])
}

extension ExchangeEffect {
    /// Ends exchanges, the oldest first; nil for none.
    package static func cancelling(_ ids: some Sequence<TransferID>) -> Self? {
        let ids = ids.sorted { $0.value < $1.value }
        return ids.isEmpty ? nil : .cancel(ids)
    }
}

extension ExchangeEffect: CustomStringConvertible {
    /// A few words, without URLs.
    package var description: String {
        switch self {
        case .send(let request): "send \(request.id.value)"
        case .cancel(let ids): "cancel " + ids.map { "\($0.value)" }.joined(separator: " ")
        }
    }
}

/// Performs exchanges on a transport.
package struct ExchangePerformer: Sendable {
    private let transport: any Transport
    private let clock: any LectureClock
    private let answered: @Sendable (TransferID, ExchangeReply) -> Void

    /// Creates a performer.
    ///
    /// - Parameters:
    ///   - transport: carries out the exchanges.
    ///   - clock: the moment of a header.
    ///   - answered: receives each reply once, on any thread.
    package init(
        _ transport: any Transport, clock: any LectureClock,
        answered: @escaping @Sendable (TransferID, ExchangeReply) -> Void
    ) {
        (self.transport, self.clock, self.answered) = (transport, clock, answered)
    }

    /// Performs one effect of a committed step. Never blocks.
    package func perform(_ effect: ExchangeEffect) {
        switch effect {
        case .send(let exchange):
            let sink = ExchangeSink(clock: clock, limit: exchange.bodyLimit) { [answered] in answered(exchange.id, $0) }
            var request = TransferRequest(id: exchange.id, url: exchange.url, sink: sink)
            (request.headers, request.body) = (exchange.headers, exchange.body)
            (request.stallTimeout, request.totalTimeout) = (exchange.stallTimeout, exchange.totalTimeout)
            transport.start(request)
        case .cancel(let ids): for id in ids { transport.cancel(id) }
        }
    }
}

/// Collects the reply of one exchange and hands it over at its end. Called on the transport's thread only.
private final class ExchangeSink: TransferSink {
    private struct State {
        var head: ResponseHead?
        var headBoot: BootInstant?
        var body: [UInt8] = []
        var isLong = false
    }

    private let state = Guarded(State())
    private let clock: any LectureClock
    private let limit: Int
    private let answered: @Sendable (ExchangeReply) -> Void

    init(clock: any LectureClock, limit: Int, _ answered: @escaping @Sendable (ExchangeReply) -> Void) {
        (self.clock, self.limit, self.answered) = (clock, limit, answered)
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        let boot = clock.boot()
        state.withLock { ($0.head, $0.headBoot) = (head, boot) }
        return true
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            let left = limit - state.body.count
            unsafe state.body.append(contentsOf: bytes.prefix(left))
            state.isLong = bytes.count > left
            return !state.isLong
        }
    }

    func transferEnded(_ outcome: TransferOutcome) {
        let state = state.withLock { $0 }
        answered(
            ExchangeReply(
                head: state.head, headBoot: state.headBoot, body: state.body, isLong: state.isLong, outcome: outcome))
    }
}
