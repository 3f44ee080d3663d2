import COpenSSL
import LectureModel

/// The store's key for proofs: 32 bytes that are overwritten before their memory is freed.
///
/// `@unchecked Sendable`: the memory is written only in `init` and in `deinit`, where no other code has a reference.
@safe final class ChunkTagKey: @unchecked Sendable {
    /// The length of an AES-256 key in bytes.
    static let length = 32
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies a key. The caller clears its own array.
    ///
    /// - Parameter bytes: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for another length. The error does not contain
    ///   the bytes.
    init(copying bytes: [UInt8]) throws(LectureError) {
        guard bytes.count == Self.length else {
            throw LectureError(.parameter, detail: "proof key", cause: "it must have \(Self.length) bytes")
        }
        unsafe memory = .allocate(byteCount: Self.length, alignment: 16)
        unsafe memory.copyBytes(from: bytes)
    }

    /// Copies a secret without an array in between.
    ///
    /// - Parameter secret: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for another length.
    init(copying secret: SecretBytes) throws(LectureError) {
        guard secret.count == Self.length else {
            throw LectureError(.parameter, detail: "proof key", cause: "it must have \(Self.length) bytes")
        }
        unsafe memory = .allocate(byteCount: Self.length, alignment: 16)
        unsafe secret.withBytes { unsafe memory.copyMemory(from: $0) }
    }

    deinit {
        // The optimiser removes a plain store before a free; this one it does not.
        unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
        unsafe memory.deallocate()
    }

    /// Lends the key.
    ///
    /// - Parameter body: receives the 32 bytes; must not keep the pointer.
    /// - Returns: the result of `body`.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(memory))
    }
}
