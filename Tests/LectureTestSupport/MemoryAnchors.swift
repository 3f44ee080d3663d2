package import LectureModel

/// Anchors in memory, following the rules of the port.
package final class MemoryAnchors: AnchorKeeper {
    private let state = Guarded((anchors: [String: LedgerAnchor](), refuses: false))
    private let obstruction = Guarded<LectureError?>(nil)

    /// No anchors.
    package init() {}

    /// The anchor of a store.
    package func anchor(of store: String) throws(LectureError) -> LedgerAnchor? {
        state.withLock { $0.anchors[store] }
    }

    /// Keeps an anchor, unless a newer one is there.
    package func keep(_ anchor: LedgerAnchor, of store: String) throws(LectureError) {
        try state.withLock { state throws(LectureError) in
            if state.refuses { throw LectureError(.writeFile, detail: "anchor") }
            if let old = state.anchors[store], old.revision >= anchor.revision { return }
            state.anchors[store] = anchor
        }
    }

    /// Why none can be kept, as the test says.
    package func obstacle(of store: String) -> LectureError? { obstruction.withLock(\.self) }

    /// From now on none can be kept, for this reason; nil: they can.
    package func obstruct(_ error: LectureError?) { obstruction.withLock { $0 = error } }

    /// The newest times of all anchors.
    package func newestTimes() throws(LectureError) -> AnchoredTimes {
        state.withLock { state in
            state.anchors.values.reduce(into: AnchoredTimes()) { $0.add($1) }
        }
    }

    /// Whether keeping one fails.
    package func refuse(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

    /// Puts an anchor in, or takes it away.
    package func set(_ anchor: LedgerAnchor?, of store: String) { state.withLock { $0.anchors[store] = anchor } }
}
