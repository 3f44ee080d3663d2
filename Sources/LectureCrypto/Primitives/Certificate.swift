import COpenSSL
import LectureFormats
import LectureModel

/// A parsed certificate (RFC 5280).
///
/// `@unchecked Sendable`: it is not changed after `init`; OpenSSL keeps what it computes on first use behind its own
/// lock, and the reference count is atomic.
@safe final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Reads one DER value.
    ///
    /// - Returns: nil when the bytes are not a certificate, have trailing bytes, or are not canonical DER.
    init?(der: [UInt8]) {
        let pointer: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
        ERR_clear_error()
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        if unsafe Self.der(of: unsafe pointer) != der { return nil }
    }

    /// Takes over a reference.
    init(takingOwnership pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe X509_free(pointer) }

    private static func der(of pointer: OpaquePointer) -> [UInt8]? {
        let length = unsafe i2d_X509(pointer, nil)
        guard length > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe i2d_X509(pointer, &cursor)
        }
        return written == length ? bytes : nil
    }

    /// OpenSSL's flags of the extensions, all computed at once.
    private var flags: Int32 { Int32(bitPattern: unsafe X509_get_extension_flags(pointer)) }

    /// Whether the version is 3.
    var isVersion3: Bool { unsafe X509_get_version(pointer) == 2 }

    /// Whether it is the certificate of an authority, or OpenSSL would treat it as one.
    var isAuthority: Bool { unsafe flags & EXFLAG_CA != 0 || X509_check_ca(pointer) != 0 }

    /// Whether it is self-signed.
    var isSelfSigned: Bool { flags & EXFLAG_SS != 0 }

    /// Whether an extension is broken.
    var isMalformed: Bool { flags & EXFLAG_INVALID != 0 }

    /// Whether a critical extension is unknown to OpenSSL.
    var hasUnknownCriticalExtension: Bool { flags & EXFLAG_CRITICAL != 0 }

    /// Whether key usage is present with digitalSignature and without keyCertSign.
    var isForSignatures: Bool {
        let usage = Int32(bitPattern: unsafe X509_get_key_usage(pointer))
        return flags & EXFLAG_KUSAGE != 0 && usage & KU_DIGITAL_SIGNATURE != 0 && usage & KU_KEY_CERT_SIGN == 0
    }

    /// Whether the serial number is positive and at most 20 octets long (RFC 5280 section 4.1.2.2).
    var hasProperSerial: Bool {
        guard let serial = unsafe X509_get0_serialNumber(pointer), unsafe ASN1_STRING_type(serial) == V_ASN1_INTEGER
        else { return false }
        let bytes = unsafe UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(serial), count: Int(ASN1_STRING_length(serial)))
        guard let first = unsafe bytes.first, unsafe bytes.contains(where: { $0 != 0 }) else { return false }
        // A first octet with its top bit set is preceded by a zero in the encoding, which counts.
        return bytes.count + (first >= 0x80 ? 1 : 0) <= 20
    }

    /// The object identifiers of the extended key usage, in dotted numbers; nil when there is none.
    var purposes: [String]? {
        guard let stack = unsafe X509_get_ext_d2i(pointer, NID_ext_key_usage, nil, nil) else { return nil }
        let list = OpaquePointer(stack)
        defer { unsafe EXTENDED_KEY_USAGE_free(list) }
        let count = unsafe OPENSSL_sk_num(list)
        return (0..<max(0, count)).map { index in
            var text = [CChar](repeating: 0, count: 256)
            let object = unsafe OpaquePointer(OPENSSL_sk_value(list, index))
            _ = unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The public key, checked like any other.
    ///
    /// - Throws: ``KeyRefusal``.
    func publicKey() throws(KeyRefusal) -> PublicKey {
        guard let key = unsafe X509_get_pubkey(pointer) else {
            ERR_clear_error()
            throw KeyRefusal("the key cannot be read")
        }
        let handle = unsafe KeyHandle(takingOwnership: key)
        let der: [UInt8]
        do throws(LectureError) { der = try handle.publicDER() } catch { throw KeyRefusal("the key cannot be read") }
        return try PublicKey(try PrivateKey.parts(handle, der))
    }

    /// The SHA-256 of the public key (SubjectPublicKeyInfo in DER) as base64url: a certificate renewed for the same key
    /// keeps it.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func keyThumbprint() throws(LectureError) -> String {
        guard let key = unsafe X509_get_pubkey(pointer) else { throw OpenSSLFailure.drain("X509_get_pubkey") }
        let der = try unsafe KeyHandle(takingOwnership: key).publicDER()
        let digest = try SHA256Digest(SHA256Algorithm())
        unsafe der.withUnsafeBytes { unsafe digest.update($0) }
        return Base64URL.text(try digest.finish())
    }
}

/// Roots and revocation lists.
///
/// `@unchecked Sendable`: nothing is added after `init`, and OpenSSL locks the store on every search.
@safe final class CertificateStore: @unchecked Sendable {
    /// The result of the search for a chain.
    enum Outcome {
        /// A chain: the purposes of each certificate between leaf and root, and the thumbprint of the root's key.
        case found(issuers: [[String]?], root: String)
        /// OpenSSL's code, an `X509_V_ERR_…`.
        case refused(Int32)
    }

    private let pointer: OpaquePointer
    private let flags: UInt

    /// Makes a store.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` for invalid roots or lists.
    init(roots: [[UInt8]], lists: [[UInt8]]) throws(LectureError) {
        guard let pointer = unsafe X509_STORE_new() else { throw OpenSSLFailure.drain("X509_STORE_new") }
        unsafe self.pointer = pointer
        let strict = UInt(X509_V_FLAG_X509_STRICT)
        // With lists, each certificate below the root must be covered by one: a missing list is a refusal.
        flags = lists.isEmpty ? strict : strict | UInt(X509_V_FLAG_CRL_CHECK) | UInt(X509_V_FLAG_CRL_CHECK_ALL)
        for der in roots {
            guard let root = Certificate(der: der), root.isAuthority, root.isSelfSigned else {
                throw LectureError(.configuration, detail: "root certificate", cause: "it is not a root in DER")
            }
            guard unsafe X509_STORE_add_cert(pointer, root.pointer) == 1 else {
                throw OpenSSLFailure.drain("X509_STORE_add_cert")
            }
        }
        for der in lists { try add(list: der) }
    }

    deinit { unsafe X509_STORE_free(pointer) }

    private func add(list der: [UInt8]) throws(LectureError) {
        let list: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509_CRL(nil, &cursor, buffer.count)
        }
        ERR_clear_error()
        guard let list = unsafe list else {
            throw LectureError(.configuration, detail: "revocation list", cause: "it is not a list in DER")
        }
        defer { unsafe X509_CRL_free(list) }
        guard unsafe X509_STORE_add_crl(pointer, list) == 1 else { throw OpenSSLFailure.drain("X509_STORE_add_crl") }
    }

    /// Searches for a chain from a leaf to a root (RFC 5280 section 6).
    ///
    /// - Parameters:
    ///   - leaf: the certificate to judge.
    ///   - others: certificates that may be in between; not trusted.
    ///   - seconds: the time to judge at, since 1970.
    ///   - depth: how many certificates may be between leaf and root.
    /// - Returns: the result.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when OpenSSL cannot judge.
    func chain(
        from leaf: Certificate, over others: [Certificate], at seconds: Int, depth: Int
    ) throws(LectureError) -> Outcome {
        guard let stack = unsafe OPENSSL_sk_new_null() else { throw OpenSSLFailure.drain("OPENSSL_sk_new_null") }
        // The stack borrows: `others` keeps the certificates alive until this function returns.
        defer { unsafe OPENSSL_sk_free(stack) }
        for other in others {
            guard unsafe OPENSSL_sk_push(stack, UnsafeRawPointer(other.pointer)) > 0 else {
                throw OpenSSLFailure.drain("OPENSSL_sk_push")
            }
        }
        guard let context = unsafe X509_STORE_CTX_new() else { throw OpenSSLFailure.drain("X509_STORE_CTX_new") }
        defer {
            unsafe X509_STORE_CTX_free(context)
            withExtendedLifetime(others) {}
        }
        guard unsafe X509_STORE_CTX_init(context, pointer, leaf.pointer, stack) == 1,
            let settings = unsafe X509_STORE_CTX_get0_param(context),
            unsafe X509_VERIFY_PARAM_set_flags(settings, flags) == 1
        else { throw OpenSSLFailure.drain("X509_STORE_CTX_init") }
        unsafe X509_VERIFY_PARAM_set_time(settings, seconds)
        unsafe X509_VERIFY_PARAM_set_depth(settings, Int32(depth))
        unsafe X509_VERIFY_PARAM_set_auth_level(settings, 2)
        let result = unsafe X509_verify_cert(context)
        let code = unsafe X509_STORE_CTX_get_error(context)
        ERR_clear_error()
        if result == 1, code == X509_V_OK {
            return .found(issuers: unsafe Self.issuers(in: context), root: try unsafe Self.root(in: context))
        }
        if result < 0, code == X509_V_ERR_OUT_OF_MEM || code == X509_V_ERR_UNSPECIFIED {
            throw LectureError(.cryptography, detail: "X509_verify_cert", cause: Self.words(code))
        }
        // A refusal without a code would be read as success.
        return .refused(code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code)
    }

    /// The purposes of each certificate between leaf and root.
    private static func issuers(in context: OpaquePointer) -> [[String]?] {
        guard let chain = unsafe X509_STORE_CTX_get0_chain(context) else { return [] }
        let count = unsafe OPENSSL_sk_num(chain)
        return (0..<max(0, count)).dropFirst().dropLast().map { index in
            guard let raw = unsafe OPENSSL_sk_value(chain, index) else { return [] }
            let certificate = OpaquePointer(raw)
            _ = unsafe X509_up_ref(certificate)
            return unsafe Certificate(takingOwnership: certificate).purposes
        }
    }

    /// The thumbprint of the key of the chain's last certificate.
    private static func root(in context: OpaquePointer) throws(LectureError) -> String {
        let chain = unsafe X509_STORE_CTX_get0_chain(context)
        guard let chain = unsafe chain, let raw = unsafe OPENSSL_sk_value(chain, OPENSSL_sk_num(chain) - 1) else {
            throw LectureError(.cryptography, detail: "X509_STORE_CTX_get0_chain")
        }
        let certificate = OpaquePointer(raw)
        _ = unsafe X509_up_ref(certificate)
        return try unsafe Certificate(takingOwnership: certificate).keyThumbprint()
    }

    /// OpenSSL's sentence for a code.
    static func words(_ code: Int32) -> String {
        guard let text = unsafe X509_verify_cert_error_string(Int(code)) else { return "code \(code)" }
        return unsafe String(cString: text)
    }
}
