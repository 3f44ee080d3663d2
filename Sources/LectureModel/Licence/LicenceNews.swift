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
