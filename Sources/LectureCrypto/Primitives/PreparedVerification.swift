import COpenSSL
import LectureModel

/// A digest of the SHA-2 family, fetched once: OpenSSL looks an unfetched one up again for every message, under a lock
/// that all threads share.
///
/// `@unchecked Sendable`: an `EVP_MD` does not change after it was fetched, and its reference count is atomic.
@safe private final class FetchedDigest: @unchecked Sendable {
    let method: OpaquePointer
    /// The length of a sum in bytes.
    let length: Int

    init(_ digest: SHA2) throws(LectureError) {
        guard let method = unsafe EVP_MD_fetch(nil, digest.name, nil) else {
            throw OpenSSLFailure.drain("EVP_MD_fetch \(digest.name)")
        }
        unsafe self.method = method
        length = digest.length
    }

    deinit { unsafe EVP_MD_free(method) }
}

/// A digest and a context that are ready to verify, again and again. Used by one thread at a time.
///
/// `@unchecked Sendable`: it is only reached through the pool of ``PreparedVerification``, which lends it to one
/// thread.
@safe private final class ReadyContext: @unchecked Sendable {
    private let context: OpaquePointer
    private let digest: FetchedDigest
    /// The `EVP_MD_CTX` of the digest: a new one for each message would be two allocations more.
    private let digesting: OpaquePointer
    private var sum: [UInt8]

    init(_ handle: KeyHandle, _ scheme: SignatureScheme, _ digest: FetchedDigest) throws(LectureError) {
        guard let digesting = unsafe EVP_MD_CTX_new() else { throw OpenSSLFailure.drain("EVP_MD_CTX_new") }
        guard let context = unsafe EVP_PKEY_CTX_new(handle.pointer, nil) else {
            let failure = OpenSSLFailure.drain("EVP_PKEY_CTX_new")
            unsafe EVP_MD_CTX_free(digesting)
            throw failure
        }
        guard unsafe EVP_PKEY_verify_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(context, scheme.digest?.method) == 1,
            unsafe scheme.prepare(context)
        else {
            let failure = OpenSSLFailure.drain("EVP_PKEY_verify_init")
            unsafe EVP_PKEY_CTX_free(context)
            unsafe EVP_MD_CTX_free(digesting)
            throw failure
        }
        unsafe self.context = context
        unsafe self.digesting = digesting
        self.digest = digest
        sum = [UInt8](repeating: 0, count: digest.length)
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
        unsafe EVP_MD_CTX_free(digesting)
    }

    func verifies(_ signature: [UInt8], of message: [UInt8]) throws(LectureError) -> Bool {
        var written: UInt32 = 0
        guard unsafe EVP_DigestInit_ex2(digesting, digest.method, nil) == 1,
            unsafe EVP_DigestUpdate(digesting, message, message.count) == 1,
            unsafe EVP_DigestFinal_ex(digesting, &sum, &written) == 1, Int(written) == sum.count
        else { throw OpenSSLFailure.drain("EVP_DigestFinal_ex") }
        return unsafe EVP_PKEY_verify(context, signature, signature.count, sum, sum.count) == 1
    }
}

/// Verifies signatures of one scheme under one key. What depends only on these two is prepared once: OpenSSL needs as
/// long for that as for a third of a verification with RSA.
///
/// `@unchecked Sendable`: the template is only copied from after `init`, which does not change it; all else is
/// `Sendable`.
@safe final class PreparedVerification: @unchecked Sendable {
    private let handle: KeyHandle
    private let scheme: SignatureScheme
    private let digest: FetchedDigest?
    /// The contexts of a scheme with a digest that no thread uses; at most as many as threads have ever verified at
    /// once.
    private let idle = Guarded<[ReadyContext]>([])
    /// The `EVP_MD_CTX` that is copied for each signature of a scheme without a digest; such a context ends with it.
    private let template: OpaquePointer?

    /// Prepares a scheme.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(_ handle: KeyHandle, _ scheme: SignatureScheme) throws(LectureError) {
        self.handle = handle
        self.scheme = scheme
        if let digest = scheme.digest {
            self.digest = try FetchedDigest(digest)
            unsafe template = nil
            return
        }
        digest = nil
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLFailure.drain("EVP_MD_CTX_new") }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, handle.pointer) == 1 else {
            let failure = OpenSSLFailure.drain("EVP_DigestVerifyInit")
            unsafe EVP_MD_CTX_free(context)
            throw failure
        }
        unsafe template = context
    }

    deinit { unsafe EVP_MD_CTX_free(template) }

    /// Whether a signature is right. Any failure of OpenSSL to verify means that it is not: key and scheme were
    /// accepted before, so only the signature can fail.
    ///
    /// - Parameters:
    ///   - signature: in OpenSSL's form.
    ///   - message: what was signed.
    /// - Returns: whether it is right.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when there is no memory.
    func verifies(_ signature: [UInt8], of message: [UInt8]) throws(LectureError) -> Bool {
        guard let digest else { return try verifiesWhole(signature, of: message) }
        let known = idle.withLock { $0.popLast() }
        let context = if let known { known } else { try ReadyContext(handle, scheme, digest) }
        let isRight = try context.verifies(signature, of: message)
        idle.withLock { $0.append(context) }
        ERR_clear_error()
        return isRight
    }

    private func verifiesWhole(_ signature: [UInt8], of message: [UInt8]) throws(LectureError) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLFailure.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_MD_CTX_copy_ex(context, template) == 1 else {
            throw OpenSSLFailure.drain("EVP_MD_CTX_copy_ex")
        }
        let result = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
        ERR_clear_error()
        return result == 1
    }
}

/// The schemes that a key has verified, each prepared with its first signature.
final class PreparedVerifications: Sendable {
    private let prepared = Guarded<[SignatureScheme: PreparedVerification]>([:])

    /// The verification of a scheme.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func verification(_ handle: KeyHandle, _ scheme: SignatureScheme) throws(LectureError) -> PreparedVerification {
        try prepared.withLock { prepared throws(LectureError) in
            if let known = prepared[scheme] { return known }
            let made = try PreparedVerification(handle, scheme)
            prepared[scheme] = made
            return made
        }
    }
}
