/// The table of reports.
package enum OutboxTable {}

/// A row of the outbox: one report for one target.
package typealias OutboxID = RowID<OutboxTable>

/// The table of targets.
package enum TargetTable {}

/// Where reports go: one address with its method, format and parameters.
package typealias TargetID = RowID<TargetTable>

/// The table of requests.
package enum InFlightBatchTable {}

/// A frozen request with reports whose result is unknown, with the state of its bisection.
package typealias InFlightBatchID = RowID<InFlightBatchTable>

/// The delivery state of a report. Raw values are stored: frozen, never reused.
public enum ReportState: Int, Sendable, CaseIterable {
    /// Waits to be sent.
    case pending = 0
    /// A process is sending it.
    case leased = 1
    /// Delivered to the LMS.
    case delivered = 2
    /// Refused for good; kept with the reason until an operator retries it.
    case dead = 3
    /// A newer cumulative report of the same session made it unnecessary.
    case superseded = 4
    /// Older than the policy allows to send.
    case expired = 5

    /// The name in JSON, in `lms list --state` and in documentation.
    public var name: String {
        switch self {
        case .pending: "pending"
        case .leased: "leased"
        case .delivered: "delivered"
        case .dead: "dead"
        case .superseded: "superseded"
        case .expired: "expired"
        }
    }

    /// The state with this name.
    ///
    /// - Parameter name: as in ``name``.
    public init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }

    /// The names of all states, in their order.
    public static var names: [String] { allCases.map(\.name) }

    /// Whether later reports of the same session wait for this one.
    public var holdsSession: Bool {
        switch self {
        case .pending, .leased: true
        case .delivered, .dead, .superseded, .expired: false
        }
    }
}
