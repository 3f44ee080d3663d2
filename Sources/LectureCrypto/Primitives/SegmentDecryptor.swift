import COpenSSL
package import LectureModel

/// Decrypts a segment with AES-128 in CBC mode and PKCS7 padding (RFC 8216 section 4.3.2.4), in pieces of any size.
///
/// `@unchecked Sendable`: the context is only used inside the lock.
@safe package final class SegmentDecryptor: @unchecked Sendable {
    /// The length of a key, of a vector and of a block in bytes.
    package static let blockLength = 16
    /// OpenSSL counts in 32 bits.
    private static let longest = 1 << 20
    private let context: OpaquePointer
    private let lock = Guarded(())

    /// Begins a segment.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - vector: 16 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/streamKey`` for a key or a vector of another length, or
    ///   ``LectureError/Code/cryptography``.
    package init(key: SecretBytes, vector: [UInt8]) throws(LectureError) {
        guard key.count == Self.blockLength, vector.count == Self.blockLength else { throw LectureError(.streamKey) }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLFailure.drain("EVP_CIPHER_CTX_new") }
        unsafe self.context = context
        let isReady = unsafe key.withOctets { key in
            unsafe EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, vector) == 1
        }
        guard isReady else { throw OpenSSLFailure.drain("AES-128-CBC") }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Decrypts the next bytes.
    ///
    /// - Parameter bytes: of the segment, in their order.
    /// - Returns: what is decrypted by now: the last block is kept back.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func update(_ bytes: [UInt8]) throws(LectureError) -> [UInt8] {
        var clear: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Self.longest))
            rest = rest.dropFirst(piece.count)
            var part = [UInt8](repeating: 0, count: piece.count + Self.blockLength)
            var written: Int32 = 0
            let isDone = lock.withLock { _ in
                unsafe EVP_DecryptUpdate(context, &part, &written, piece, Int32(piece.count)) == 1
            }
            guard isDone else { throw OpenSSLFailure.drain("AES-128-CBC") }
            clear += part.prefix(Int(written))
        }
        return clear
    }

    /// Ends the segment.
    ///
    /// - Returns: the rest, without the padding.
    /// - Throws: ``LectureError`` with ``LectureError/Code/streamKey`` when the padding is wrong: the key is another
    ///   one, or the segment is not whole.
    package func finish() throws(LectureError) -> [UInt8] {
        var part = [UInt8](repeating: 0, count: Self.blockLength)
        var written: Int32 = 0
        let isDone = lock.withLock { _ in unsafe EVP_DecryptFinal_ex(context, &part, &written) == 1 }
        guard isDone else {
            ERR_clear_error()
            throw LectureError(.streamKey, cause: "a segment cannot be decrypted with it")
        }
        return Array(part.prefix(Int(written)))
    }
}
