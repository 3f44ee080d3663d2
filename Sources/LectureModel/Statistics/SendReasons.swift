/// Why reports stay pending. Raw values are stored: frozen, never reused.
package enum KeepReason: Int, Sendable, CaseIterable {
    /// No connection could be made.
    case unreachable = 1
    /// No answer, or half of one: whether the reports were accepted is unknown.
    case noAnswer = 2
    /// The server is busy: 429 and 503, with or without `Retry-After`.
    case busy = 3
    /// The server failed: 500, 502, 504 and other 5xx.
    case serverFailed = 4
    /// The server asks to repeat the request: 408 and 425, or 409 with `Retry-After`.
    case again = 5
    /// A page for people where data was expected: a captive portal.
    case portal = 6
    /// A redirect to another host, or one that cannot be followed.
    case redirected = 7
    /// A 2xx with a body that the target is not configured to give.
    case otherAnswer = 8
    /// 501, 505 or 511, not yet often enough to be final.
    case unsupported = 9

    /// Whether it concerns the target, so that its other reports wait too; else only these do.
    package var isOfTarget: Bool {
        switch self {
        case .unreachable, .noAnswer, .busy, .portal, .redirected: true
        case .serverFailed, .again, .otherAnswer, .unsupported: false
        }
    }
}

/// Why a report is a dead letter. Raw values are stored: frozen, never reused.
public enum DeadReason: Int, Sendable, CaseIterable {
    /// 4xx for this report alone.
    case refused = 1
    /// 413, 414 or 431 for this report alone.
    case tooLarge = 2
    /// 501, 505 or 511, repeatedly.
    case unsupported = 3
    /// The id is known to the target with another payload.
    case conflict = 4

    /// The name in JSON, in `lms list` and for `lms retry --reason`.
    public var name: String {
        switch self {
        case .refused: "refused"
        case .tooLarge: "too_large"
        case .unsupported: "unsupported"
        case .conflict: "conflict"
        }
    }

    /// The reason with this name.
    ///
    /// - Parameter name: as in ``name``.
    public init?(name: String) {
        guard let reason = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = reason
    }
}

/// Why nothing more is sent to a target until an operator acts. Raw values are stored: frozen, never reused.
public enum SuspendReason: Int, Sendable, CaseIterable {
    /// 401: it wants credentials, or different ones.
    case unauthorized = 1
    /// 403: it refuses this sender.
    case forbidden = 2
    /// 407: the proxy wants credentials.
    case proxy = 3

    /// The name in JSON and in `lms list --summary`.
    public var name: String {
        switch self {
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .proxy: "proxy"
        }
    }
}
