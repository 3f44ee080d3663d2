import CCurl
import LectureFormats
import LectureModel

/// One exchange under way: what libcurl's callbacks touch. Confined to the transport's thread; the driver keeps it
/// alive from before libcurl learns of it until after libcurl has released it.
final class Exchange {
    /// What libcurl is to do after receiving bytes of a body.
    enum BodyStep {
        /// Continue.
        case more
        /// Keep these bytes and deliver them again later.
        case pause
        /// End the exchange.
        case end
    }

    /// What happened when, in running time.
    private struct Times {
        /// When the request was about to be sent; nil while it has no connection.
        var sent: Duration?
        /// How long the answer took to begin.
        var delay: Duration?
        /// When data last arrived; nil while it has no connection.
        var latest: Duration?
    }

    /// The request.
    let request: TransferRequest
    /// The handle that carries it out.
    let easy: EasyHandle
    /// When the caller requested it.
    let startedAt: SuspendingClock.Instant
    /// How it ends, when that was not libcurl's decision.
    private(set) var verdict: TransferOutcome.End?
    /// Bytes of body received.
    private(set) var bodyBytes: Int64 = 0
    /// The limit of this exchange alone.
    private var bucket: TokenBucket?
    /// Whether a limit has stopped the reading.
    private var isPaused = false
    /// The bytes of body that came in the latest turn.
    private var latestTurn = (number: -1, bytes: 0)
    /// Whether the server has closed TLS properly.
    private var hasTLSEnd = false
    /// Bytes of the request's body that libcurl has fetched.
    private var sentBytes = 0
    /// When it has to be over, in running time; nil for never.
    private let deadline: Duration?
    private var times = Times()
    private var collector: HeaderCollector
    private let meter: Meter
    private let clock: any LectureClock

    /// Makes an exchange; nothing is sent.
    ///
    /// - Parameters:
    ///   - request: what to fetch.
    ///   - startedAt: when the caller requested it.
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
        let now = meter.running(now: SuspendingClock.now)
        deadline = request.totalTimeout.map { now + $0 }
        if let deadline { meter.nextCheck = min(meter.nextCheck, deadline) }
    }

    /// The exchange a callback's context points at.
    ///
    /// - Parameter context: what ``EasyHandle/deliver(to:)`` gave to libcurl.
    /// - Returns: nil for a null pointer.
    @unsafe static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    }

    /// When the exchange will have stalled, in running time. Nil while nothing is read: there is no connection yet
    /// (libcurl bounds connecting itself, and queueing does not count towards the stall timeout), or a limit has
    /// stopped the reading.
    private var silenceLimit: Duration? { isPaused ? nil : times.latest.map { $0 + request.stallTimeout } }

    /// When the exchange will have taken too long or stalled, in running time, and the message for it; nil for never.
    var limit: (time: Duration, detail: String)? {
        let silence = silenceLimit.map { ($0, "no byte for \(request.stallTimeout.milliseconds) ms") }
        guard let deadline, let total = request.totalTimeout, deadline < silence?.0 ?? deadline + .seconds(1) else {
            return silence
        }
        return (deadline, "not complete after \(total.milliseconds) ms")
    }

    /// How long until a full sink is asked again.
    private static let pausedInterval = Duration.milliseconds(5)

    /// How long the exchange's own limit, or a full sink, still forbids reading.
    ///
    /// - Parameter now: the time.
    /// - Returns: zero when it may continue.
    func delay(now: SuspendingClock.Instant) -> Duration {
        let limit = bucket?.delay(now: now) ?? .zero
        return request.sink.canAccept ? limit : max(limit, Self.pausedInterval)
    }

    /// Resumes reading after a limit has stopped it. Bytes libcurl already has are delivered during the call;
    /// ``verdict`` is set when the sink refuses them, and libcurl does not end the exchange then.
    func resume() {
        isPaused = false
        recordActivity()
        easy.resumeReading()
    }

    // MARK: Callbacks from libcurl

    /// The connection is established and the request is about to be sent.
    func connectionBecameReady() {
        recordActivity()
        times.sent = times.latest
    }

    /// libcurl asks for more of the request's body.
    ///
    /// - Parameter buffer: takes it.
    /// - Returns: how many bytes were put in; zero at the end.
    func supplyBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        defer { recordActivity() }
        guard let rest = request.body?.bytes.dropFirst(sentBytes), !rest.isEmpty else { return 0 }
        let count = min(rest.count, buffer.count)
        unsafe buffer.copyBytes(from: rest.prefix(count))
        sentBytes += count
        return count
    }

    /// A header line was received.
    ///
    /// - Parameter line: with its line end.
    /// - Returns: false to end the exchange.
    func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        if !collector.hasStarted, let latest = times.latest {
            let delay = meter.running(now: SuspendingClock.now) - latest
            times.delay = delay
            meter.pace.answered(after: delay)
        }
        count(line.count)
        defer { recordActivity() }
        switch unsafe collector.take(line) {
        case .more: return true
        case .tooLarge: return end(with: Self.headerTooLarge)
        case .head(let status, let fields):
            let head = head(status: status, fields: fields)
            return meter.withoutRunning { request.sink.headReceived(head) } || end(with: .stopped)
        }
    }

    /// Bytes of the body were received.
    ///
    /// - Parameter bytes: at most 16 KiB.
    /// - Returns: what libcurl is to do.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> BodyStep {
        // An unrequested 101: libcurl takes it as final, RFC 9110 section 15.2.2 does not.
        guard collector.isDone else {
            _ = end(with: Self.strange("a body without a final head"))
            return .end
        }
        // libcurl keeps delivering after the sink has refused bytes while an exchange resumed from a pause.
        if verdict != nil { return .end }
        if mustPause() {
            isPaused = true
            meter.paused.append(self)
            return .pause
        }
        count(bytes.count)
        bodyBytes += Int64(bytes.count)
        latestTurn.bytes += bytes.count
        defer { recordActivity() }
        if meter.withoutRunning({ unsafe request.sink.bodyReceived(bytes) }) { return .more }
        _ = end(with: .stopped)
        return .end
    }

    /// Whether a limit forbids taking more now. libcurl reads a socket up to a hundred times in a row, so checking
    /// after each turn would be too late.
    private func mustPause() -> Bool {
        if latestTurn.number != meter.turn {
            latestTurn = (meter.turn, 0)
        }
        if let share = meter.share, latestTurn.bytes >= share { return true }
        if !request.sink.canAccept { return true }
        return bucket != nil && delay(now: SuspendingClock.now) > .zero
    }

    /// The server has ended TLS with `close_notify`.
    ///
    /// libcurl 7.88 takes the end of a TCP connection for the end of a body that has no other, so that anyone on the
    /// path could truncate it (RFC 9112 section 9.8). With an https proxy the two layers of TLS are not distinguished.
    func tlsEndCame() { hasTLSEnd = true }

    /// How the exchange ended, by libcurl's result and what was decided here.
    ///
    /// - Parameter result: libcurl's result.
    /// - Returns: what the sink is to get.
    func end(result: CURLcode) -> TransferOutcome.End {
        if let verdict { return verdict }
        switch result {
        case CURLE_OK where isCut:
            return .failed(curl: Int(CURLE_RECV_ERROR.rawValue), detail: "TLS ended without close_notify")
        case CURLE_OK where collector.isDone: return .complete
        // libcurl takes a head that ends with the connection for a complete answer without a body; only an empty answer
        // is an error to it.
        case CURLE_OK where collector.isInsideHead:
            return .failed(curl: Int(CURLE_RECV_ERROR.rawValue), detail: "the connection ended inside the head")
        case CURLE_OK:
            return .failed(curl: Int(CURLE_GOT_NOTHING.rawValue), detail: "the answer has no final head")
        // A reused connection broke after the body was sent, and libcurl wanted to resend it.
        case CURLE_SEND_FAIL_REWIND:
            return .failed(
                curl: Int(CURLE_RECV_ERROR.rawValue), detail: "the connection broke after the request was sent")
        // libcurl's result for a header line beyond its own limit.
        case CURLE_OUT_OF_MEMORY where !collector.isDone: return Self.headerTooLarge
        default:
            return .failed(curl: Int(result.rawValue), detail: FailureDetail.text(result, of: self, now: clock.now()))
        }
    }

    /// Notifies the sink that it has ended.
    ///
    /// - Parameters:
    ///   - end: how.
    ///   - now: the time.
    func finish(_ end: TransferOutcome.End, now: SuspendingClock.Instant) {
        var outcome = TransferOutcome(end: end, bodyBytes: bodyBytes, elapsed: startedAt.duration(to: now))
        outcome.sinceSent = times.sent.map { meter.running(now: now) - $0 }
        meter.withoutRunning { request.sink.transferEnded(outcome) }
    }

    // MARK: Parts

    /// Whether a body over TLS that only the end of the connection delimits ended without the server's `close_notify`.
    private var isCut: Bool {
        // HTTP/2 frames every body.
        collector.endsWithConnection && !hasTLSEnd && request.url.utf8.starts(with: "https:".utf8) && !isHTTP2
    }

    private var isHTTP2: Bool { easy.number(CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) }

    private func head(status: Int, fields: HeaderFields) -> ResponseHead {
        // CURLINFO_REDIRECT_URL is known only after the body, and the head has to be delivered before it.
        var target: String?
        // An empty one would mean the same URL again (RFC 3986 section 4.4), which is never intended.
        if (300..<400).contains(status), let location = fields["Location"], !location.isEmpty {
            target = try? CurlURL.resolve(location, against: request.url)
        }
        var head = ResponseHead(
            status: status, fields: fields, redirectURL: target, receivedAt: clock.now(), isHTTP2: isHTTP2)
        (head.distance, head.delay) = (easy.distance, times.delay)
        return head
    }

    private func count(_ bytes: Int) {
        meter.add(bytes)
        bucket?.take(bytes, now: SuspendingClock.now)
    }

    private func recordActivity() {
        let time = meter.running(now: SuspendingClock.now)
        times.latest = time
        meter.nextCheck = min(meter.nextCheck, time + request.stallTimeout)
    }

    private func end(with end: TransferOutcome.End) -> Bool {
        verdict = verdict ?? end
        return false
    }

    private static func strange(_ detail: String) -> TransferOutcome.End {
        .failed(curl: Int(CURLE_WEIRD_SERVER_REPLY.rawValue), detail: detail)
    }

    private static let headerTooLarge = strange(TransferOutcome.headerTooLarge)
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
/// - Returns: the number of bytes, another to end the exchange, or `CURL_WRITEFUNC_PAUSE`.
func bodyArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let exchange = unsafe Exchange.at(context) else { return 0 }
    let length = size * count
    if length == 0 { return 0 }
    return switch unsafe exchange.takeBody(UnsafeRawBufferPointer(start: bytes, count: length)) {
    case .more: length
    case .pause: Int(CURL_WRITEFUNC_PAUSE)
    case .end: 0
    }
}

/// Supplies bytes of the request's body (`CURLOPT_READFUNCTION`). Called as ``bodyArrived(_:_:_:_:)``.
///
/// - Parameters:
///   - buffer: takes them.
///   - size: of an element.
///   - count: how many elements it takes.
///   - context: the ``Exchange``.
/// - Returns: the number of bytes; zero at the end of the body.
func bodyWanted(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let exchange = unsafe Exchange.at(context), let buffer = unsafe buffer else { return 0 }
    return unsafe exchange.supplyBody(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// Takes a line of a header (`CURLOPT_HEADERFUNCTION`). Called as ``bodyArrived(_:_:_:_:)``.
///
/// - Parameters:
///   - bytes: the line with its line end, not NUL-terminated.
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

/// Reports that a connection is established and the request is about to be sent (`CURLOPT_PREREQFUNCTION`).
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

/// Traces the connection (`CURLOPT_DEBUGFUNCTION`) for one thing only, the TLS alert `close_notify` (RFC 8446 section
/// 6.1): libcurl traces TLS messages, and it is two bytes of which the second is 0.
///
/// - Parameters:
///   - easy: not used.
///   - kind: of the bytes.
///   - bytes: the bytes.
///   - count: how many.
///   - context: the ``Exchange``.
/// - Returns: always 0.
func traced(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    if kind == CURLINFO_SSL_DATA_IN, count == 2, let bytes = unsafe bytes, unsafe bytes[1] == 0 {
        unsafe Exchange.at(context)?.tlsEndCame()
    }
    return 0
}
