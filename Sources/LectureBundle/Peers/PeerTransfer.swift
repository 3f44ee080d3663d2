import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel

/// One request for media that other stores may answer.
///
/// ```
///                 ┌──────────── another store ◀────────────┐
///                 ▼                                        │ no offer, another version, wrong bytes
/// request ──▶ question ──▶ offer ──▶ the server's head ──▶ windows ──▶ whole
///                 │ none is left         │ another version      │ fails after the first bytes
///                 ▼                      ▼                      ▼
///             its server ◀───────────────┘           the rest: its server
/// ```
///
/// The sink gets its first call with the first segment that was opened, so a store that fails before that costs nothing
/// but time. After that only the same file may follow: from the store under a new offer of it, or from its server.
///
/// `@unchecked Sendable`: what only steps touch is touched by one step after the other, since each begins where the
/// exchange of the one before has ended; the rest is inside a lock.
final class PeerTransfer: PeerReceiver, @unchecked Sendable {
    private struct Shared {
        var isCancelled = false
        /// The exchange that is under way.
        var exchange: TransferID?
    }

    private let request: TransferRequest
    private let subject: TransferSubject
    private let transport: PeerTransport
    private let began: BootInstant
    private let shared = Guarded(Shared())

    // What only steps touch.
    private var untried: ArraySlice<Peer>
    /// What the file's server says of it; nil until it was asked.
    private var origin: ServersWord?
    private var head: ResponseHead?
    /// The strong tag of the file at its server, as far as it is known.
    private var tag: String?
    private var position: UInt64
    private var end: UInt64 = 0
    private var delivered: Int64 = 0
    private var hasAskedAgain = false
    /// The offer that is read, or was read last.
    private var latest: OpenOffer?

    private var stores: PeerStores { transport.stores }

    init(_ request: TransferRequest, _ subject: TransferSubject, _ transport: PeerTransport) {
        (self.request, self.subject, self.transport) = (request, subject, transport)
        began = transport.roads.clock.boot()
        untried = transport.stores.peers[...]
        position = request.range?.first ?? 0
    }

    // MARK: From outside

    func begin() { next() }

    func cancel() {
        let exchange = shared.withLock { shared in
            shared.isCancelled = true
            return shared.exchange
        }
        guard let exchange else { return }
        // One of the two has it, and the other one ignores the number.
        transport.roads.peers.cancel(exchange)
        transport.roads.internet.cancel(exchange)
    }

    private var isCancelled: Bool { shared.withLock(\.isCancelled) }

    // MARK: Steps

    /// The offer that the sink has bytes of; nil before it has any.
    private var delivering: OpenOffer? { delivered > 0 ? latest : nil }

    /// Asks the next store; without one the file's server has the request. Once the sink has bytes, its server is asked
    /// for the rest.
    private func next() {
        if let delivering { return fetchRest(of: delivering) }
        while let peer = untried.popFirst() {
            guard peer.mayHave(subject.key) else { continue }
            return if let open = peer.offer(of: subject.key) { consider(open, peer) } else { ask(peer) }
        }
        if !transport.handOver(request, unless: { isCancelled }) { finish(.cancelled) }
    }

    private func ask(_ peer: Peer) {
        let sink = PeerAnswerSink { [self] status, bytes, end in answered(peer, status, bytes, end) }
        var question = TransferRequest(id: transport.roads.number(), url: "\(peer.base)/peer/offers", sink: sink)
        question.headers = HeaderFields([peer.authorization])
        question.body = RequestBody(
            PeerQuestion(key: subject.key, device: stores.publicKey).bytes, mediaType: "application/json")
        question.allowsHTTP2 = false
        (question.stallTimeout, question.totalTimeout) = (PeerPatience.question, PeerPatience.question)
        start(question, on: transport.roads.peers)
    }

    private func answered(_ peer: Peer, _ status: Int?, _ bytes: [UInt8], _ end: TransferOutcome.End) {
        switch (end, status) {
        case (.complete, 200):
            do throws(LectureError) {
                let open = try opened(bytes)
                peer.keep(open)
                return consider(open, peer)
            } catch {
                peer.failed(error.cause.isEmpty ? error.code.summary : error.cause, subject.key, isOver: false)
            }
        case (.complete, 404): peer.lacks(subject.key)
        case (.complete, 401): peer.failed("it refuses the token", subject.key, isOver: true)
        case (.complete, 403): peer.failed("the token has not the role peer", subject.key, isOver: true)
        case (.complete, let status?):
            peer.failed("it answers with status \(status)", subject.key, isOver: !(500..<600).contains(status))
        case (.failed(_, let detail), _): peer.failed(detail, subject.key, isOver: true)
        case (.stopped, _): peer.failed("its answer is too long", subject.key, isOver: false)
        case (.complete, nil), (.cancelled, _): break
        }
        next()
    }

    private func opened(_ token: [UInt8]) throws(LectureError) -> OpenOffer {
        let (offer, signer) = try PeerOffer.verified(token)
        guard offer.key == subject.key, let layout = offer.layout else {
            throw .refusedBundle("it offers another lecture")
        }
        guard offer.recipient.thumbprint == stores.thumbprint else { throw LectureError(.bundleNotForDevice) }
        let cipher = try BundleKey(offer.recipient.key, device: stores.device).cipher(for: offer.key)
        return OpenOffer(
            offer: offer, layout: layout, opener: try cipher.opener(header: offer.header),
            isTrusted: stores.trusted.contains(signer))
    }

    /// Decides whether an offer is what is wanted.
    private func consider(_ open: OpenOffer, _ peer: Peer) {
        if let delivering { return resume(delivering, with: open, peer) }
        let judgement = PeerJudgement(
            open.offer, isTrusted: open.isTrusted, for: subject, range: request.range, condition: request.ifRange)
        switch judgement.ruling(origin) {
        case .askServer: return askServer(open, peer)
        case .other:
            peer.lacks(subject.key)
            next()
        case .withoutDigest:
            stores.counts.withLock { _ = $0.withoutDigest.insert(subject.key) }
            next()
        case .fetch(let fields):
            end = min(request.range?.end ?? open.offer.count, open.offer.count)
            head = ResponseHead(
                status: request.range == nil ? 200 : 206, fields: fields, receivedAt: transport.roads.clock.now())
            tag = fields["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
            latest = open
            fetch(open, peer)
        }
    }

    /// Continues under a new offer, if it is one of the same file.
    ///
    /// - Parameters:
    ///   - delivering: the offer that the sink has bytes of.
    ///   - open: the new one.
    ///   - peer: whose offers they are.
    private func resume(_ delivering: OpenOffer, with open: OpenOffer, _ peer: Peer) {
        guard open.offer.sha256 == delivering.offer.sha256, open.offer.count == delivering.offer.count else {
            peer.lacks(subject.key)
            return fetchRest(of: delivering)
        }
        latest = open
        fetch(open, peer)
    }

    /// Asks the file's server what it has: one byte of it.
    private func askServer(_ open: OpenOffer, _ peer: Peer) {
        let sink = HeadOnlySink { [self] head in
            origin = ServersWord(head)
            consider(open, peer)
        }
        var probe = request
        probe.id = transport.roads.number()
        probe.sink = sink
        probe.subject = nil
        probe.range = ByteRange(start: 0, end: 1).map { .closed($0) }
        start(probe, on: transport.roads.internet)
    }

    private func fetch(_ open: OpenOffer, _ peer: Peer) {
        guard position < end, let window = PeerWindow(position..<end, of: open.layout) else {
            return position == end && head != nil && !passHead() ? finish(.stopped) : finish(.complete)
        }
        let sink = PeerWindowSink(window, of: open, to: self) { [self] ending in windowEnded(ending, open, peer) }
        var exchange = TransferRequest(
            id: transport.roads.number(), url: peer.base + open.offer.path, sink: sink)
        exchange.headers = HeaderFields([peer.authorization])
        exchange.range = .closed(window.range)
        exchange.allowsHTTP2 = false
        (exchange.stallTimeout, exchange.totalTimeout) = (PeerPatience.silence, PeerPatience.window)
        start(exchange, on: transport.roads.peers)
    }

    private func windowEnded(_ ending: PeerWindowSink.End, _ open: OpenOffer, _ peer: Peer) {
        switch ending {
        case .whole: return fetch(open, peer)
        case .stopped: return finish(isCancelled ? .cancelled : .stopped)
        case .unknown:
            peer.forget(subject.key)
            if !hasAskedAgain {
                // It was restarted, or has had many others to answer since.
                hasAskedAgain = true
                return ask(peer)
            }
            peer.failed("it forgets what it has offered", subject.key, isOver: false)
        case .wrong(let cause), .broken(let cause): peer.failed(cause, subject.key, isOver: false)
        }
        next()
    }

    /// Fetches what is missing from the file's server, in the same answer: that a store has failed is no failed attempt
    /// at the lecture.
    private func fetchRest(of open: OpenOffer) {
        guard let missing = ByteRange(start: position, end: end) else { return finish(.complete) }
        let sink = PeerRestSink(missing, total: open.offer.count, to: request.sink) { [self] outcome in
            delivered += outcome.bodyBytes
            finish(isCancelled ? .cancelled : outcome.end)
        }
        var rest = request
        rest.id = transport.roads.number()
        (rest.sink, rest.subject) = (sink, nil)
        (rest.range, rest.ifRange) = (.closed(missing), request.ifRange ?? tag)
        start(rest, on: transport.roads.internet)
    }

    // MARK: The sink

    private func passHead() -> Bool {
        guard let head else { return true }
        self.head = nil
        return request.sink.headReceived(head)
    }

    /// Passes the plaintext of a segment to the sink, as far as it is wanted.
    func take(_ plain: UnsafeRawBufferPointer, at place: UInt64) -> Bool {
        guard passHead() else { return false }
        let skipped = Int(max(position, place) - place)
        let count = Int(min(UInt64(plain.count), end - place)) - skipped
        var rest = unsafe UnsafeRawBufferPointer(rebasing: plain[skipped..<(skipped + count)])
        while rest.count > 0 {
            let part = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(PeerPatience.pieceBytes))
            guard !isCancelled, unsafe request.sink.bodyReceived(part) else { return false }
            delivered += Int64(part.count)
            position += UInt64(part.count)
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
        }
        stores.counts.withLock { counts in
            counts.bytes += Int64(count)
            counts.keys.insert(subject.key)
        }
        return true
    }

    // MARK: Exchanges

    private func start(_ exchange: TransferRequest, on road: any Transport) {
        let mayStart = shared.withLock { shared in
            shared.exchange = exchange.id
            return !shared.isCancelled
        }
        guard mayStart else { return finish(.cancelled) }
        road.start(exchange)
    }

    private func finish(_ end: TransferOutcome.End) {
        transport.ended(request.id)
        let elapsed = transport.roads.clock.boot() - began
        request.sink.transferEnded(TransferOutcome(end: end, bodyBytes: delivered, elapsed: elapsed))
    }
}

/// How long another store may take, and what its end looks like.
enum PeerPatience {
    /// For an offer: it may have to read a lecture whose digest it does not know.
    static let question = Duration.seconds(60)
    /// Without a byte.
    static let silence = Duration.seconds(10)
    /// For a window: 8 MiB at 140 kB/s.
    static let window = Duration.seconds(60)
    /// A sink gets at most so many bytes at once.
    static let pieceBytes = 16_384
    /// CURLE_PARTIAL_FILE: what is missing is requested again.
    static let partial = 18
}
