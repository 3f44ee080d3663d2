import CGnuTLS
import Glibc

/// How a server speaks TLS on a connection.
package struct TLSManner: Sendable {
    /// The server's certificate; its chain follows in ``chain``.
    package var identity: Identity
    /// The certificates of authorities between the server's and the root, PEM.
    package var chain = ""
    /// A priority string of GnuTLS.
    package var priorities = "NORMAL"
    /// The protocols that are offered (RFC 7301), the best first; empty for none.
    package var protocols: [String] = []
    /// The key of session tickets; `nil` for none.
    package var ticketKey: [UInt8]?
    /// Whether the client is asked for a certificate.
    package var asksForCertificate = false
    /// Whether it must have one.
    package var wantsCertificate = false

    /// Good, with a certificate.
    ///
    /// - Parameter identity: the certificate.
    package init(_ identity: Identity) { self.identity = identity }

    /// A key for session tickets.
    ///
    /// - Returns: a new one each time.
    package static func newTicketKey() -> [UInt8] {
        var datum = unsafe gnutls_datum_t()
        guard unsafe gnutls_session_ticket_key_generate(&datum) == 0 else { return [] }
        defer { unsafe free(datum.data) }
        return unsafe Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
    }
}

/// The server's side of one TLS connection over a blocking socket.
///
/// `@unchecked Sendable`: GnuTLS allows one thread to read while another one writes ("Thread safety" in its manual),
/// and whoever shares a connection keeps to one of each; everything else is set before the handshake ends.
@safe package final class TLSServer: @unchecked Sendable {
    private let session: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t
    /// Whether GnuTLS has given an end or an error to the reader, after which it must not be asked again.
    private var isOver = false

    /// Prepares a connection; nothing is sent.
    ///
    /// - Parameters:
    ///   - socket: a connected socket, which stays the caller's.
    ///   - manner: how.
    /// - Throws: ``SecurityFailure``.
    package init(socket: Int32, _ manner: TLSManner) throws(SecurityFailure) {
        var credentials: gnutls_certificate_credentials_t?
        try unsafe check(gnutls_certificate_allocate_credentials(&credentials))
        guard let credentials = unsafe credentials else { throw SecurityFailure(code: GNUTLS_E_MEMORY_ERROR) }
        unsafe self.credentials = unsafe credentials
        var session: gnutls_session_t?
        let code = unsafe gnutls_init(&session, UInt32(GNUTLS_SERVER | GNUTLS_NO_SIGNAL))
        guard code == 0, let session = unsafe session else {
            unsafe gnutls_certificate_free_credentials(credentials)
            throw SecurityFailure(code: code)
        }
        unsafe self.session = unsafe session
        try show(manner)
        try unsafe check(gnutls_priority_set_direct(session, manner.priorities, nil))
        try unsafe check(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials)))
        try offer(manner.protocols)
        if manner.asksForCertificate || manner.wantsCertificate {
            let request = manner.wantsCertificate ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST
            unsafe gnutls_certificate_server_set_request(session, request)
        }
        if let key = manner.ticketKey {
            try unsafe withDatum(key) { datum in unsafe gnutls_session_ticket_enable_server(session, &datum) }
        }
        unsafe gnutls_transport_set_int2(session, socket, socket)
    }

    deinit {
        unsafe gnutls_deinit(session)
        unsafe gnutls_certificate_free_credentials(credentials)
    }

    private func show(_ manner: TLSManner) throws(SecurityFailure) {
        let credentials = unsafe credentials
        let key = Array(manner.identity.keyPEM.utf8)
        var code: Int32 = 0
        try unsafe withDatum(Array((manner.identity.certificatePEM + manner.chain).utf8)) { certificate in
            do throws(SecurityFailure) {
                try unsafe withDatum(key) { key in
                    unsafe gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM)
                }
            } catch {
                code = error.code
            }
            return code
        }
    }

    private func offer(_ protocols: [String]) throws(SecurityFailure) {
        if protocols.isEmpty { return }
        // One after another, since the names have to live during the call: offered is the last list that was set.
        var names = protocols.map { Array($0.utf8) }
        let session = unsafe session
        let code = unsafe Self.lend(&names, from: 0, []) { list in
            unsafe gnutls_alpn_set_protocols(
                session, list, UInt32(list.count), UInt32(GNUTLS_ALPN_SERVER_PRECEDENCE.rawValue))
        }
        try check(code)
    }

    /// Lends all names at the same time.
    private static func lend(
        _ names: inout [[UInt8]], from index: Int, _ lent: [gnutls_datum_t], _ body: ([gnutls_datum_t]) -> Int32
    ) -> Int32 {
        guard index < names.count else { return unsafe body(lent) }
        var name = names[index]
        return unsafe name.withUnsafeMutableBufferPointer { buffer in
            let datum = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
            return unsafe lend(&names, from: index + 1, lent + [datum], body)
        }
    }

    /// Agrees with the client.
    ///
    /// - Throws: ``SecurityFailure``, for instance with the alert by which the client refused.
    package func shakeHands() throws(SecurityFailure) {
        while true {
            let code = unsafe gnutls_handshake(session)
            // An alert that is only a warning ends nothing.
            if code == 0 { return }
            if gnutls_error_is_fatal(code) != 0 { throw SecurityFailure(code: code) }
        }
    }

    /// The protocol that was agreed on (RFC 7301); `nil` when the client asked for none.
    package var agreedProtocol: String? {
        var datum = unsafe gnutls_datum_t()
        guard unsafe gnutls_alpn_get_selected_protocol(session, &datum) == 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
    }

    /// Whether the client came with a ticket that was taken.
    package var isResumed: Bool { unsafe gnutls_session_is_resumed(session) != 0 }

    /// The last alert that came, in GnuTLS's words.
    package var lastAlert: String {
        guard let words = unsafe gnutls_alert_get_name(gnutls_alert_get(session)) else { return "no alert" }
        return unsafe String(cString: words)
    }

    /// Reads once.
    ///
    /// - Parameter limit: how many bytes at most.
    /// - Returns: nothing at the end of the connection or when it is broken.
    package func read(_ limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while !isOver {
            let count = unsafe gnutls_record_recv(session, &bytes, limit)
            if count > 0 { return Array(bytes.prefix(count)) }
            isOver = count == 0 || gnutls_error_is_fatal(Int32(count)) != 0
        }
        return []
    }

    /// How many bytes can be read without the socket.
    package var pendingCount: Int { unsafe gnutls_record_check_pending(session) }

    /// Sends everything.
    ///
    /// - Parameter bytes: what to send.
    /// - Returns: false when the client is gone.
    package func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) }
            if count < 0 {
                if gnutls_error_is_fatal(Int32(count)) != 0 { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says `close_notify`.
    package func sayGoodbye() { unsafe gnutls_bye(session, GNUTLS_SHUT_WR) }

    /// Sends a fatal alert.
    ///
    /// - Parameter number: of the alert (RFC 8446 section 6).
    package func alert(_ number: UInt8) {
        unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, gnutls_alert_description_t(UInt32(number)))
    }

    /// Asks for another handshake (TLS 1.2: HelloRequest) or takes new keys (TLS 1.3: KeyUpdate).
    package func renegotiate() {
        if unsafe gnutls_protocol_get_version(session) == GNUTLS_TLS1_3 {
            unsafe gnutls_session_key_update(session, 0)
        } else {
            unsafe gnutls_rehandshake(session)
        }
    }
}
