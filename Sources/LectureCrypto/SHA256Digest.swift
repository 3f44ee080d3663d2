import COpenSSL
import LectureModel

/// The algorithm SHA-256, fetched once: `EVP_sha256()` would look it up again for every digest.
///
/// `@unchecked Sendable`: an `EVP_MD` does not change after it was fetched, and its reference count is atomic.
@safe final class SHA256Algorithm: @unchecked Sendable {
    fileprivate let method: OpaquePointer

    /// Fetches the algorithm from OpenSSL's providers.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init() throws(LectureError) {
        guard let method = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            throw OpenSSLFailure.drain("EVP_MD_fetch SHA256")
        }
        unsafe self.method = method
    }

    deinit { unsafe EVP_MD_free(method) }
}

/// A SHA-256 (FIPS 180-4) in progress. Used by one thread at a time.
@safe final class SHA256Digest: RunningDigest {
    /// The length of a result in bytes.
    static let length = 32
    private let context: OpaquePointer
    private var failure: LectureError?

    /// Starts a digest.
    ///
    /// - Parameter algorithm: fetched before.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(_ algorithm: SHA256Algorithm) throws(LectureError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLFailure.drain("EVP_MD_CTX_new") }
        guard unsafe EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw OpenSSLFailure.drain("EVP_DigestInit_ex2")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, unsafe !bytes.isEmpty else { return }
        if unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 {
            failure = OpenSSLFailure.drain("EVP_DigestUpdate")
        }
    }

    func finish() throws(LectureError) -> [UInt8] {
        if let failure { throw failure }
        // A second call must not read a context that OpenSSL has already closed.
        failure = LectureError(.bug, detail: "a digest was finished twice")
        var result = [UInt8](repeating: 0, count: Self.length)
        var written: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &result, &written) == 1, Int(written) == Self.length else {
            throw OpenSSLFailure.drain("EVP_DigestFinal_ex")
        }
        return result
    }
}
