import LectureDownload
import LectureEngine
import LectureFormats
import LectureModel
import LectureTransport

/// Asks a source what it is, without keeping a byte of media; or downloads a document into memory.
struct SourceProbe {
    /// What a source is.
    enum Answer: Sendable {
        /// A gateway that describes the lecture.
        case descriptor([UInt8])
        /// The media itself.
        case media(BodyPlan)
        /// The media has not changed since the validators that were sent.
        case unchanged
    }

    /// The result of one exchange.
    private struct Exchange: Sendable {
        var verdict: ResponseVerdict?
        var outcome: TransferOutcome
        var document: [UInt8]
        var isNotModified: Bool

        /// The body of a refusal, when it is complete.
        var refusal: [UInt8]? { outcome.end == .complete ? document : nil }

        /// The document, when it is complete.
        func wholeDocument(_ host: String) throws -> [UInt8] {
            switch outcome.end {
            case .complete: return document
            case .failed(let curl, let detail): throw LectureError(.transfer(curl), detail: host, cause: detail)
            case .stopped: throw LectureError(.tooLarge, detail: host)
            case .cancelled: throw LectureError(.closing)
            }
        }
    }

    let transport: any Transport
    private let numbers: TransferNumbers
    let clock: any LectureClock
    let configuration: LectureConfiguration

    /// Asks over the transport of a session.
    init(_ session: StoreSession, clock: any LectureClock, configuration: LectureConfiguration) {
        (transport, numbers) = (session.transport, session.numbers)
        (self.clock, self.configuration) = (clock, configuration)
    }

    /// Asks what a source is, for the whole or a range.
    ///
    /// - Parameters:
    ///   - text: its URL.
    ///   - range: the requested range; nil for the whole.
    ///   - headers: request headers for its own server.
    ///   - known: with the validators of this media the request is conditional (RFC 9110 section 13.1).
    ///   - acceptsPlaylist: whether the media may be a playlist (HLS, DASH).
    /// - Returns: what it is. The media is not read.
    /// - Throws: ``LectureError``; `CancellationError` when the task is cancelled, which also ends the request.
    func ask(
        _ text: String, range: RangeRequest? = nil, headers: [String: String] = [:], unless known: Validator? = nil,
        acceptsPlaylist: Bool = false
    ) async throws -> Answer {
        try await askAndPlace(text, range: range, headers: headers, unless: known, acceptsPlaylist: acceptsPlaylist)
            .answer
    }

    /// As ``ask(_:range:headers:unless:acceptsPlaylist:)``, with the URL that answered after redirects.
    func askAndPlace(
        _ text: String, range: RangeRequest? = nil, headers: [String: String] = [:], unless known: Validator? = nil,
        acceptsPlaylist: Bool = false
    ) async throws -> (answer: Answer, url: String) {
        var fields = HeaderFields()
        fields.append(HeaderField(name: "Accept", value: "\(ContentDescriptor.mediaType), */*;q=0.8"))
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if SealedField.isSealed(value) { throw LectureError(.headersSealed, detail: name) }
            fields.append(try HeaderField(outgoing: name, value: value))
        }
        let conditions = known?.conditions ?? []
        for field in conditions { fields.append(field) }
        return try await follow(
            text, fields, documentLimit: nil, range: range, isConditional: !conditions.isEmpty,
            acceptsPlaylist: acceptsPlaylist)
    }

    /// Fetches a document.
    func document(_ text: String, _ headers: [String: String], limit: Int) async throws -> [UInt8] {
        try await documentAndPlace(text, headers, limit: limit).bytes
    }

    /// Fetches a document, and finds the URL that answered it after redirects.
    func documentAndPlace(
        _ text: String, _ headers: [String: String], limit: Int
    ) async throws -> (bytes: [UInt8], url: String) {
        var fields = HeaderFields()
        fields.append(HeaderField(name: "Accept", value: "*/*"))
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            if SealedField.isSealed(value) { throw LectureError(.headersSealed, detail: name) }
            fields.append(try HeaderField(outgoing: name, value: value))
        }
        let (answer, url) = try await follow(text, fields, documentLimit: limit)
        switch answer {
        case .descriptor(let document): return (document, url)
        case .media, .unchanged: return ([], url)
        }
    }

    /// Follows redirects to an answer.
    private func follow(
        _ text: String, _ fields: HeaderFields, documentLimit: Int?, range: RangeRequest? = nil,
        isConditional: Bool = false, acceptsPlaylist: Bool = false
    ) async throws -> (answer: Answer, url: String) {
        var url = try CurlURL.normalise(text)
        var fields = fields
        let first = (fields: fields, origin: try Origin(url: url))
        var hops = 0
        while true {
            let exchange = try await get(
                url, fields, documentLimit: documentLimit, range: range, acceptsPlaylist: acceptsPlaylist)
            let host = try Origin(url: url).host
            if isConditional, exchange.isNotModified { return (.unchanged, url) }
            switch exchange.verdict {
            case .body where documentLimit != nil: return (.descriptor(try exchange.wholeDocument(host)), url)
            case .body(let plan), .noRanges(let plan), .empty(let plan): return (.media(plan), url)
            case .descriptor: return (.descriptor(try exchange.wholeDocument(host)), url)
            case .redirect(let target):
                hops += 1
                let origin = try RedirectPolicy.follow(target, from: try Origin(url: url), hop: hops)
                fields = HeaderFields(RedirectPolicy.fields(first.fields.elements, from: first.origin, to: origin))
                url = target
            case .wait(_, let status): throw LectureError(.status(status), detail: host)
            case .renewLease(let status):
                throw GatewayRefusal.error(.status(status), body: exchange.refusal, host: host)
            case .refuse(let code): throw GatewayRefusal.error(code, body: exchange.refusal, host: host)
            case .retry(let code): throw LectureError(code, detail: host)
            case .changed, .rangeBeyondEnd: throw LectureError(.lengthChanged, detail: host)
            case nil:
                guard case .failed(let curl, let detail) = exchange.outcome.end else { throw LectureError(.closing) }
                throw LectureError(.transfer(curl), detail: host, cause: detail)
            }
        }
    }

    /// One exchange. It belongs to its caller alone, so it ends with the caller's task.
    private func get(
        _ url: String, _ fields: HeaderFields, documentLimit: Int?, range: RangeRequest?, acceptsPlaylist: Bool
    ) async throws -> Exchange {
        try Task.checkCancellation()
        let waiter = Waiter<Exchange>()
        let isGateway = (try? ContentKeys.isGatewayLink(URLParts(url))) ?? false
        let sink = ProbeSink(
            documentLimit: documentLimit, isGateway: isGateway, range: range, acceptsPlaylist: acceptsPlaylist
        ) {
            waiter.answer(Exchange(verdict: $0, outcome: $1, document: $2, isNotModified: $3))
        }
        var request = TransferRequest(id: numbers.next(), url: url, sink: sink)
        request.headers = fields
        request.range = range
        request.stallTimeout = configuration.stallTimeout
        transport.start(request)
        do {
            return try await waiter.value()
        } catch {
            transport.cancel(request.id)
            throw error
        }
    }
}

/// Receives a header, and the body only when it is a descriptor.
///
/// `@unchecked Sendable`: only the transport calls the methods, one after the other on one thread.
final class ProbeSink: TransferSink, @unchecked Sendable {
    private var verdict: ResponseVerdict?
    private var document: [UInt8] = []
    private let takesAnyBody: Bool
    private let isGateway: Bool
    private var limit: Int
    private let range: RangeRequest?
    private let acceptsPlaylist: Bool
    private var isNotModified = false
    private let done: @Sendable (ResponseVerdict?, TransferOutcome, [UInt8], Bool) -> Void

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - documentLimit: accepts any body up to this length; nil accepts only a descriptor.
    ///   - isGateway: whether a gateway is asked, whose refusals have a reason.
    ///   - range: the requested range; nil for the whole.
    ///   - acceptsPlaylist: whether the media may be a playlist (HLS, DASH).
    ///   - done: gets the result, once, and whether that is 304 (Not Modified).
    init(
        documentLimit: Int?, isGateway: Bool = false, range: RangeRequest? = nil, acceptsPlaylist: Bool = false,
        done: @escaping @Sendable (ResponseVerdict?, TransferOutcome, [UInt8], Bool) -> Void
    ) {
        takesAnyBody = documentLimit != nil
        self.isGateway = isGateway && documentLimit == nil
        limit = documentLimit ?? RangeSink.documentLimit
        (self.range, self.acceptsPlaylist) = (range, acceptsPlaylist)
        self.done = done
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        // A document may be JSON, which is no media.
        let role: ResourceRole = takesAnyBody ? .subtitle : .media
        var asked = Expectation(range: range, role: role, isFirstContact: !takesAnyBody)
        asked.acceptsPlaylist = acceptsPlaylist
        let judged = ResponseJudge.judge(head, asked: asked)
        verdict = judged
        isNotModified = head.status == 304
        switch judged {
        case .descriptor: return true
        case .body: return takesAnyBody
        case let refusal where isGateway && GatewayRefusal.mayBeReported(refusal):
            limit = GatewayRefusal.bodyLimit
            return true
        default: return false
        }
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard document.count + bytes.count <= limit else { return false }
        unsafe document.append(contentsOf: bytes)
        return true
    }

    func transferEnded(_ outcome: TransferOutcome) { done(verdict, outcome, document, isNotModified) }
}

extension Validator {
    /// The fields that ask for the media only if it has changed: the entity tag before the date, as RFC 9110 section
    /// 13.1.3 requires.
    fileprivate var conditions: [HeaderField] {
        if let etag { return [HeaderField(name: "If-None-Match", value: etag)] }
        guard let lastModified else { return [] }
        let date = lastModified.hasPrefix("W/") ? String(lastModified.dropFirst(2)) : lastModified
        return [HeaderField(name: "If-Modified-Since", value: date)]
    }
}
