/// What follows when a URL is refused, or cannot deliver the object.
package enum URLRuling: Sendable, Equatable {
    /// Another URL takes over.
    case useMirror
    /// Another URL is used, whose bytes cannot be combined with those of this one: they are discarded.
    case startOver
    /// The gateway is asked for new URLs of the same bytes.
    case askGateway
    /// The application is asked for them.
    case askResolver
    /// The file fails.
    case failResource
}

/// A URL that is not used again, as values: all that decides what follows from it.
package struct LostURL: Sendable, Equatable {
    /// Where new URLs of the same bytes come from.
    package enum Renewal: Sendable, Equatable {
        /// From nowhere, or they were requested too often.
        case none
        /// From the gateway.
        case gateway
        /// From the application.
        case resolver
    }

    /// Whether another one is left.
    package var hasMirror: Bool
    /// Whether another server's bytes may continue where this one's ended.
    package var mayCombineServers: Bool
    /// Where new ones may be requested, since it was valid once.
    package var renewal = Renewal.none

    /// Describes a URL that cannot be renewed.
    package init(hasMirror: Bool, mayCombineServers: Bool) {
        self.hasMirror = hasMirror
        self.mayCombineServers = mayCombineServers
    }

    /// What follows.
    package var ruling: URLRuling {
        if hasMirror, mayCombineServers { return .useMirror }
        switch renewal {
        case .none: return hasMirror ? .startOver : .failResource
        case .gateway: return .askGateway
        case .resolver: return .askResolver
        }
    }
}
