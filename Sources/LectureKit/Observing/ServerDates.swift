import Glibc
import LectureFormats
import LectureModel

/// Passes on the `Date` of servers over verified connections: a second opinion about the clock, for licences.
final class ServerDates: Sendable {
    private typealias Listener = @Sendable (Timestamp, BootInstant) -> Void

    private struct State {
        var listener: Listener?
        var next = BootInstant(nanoseconds: 0)
    }

    /// Downloads have many responses, and one a minute says as much as all.
    private static let interval: Duration = .seconds(60)
    private let state = Guarded(State())
    private let clock: any LectureClock

    /// Makes a value that passes nothing on yet.
    ///
    /// - Parameter clock: the boot clock.
    init(clock: any LectureClock) { self.clock = clock }

    /// From now on dates are passed on, on the transport's thread.
    func listen(_ listener: @escaping @Sendable (Timestamp, BootInstant) -> Void) {
        state.withLock { $0.listener = listener }
    }

    fileprivate func received(_ date: Timestamp) {
        let now = clock.boot()
        let listener = state.withLock { state in
            guard state.listener != nil, now >= state.next else { return Listener?.none }
            state.next = now + Self.interval
            return state.listener
        }
        listener?(date, now)
    }
}

/// Performs exchanges over another transport, and notes the `Date` of responses over https.
struct DatedTransport: Transport {
    let base: any Transport
    let dates: ServerDates

    func start(_ request: TransferRequest) {
        // Requests with a body go to licence servers and receivers of statistics; the former are heard by the engine.
        let isSecure = (try? URLParts(request.url).scheme) == "https"
        guard isSecure, request.body == nil else { return base.start(request) }
        var dated = request
        dated.sink = DatedSink(base: request.sink, dates: dates)
        base.start(dated)
    }

    func cancel(_ id: TransferID) { base.cancel(id) }

    func limitRate(_ bytesPerSecond: Int?) { base.limitRate(bytesPerSecond) }
}

private final class DatedSink: TransferSink {
    private let base: any TransferSink
    private let dates: ServerDates

    init(base: any TransferSink, dates: ServerDates) { (self.base, self.dates) = (base, dates) }

    var canAccept: Bool { base.canAccept }

    func headReceived(_ head: ResponseHead) -> Bool {
        // A cache answers with the date at which it stored the response (RFC 9111 section 5.1).
        if head.fields["Age"] == nil, let date = head.date { dates.received(date) }
        return base.headReceived(head)
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe base.bodyReceived(bytes) }

    func transferEnded(_ outcome: TransferOutcome) { base.transferEnded(outcome) }
}

extension LectureConfiguration {
    /// Whether servers are verified with roots that the user has named, beside the system's or in their place.
    var hasOwnAuthority: Bool {
        // The two that OpenSSL reads.
        let names: [String] = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
        return caFile != nil || names.contains { name in unsafe getenv(name) != nil }
    }
}
