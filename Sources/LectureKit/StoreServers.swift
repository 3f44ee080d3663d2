import LectureEngine
import LectureFormats
public import LectureModel
import LectureStore
import LectureTransport

/// A server that something in a store needs.
public struct StoreServer: Sendable, Hashable {
    /// What a server is needed for.
    public enum Use: String, Sendable, CaseIterable {
        /// Lectures that are not complete.
        case media
        /// Licences.
        case licences
        /// Learning reports that have not been delivered.
        case reports
    }

    /// What it is needed for.
    public var use: Use
    /// Scheme, host and port: `https://media.example.org`.
    public var origin: String
    /// How many lectures, licences or reports need it; 0 for a server that is only configured.
    public var count: Int

    /// Creates the value from a URL, of which nothing but the origin is kept: the rest may be secret.
    ///
    /// - Parameters:
    ///   - use: what it is needed for.
    ///   - url: an http or https URL.
    ///   - count: how many need it.
    /// - Throws: ``LectureError``: `urlInvalid` or `urlScheme`.
    public init(use: Use, url: String, count: Int = 0) throws(LectureError) {
        self.init(use: use, origin: try Origin(url: url).text, count: count)
    }

    /// Creates the value.
    init(use: Use, origin: String, count: Int) { (self.use, self.origin, self.count) = (use, origin, count) }
}

extension LectureManager {
    /// The servers that the store needs, and the LMS of the configuration.
    ///
    /// - Returns: by use, and for each use those that most depend on first.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func servers() throws(LectureError) -> [StoreServer] {
        try LectureError.only {
            var needed = try queries.servers()
            let configured = configuration.statistics.target.flatMap { try? Origin(parsing: $0.url).text }
            if let configured { needed.reports[configured, default: 0] += 0 }
            let all: [(use: StoreServer.Use, counts: [String: Int])] = [
                (.media, needed.media), (.licences, needed.licences), (.reports, needed.reports),
            ]
            return all.flatMap { use, counts in
                counts.map { StoreServer(use: use, origin: $0.key, count: $0.value) }
                    .sorted { ($1.count, $0.origin) < ($0.count, $1.origin) }
            }
        }
    }

    /// Why every licence of this store needs its server before it can be used.
    ///
    /// - Returns: `storeRolledBack` for an older copy than the store that this device last wrote, `ledgerForged` for a
    ///   store that was changed without the device's key, `storeCopied` for another device's; nil for none of them.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, or a store's code.
    public func licenceObjection() throws(LectureError) -> LectureError? {
        try LectureError.only {
            guard try writer.hasLicences() else { return nil }
            return try licensing.judge().suspicion.map { suspicion in
                switch suspicion {
                case .rolledBack: LectureError(.storeRolledBack)
                case .forged: LectureError(.ledgerForged)
                case .copied: LectureError(.storeCopied)
                }
            }
        }
    }
}

/// How a server answered.
public struct ServerAnswer: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// From the request to the head of the response; also the time for the name, the connection and TLS.
    public var elapsed: Duration
    /// The server's time (`Date`); nil without one, and from a cache.
    public var date: Timestamp?
    /// The origin to which it redirects; nil when it is the same one, or none.
    public var redirect: String?

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - elapsed: how long it took.
    ///   - date: the server's time.
    ///   - redirect: the origin to which it redirects.
    public init(status: Int, elapsed: Duration, date: Timestamp? = nil, redirect: String? = nil) {
        (self.status, self.elapsed, self.date, self.redirect) = (status, elapsed, date, redirect)
    }
}

extension LectureConfiguration {
    /// Asks a server whether it answers: its name, the connection, TLS, and an HTTP response of any status.
    ///
    /// The root of the server is requested, without credentials, over the proxy and with the certificates of the
    /// configuration. No store is needed.
    ///
    /// - Parameters:
    ///   - server: an http or https URL, of which only the origin is used.
    ///   - limit: how long it may take.
    /// - Returns: how it answered.
    /// - Throws: ``LectureError``: `urlInvalid` or `urlScheme`, `configuration`, or the code of the transfer that
    ///   failed; `CancellationError` when the task is cancelled, which also ends the request.
    public func contact(_ server: String, within limit: Duration = .seconds(10)) async throws -> ServerAnswer {
        let origin = try Origin(url: server)
        var settings = try transport()
        (settings.originFields, settings.hostAuthorization) = ([:], [:])
        let curl = try CurlTransport(settings, clock: SystemTime.clock)
        let waiter = Waiter<(head: ResponseHead?, outcome: TransferOutcome)>()
        var request = TransferRequest(
            id: TransferNumbers().next(), url: "\(origin.text)/", sink: HeadSink { waiter.answer(($0, $1)) })
        (request.stallTimeout, request.totalTimeout) = (limit, limit)
        curl.start(request)
        let result: Result<(head: ResponseHead?, outcome: TransferOutcome), any Error>
        do { result = .success(try await waiter.value()) } catch { result = .failure(error) }
        await curl.shutdown()
        let (received, outcome) = try result.get()
        guard let head = received else {
            guard case .failed(let code, let detail) = outcome.end else { throw LectureError(.closing) }
            throw LectureError(.transfer(code), detail: origin.host, cause: detail)
        }
        var answer = ServerAnswer(status: head.status, elapsed: outcome.elapsed)
        // A cache answers with the date at which it stored the response (RFC 9111 section 5.1).
        if head.fields["Age"] == nil { answer.date = head.date }
        let target = head.redirectURL.flatMap { try? Origin(parsing: $0).text }
        if target != origin.text { answer.redirect = target }
        return answer
    }
}

/// Takes the head of a response, and nothing of its body.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
private final class HeadSink: TransferSink, @unchecked Sendable {
    private var head: ResponseHead?
    private let done: @Sendable (ResponseHead?, TransferOutcome) -> Void

    init(done: @escaping @Sendable (ResponseHead?, TransferOutcome) -> Void) { self.done = done }

    func headReceived(_ head: ResponseHead) -> Bool {
        self.head = head
        return false
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool { false }

    func transferEnded(_ outcome: TransferOutcome) { done(head, outcome) }
}
