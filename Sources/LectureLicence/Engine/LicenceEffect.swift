package import LectureEngine
package import LectureModel

/// What a step of the licence engine asks of the world outside the store, as a value. Performed after the commit of the
/// step that queued it, in the order of the queue: requests first, the anchor of the chain's newest row last.
package enum LicenceEffect: Sendable, Equatable {
    /// Sends or ends requests; ``LicenceEvent/answered(_:_:)`` follows.
    case exchange(ExchangeEffect)
    /// Stores an anchor on another thread; ``LicenceEvent/anchored(_:)`` follows.
    case keepAnchor(LedgerAnchor)
}

extension LicenceEffect: CustomStringConvertible {
    /// A few words, without URLs.
    package var description: String {
        switch self {
        case .exchange(let effect): effect.description
        case .keepAnchor(let anchor): "keep anchor \(anchor.revision)"
        }
    }
}

extension LicenceEffect {
    /// Performs the effect, after the commit of the step that queued it. Never blocks.
    ///
    /// - Parameter engine: the engine that queued it.
    package func perform(for engine: LicenceEngine) {
        let ports = engine.ports
        switch self {
        case .exchange(let effect):
            ExchangePerformer(ports.transport, clock: ports.clock) { [inbox = engine.inbox] in
                inbox.post(.answered($0, $1))
            }.perform(effect)
        case .keepAnchor(let anchor):
            ports.offload { [anchors = ports.anchors, store = engine.settings.store, inbox = engine.inbox] in
                do throws(LectureError) {
                    try anchors.keep(anchor, of: store)
                    inbox.post(.anchored(nil))
                } catch {
                    inbox.post(.anchored(error))
                }
            }
        }
    }
}
