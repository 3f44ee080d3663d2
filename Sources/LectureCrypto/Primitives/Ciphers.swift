import COpenSSL
package import LectureModel

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), fetched once: nonces of 12 bytes, tags of 16.
///
/// `@unchecked Sendable`: an `EVP_CIPHER` does not change after it was fetched, and its reference count is atomic.
@safe package final class AESGCM: @unchecked Sendable {
    /// The length of a key in bytes.
    package static let keyLength = 32
    /// The length of a nonce in bytes.
    package static let nonceLength = 12
    /// The length of a tag in bytes.
    package static let tagLength = 16
    private let cipher: OpaquePointer

    /// Fetches the cipher from OpenSSL's providers.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package init() throws(LectureError) {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            throw OpenSSLFailure.drain("EVP_CIPHER_fetch AES-256-GCM")
        }
        unsafe self.cipher = cipher
    }

    deinit { unsafe EVP_CIPHER_free(cipher) }

    /// Encrypts and authenticates.
    ///
    /// - Parameters:
    ///   - plaintext: the text to encrypt.
    ///   - box: receives the ciphertext and then the tag; 16 bytes longer than `plaintext`. May begin where it does,
    ///     but not overlap with it otherwise.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used before with this key.
    ///   - associated: data that is authenticated but not encrypted.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a wrong length, or
    ///   ``LectureError/Code/cryptography``.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, into box: UnsafeMutableRawBufferPointer, key: SecretBytes,
        nonce: [UInt8], associated: [UInt8] = []
    ) throws(LectureError) {
        try require(key, nonce, lengths: box.count == plaintext.count + Self.tagLength)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.drain("EVP_CIPHER_CTX_new") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let output = unsafe box.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let tag = unsafe output.map { unsafe $0 + plaintext.count }
        var rest: Int32 = 0
        guard unsafe key.withOctets({ unsafe EVP_EncryptInit_ex2(context, cipher, $0, nonce, nil) }) == 1,
            unsafe update(context, nil, associated, EVP_EncryptUpdate),
            unsafe update(context, output, plaintext, EVP_EncryptUpdate),
            unsafe EVP_EncryptFinal_ex(context, tag, &rest) == 1, rest == 0,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), tag) == 1
        else { throw OpenSSLFailure.drain("AES-256-GCM") }
    }

    /// Decrypts, and returns whether the text is authentic.
    ///
    /// - Parameters:
    ///   - box: the ciphertext and then the tag.
    ///   - plaintext: receives the text; 16 bytes shorter than `box`. It is cleared when the result is false.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes.
    ///   - associated: data that was authenticated but not encrypted.
    /// - Returns: whether the tag is right.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a wrong length, or
    ///   ``LectureError/Code/cryptography``.
    package func open(
        _ box: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer, key: SecretBytes,
        nonce: [UInt8], associated: [UInt8] = []
    ) throws(LectureError) -> Bool {
        try require(key, nonce, lengths: box.count == plaintext.count + Self.tagLength)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.drain("EVP_CIPHER_CTX_new") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let output = unsafe plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let text = unsafe UnsafeRawBufferPointer(rebasing: box.prefix(plaintext.count))
        var tag = unsafe Array(box.suffix(Self.tagLength))
        guard unsafe key.withOctets({ unsafe EVP_DecryptInit_ex2(context, cipher, $0, nonce, nil) }) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            unsafe update(context, nil, associated, EVP_DecryptUpdate),
            unsafe update(context, output, text, EVP_DecryptUpdate)
        else { throw OpenSSLFailure.drain("AES-256-GCM") }
        var rest: Int32 = 0
        var none: UInt8 = 0
        if unsafe EVP_DecryptFinal_ex(context, &none, &rest) == 1 { return true }
        ERR_clear_error()
        unsafe OPENSSL_cleanse(plaintext.baseAddress, plaintext.count)
        return false
    }

    private func require(_ key: SecretBytes, _ nonce: [UInt8], lengths: Bool) throws(LectureError) {
        guard lengths, key.count == Self.keyLength, nonce.count == Self.nonceLength else {
            throw LectureError(.parameter, detail: "AES-256-GCM", cause: "a length is wrong")
        }
    }

    private typealias Update = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?, UnsafePointer<UInt8>?, Int32
    ) -> Int32

    private func update(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?, _ input: [UInt8], _ step: Update
    ) -> Bool {
        unsafe input.withUnsafeBytes { unsafe update(context, output, $0, step) }
    }

    /// Processes all bytes; OpenSSL counts in 32 bits.
    private func update(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?, _ input: UnsafeRawBufferPointer,
        _ step: Update
    ) -> Bool {
        guard let length = Int32(exactly: input.count) else { return false }
        var written: Int32 = 0
        if length == 0 { return true }
        let start = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe step(context, output, &written, start, length) == 1 && written == length
    }
}

/// AES key wrap (RFC 3394) with the usual initial value: for keys of 16 bytes and more in steps of 8.
package enum KeyWrap {
    /// What wrapping adds, in bytes.
    package static let overhead = 8

    /// Wraps a key.
    ///
    /// - Parameters:
    ///   - key: the key to wrap: 16 bytes or more, a multiple of 8.
    ///   - wrapping: the key to wrap with: 16, 24 or 32 bytes.
    /// - Returns: 8 bytes more than `key` has.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a wrong length, or
    ///   ``LectureError/Code/cryptography``.
    package static func wrap(_ key: SecretBytes, with wrapping: SecretBytes) throws(LectureError) -> [UInt8] {
        guard key.count >= 16, key.count.isMultiple(of: 8) else {
            throw LectureError(.parameter, detail: "key wrap", cause: "the key has \(key.count) bytes")
        }
        let context = try WrapContext(wrapping, encrypts: true)
        var box = [UInt8](repeating: 0, count: key.count + overhead)
        var written: Int32 = 0
        let isDone = unsafe key.withOctets { text in
            unsafe EVP_EncryptUpdate(context.pointer, &box, &written, text, Int32(key.count)) == 1
        }
        guard isDone, Int(written) == box.count else { throw OpenSSLFailure.drain("AES-WRAP") }
        return box
    }

    /// Unwraps a key.
    ///
    /// - Parameters:
    ///   - box: from ``wrap(_:with:)``.
    ///   - wrapping: the key it was wrapped with.
    /// - Returns: the key, or nil when the box was changed or belongs to another key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a wrapping key of another length, or
    ///   ``LectureError/Code/cryptography``.
    package static func unwrap(_ box: [UInt8], with wrapping: SecretBytes) throws(LectureError) -> SecretBytes? {
        guard box.count >= 24, box.count.isMultiple(of: 8), box.count <= 1 << 16 else { return nil }
        let context = try WrapContext(wrapping, encrypts: false)
        var isOpen = false
        let key = try unsafe SecretBytes(count: box.count - overhead) { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var written: Int32 = 0
            isOpen =
                unsafe EVP_DecryptUpdate(context.pointer, start, &written, box, Int32(box.count)) == 1
                && Int(written) == buffer.count
            ERR_clear_error()
        }
        return isOpen ? key : nil
    }

    /// Checks whether boxes can be unwrapped with one key: the cipher is fetched once, and what it opens goes into
    /// locked memory that is cleared for the next box. Between two boxes OpenSSL's memory, which is not locked, has no
    /// key.
    ///
    /// `@unchecked Sendable`: the context and the memory are only used inside the lock.
    final class Opener: @unchecked Sendable {
        private let context: WrapContext
        private let wrapping: SecretBytes
        private let scratch: SecretBytes
        private let noKey: [UInt8]
        private let lock = Guarded(())
        /// The longest key that fits into the memory; longer ones are unwrapped one by one.
        static let longest = 4096

        /// Prepares the cipher.
        ///
        /// - Parameter wrapping: 16, 24 or 32 bytes.
        /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a key of another length, or
        ///   ``LectureError/Code/cryptography``.
        init(_ wrapping: SecretBytes) throws(LectureError) {
            self.wrapping = wrapping
            noKey = [UInt8](repeating: 0, count: wrapping.count)
            context = try WrapContext(try SecretBytes(copying: noKey), encrypts: false)
            scratch = try unsafe SecretBytes(count: Self.longest) { _ in }
        }

        /// Whether a box holds a key.
        ///
        /// - Parameter box: from ``KeyWrap/wrap(_:with:)``.
        /// - Returns: the length of the key, which is overwritten at once; nil when the box was changed or belongs to
        ///   another key.
        /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
        func length(_ box: [UInt8]) throws(LectureError) -> Int? {
            guard box.count >= 24, box.count.isMultiple(of: 8), box.count <= Self.longest else { return nil }
            let (isDone, length) = lock.withLock { _ in
                var written: Int32 = 0
                let isReady = unsafe wrapping.withOctets { unsafe context.take($0) }
                let isOpen = unsafe scratch.withScratch { start in
                    defer { unsafe OPENSSL_cleanse(start, box.count) }
                    return unsafe EVP_DecryptUpdate(context.pointer, start, &written, box, Int32(box.count)) == 1
                }
                // What does not open leaves an error behind.
                ERR_clear_error()
                let isCleared = unsafe context.take(noKey)
                return (isReady && isCleared, isOpen && Int(written) == box.count - overhead ? Int(written) : nil)
            }
            guard isDone else { throw OpenSSLFailure.drain("EVP_CipherInit_ex AES-WRAP") }
            return length
        }
    }

    /// A context with the cipher for the length of the wrapping key.
    @safe private final class WrapContext {
        let pointer: OpaquePointer

        init(_ wrapping: SecretBytes, encrypts: Bool) throws(LectureError) {
            let cipher: OpaquePointer? =
                switch wrapping.count {
                case 16: unsafe EVP_aes_128_wrap()
                case 24: unsafe EVP_aes_192_wrap()
                case 32: unsafe EVP_aes_256_wrap()
                default: nil
                }
            guard let cipher = unsafe cipher else {
                throw LectureError(.parameter, detail: "key wrap", cause: "the key has \(wrapping.count) bytes")
            }
            guard let pointer = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.drain("EVP_CIPHER_CTX_new") }
            unsafe self.pointer = pointer
            unsafe EVP_CIPHER_CTX_set_flags(pointer, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
            let isReady = unsafe wrapping.withOctets { start in
                unsafe EVP_CipherInit_ex(pointer, cipher, nil, start, nil, encrypts ? 1 : 0) == 1
            }
            guard isReady else { throw OpenSSLFailure.drain("EVP_CipherInit_ex AES-WRAP") }
        }

        /// Takes another key of the same length.
        func take(_ key: UnsafePointer<UInt8>) -> Bool {
            unsafe EVP_CipherInit_ex(pointer, nil, nil, key, nil, -1) == 1
        }

        deinit { unsafe EVP_CIPHER_CTX_free(pointer) }
    }
}
