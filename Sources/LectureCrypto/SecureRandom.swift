import COpenSSL
package import LectureModel

/// Random bytes for keys and nonces, from OpenSSL's generator (seeded by the kernel, safe after `fork`).
package enum SecureRandom {
    /// Generates random bytes.
    ///
    /// - Parameter count: how many bytes.
    /// - Returns: `count` unpredictable bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when the generator cannot be seeded, or
    ///   ``LectureError/Code/parameter`` when `count` is negative or beyond `Int32`.
    package static func bytes(_ count: Int) throws(LectureError) -> [UInt8] {
        guard count >= 0, let length = Int32(exactly: count) else {
            throw LectureError(.parameter, detail: "number of random bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe RAND_bytes(&bytes, length) == 1 else { throw OpenSSLFailure.drain("RAND_bytes") }
        return bytes
    }
}
