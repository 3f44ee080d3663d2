import LectureTestSupport

/// How a listener speaks TLS.
package struct Security: Sendable {
    /// Whom the certificate is for, and who says so.
    package enum Certificate: Sendable, CaseIterable {
        /// For `localhost`, by the authority that the client trusts.
        case good
        /// Signed by itself.
        case selfSigned
        /// It has expired.
        case expired
        /// It will be good tomorrow.
        case early
        /// For another host.
        case otherHost
        /// By an authority that nobody trusts.
        case unknownAuthority
    }

    /// Which certificate is shown.
    package var certificate = Certificate.good
    /// GnuTLS priorities, such as `NORMAL:-VERS-ALL:+VERS-TLS1.1`.
    package var priorities = "NORMAL"

    /// Good in every way.
    package init() {}
}

extension HostileCase.Edge {
    var isSecure: Bool {
        if case .plain = self { false } else { true }
    }

    var isHTTP2: Bool {
        if case .http2 = self { true } else { false }
    }

    /// Makes connections of accepted sockets; `nil` for one that came to nothing.
    func acceptor() -> @Sendable (Peer) -> (any Wire)? { { PlainWire($0) } }
}
