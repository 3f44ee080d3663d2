import LectureFormats
import LectureModel

/// Performs exchanges over another transport, and logs and counts each when it is over.
struct ObservedTransport: Transport {
    let base: any Transport
    let observation: Observation

    func start(_ request: TransferRequest) {
        var observed = request
        observed.sink = ObservedSink(request, observation)
        base.start(observed)
    }

    func cancel(_ id: TransferID) { base.cancel(id) }

    func limitRate(_ bytesPerSecond: Int?) { base.limitRate(bytesPerSecond) }
}

/// Observes the events that it forwards to another sink.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread. The exception,
/// ``canAccept``, only asks the other sink.
private final class ObservedSink: TransferSink, @unchecked Sendable {
    private let base: any TransferSink
    private let observation: Observation
    private let method: String
    private let url: String
    private var status: Int?

    init(_ request: TransferRequest, _ observation: Observation) {
        (base, self.observation) = (request.sink, observation)
        method = request.body == nil ? "GET" : "POST"
        url = SafeURL.text(request.url)
    }

    var canAccept: Bool { base.canAccept }

    func headReceived(_ head: ResponseHead) -> Bool {
        status = head.status
        return base.headReceived(head)
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe base.bodyReceived(bytes) }

    func transferEnded(_ outcome: TransferOutcome) {
        // Before the other sink is called, so that the consequences of a request are logged after it.
        observation.requested(method, url, status: status, outcome)
        base.transferEnded(outcome)
    }
}

extension Observation {
    /// A request is over.
    fileprivate func requested(_ method: String, _ url: String, status: Int?, _ outcome: TransferOutcome) {
        var fields = [
            "method": method, "url": url, "bytes": "\(outcome.bodyBytes)",
            "milliseconds": "\(outcome.elapsed.milliseconds)",
        ]
        if let status { fields["status"] = "\(status)" }
        let end: String
        switch outcome.end {
        case .complete: end = "complete"
        case .stopped: end = "stopped"
        case .cancelled: end = "cancelled"
        case .failed(let curl, _):
            end = "failed"
            fields["error"] = LectureError.Code.transfer(curl).name
        }
        fields["end"] = end
        log(.debug, .request, "A request ended.", fields)
        count(
            "lecturekit_requests_total", 1, ["method": method, "status": status.map { "\($0)" } ?? "none", "end": end])
        count("lecturekit_request_bytes_total", outcome.bodyBytes, ["method": method])
        count("lecturekit_request_milliseconds_total", outcome.elapsed.milliseconds, ["method": method])
    }
}
