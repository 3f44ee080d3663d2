import LectureModel
import LectureTestSupport
import SandboxSecurity

/// How a listener speaks TLS.
package struct Security: Sendable {
    /// The subject of the certificate, and its issuer.
    package enum Certificate: Sendable, CaseIterable {
        /// For `localhost`, by the authority that the client trusts.
        case good
        /// Good, with an intermediate authority, which is sent.
        case goodChain
        /// Good, with an intermediate authority, which is not sent.
        case lacksIntermediate
        /// Signed by itself.
        case selfSigned
        /// It has expired.
        case expired
        /// It becomes valid tomorrow.
        case early
        /// For another host.
        case otherHost
        /// For every name: `*`.
        case starHost
        /// For names that begin like ours: `local*`.
        case partialStar
        /// For our name, a zero byte, and the end of another's name.
        case zeroInHost
        /// For the address alone, not for the name.
        case addressOnly
        /// The name is in the subject only, as before RFC 2818.
        case commonNameOnly
        /// By an untrusted authority.
        case unknownAuthority
        /// By an authority with the trusted one's name and another key.
        case namesakeAuthority
        /// By the owner of a certificate that may not sign.
        case signedByServer
        /// By an authority constrained to `example.org`.
        case outsideConstraints
        /// By an intermediate authority that has expired.
        case expiredIntermediate
        /// Signed with SHA-1.
        case sha1
        /// Signed with MD5.
        case md5
        /// RSA with 1024 bits.
        case rsa1024
        /// RSA with 2048 bits.
        case rsa2048
    }

    /// What happens before the first byte of HTTP.
    package enum Greeting: Sendable {
        /// A handshake.
        case handshake
        /// FIN once the ClientHello has arrived.
        case cut
        /// Nothing, until the client leaves.
        case silence
        /// These bytes in clear, then FIN.
        case bytes(String)
        /// A fatal alert of this number instead of the ServerHello.
        case alert(UInt8)
    }

    /// How session tickets are treated (RFC 8446 section 2.2).
    package enum Tickets: Sendable {
        /// None is issued.
        case none
        /// They are accepted by every connection.
        case taken
        /// They are issued and never accepted.
        case refused
    }

    /// Which certificate is shown.
    package var certificate = Certificate.good
    /// GnuTLS priorities, such as `NORMAL:-VERS-ALL:+VERS-TLS1.1`.
    package var priorities = "NORMAL"
    /// What comes first.
    package var greeting = Greeting.handshake
    /// Whether the client is asked for a certificate.
    package var asksForCertificate = false
    /// Whether it must present one.
    package var wantsCertificate = false
    /// How many unrelated certificates are sent along.
    package var unrelated = 0
    /// How session tickets are treated.
    package var tickets = Tickets.none
    /// How the second connection is treated, the third …; the last one applies to the rest; empty for no difference.
    package var later: [Security] = []

    /// Good in every respect.
    package init() {}

    /// Good except for some changes.
    ///
    /// - Parameter change: makes them.
    package init(_ change: (inout Security) -> Void) { change(&self) }

    /// How a connection is treated.
    ///
    /// - Parameter ordinal: the connection's number at this listener, from 1.
    /// - Returns: its settings.
    package func manner(of ordinal: Int) -> Security {
        if ordinal == 1 || later.isEmpty { return self }
        return later[min(ordinal - 2, later.count - 1)]
    }
}

extension HostileCase.Edge {
    var isSecure: Bool {
        if case .plain = self { false } else { true }
    }

    var http2: HTTP2Manner? {
        if case .http2(let manner) = self { manner } else { nil }
    }

    /// Makes connections from accepted sockets; `nil` for one that failed.
    func acceptor(_ edge: Int, _ journal: Journal) throws -> @Sendable (Peer, Int) -> (any Wire)? {
        let (security, protocols) =
            switch self {
            case .plain: (Security?.none, [String]())
            case .secure(let security): (security, ["http/1.1"])
            case .http2(let manner): (manner.security, manner.offers)
            }
        guard let security else { return { peer, _ in PlainWire(peer) } }
        let doorman = try Doorman(
            security: security, protocols: protocols, edge: edge, journal: journal,
            authority: Authority.shared.get())
        return { peer, connection in doorman.receive(peer, connection) }
    }
}

/// Receives the connections of one listener under TLS.
private final class Doorman: Sendable {
    private let security: Security
    private let protocols: [String]
    private let edge: Int
    private let journal: Journal
    private let authority: Authority
    private let ordinals = Guarded(0)
    private let ticketKey = TLSManner.newTicketKey()

    init(security: Security, protocols: [String], edge: Int, journal: Journal, authority: Authority) {
        (self.security, self.protocols) = (security, protocols)
        (self.edge, self.journal, self.authority) = (edge, journal, authority)
    }

    func receive(_ peer: Peer, _ connection: Int) -> (any Wire)? {
        let ordinal = ordinals.withLock { ordinals in
            ordinals += 1
            return ordinals
        }
        let manner = security.manner(of: ordinal)
        do {
            let tls = try TLSServer(socket: peer.socket, tlsManner(manner))
            try greet(manner.greeting, peer, tls)
            journal.shookHands(edge, connection, isResumed: tls.isResumed)
            return TLSWire(peer, tls, ordinal: ordinal)
        } catch {
            journal.shookHands(edge, connection, failure: "\(error)")
            return nil
        }
    }

    private func greet(_ greeting: Security.Greeting, _ peer: Peer, _ tls: TLSServer) throws {
        if case .handshake = greeting {
            do {
                return try tls.shakeHands()
            } catch {
                throw Refused(description: "\(error) (\(tls.lastAlert))")
            }
        }
        // The ClientHello, so that closing sends FIN and not RST.
        _ = peer.read(1 << 14)
        switch greeting {
        case .handshake, .cut: break
        case .silence: peer.waitForEnd()
        case .bytes(let text): peer.send(text)
        case .alert(let number): peer.send([21, 3, 3, 0, 2, 2, number])
        }
        throw Refused(description: "by the case")
    }

    private func tlsManner(_ security: Security) throws -> TLSManner {
        var manner = TLSManner(try authority.identity(security.certificate))
        manner.chain = try authority.chain(security.certificate)
        manner.priorities = security.priorities
        manner.protocols = protocols
        manner.asksForCertificate = security.asksForCertificate
        manner.wantsCertificate = security.wantsCertificate
        if security.unrelated > 0 {
            let certificate = try authority.identity(.goodChain).certificatePEM
            manner.chain += (0..<security.unrelated).map { _ in certificate }.joined()
        }
        switch security.tickets {
        case .none: manner.priorities += ":%NO_TICKETS"
        case .taken: manner.ticketKey = ticketKey
        case .refused: manner.ticketKey = TLSManner.newTicketKey()
        }
        return manner
    }

    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }
}

/// A connection under TLS. One thread may read while another one sends.
package final class TLSWire: Wire {
    /// The connection's number at its listener, from 1.
    package let ordinal: Int
    private let peer: Peer
    private let tls: TLSServer

    init(_ peer: Peer, _ tls: TLSServer, ordinal: Int) { (self.peer, self.tls, self.ordinal) = (peer, tls, ordinal) }

    /// Whether HTTP/2 was negotiated.
    package var speaksHTTP2: Bool { tls.agreedProtocol == "h2" }

    /// See ``Wire/read(_:)``.
    package func read(_ limit: Int) -> [UInt8] { tls.read(limit) }
    /// See ``Wire/send(_:)``.
    @discardableResult package func send(_ bytes: ArraySlice<UInt8>) -> Bool { tls.send(bytes) }
    /// See ``Wire/waitForInput(_:)``.
    package func waitForInput(_ milliseconds: Int) -> Bool {
        tls.pendingCount > 0 || peer.waitForInput(milliseconds)
    }
    /// See ``Wire/finish()``.
    package func finish() {
        tls.sayGoodbye()
        peer.close()
    }
    /// See ``Wire/cut()``.
    package func cut() { peer.close() }
    /// See ``Wire/reset()``.
    package func reset() { peer.reset() }
    /// See ``Wire/hangUp()``.
    package func hangUp() { peer.hangUp() }

    /// Ends sending; reading continues.
    ///
    /// - Parameter inGoodOrder: whether `close_notify` comes first.
    package func endSending(inGoodOrder: Bool) {
        if inGoodOrder { tls.sayGoodbye() }
        peer.endSending()
    }
    /// Sends bytes below TLS, in clear.
    ///
    /// - Parameter bytes: what to send.
    package func sendBelow(_ bytes: [UInt8]) { peer.send(bytes) }
    /// Sends a fatal alert.
    ///
    /// - Parameter number: of the alert (RFC 8446 section 6).
    package func alert(_ number: UInt8) { tls.alert(number) }
    /// Starts another handshake (TLS 1.2) or updates the keys (TLS 1.3).
    package func renegotiate() { tls.renegotiate() }
}
