import Foundation
import LectureModel
import LectureTestSupport

/// A server that plays one case, on 127.0.0.1 only. Ends with its last reference.
package final class HostileOrigin: Sendable {
    /// The base URL of every listener.
    package let bases: [String]
    /// The requests and the responses.
    package let journal = Journal()
    /// The lecture.
    package let media: Media
    /// What a client must trust for the listeners under TLS, PEM; empty without such a listener.
    package let authorityPEM: String
    private let listeners: [RawServer]
    private let open: Guarded<[Int: any Wire]>

    /// Starts to serve.
    ///
    /// - Parameter hostileCase: what to play.
    /// - Throws: when the system has no port, or GnuTLS makes no certificate.
    package init(_ hostileCase: HostileCase) throws {
        let media = Media(count: hostileCase.size)
        let open = Guarded<[Int: any Wire]>([:])
        let counts = Guarded<[String: Int]>([:])
        let known = Guarded<[String]>([])
        let journal = journal
        listeners = try hostileCase.edges.enumerated().map { number, edge in
            let acceptor = try edge.acceptor(number, journal)
            return try RawServer { peer in
                let connection = journal.newConnection()
                // Before the handshake, which may last as long as the client stays.
                open.withLock { $0[connection] = PlainWire(peer) }
                defer { open.withLock { $0[connection] = nil } }
                guard let wire = acceptor(peer, connection) else { return }
                let play = { @Sendable (asked: Asked, request: Int) in
                    hostileCase.play(
                        Visit(
                            asked: asked, number: request, connection: connection, edge: number, media: media,
                            bases: known.withLock { $0 }, counts: counts))
                }
                if let manner = edge.http2, let wire = wire as? TLSWire, wire.speaksHTTP2, !manner.speaksHTTP1 {
                    HTTP2(wire, manner, journal, edge: number, connection: connection, play).serve()
                } else {
                    HTTP1(wire: wire, journal: journal, play: play).serve(edge: number, connection: connection)
                }
            }
        }
        bases = zip(hostileCase.edges, listeners).map { edge, listener in
            edge.isSecure ? "https://localhost:\(listener.port)" : "http://127.0.0.1:\(listener.port)"
        }
        let bases = bases
        known.withLock { $0 = bases }
        let needsTrust = hostileCase.edges.contains { $0.isSecure }
        (self.media, self.open) = (media, open)
        authorityPEM = needsTrust ? try Authority.shared.get().pem : ""
    }

    deinit {
        // Wakes the threads that wait for a client which has left silently.
        open.withLock { wires in
            for wire in wires.values { wire.hangUp() }
        }
    }
}
