/// One HTTP exchange: a GET, or a POST when it has a ``body``.
package struct TransferRequest: Sendable {
    /// Names the exchange in this process.
    package var id: TransferID
    /// An absolute http or https URL.
    package var url: String
    /// Header fields beside those that follow from the members below.
    package var headers: HeaderFields
    /// The bytes asked for; nil asks for the whole.
    package var range: RangeRequest?
    /// The `If-Range` value; only with ``range``.
    package var ifRange: String?
    /// Whether HTTP/2 may be used where TLS offers it: for many small files, not for ranges of a large one.
    package var allowsHTTP2: Bool
    /// How long without a byte is too long; also bounds connecting.
    package var stallTimeout: Duration
    /// Bytes a second; nil for no limit of its own.
    package var rateLimit: Int?
    /// What is sent; nil asks with GET. A redirect is never followed with it, as with everything else.
    package var body: RequestBody?
    /// How long the whole exchange may take; nil for as long as bytes come.
    package var totalTimeout: Duration?
    /// Takes what comes.
    package var sink: any TransferSink

    /// Makes a request for a whole object.
    package init(id: TransferID, url: String, sink: any TransferSink) {
        self.id = id
        self.url = url
        self.sink = sink
        headers = HeaderFields()
        allowsHTTP2 = true
        stallTimeout = .seconds(30)
    }
}

/// The body of a POST.
package struct RequestBody: Sendable, Hashable {
    /// The bytes.
    package var bytes: [UInt8]
    /// The value of `Content-Type`.
    package var mediaType: String

    /// A body.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - mediaType: the value of `Content-Type`.
    package init(_ bytes: [UInt8], mediaType: String) { (self.bytes, self.mediaType) = (bytes, mediaType) }
}

/// Takes what comes of one exchange. Called on the transport's own thread, one call after the other, never after
/// ``transferEnded(_:)``. It may block that thread for back-pressure, since the disk is shared by all exchanges.
package protocol TransferSink: AnyObject, Sendable {
    /// A final header came (never 1xx), before the first byte of its body.
    ///
    /// - Returns: false to refuse the body; ``transferEnded(_:)`` follows with ``TransferOutcome/End/stopped``.
    func headReceived(_ head: ResponseHead) -> Bool
    /// Bytes of the body came, at most 16 KiB a call.
    ///
    /// - Returns: false to stop; ``transferEnded(_:)`` follows with ``TransferOutcome/End/stopped``.
    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// The exchange is over.
    func transferEnded(_ outcome: TransferOutcome)
    /// Whether more of the body may come now. While it may not, the connection is not read: for a consumer whose pace
    /// is its own, and must not become that of all other exchanges.
    var hasRoom: Bool { get }
}

extension TransferSink {
    /// Always.
    package var hasRoom: Bool { true }
}

/// How an exchange ended.
package struct TransferOutcome: Sendable, Hashable {
    /// The ways to end.
    package enum End: Sendable, Hashable {
        /// The whole answer came.
        case complete
        /// The sink had enough.
        case stopped
        /// ``Transport/cancel(_:)`` was called.
        case cancelled
        /// It failed below HTTP.
        ///
        /// - Parameters:
        ///   - curl: libcurl's result code.
        ///   - detail: libcurl's words, without the URL.
        case failed(curl: Int, detail: String)
    }

    /// The detail of a failure that is no fault of the connection: the answer's head is beyond the limit.
    package static let headerTooLarge = "the header of the answer is too large"

    /// How it ended.
    package var end: End
    /// Bytes of body that came.
    package var bodyBytes: Int64
    /// From the call to the end.
    package var elapsed: Duration

    /// Makes an outcome.
    package init(end: End, bodyBytes: Int64, elapsed: Duration) {
        self.end = end
        self.bodyBytes = bodyBytes
        self.elapsed = elapsed
    }
}

/// Carries out HTTP exchanges. Never blocks its caller.
package protocol Transport: Sendable {
    /// Starts an exchange; everything that comes of it goes to its sink.
    func start(_ request: TransferRequest)
    /// Ends an exchange; its sink still gets `transferEnded`. Unknown and ended ones are passed by.
    func cancel(_ id: TransferID)
    /// Bounds the bytes a second of all exchanges together; nil for no bound.
    func limitRate(_ bytesPerSecond: Int?)
}
