import COpenSSL
import LectureModel

/// RSAES-OAEP with SHA-256 and MGF1 of SHA-256 (RFC 8017 section 7.1, RFC 7518 section 4.3).
enum RSAOAEP {
    /// Decrypts a short message.
    ///
    /// - Returns: the message, or nil when it is not for this key. Callers must not let that be distinguished from a
    ///   message that turns out to be wrong later.
    static func open(_ box: [UInt8], key: KeyHandle) throws(LectureError) -> SecretBytes? {
        try unsafe key.withContext { context throws(LectureError) in
            guard unsafe EVP_PKEY_decrypt_init(context) == 1, unsafe prepare(context) else {
                throw OpenSSLFailure.drain("EVP_PKEY_decrypt_init")
            }
            var length = 0
            guard unsafe EVP_PKEY_decrypt(context, nil, &length, box, box.count) == 1 else {
                ERR_clear_error()
                return nil
            }
            var isOpen = false
            let target = try unsafe SecretBytes(count: length) { buffer in
                let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                isOpen = unsafe EVP_PKEY_decrypt(context, start, &length, box, box.count) == 1
                ERR_clear_error()
            }
            guard isOpen else { return nil }
            return try unsafe SecretBytes(count: length) { buffer in
                unsafe target.withBytes {
                    unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<length]))
                }
            }
        }
    }

    /// Encrypts a short message.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``, for instance for a message that is too long.
    static func seal(_ message: SecretBytes, key: KeyHandle) throws(LectureError) -> [UInt8] {
        try unsafe key.withContext { context throws(LectureError) in
            guard unsafe EVP_PKEY_encrypt_init(context) == 1, unsafe prepare(context) else {
                throw OpenSSLFailure.drain("EVP_PKEY_encrypt_init")
            }
            return try unsafe message.withOctets { text throws(LectureError) in
                var length = 0
                guard unsafe EVP_PKEY_encrypt(context, nil, &length, text, message.count) == 1 else {
                    throw OpenSSLFailure.drain("EVP_PKEY_encrypt")
                }
                var box = [UInt8](repeating: 0, count: length)
                guard unsafe EVP_PKEY_encrypt(context, &box, &length, text, message.count) == 1, length == box.count
                else { throw OpenSSLFailure.drain("EVP_PKEY_encrypt") }
                return box
            }
        }
    }

    private static func prepare(_ context: OpaquePointer) -> Bool {
        unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
    }
}
