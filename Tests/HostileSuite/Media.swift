import LectureModel
import LectureTestSupport
import SandboxSecurity

/// One version of a lecture, with its metadata as an origin sends it.
package struct Media: Sendable {
    /// All bytes.
    package var bytes: [UInt8]
    /// The entity tag as in the field; `nil` for none.
    package var etag: String?
    /// The date of the last change as in the field; `nil` for none.
    package var lastModified: String?
    /// The media type; `nil` for none.
    package var type: String? = "video/mp4"

    /// The requested lecture.
    ///
    /// - Parameters:
    ///   - count: bytes.
    ///   - seed: the same seed makes the same bytes.
    package init(count: Int, seed: UInt64 = 1) {
        bytes = Self.bytes(count, seed)
        etag = "\"v\(seed)\""
        lastModified = "Mon, 0\(1 + seed % 9) Jan 2024 00:00:00 GMT"
    }

    /// Cached bytes: many cases share them, and tests make them without optimisation.
    private static let made = Guarded<[[UInt64]: [UInt8]]>([:])

    private static func bytes(_ count: Int, _ seed: UInt64) -> [UInt8] {
        let key = [UInt64(count), seed]
        if let bytes = made.withLock({ $0[key] }) { return bytes }
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            unsafe withUnsafeBytes(of: generator.next().littleEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        bytes = MediaBeginning.replacing(bytes)
        made.withLock { [bytes] in $0[key] = bytes }
        return bytes
    }

    /// The same media with changes.
    ///
    /// - Parameter change: makes them.
    /// - Returns: the changed media.
    package func with(_ change: (inout Media) -> Void) -> Media {
        var copy = self
        change(&copy)
        return copy
    }

    /// The next version: other bytes of the same length, other validators.
    package var next: Media {
        var media = Media(count: bytes.count, seed: 2)
        media.type = type
        return media
    }

    /// SHA-256 in lower-case digits.
    package var sha256: String {
        var hasher = SHA256Hasher()
        unsafe bytes.withUnsafeBytes { unsafe hasher.update($0) }
        return hasher.finish().map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
