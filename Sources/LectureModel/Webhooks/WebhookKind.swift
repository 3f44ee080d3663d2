/// What an event of a webhook is about. Raw values are stored, and are the bits of an endpoint's selection: frozen,
/// never reused. docs/webhooks.md has a table with examples.
public enum WebhookKind: Int, Sendable, CaseIterable {
    /// A lecture is complete.
    case lectureCompleted = 1
    /// A lecture has failed.
    case lectureFailed = 2
    /// A lecture and its files were removed.
    case lectureRemoved = 3
    /// The file of a complete lecture is missing or damaged.
    case lectureDamaged = 4
    /// A batch has renewed a licence.
    case licenceRenewed = 5
    /// A licence server refuses a lecture.
    case licenceRefused = 6
    /// A licence server has ended a licence.
    case licenceEnded = 7
    /// A licence server has ordered a lecture's removal.
    case licenceDeleted = 8
    /// A learning report was refused for good.
    case reportDead = 9

    /// The name in the configuration, and the `type` of a body.
    public var name: String {
        switch self {
        case .lectureCompleted: "lecture.completed"
        case .lectureFailed: "lecture.failed"
        case .lectureRemoved: "lecture.removed"
        case .lectureDamaged: "lecture.damaged"
        case .licenceRenewed: "licence.renewed"
        case .licenceRefused: "licence.refused"
        case .licenceEnded: "licence.ended"
        case .licenceDeleted: "licence.deleted"
        case .reportDead: "report.dead"
        }
    }

    /// Finds a kind by its name.
    ///
    /// - Parameter name: as in the configuration.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = kind
    }
}

/// A selection of kinds, as an endpoint's row keeps it.
package struct WebhookKinds: Hashable, Sendable {
    /// A bit for each kind.
    package let bits: Int

    /// Reads a stored selection.
    ///
    /// - Parameter bits: a bit for each kind.
    package init(bits: Int) { self.bits = bits }

    /// Selects kinds.
    ///
    /// - Parameter kinds: which.
    package init(_ kinds: some Sequence<WebhookKind>) { bits = kinds.reduce(0) { $0 | 1 << $1.rawValue } }

    /// The kinds, in the order of their numbers.
    package var all: [WebhookKind] { WebhookKind.allCases.filter { bits & 1 << $0.rawValue != 0 } }
}
