package import LectureEngine
package import LectureModel

/// What a step of the licence engine asks of the world outside the store, as a value. Performed after the commit of the
/// step that queued it, in the order of the queue: the anchor of the chain's newest row is the last.
package enum LicenceEffect: Sendable, Equatable {
    /// Sends or ends requests; ``LicenceEvent/answered(_:_:)`` follows.
    case exchange(ExchangeEffect)
    /// Has the downloads delete the lectures whose removal a server has ordered.
    case followRemovals
    /// Stores an anchor on another thread; ``LicenceEvent/anchored(_:)`` follows.
    case keepAnchor(LedgerAnchor)
}

extension LicenceEffect: CustomStringConvertible {
    /// A few words, without URLs.
    package var description: String {
        switch self {
        case .exchange(let effect): effect.description
        case .followRemovals: "follow removals"
        case .keepAnchor(let anchor): "keep anchor \(anchor.revision)"
        }
    }
}
