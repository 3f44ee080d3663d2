import CCurl
import LectureModel

/// All exchanges of a transport and libcurl's handles. Confined to the transport's thread.
///
///     start ─▶ running ──(libcurl has finished · the sink stopped it · stalled · cancelled · shutdown)──▶ ended
///
/// Every exchange ends in ``finish(_:_:)``, the only place that sends a sink `transferEnded`.
final class CurlDriver {
    /// Handles kept for reuse, at most.
    private static let maximumIdle = 32
    /// Longer than any wait: nothing is due.
    private static let never = Duration.seconds(3600)

    private let configuration: TransportConfiguration
    private let roots: RootCertificates
    private let clock: any LectureClock
    private let meter = Meter()
    private let sockets: SocketWatch
    private var rootOptions: RootCertificates.Options?
    private var multi: MultiHandle?
    private var idle: [EasyHandle] = []
    private var exchanges: [TransferID: Exchange] = [:]
    private var total: TokenBucket?
    private var ended = 0
    private var connections = 0

    /// Makes a driver; libcurl is not started yet.
    ///
    /// - Parameters:
    ///   - configuration: how exchanges are made.
    ///   - roots: extra roots.
    ///   - clock: stamps heads.
    /// - Throws: ``LectureError`` as ``SocketWatch/init()``.
    init(
        _ configuration: TransportConfiguration, roots: RootCertificates, clock: any LectureClock
    ) throws(LectureError) {
        sockets = try SocketWatch()
        self.configuration = configuration
        self.roots = roots
        self.clock = clock
    }

    /// The counters.
    var statistics: TransportStatistics {
        TransportStatistics(
            running: exchanges.count, ended: ended, connections: connections, bytes: meter.totalBytes,
            isPrepared: multi != nil)
    }

    // MARK: Commands

    /// Carries out a command.
    func carryOut(_ command: CurlLoop.Command) {
        switch command {
        case .start(let request, let time): start(request, at: time)
        case .cancel(let id): if let exchange = exchanges[id] { finish(exchange, .cancelled) }
        case .limitRate(let rate): limitRate(rate)
        case .prepare: prepare()
        }
    }

    private func prepare() { multi = multi ?? MultiHandle(configuration, sockets) }

    /// The limit of all exchanges together is enforced between turns, and each exchange takes its share per turn: a
    /// sixty-fourth of a second's bytes, so that turns follow each other closely.
    private func limitRate(_ rate: Int?) {
        total = rate.map { TokenBucket(rate: $0, now: SuspendingClock.now) }
        meter.share = total.map { max(2048, $0.rate / 64) }
    }

    private func start(_ request: TransferRequest, at time: SuspendingClock.Instant) {
        prepare()
        guard let multi, let easy = idle.popLast() ?? EasyHandle() else {
            return refuse(request, CURLE_FAILED_INIT, CurlLibrary.whyMissing ?? "libcurl cannot be started")
        }
        guard exchanges[request.id] == nil else {
            return refuse(request, CURLE_BAD_FUNCTION_ARGUMENT, "an exchange with this number is running")
        }
        let exchange = Exchange(
            request, startedAt: time, easy: easy, maximumHeaderBytes: configuration.maxHeaderBytes, meter: meter,
            clock: clock)
        easy.prepare(configuration.authorised(request), configuration: configuration, roots: trusted(by: easy))
        easy.deliver(to: exchange)
        guard easy.refusal == CURLE_OK, multi.add(easy) else {
            let detail = CurlLibrary.text(easy.refusal)
            return refuse(request, easy.refusal == CURLE_OK ? CURLE_FAILED_INIT : easy.refusal, detail)
        }
        exchanges[request.id] = exchange
    }

    private func refuse(_ request: TransferRequest, _ code: CURLcode, _ detail: String) {
        ended += 1
        let end = TransferOutcome.End.failed(curl: Int(code.rawValue), detail: detail)
        request.sink.transferEnded(TransferOutcome(end: end, bodyBytes: 0, elapsed: .zero))
    }

    /// The root options; determined with the first handle, because only a handle reports libcurl's default paths.
    private func trusted(by easy: EasyHandle) -> RootCertificates.Options {
        if let rootOptions { return rootOptions }
        let system =
            configuration.systemRoots
            ?? TransportConfiguration.SystemRoots(
                bundle: easy.text(CURLINFO_CAINFO), directory: easy.text(CURLINFO_CAPATH))
        let options = roots.options(system: system)
        rootOptions = options
        return options
    }

    // MARK: Turns

    /// Reads and writes what is due, finishes ended exchanges, and returns how to wait.
    func turn() -> CurlLoop.Rest {
        guard let multi else { return .holding(Self.never) }
        let closed = total?.delay(now: SuspendingClock.now) ?? .zero
        if closed > .zero { return .holding(closed) }
        resumePaused()
        multi.perform()
        let bytes = meter.endTurn()
        total?.take(bytes, now: SuspendingClock.now)
        while let finished = multi.nextFinished() {
            finish(finished.exchange, finished.exchange.end(result: finished.result))
        }
        let silent = endSilent()
        let now = SuspendingClock.now
        // Polling would wake at once, repeatedly, for bytes that may not be read.
        if let closed = total?.delay(now: now), closed > .zero { return .holding(closed) }
        if let wait = meter.pace.wait(after: bytes, running: exchanges.count) { return .gathering(wait) }
        return .polling(meter.paused.reduce(silent) { min($0, $1.delay(now: now)) })
    }

    /// Resumes the exchanges whose own limit allows it again; the common limit does, or there would be no turn.
    private func resumePaused() {
        let now = SuspendingClock.now
        let paused = meter.paused
        meter.paused = []
        for exchange in paused {
            if exchange.delay(now: now) > .zero {
                meter.paused.append(exchange)
            } else {
                exchange.resume()
                if let end = exchange.verdict { finish(exchange, end) }
            }
        }
    }

    /// Waits as the last turn asked.
    ///
    /// - Parameters:
    ///   - rest: the last turn's answer.
    ///   - bell: ends the wait.
    func rest(_ rest: CurlLoop.Rest, bell: Doorbell) {
        switch rest {
        case .polling(let limit): multi?.wait(atMost: limit, for: bell)
        case .holding(let limit): meter.withoutRunning { bell.wait(atMost: limit) }
        case .gathering(let limit): bell.wait(atMost: limit)
        }
    }

    /// Ends exchanges that have taken too long or stalled. They are checked only when the earliest of their limits has
    /// passed.
    ///
    /// - Returns: how long until the next check.
    private func endSilent() -> Duration {
        let running = meter.running(now: SuspendingClock.now)
        guard running >= meter.nextCheck else { return meter.nextCheck - running }
        var next = running + Self.never
        for exchange in exchanges.values {
            guard let (limit, detail) = exchange.limit else { continue }
            if limit > running {
                next = min(next, limit)
            } else {
                // Over HTTP/2 libcurl would keep the connection for the next request, and it is probably dead.
                exchange.easy.forbidReuse()
                finish(exchange, .failed(curl: Int(CURLE_OPERATION_TIMEDOUT.rawValue), detail: detail))
            }
        }
        meter.nextCheck = next
        return next - running
    }

    // MARK: Ends

    private func finish(_ exchange: Exchange, _ end: TransferOutcome.End) {
        exchanges[exchange.request.id] = nil
        meter.paused.removeAll { $0 === exchange }
        ended += 1
        connections += exchange.easy.number(CURLINFO_NUM_CONNECTS)
        multi?.remove(exchange.easy)
        exchange.finish(end, now: SuspendingClock.now)
        // A handle that ended early, for instance during name resolution, keeps its read buffer across a reset and then
        // refuses every option about it (libcurl 7.88): only one that completed is used again.
        guard end == .complete, exchange.easy.isReusable, idle.count < Self.maximumIdle else { return }
        exchange.easy.reset()
        idle.append(exchange.easy)
    }

    /// Cancels everything and releases libcurl.
    func endAll() {
        for exchange in exchanges.values { finish(exchange, .cancelled) }
        idle = []
        multi = nil
    }
}
