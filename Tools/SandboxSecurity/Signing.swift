import CGnuTLS
import Glibc

/// A private key that signs tokens. Belongs to one thread at a time.
@safe package final class Signer {
    /// How a token is signed, by its name in `alg` (RFC 7518 section 3.1, RFC 8037).
    package enum Algorithm: String, Sendable {
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
        /// Ed25519.
        case edDSA = "EdDSA"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
        /// RSASSA-PSS with SHA-256 and a salt of 32 bytes.
        case ps256 = "PS256"
    }

    /// The public part, each number big-endian.
    package enum Parts: Sendable {
        /// A point on P-256, 32 bytes each.
        case ec(x: [UInt8], y: [UInt8])
        /// 32 bytes.
        case ed25519([UInt8])
        /// Without leading zeros.
        case rsa(modulus: [UInt8], exponent: [UInt8])
    }

    /// The certificate in DER.
    package let certificate: [UInt8]
    // The second handle uses memory that the first one owns.
    private let key: PrivateKey
    private let handle: gnutls_privkey_t

    /// Makes a signer with the key of an identity.
    ///
    /// - Parameter identity: with a key of GnuTLS.
    /// - Throws: ``SecurityFailure``.
    package init(_ identity: Identity) throws(SecurityFailure) {
        certificate = try Certificate(pem: identity.certificatePEM).der()
        key = try PrivateKey(pem: identity.keyPEM)
        var handle: gnutls_privkey_t?
        try unsafe check(gnutls_privkey_init(&handle))
        guard let handle = unsafe handle else { throw SecurityFailure(code: GNUTLS_E_MEMORY_ERROR) }
        unsafe self.handle = unsafe handle
        try unsafe check(gnutls_privkey_import_x509(handle, key.handle, 0))
    }

    deinit { unsafe gnutls_privkey_deinit(handle) }

    /// Signs.
    ///
    /// - Parameters:
    ///   - message: the whole message.
    ///   - algorithm: one that fits the key.
    /// - Returns: the signature as JSON Web Signatures carry it; of ECDSA the two numbers, 32 bytes each.
    /// - Throws: ``SecurityFailure``.
    package func sign(_ message: [UInt8], _ algorithm: Algorithm) throws(SecurityFailure) -> [UInt8] {
        let kind =
            switch algorithm {
            case .es256: GNUTLS_SIGN_ECDSA_SHA256
            case .edDSA: GNUTLS_SIGN_EDDSA_ED25519
            case .rs256: GNUTLS_SIGN_RSA_SHA256
            case .ps256: GNUTLS_SIGN_RSA_PSS_RSAE_SHA256
            }
        let handle = unsafe handle
        var signature = unsafe gnutls_datum_t()
        try unsafe withDatum(message) { datum in
            unsafe gnutls_privkey_sign_data2(handle, kind, 0, &datum, &signature)
        }
        let bytes = unsafe bytes(freeing: signature)
        guard algorithm == .es256 else { return bytes }
        var (left, right) = unsafe (gnutls_datum_t(), gnutls_datum_t())
        try unsafe withDatum(bytes) { datum in unsafe gnutls_decode_rs_value(&datum, &left, &right) }
        return unsafe Self.padded(SandboxSecurity.bytes(freeing: left))
            + Self.padded(SandboxSecurity.bytes(freeing: right))
    }

    /// The public part.
    ///
    /// - Returns: by the kind of the key.
    /// - Throws: ``SecurityFailure``.
    package func parts() throws(SecurityFailure) -> Parts {
        var (first, second) = unsafe (gnutls_datum_t(), gnutls_datum_t())
        let flags = UInt32(GNUTLS_EXPORT_FLAG_NO_LZ.rawValue)
        if unsafe gnutls_privkey_get_pk_algorithm(handle, nil) == GNUTLS_PK_RSA.rawValue {
            try unsafe check(
                gnutls_privkey_export_rsa_raw2(handle, &first, &second, nil, nil, nil, nil, nil, nil, flags))
            return unsafe .rsa(modulus: bytes(freeing: first), exponent: bytes(freeing: second))
        }
        var curve = GNUTLS_ECC_CURVE_INVALID
        try unsafe check(gnutls_privkey_export_ecc_raw2(handle, &curve, &first, &second, nil, flags))
        let (x, y) = unsafe (bytes(freeing: first), bytes(freeing: second))
        return curve == GNUTLS_ECC_CURVE_ED25519 ? .ed25519(x) : .ec(x: Self.padded(x), y: Self.padded(y))
    }

    /// A number as 32 bytes.
    private static func padded(_ number: [UInt8]) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        return [UInt8](repeating: 0, count: max(0, 32 - digits.count)) + digits
    }
}

/// Makes a revocation list (RFC 5280 section 5).
///
/// - Parameters:
///   - issuer: an authority that may sign lists.
///   - revoked: certificates of this issuer.
///   - seconds: how long it is valid.
/// - Returns: PEM.
/// - Throws: ``SecurityFailure``.
package func revocationList(
    by issuer: Identity, revoking revoked: [Identity], goodFor seconds: Int
) throws(SecurityFailure) -> String {
    var list: gnutls_x509_crl_t?
    try unsafe check(gnutls_x509_crl_init(&list))
    guard let list = unsafe list else { throw SecurityFailure(code: GNUTLS_E_MEMORY_ERROR) }
    defer { unsafe gnutls_x509_crl_deinit(list) }
    let now = time(nil)
    try unsafe check(gnutls_x509_crl_set_version(list, 2))
    try unsafe check(gnutls_x509_crl_set_this_update(list, now - 86_400))
    try unsafe check(gnutls_x509_crl_set_next_update(list, now + seconds))
    let number: [UInt8] = [1]
    try unsafe check(gnutls_x509_crl_set_number(list, number, number.count))
    for identity in revoked { try unsafe Certificate(pem: identity.certificatePEM).enter(list, at: now - 86_400) }
    try unsafe Certificate(pem: issuer.certificatePEM).sign(list, PrivateKey(pem: issuer.keyPEM))
    var datum = unsafe gnutls_datum_t()
    try unsafe check(gnutls_x509_crl_export2(list, GNUTLS_X509_FMT_PEM, &datum))
    return unsafe text(freeing: datum)
}

// Methods, because a handle alone does not keep its certificate alive.
extension Certificate {
    /// The certificate in DER.
    func der() throws(SecurityFailure) -> [UInt8] {
        var datum = unsafe gnutls_datum_t()
        try unsafe check(gnutls_x509_crt_export2(handle, GNUTLS_X509_FMT_DER, &datum))
        return unsafe bytes(freeing: datum)
    }

    /// Adds the certificate to a list of revoked ones.
    @unsafe fileprivate func enter(_ list: gnutls_x509_crl_t, at seconds: Int) throws(SecurityFailure) {
        try unsafe check(gnutls_x509_crl_set_crt(list, handle, seconds))
    }

    /// Signs a list as its issuer.
    @unsafe fileprivate func sign(_ list: gnutls_x509_crl_t, _ key: PrivateKey) throws(SecurityFailure) {
        var identifier = [UInt8](repeating: 0, count: 64)
        var (count, critical) = (identifier.count, UInt32(0))
        try unsafe check(gnutls_x509_crt_get_subject_key_id(handle, &identifier, &count, &critical))
        try unsafe check(gnutls_x509_crl_set_authority_key_id(list, identifier, count))
        try unsafe check(gnutls_x509_crl_sign2(list, handle, key.handle, GNUTLS_DIG_SHA256, 0))
    }
}

/// The bytes of a datum made by GnuTLS, which is freed.
@unsafe private func bytes(freeing datum: gnutls_datum_t) -> [UInt8] {
    defer { unsafe free(datum.data) }
    return unsafe Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
}
