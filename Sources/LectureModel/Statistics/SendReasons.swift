/// Why reports stay pending. Raw values are stored: frozen, never reused.
package enum KeepReason: Int, Sendable, CaseIterable {
    /// No connection came about.
    case unreachable = 1
    /// No answer came, or half of one: nobody knows whether the reports were taken.
    case noAnswer = 2
    /// The server is busy: 429 and 503, with or without `Retry-After`.
    case busy = 3
    /// The server failed: 500, 502, 504 and other 5xx.
    case serverFailed = 4
    /// The server wants the same again: 408 and 425, or 409 with `Retry-After`.
    case again = 5
    /// A page for people where data was expected: a captive portal.
    case portal = 6
    /// A redirect to another host, or one that cannot be followed.
    case redirected = 7
    /// A 2xx with a body that the target is not configured to give.
    case otherAnswer = 8
    /// 501, 505 or 511, and not yet often enough to believe it.
    case unsupported = 9

    /// Whether it says something about the target, so that its other reports wait too; else only these do.
    package var isOfTarget: Bool {
        switch self {
        case .unreachable, .noAnswer, .busy, .portal, .redirected: true
        case .serverFailed, .again, .otherAnswer, .unsupported: false
        }
    }

    /// Whether the reports may have been taken all the same. Only then it matters, and always then it is so, that they
    /// go out again under the same id.
    package var leavesDoubt: Bool { self != .unreachable }
}

/// Why a report is a dead letter. Raw values are stored: frozen, never reused.
public enum DeadReason: Int, Sendable, CaseIterable {
    /// 4xx for this report alone.
    case refused = 1
    /// 413, 414 or 431 for this report alone.
    case tooLarge = 2
    /// 501, 505 or 511, again and again.
    case unsupported = 3
    /// The id is known to the target with another content.
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

/// Why a target gets nothing more until somebody sees to it. Raw values are stored: frozen, never reused.
public enum SuspendReason: Int, Sendable, CaseIterable {
    /// 401: it wants credentials, or others.
    case unauthorized = 1
    /// 403: it does not want us.
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
