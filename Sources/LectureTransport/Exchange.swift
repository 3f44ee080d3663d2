import CCurl
import LectureModel

/// One exchange under way: what libcurl's callbacks touch. Confined to the transport's thread; the driver keeps it alive
/// from before libcurl learns of it until after libcurl has let go of it.
final class Exchange {
    /// The request.
    let request: TransferRequest
    /// The handle that carries it out.
    let easy: EasyHandle
    /// When the caller asked for it.
    let startedAt: SuspendingClock.Instant
    /// How it ends, when something else than libcurl decided that.
    private(set) var verdict: TransferOutcome.End?
    /// Bytes of body that came.
    private(set) var bodyBytes: Int64 = 0
    /// The limit of this exchange alone.
    private(set) var bucket: TokenBucket?
    /// Whether reading is stopped because of ``bucket``.
    var isPaused = false
    /// When it was last heard of, in running time; nil while it has no connection.
    private var heardAt: Duration?
    private var collector: HeaderCollector
    private let meter: Meter
    private let clock: any LectureClock

    /// Makes an exchange; nothing is sent.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - startedAt: when the caller asked for it.
    ///   - easy: a handle of its own.
    ///   - maximumHeaderBytes: the limit of the answer's header.
    ///   - meter: counts for all exchanges.
    ///   - clock: stamps the head.
    init(
        _ request: TransferRequest, startedAt: SuspendingClock.Instant, easy: EasyHandle, maximumHeaderBytes: Int,
        meter: Meter, clock: any LectureClock
    ) {
        self.request = request
        self.easy = easy
        self.startedAt = startedAt
        self.meter = meter
        self.clock = clock
        collector = HeaderCollector(maximumBytes: maximumHeaderBytes)
        bucket = request.rateLimit.map { TokenBucket(rate: $0, now: SuspendingClock.now) }
    }

    /// The exchange a callback's context points at.
    ///
    /// - Parameter context: what ``EasyHandle/deliver(to:)`` gave to libcurl.
    /// - Returns: nil for a null pointer.
    @unsafe static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// When the server will have been silent for too long, in running time; nil while there is no connection, which
    /// libcurl bounds itself (waiting for a free connection is nobody's silence).
    var silenceLimit: Duration? { heardAt.map { $0 + request.stallTimeout } }

    // MARK: What libcurl tells

    /// The connection stands and the request is about to be sent.
    func connectionBecameReady() { heard() }

    /// A line of a header came.
    ///
    /// - Parameter line: with its line end.
    /// - Returns: false to end the exchange.
    func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        count(line.count)
        defer { heard() }
        switch unsafe collector.take(line) {
        case .more: return true
        case .tooLarge: return end(with: Self.headerTooLarge)
        case .head(let status, let fields):
            let head = head(status: status, fields: fields)
            return meter.withoutRunning { request.sink.headReceived(head) } || end(with: .stopped)
        }
    }

    /// Bytes of the body came.
    ///
    /// - Parameter bytes: at most 16 KiB.
    /// - Returns: false to end the exchange.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // 101 without having asked for it: libcurl takes it as final, RFC 9110 section 15.2.2 does not.
        guard collector.isDone else { return end(with: Self.strange("a body without a final head")) }
        count(bytes.count)
        bodyBytes += Int64(bytes.count)
        defer { heard() }
        return meter.withoutRunning { unsafe request.sink.bodyReceived(bytes) } || end(with: .stopped)
    }

    /// How the exchange ended, by libcurl's result and what was decided here.
    ///
    /// - Parameter result: libcurl's result.
    /// - Returns: what the sink is to be told.
    func end(result: CURLcode) -> TransferOutcome.End {
        if let verdict { return verdict }
        switch result {
        case CURLE_OK where collector.isDone: return .complete
        case CURLE_OK: return Self.strange("the answer has no final head")
        // What libcurl says of a header line beyond its own limit.
        case CURLE_OUT_OF_MEMORY where !collector.isDone: return Self.headerTooLarge
        default: return .failed(curl: Int(result.rawValue), detail: FailureDetail.text(result, of: self))
        }
    }

    /// Tells the sink that it is over.
    ///
    /// - Parameters:
    ///   - end: how.
    ///   - now: the time.
    func finish(_ end: TransferOutcome.End, now: SuspendingClock.Instant) {
        let outcome = TransferOutcome(end: end, bodyBytes: bodyBytes, elapsed: startedAt.duration(to: now))
        meter.withoutRunning { request.sink.transferEnded(outcome) }
    }

    // MARK: Parts

    private func head(status: Int, fields: HeaderFields) -> ResponseHead {
        // CURLINFO_REDIRECT_URL is known only when the body is over, and the head has to be told before it.
        var target: String?
        if (300..<400).contains(status), let location = fields["Location"] {
            target = try? CurlURL.resolve(location, against: request.url)
        }
        let isHTTP2 = easy.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
        return ResponseHead(
            status: status, fields: fields, redirectURL: target, receivedAt: clock.now(), isHTTP2: isHTTP2)
    }

    private func count(_ bytes: Int) {
        meter.add(bytes)
        bucket?.take(bytes, now: SuspendingClock.now)
    }

    private func heard() {
        let time = meter.running(now: SuspendingClock.now)
        heardAt = time
        meter.nextCheck = min(meter.nextCheck, time + request.stallTimeout)
    }

    private func end(with end: TransferOutcome.End) -> Bool {
        verdict = verdict ?? end
        return false
    }

    private static func strange(_ detail: String) -> TransferOutcome.End {
        .failed(curl: Int(CURLE_WEIRD_SERVER_REPLY.rawValue), detail: detail)
    }

    private static let headerTooLarge = strange("the header of the answer is too large")
}

// MARK: Callbacks

/// Takes bytes of a body (`CURLOPT_WRITEFUNCTION`). Called on the transport's thread inside `curl_multi_perform` or
/// `curl_easy_pause`; the bytes are libcurl's and valid during the call.
///
/// - Parameters:
///   - bytes: the bytes.
///   - size: always 1.
///   - count: how many.
///   - context: the ``Exchange``.
/// - Returns: the number of bytes, or another to end the exchange.
func bodyArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let exchange = unsafe Exchange.at(context) else { return 0 }
    let length = size * count
    if length == 0 { return 0 }
    return unsafe exchange.takeBody(UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
}

/// Takes a line of a header (`CURLOPT_HEADERFUNCTION`). Called as ``bodyArrived(_:_:_:_:)``.
///
/// - Parameters:
///   - bytes: the line with its line end, not ended by NUL.
///   - size: always 1.
///   - count: its length.
///   - context: the ``Exchange``.
/// - Returns: the number of bytes, or another to end the exchange.
func headerArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let exchange = unsafe Exchange.at(context) else { return 0 }
    let length = size * count
    if length == 0 { return 0 }
    return unsafe exchange.takeHeader(UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
}

/// Learns that a connection stands and the request is about to be sent (`CURLOPT_PREREQFUNCTION`).
///
/// - Parameters:
///   - context: the ``Exchange``.
///   - remoteAddress: not used.
///   - localAddress: not used.
///   - remotePort: not used.
///   - localPort: not used.
/// - Returns: always "go on".
func connectionReady(
    _ context: UnsafeMutableRawPointer?, _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    unsafe Exchange.at(context)?.connectionBecameReady()
    return Int32(CURL_PREREQFUNC_OK)
}
