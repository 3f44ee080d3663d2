/// The result of a batch renewal.
public struct RenewalReport: Sendable, Hashable {
    /// How many licences were requested.
    public var total = 0
    /// How many were renewed, in this call and in an interrupted one that it continued.
    public var renewed = 0
    /// How many failed; their licences are unchanged.
    public var failed = 0
    /// How many wait: the server asked for it, or the call ended earlier.
    public var waiting = 0
    /// Whether it continued an interrupted batch.
    public var isContinued = false
    /// How many of ``renewed`` may be played now. A server that answers does not always make a licence playable.
    public var playable = 0
    /// Those of ``renewed`` whose licence is still not trusted: only a new grant helps
    /// (`LectureManager.regrantLicences`).
    public var unbelieved: [ContentKey] = []
    /// Named keys that no server was asked about, and why.
    public var left: [Left] = []

    /// A named key that no server was asked about.
    public struct Left: Sendable, Hashable {
        /// Why no server was asked.
        public enum Reason: Sendable, Hashable, CaseIterable {
            /// No lecture has this key.
            case unknown
            /// The lecture needs no licence.
            case unlicensed
            /// It needs one, and none was ever granted.
            case ungranted
            /// Its licence comes from no server: it is a licence file.
            case noServer
            /// Its licence is trusted; only untrusted ones are granted again.
            case believed
            /// Its licence server has ordered the lecture's removal.
            case deleted
        }

        /// The key.
        public let key: ContentKey
        /// Why no server was asked.
        public let reason: Reason

        /// Creates an entry.
        package init(_ key: ContentKey, _ reason: Reason) { (self.key, self.reason) = (key, reason) }
    }

    /// Creates an empty report.
    public init() {}
}

/// One exchange with a licence server, without its secrets.
public struct LicenceExchange: Sendable, Hashable {
    /// Scheme, host and port.
    public let server: String
    /// The kind of request: 1 before a download, 2 after it, 3 before a play or in a renewal.
    public let kind: Int
    /// The request: the value of the form field `items`, without session keys. A JSON array of objects.
    public let items: String
    /// The payload of the answer as a JSON object, without session keys; nil without a readable one.
    public let answer: String?
    /// Why there is none; nil when there is one.
    public let error: LectureError?

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - server: scheme, host and port.
    ///   - kind: 1, 2 or 3.
    ///   - items: the request.
    ///   - answer: the payload as JSON.
    ///   - error: why there is none.
    package init(server: String, kind: Int, items: String, answer: String?, error: LectureError?) {
        (self.server, self.kind, self.items) = (server, kind, items)
        (self.answer, self.error) = (answer, error)
    }
}
