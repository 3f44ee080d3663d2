import COpenSSL
import Glibc
package import LectureModel

/// Key material in memory of its own: locked into RAM and left out of core dumps where the system permits it, and
/// overwritten before it is freed. Never printed, and compared only in constant time.
///
/// Each secret has whole pages, because `mlock` and `madvise` work on pages: a shared page would be unlocked with the
/// first of its secrets.
///
/// `@unchecked Sendable`: the memory is written only by the closure that `init` runs and by `deinit`, where no other
/// code has a reference.
@safe package final class SecretBytes: @unchecked Sendable {
    /// The number of bytes.
    package let count: Int
    private let pages: UnsafeMutableRawBufferPointer

    /// Makes a secret in place, so that no copy of it is left in an array.
    ///
    /// - Parameters:
    ///   - count: the number of bytes, 0…1 MiB.
    ///   - fill: writes them; the memory is zero before. Its errors are passed on.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when there is no memory, or the error of
    ///   `fill`.
    package init(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(LectureError) -> Void
    ) throws(LectureError) {
        guard (0...1 << 20).contains(count) else { throw LectureError(.parameter, detail: "length of a secret") }
        self.count = count
        let page = max(4096, Int(getpagesize()))
        let length = max(1, (count + page - 1) / page) * page
        let memory = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            throw LectureError(.cryptography, detail: "memory for a secret", cause: "errno \(errno)")
        }
        unsafe pages = UnsafeMutableRawBufferPointer(start: memory, count: length)
        // Best effort: RLIMIT_MEMLOCK may forbid the first, and neither changes what the program computes.
        _ = unsafe mlock(memory, length)
        _ = unsafe madvise(memory, length, Int32(MADV_DONTDUMP))
        try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Copies a secret; the caller clears its own array.
    ///
    /// - Parameter bytes: at most 1 MiB.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when there is no memory.
    package convenience init(copying bytes: [UInt8]) throws(LectureError) {
        try unsafe self.init(count: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Generates a random secret.
    ///
    /// - Parameter count: the number of bytes.
    /// - Returns: unpredictable bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when the generator cannot be seeded.
    package static func random(_ count: Int) throws(LectureError) -> SecretBytes {
        try unsafe SecretBytes(count: count) { buffer throws(LectureError) in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard unsafe RAND_priv_bytes(start, Int32(buffer.count)) == 1 else {
                throw OpenSSLFailure.drain("RAND_priv_bytes")
            }
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(pages.baseAddress, pages.count)
        _ = unsafe munmap(pages.baseAddress, pages.count)
    }

    /// Lends the bytes.
    ///
    /// - Parameter body: receives the bytes; must not keep the pointer.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Lends the bytes to a C function that counts in `unsigned char`.
    func withOctets<Result, Failure: Error>(
        _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The pages are never empty, so there always is an address.
        guard let start = unsafe pages.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            preconditionFailure("a secret without memory")
        }
        return try unsafe body(UnsafePointer(start))
    }

    /// Lends the memory for what only this module writes to it, and clears. The caller excludes other users.
    func withScratch<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
        guard let start = unsafe pages.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            preconditionFailure("a secret without memory")
        }
        return unsafe body(start)
    }

    /// Whether both have the same bytes; the time depends only on their lengths.
    ///
    /// - Parameter other: another secret.
    /// - Returns: whether they are equal.
    package func isEqual(to other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return unsafe withBytes { left in
            unsafe other.withBytes { right in unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, count) == 0 }
        }
    }

    /// A copy in an array, for a file or a message that is protected by other means; the copy is not cleared.
    ///
    /// - Returns: the bytes.
    package func exposed() -> [UInt8] { unsafe withBytes { unsafe Array($0) } }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the bytes.
    package var description: String { "secret" }
    /// Never the bytes.
    package var debugDescription: String { "secret" }
    /// Never the bytes: `dump` and test reports walk mirrors.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
