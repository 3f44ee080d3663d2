package import LectureModel

/// The first 40 bytes of a sealed file: its length, a salt, and the prefix of all nonces.
package struct SealedFileHeader: Hashable, Sendable {
    /// The length in bytes, which is also the value of the first byte.
    package static let length = 1 + saltLength + prefixLength
    static let saltLength = 32
    static let prefixLength = 7

    let salt: [UInt8]
    let prefix: [UInt8]

    /// Generates a header for a new file.
    ///
    /// - Returns: a header that no other file has.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func random() throws(LectureError) -> SealedFileHeader {
        SealedFileHeader(
            salt: try SecureRandom.bytes(saltLength), prefix: try SecureRandom.bytes(prefixLength))
    }

    private init(salt: [UInt8], prefix: [UInt8]) {
        self.salt = salt
        self.prefix = prefix
    }

    /// Reads a header.
    ///
    /// - Parameter bytes: the first 40 bytes of a file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when they are not a header.
    package init(_ bytes: [UInt8]) throws(LectureError) {
        guard bytes.count == Self.length, bytes.first == UInt8(Self.length) else {
            throw LectureError(.damaged, detail: "sealed file", cause: "its header is invalid")
        }
        salt = Array(bytes[1..<(1 + Self.saltLength)])
        prefix = Array(bytes.suffix(Self.prefixLength))
    }

    /// The header as it is in the file.
    package var bytes: [UInt8] { [UInt8(Self.length)] + salt + prefix }

    /// The data that is bound to a file without being in it: the name of its lecture, so that the file of another
    /// lecture is refused even under the same key.
    ///
    /// - Parameter content: the key that names the lecture; at most 900 bytes in UTF-8.
    /// - Returns: the associated data.
    package static func associatedData(content: String) -> [UInt8] { Array("lecturekit/sealed/1:\(content)".utf8) }

    /// The key of this file's segments (RFC 5869): the salt makes it different for each file.
    func segmentKey(_ contentKey: SecretBytes, _ associatedData: [UInt8]) throws(LectureError) -> SecretBytes {
        guard contentKey.count == AESGCM.keyLength else {
            throw LectureError(.parameter, detail: "content key", cause: "it must have \(AESGCM.keyLength) bytes")
        }
        return try KeyDerivation.hkdf(contentKey, salt: salt, info: associatedData, count: AESGCM.keyLength)
    }

    /// The nonce of a segment: prefix, index, and whether it is the last.
    func nonce(segment: UInt32, isLast: Bool) -> [UInt8] {
        prefix + KeyDerivation.bigEndian(segment) + [isLast ? 1 : 0]
    }
}
