package import LectureFormats

/// One HTTP exchange: a GET, or a POST when it has a ``body``.
package struct TransferRequest: Sendable {
    /// Identifies the exchange in this process.
    package var id: TransferID
    /// An absolute http or https URL.
    package var url: String
    /// Header fields besides those derived from the members below.
    package var headers: HeaderFields
    /// The requested bytes; nil requests the whole.
    package var range: RangeRequest?
    /// The `If-Range` value; only with ``range``.
    package var ifRange: String?
    /// Whether HTTP/2 may be used where TLS offers it: for many small files, not for ranges of a large one.
    package var allowsHTTP2: Bool
    /// How long without a byte is too long; also bounds connecting.
    package var stallTimeout: Duration
    /// Bytes a second; nil for no limit of its own.
    package var rateLimit: Int?
    /// The body to send; nil makes a GET. As always, redirects are not followed.
    package var body: RequestBody?
    /// How long the whole exchange may take; nil for as long as bytes arrive.
    package var totalTimeout: Duration?
    /// What the bytes are, where other places than the server may have them; nil for what only the server can answer.
    package var subject: TransferSubject?
    /// Receives the events.
    package var sink: any TransferSink

    /// Creates a request for a whole object.
    package init(id: TransferID, url: String, sink: any TransferSink) {
        self.id = id
        self.url = url
        self.sink = sink
        headers = HeaderFields()
        allowsHTTP2 = true
        stallTimeout = .seconds(30)
    }
}

/// What is known of a file before it is requested: by this another store that has it can be asked for its bytes.
package struct TransferSubject: Sendable, Hashable {
    /// The lecture that the file is the media of.
    package let key: ContentKey
    /// The SHA-256 that the whole file must have, 32 bytes; nil when it is not known.
    package let sha256: [UInt8]?
    /// Its length in bytes; nil when it is not known.
    package let total: UInt64?
    /// Whether bytes of this file were discarded before: then only its server is asked.
    package let wasDiscarded: Bool

    /// Describes a file.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - sha256: 32 bytes; nil when it is not known.
    ///   - total: its length in bytes; nil when it is not known.
    ///   - wasDiscarded: whether bytes of it were discarded before.
    package init(key: ContentKey, sha256: [UInt8]?, total: UInt64?, wasDiscarded: Bool = false) {
        (self.key, self.sha256, self.total, self.wasDiscarded) = (key, sha256, total, wasDiscarded)
    }
}

/// The body of a POST, or of another method.
package struct RequestBody: Sendable, Hashable {
    /// The bytes.
    package var bytes: [UInt8]
    /// The value of `Content-Type`.
    package var mediaType: String
    /// A method in place of POST, such as `DELETE` or `PUT` (RFC 9110, 9.3).
    package var method: String?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - mediaType: the value of `Content-Type`.
    ///   - method: a method in place of POST; nil for none.
    package init(_ bytes: [UInt8], mediaType: String, method: String? = nil) {
        (self.bytes, self.mediaType, self.method) = (bytes, mediaType, method)
    }
}

/// Receives the events of one exchange. Called on the transport's own thread, one call after the other, never after
/// ``transferEnded(_:)``. It may block that thread for back-pressure, since the disk is shared by all exchanges.
package protocol TransferSink: AnyObject, Sendable {
    /// A final header was received (never 1xx), before the first byte of its body.
    ///
    /// - Returns: false to refuse the body; ``transferEnded(_:)`` follows with ``TransferOutcome/End/stopped``.
    func headReceived(_ head: ResponseHead) -> Bool
    /// Bytes of the body were received, at most 16 KiB per call.
    ///
    /// - Returns: false to stop; ``transferEnded(_:)`` follows with ``TransferOutcome/End/stopped``.
    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// The exchange is over.
    func transferEnded(_ outcome: TransferOutcome)
    /// Whether more of the body may be delivered now. While it may not, the connection is not read: for a slow consumer
    /// that must not slow down all other exchanges.
    var canAccept: Bool { get }
}

extension TransferSink {
    /// Always.
    package var canAccept: Bool { true }
}

/// How an exchange ended.
package struct TransferOutcome: Sendable, Hashable {
    /// The ways to end.
    package enum End: Sendable, Hashable {
        /// The whole answer was received.
        case complete
        /// The sink stopped it.
        case stopped
        /// ``Transport/cancel(_:)`` was called.
        case cancelled
        /// It failed below HTTP.
        ///
        /// - Parameters:
        ///   - curl: libcurl's result code.
        ///   - detail: libcurl's message, without the URL.
        case failed(curl: Int, detail: String)
    }

    /// The detail of a failure not caused by the connection: the answer's head exceeds the limit.
    package static let headerTooLarge = "the header of the answer is too large"

    /// How it ended.
    package var end: End
    /// Bytes of body received.
    package var bodyBytes: Int64
    /// From the call to the end.
    package var elapsed: Duration
    /// From the moment the request was sent to the end, without the wait for a connection; nil when it was not sent, or
    /// that is not known.
    package var sinceSent: Duration?

    /// Creates an outcome.
    package init(end: End, bodyBytes: Int64, elapsed: Duration) {
        self.end = end
        self.bodyBytes = bodyBytes
        self.elapsed = elapsed
    }
}

/// Performs HTTP exchanges. Never blocks its caller.
package protocol Transport: Sendable {
    /// Starts an exchange; all its events go to its sink.
    func start(_ request: TransferRequest)
    /// Ends an exchange; its sink still gets `transferEnded`. Unknown and ended ones are ignored.
    func cancel(_ id: TransferID)
    /// Limits the bytes a second of all exchanges together; nil for no limit.
    func limitRate(_ bytesPerSecond: Int?)
}
