import CGnuTLS
import Glibc

/// An error of GnuTLS.
package struct SecurityFailure: Error, CustomStringConvertible {
    /// Its negative number.
    package let code: Int32

    /// GnuTLS's message.
    package var description: String {
        guard let words = unsafe gnutls_strerror(code) else { return "GnuTLS \(code)" }
        return unsafe String(cString: words)
    }
}

func check(_ code: Int32) throws(SecurityFailure) {
    if code < 0 { throw SecurityFailure(code: code) }
}

/// A certificate with its key, for a server or for an authority, as PEM.
package struct Identity: Sendable {
    /// The contents of a certificate, true or not.
    package struct Plan: Sendable {
        /// The kind of key.
        package enum Key: Sendable {
            /// On the curve P-256.
            case ec
            /// RSA with this many bits.
            case rsa(Int)
            /// Ed25519 (RFC 8032).
            case ed25519
        }

        /// The digest of the signature.
        package enum Digest: Sendable {
            /// Good.
            case sha256
            /// Broken (RFC 9155).
            case sha1
            /// Long broken (RFC 6151).
            case md5
        }

        /// Its subject.
        package var commonName: String
        /// Its hosts, as `dNSName`.
        package var hosts: [String] = []
        /// Its host as a `dNSName` of any bytes, at most 120; instead of the others.
        package var rawHost: [UInt8]?
        /// Its addresses, as `iPAddress` of four bytes.
        package var addresses: [[UInt8]] = []
        /// The start of its validity, seconds from now.
        package var begins = -86_400
        /// The end of its validity, seconds from now.
        package var ends = 86_400
        /// The key.
        package var key = Key.ec
        /// The signature's digest.
        package var digest = Digest.sha256
        /// Whether it may sign others.
        package var isAuthority = false
        /// The only hosts an authority may speak for (RFC 5280 section 4.2.1.10); empty for all.
        package var permittedHosts: [String] = []
        /// The purposes of the key, as object identifiers (RFC 5280 section 4.2.1.12); if there are any, a key that is
        /// not an authority's is for signatures only.
        package var purposes: [String] = []
        /// Whether an authority may sign revocation lists too.
        package var signsLists = false

        /// A plan for a host or an authority.
        ///
        /// - Parameter commonName: the subject.
        package init(_ commonName: String) { self.commonName = commonName }
    }

    /// The certificate.
    package let certificatePEM: String
    /// The key.
    package let keyPEM: String

    /// An identity that was created before.
    ///
    /// - Parameters:
    ///   - certificatePEM: the certificate.
    ///   - keyPEM: its key.
    package init(certificatePEM: String, keyPEM: String) {
        (self.certificatePEM, self.keyPEM) = (certificatePEM, keyPEM)
    }

    /// Makes a key, and a certificate for it.
    ///
    /// - Parameters:
    ///   - plan: the contents of the certificate.
    ///   - issuer: the signer, whether or not it may sign; `nil` for itself.
    /// - Throws: ``SecurityFailure``.
    package init(_ plan: Plan, by issuer: Identity? = nil) throws(SecurityFailure) {
        let key = try PrivateKey(plan.key)
        let certificate = try Certificate()
        try certificate.fill(plan, key)
        if let issuer {
            try certificate.sign(by: Certificate(pem: issuer.certificatePEM), PrivateKey(pem: issuer.keyPEM), plan)
        } else {
            try certificate.sign(by: certificate, key, plan)
        }
        (certificatePEM, keyPEM) = try (certificate.pem(), key.pem())
    }
}

/// A private key of GnuTLS.
@safe final class PrivateKey {
    let handle: gnutls_x509_privkey_t

    private init() throws(SecurityFailure) {
        var handle: gnutls_x509_privkey_t?
        try unsafe check(gnutls_x509_privkey_init(&handle))
        guard let handle = unsafe handle else { throw SecurityFailure(code: GNUTLS_E_MEMORY_ERROR) }
        unsafe self.handle = unsafe handle
    }

    convenience init(_ kind: Identity.Plan.Key) throws(SecurityFailure) {
        try self.init()
        switch kind {
        case .ec: try unsafe check(gnutls_x509_privkey_generate(handle, GNUTLS_PK_ECDSA, 256, 0))
        case .ed25519: try unsafe check(gnutls_x509_privkey_generate(handle, GNUTLS_PK_EDDSA_ED25519, 256, 0))
        case .rsa(let bits): try unsafe check(gnutls_x509_privkey_generate(handle, GNUTLS_PK_RSA, UInt32(bits), 0))
        }
    }

    convenience init(pem: String) throws(SecurityFailure) {
        try self.init()
        let handle = unsafe handle
        try unsafe withDatum(Array(pem.utf8)) { datum in
            unsafe gnutls_x509_privkey_import(handle, &datum, GNUTLS_X509_FMT_PEM)
        }
    }

    deinit { unsafe gnutls_x509_privkey_deinit(handle) }

    func pem() throws(SecurityFailure) -> String {
        var datum = unsafe gnutls_datum_t()
        // PKCS #8, the only form that Ed25519 has (RFC 8410 section 7).
        let plain = UInt32(GNUTLS_PKCS_PLAIN.rawValue)
        try unsafe check(gnutls_x509_privkey_export2_pkcs8(handle, GNUTLS_X509_FMT_PEM, nil, plain, &datum))
        return unsafe text(freeing: datum)
    }
}

/// A certificate of GnuTLS.
@safe final class Certificate {
    let handle: gnutls_x509_crt_t

    init() throws(SecurityFailure) {
        var handle: gnutls_x509_crt_t?
        try unsafe check(gnutls_x509_crt_init(&handle))
        guard let handle = unsafe handle else { throw SecurityFailure(code: GNUTLS_E_MEMORY_ERROR) }
        unsafe self.handle = unsafe handle
    }

    convenience init(pem: String) throws(SecurityFailure) {
        try self.init()
        let handle = unsafe handle
        try unsafe withDatum(Array(pem.utf8)) { datum in
            unsafe gnutls_x509_crt_import(handle, &datum, GNUTLS_X509_FMT_PEM)
        }
    }

    deinit { unsafe gnutls_x509_crt_deinit(handle) }

    func fill(_ plan: Identity.Plan, _ key: PrivateKey) throws(SecurityFailure) {
        let handle = unsafe handle
        try unsafe check(gnutls_x509_crt_set_version(handle, 3))
        let serial = [1] + randomBytes(15).map { $0 & 0x7F }
        try check(unsafe gnutls_x509_crt_set_serial(handle, serial, serial.count))
        let now = time(nil)
        try unsafe check(gnutls_x509_crt_set_activation_time(handle, now + plan.begins))
        try unsafe check(gnutls_x509_crt_set_expiration_time(handle, now + plan.ends))
        let name = Array(plan.commonName.utf8)
        try check(
            unsafe gnutls_x509_crt_set_dn_by_oid(handle, GNUTLS_OID_X520_COMMON_NAME, 0, name, UInt32(name.count)))
        try unsafe check(gnutls_x509_crt_set_key(handle, key.handle))
        for host in plan.hosts { try addName(GNUTLS_SAN_DNSNAME, Array(host.utf8)) }
        if let host = plan.rawHost { try addRaw(host) }
        for address in plan.addresses { try addName(GNUTLS_SAN_IPADDRESS, address) }
        try unsafe check(gnutls_x509_crt_set_basic_constraints(handle, plan.isAuthority ? 1 : 0, -1))
        try unsafe check(gnutls_x509_crt_set_key_usage(handle, UInt32(Self.usage(plan))))
        try addPurposes(plan.purposes)
        try constrain(plan.permittedHosts)
        let identifier = randomBytes(20)
        try check(unsafe gnutls_x509_crt_set_subject_key_id(handle, identifier, identifier.count))
    }

    /// Signing of certificates for an authority; signatures and RSA key exchange for a server.
    private static func usage(_ plan: Identity.Plan) -> Int32 {
        if plan.isAuthority { return GNUTLS_KEY_KEY_CERT_SIGN | (plan.signsLists ? GNUTLS_KEY_CRL_SIGN : 0) }
        return GNUTLS_KEY_DIGITAL_SIGNATURE | (plan.purposes.isEmpty ? GNUTLS_KEY_KEY_ENCIPHERMENT : 0)
    }

    func sign(by issuer: Certificate, _ key: PrivateKey, _ plan: Identity.Plan) throws(SecurityFailure) {
        var identifier = [UInt8](repeating: 0, count: 64)
        var (count, critical) = (identifier.count, UInt32(0))
        try unsafe check(gnutls_x509_crt_get_subject_key_id(issuer.handle, &identifier, &count, &critical))
        try unsafe check(gnutls_x509_crt_set_authority_key_id(handle, identifier, count))
        // Ed25519 has its own digest, and GnuTLS requires its name.
        let kind = unsafe gnutls_x509_privkey_get_pk_algorithm(key.handle)
        let digest =
            switch plan.digest {
            case _ where kind == GNUTLS_PK_EDDSA_ED25519.rawValue: GNUTLS_DIG_SHA512
            case .sha256: GNUTLS_DIG_SHA256
            case .sha1: GNUTLS_DIG_SHA1
            case .md5: GNUTLS_DIG_MD5
            }
        try unsafe check(gnutls_x509_crt_sign2(handle, issuer.handle, key.handle, digest, 0))
    }

    func pem() throws(SecurityFailure) -> String {
        var datum = unsafe gnutls_datum_t()
        try unsafe check(gnutls_x509_crt_export2(handle, GNUTLS_X509_FMT_PEM, &datum))
        return unsafe text(freeing: datum)
    }

    private func addName(_ kind: gnutls_x509_subject_alt_name_t, _ value: [UInt8]) throws(SecurityFailure) {
        try check(
            unsafe gnutls_x509_crt_set_subject_alt_name(
                handle, kind, value, UInt32(value.count), UInt32(GNUTLS_FSAN_APPEND)))
    }

    /// GnuTLS ends a name at a zero byte, so the extension is made here (RFC 5280 section 4.2.1.6).
    private func addRaw(_ host: [UInt8]) throws(SecurityFailure) {
        let name: [UInt8] = [0x82, UInt8(host.count)] + host
        let names: [UInt8] = [0x30, UInt8(name.count)] + name
        try check(unsafe gnutls_x509_crt_set_extension_by_oid(handle, "2.5.29.17", names, names.count, 0))
    }

    /// GnuTLS silently truncates the parts of an object identifier to 63 bits, so the extension is made here (RFC 5280
    /// section 4.2.1.12).
    private func addPurposes(_ purposes: [String]) throws(SecurityFailure) {
        if purposes.isEmpty { return }
        let names = purposes.flatMap { purpose in
            let value = objectIdentifier(purpose)
            return [0x06, UInt8(value.count)] + value
        }
        let list = [0x30, UInt8(names.count)] + names
        try check(unsafe gnutls_x509_crt_set_extension_by_oid(handle, "2.5.29.37", list, list.count, 0))
    }

    private func constrain(_ hosts: [String]) throws(SecurityFailure) {
        if hosts.isEmpty { return }
        var constraints: gnutls_x509_name_constraints_t?
        try unsafe check(gnutls_x509_name_constraints_init(&constraints))
        defer { unsafe gnutls_x509_name_constraints_deinit(constraints) }
        let opaque = unsafe constraints
        for host in hosts {
            try unsafe withDatum(Array(host.utf8)) { datum in
                unsafe gnutls_x509_name_constraints_add_permitted(opaque, GNUTLS_SAN_DNSNAME, &datum)
            }
        }
        try unsafe check(gnutls_x509_crt_set_name_constraints(handle, constraints, 1))
    }
}

/// Passes bytes to GnuTLS, which copies them during the call.
func withDatum(_ bytes: [UInt8], _ body: (inout gnutls_datum_t) -> Int32) throws(SecurityFailure) {
    var bytes = bytes
    let code = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        var datum = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
        return unsafe body(&datum)
    }
    try check(code)
}

/// The text of a datum made by GnuTLS, which is freed: `gnutls_free` is `free` unless it was replaced.
@unsafe func text(freeing datum: gnutls_datum_t) -> String {
    let bytes = unsafe UnsafeBufferPointer(start: datum.data, count: Int(datum.size))
    defer { unsafe free(datum.data) }
    return unsafe String(decoding: bytes, as: UTF8.self)
}

/// The content of an object identifier in DER (X.690 section 8.19); its parts may have any number of digits.
///
/// - Parameter text: dotted numbers.
/// - Returns: the bytes without tag and length.
func objectIdentifier(_ text: String) -> [UInt8] {
    var parts = text.split(separator: ".").map { $0.utf8.map { $0 - UInt8(ascii: "0") } }
    guard parts.count >= 2, let first = parts[0].first else { return [] }
    // The first two are one number: 40 times the first and the second.
    parts[0...1] = [added(parts[1], Int(first) * 40)]
    return parts.flatMap { base128($0) }
}

/// A decimal number and a small one.
private func added(_ digits: [UInt8], _ number: Int) -> [UInt8] {
    var (result, carry): ([UInt8], Int) = ([], number)
    for digit in digits.reversed() {
        result.insert(UInt8((Int(digit) + carry) % 10), at: 0)
        carry = (Int(digit) + carry) / 10
    }
    while carry > 0 {
        result.insert(UInt8(carry % 10), at: 0)
        carry /= 10
    }
    return result
}

/// A decimal number in groups of seven bits, all but the last one marked.
private func base128(_ digits: [UInt8]) -> [UInt8] {
    var (rest, groups): ([UInt8], [UInt8]) = (digits, [])
    repeat {
        var (quotient, remainder): ([UInt8], Int) = ([], 0)
        for digit in rest {
            let value = remainder * 10 + Int(digit)
            remainder = value % 128
            if !quotient.isEmpty || value >= 128 { quotient.append(UInt8(value / 128)) }
        }
        groups.insert(UInt8(remainder) | (groups.isEmpty ? 0 : 0x80), at: 0)
        rest = quotient
    } while !rest.isEmpty
    return groups
}
