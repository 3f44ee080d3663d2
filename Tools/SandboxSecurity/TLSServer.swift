import CGnuTLS
import Glibc

/// The TLS parameters of a server on a connection.
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
    /// Whether the certificate is required.
    package var wantsCertificate = false

    /// Sound parameters, with a certificate.
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
/// and users of a connection keep to one of each; everything else is set before the handshake ends.
@safe package final class TLSServer: @unchecked Sendable {
    private let session: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t
    /// Whether GnuTLS has returned an end or an error to the reader, after which it must not be called again.
    private var isOver = false

    /// Prepares a connection; nothing is sent.
    ///
    /// - Parameters:
    ///   - socket: a connected socket, owned by the caller.
    ///   - manner: the TLS parameters.
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
        // One after another, because the names must stay alive during the call: the last list set is offered.
        var names = protocols.map { Array($0.utf8) }
        let session = unsafe session
        let code = unsafe Self.lend(&names, from: 0, []) { list in
            unsafe gnutls_alpn_set_protocols(
                session, list, UInt32(list.count), UInt32(GNUTLS_ALPN_SERVER_PRECEDENCE.rawValue))
        }
        try check(code)
    }

    /// Borrows all names at the same time.
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

    /// Performs the handshake.
    ///
    /// - Throws: ``SecurityFailure``, for instance with the alert that the client sent.
    package func shakeHands() throws(SecurityFailure) {
        while true {
            let code = unsafe gnutls_handshake(session)
            // A warning alert does not end the handshake.
            if code == 0 { return }
            if gnutls_error_is_fatal(code) != 0 { throw SecurityFailure(code: code) }
        }
    }

    /// The negotiated protocol (RFC 7301); `nil` when the client offered none.
    package var agreedProtocol: String? {
        var datum = unsafe gnutls_datum_t()
        guard unsafe gnutls_alpn_get_selected_protocol(session, &datum) == 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
    }

    /// Whether the client's ticket was accepted.
    package var isResumed: Bool { unsafe gnutls_session_is_resumed(session) != 0 }

    /// The last received alert, as GnuTLS names it.
    package var lastAlert: String {
        guard let words = unsafe gnutls_alert_get_name(gnutls_alert_get(session)) else { return "no alert" }
        return unsafe String(cString: words)
    }

    /// Reads once.
    ///
    /// - Parameter limit: how many bytes at most.
    /// - Returns: nothing at the end of the connection or after an error.
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

    /// Sends `close_notify`.
    package func sayGoodbye() { unsafe gnutls_bye(session, GNUTLS_SHUT_WR) }

    /// Sends a fatal alert.
    ///
    /// - Parameter number: of the alert (RFC 8446 section 6).
    package func alert(_ number: UInt8) {
        unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, gnutls_alert_description_t(UInt32(number)))
    }

    /// Requests another handshake (TLS 1.2: HelloRequest) or updates keys (TLS 1.3: KeyUpdate).
    package func renegotiate() {
        if unsafe gnutls_protocol_get_version(session) == GNUTLS_TLS1_3 {
            unsafe gnutls_session_key_update(session, 0)
        } else {
            unsafe gnutls_rehandshake(session)
        }
    }
}
