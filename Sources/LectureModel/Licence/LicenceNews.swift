/// What became of a batch renewal.
public struct RenewalReport: Sendable, Hashable {
    /// How many licences were wanted.
    public var total = 0
    /// How many were renewed, in this call and, where it went on with an interrupted one, before.
    public var renewed = 0
    /// How many failed; their licences are as they were.
    public var failed = 0
    /// How many wait: the server asked to, or the call was ended before.
    public var waiting = 0
    /// Whether it went on with a batch that was interrupted.
    public var isContinued = false
    /// How many of ``renewed`` may be played now. A server that answers does not always make a licence playable.
    public var playable = 0
    /// Those of ``renewed`` whose licence is still not believed: only a new grant helps them
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
            /// Its licence is believed; only one that is not is granted anew.
            case believed
            /// Its licence server has ordered the lecture away.
            case deleted
        }

        /// The key.
        public let key: ContentKey
        /// Why no server was asked.
        public let reason: Reason

        /// A key that was left.
        package init(_ key: ContentKey, _ reason: Reason) { (self.key, self.reason) = (key, reason) }
    }

    /// Nothing.
    public init() {}
}

/// One exchange with a licence server, without its secrets.
public struct LicenceExchange: Sendable, Hashable {
    /// Scheme, host and port.
    public let server: String
    /// What was asked: 1 before a download, 2 after it, 3 before a play or in a renewal.
    public let kind: Int
    /// What was asked: the value of the form field `items`, without session keys. A JSON array of objects.
    public let items: String
    /// The payload of the answer as a JSON object, without session keys; nil when none came that could be read.
    public let answer: String?
    /// Why there is none; nil when there is one.
    public let error: LectureError?

    /// An exchange.
    ///
    /// - Parameters:
    ///   - server: scheme, host and port.
    ///   - kind: 1, 2 or 3.
    ///   - items: what was asked.
    ///   - answer: the payload as JSON.
    ///   - error: why there is none.
    package init(server: String, kind: Int, items: String, answer: String?, error: LectureError?) {
        (self.server, self.kind, self.items) = (server, kind, items)
        (self.answer, self.error) = (answer, error)
    }
}
