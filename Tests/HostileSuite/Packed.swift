import LectureModel

/// Coded forms of a body. Nothing is compressed: stored blocks suffice for a valid stream.
enum Packed {
    private static let known = Guarded<[String: [UInt8]]>([:])

    /// Makes the coded form of the usual lecture once, since tests run without optimisation.
    ///
    /// - Parameters:
    ///   - name: of the coding.
    ///   - media: the lecture; lectures of one length and tag have the same bytes.
    ///   - make: codes.
    /// - Returns: the coded bytes.
    private static func once(_ name: String, _ media: Media, _ make: ([UInt8]) -> [UInt8]) -> [UInt8] {
        let key = "\(name) \(media.bytes.count) \(media.etag ?? "")"
        if let bytes = known.withLock({ $0[key] }) { return bytes }
        let bytes = make(media.bytes)
        known.withLock { $0[key] = bytes }
        return bytes
    }

    /// RFC 1952.
    static func gzip(_ media: Media) -> [UInt8] { once("gzip", media, gzip) }
    /// What `deflate` means: the zlib format, RFC 1950.
    static func deflate(_ media: Media) -> [UInt8] { once("deflate", media, deflate) }
    /// RFC 7932.
    static func brotli(_ media: Media) -> [UInt8] { once("br", media, brotli) }
    /// RFC 8878.
    static func zstandard(_ media: Media) -> [UInt8] { once("zstd", media, zstandard) }
    /// The same twice.
    static func gzipTwice(_ media: Media) -> [UInt8] { once("gzip, gzip", media) { gzip(gzip($0)) } }

    /// Latin-1 mistaken for text and re-encoded as UTF-8.
    static func recoded(_ media: Media) -> [UInt8] {
        once("utf-8", media) { bytes in
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count * 2)
            for byte in bytes {
                if byte >= 128 { result.append(0xC0 | byte >> 6) }
                result.append(byte < 128 ? byte : 0x80 | byte & 0x3F)
            }
            return result
        }
    }

    /// 1,690,736 bytes of gzip that hold 268,433,521 zero bytes: one block in the fixed code, in which 13 bytes say
    /// eight times "258 bytes more of the same".
    static let bomb: [UInt8] = {
        let more: [UInt8] = [0x05, 0xA3, 0x60, 0x14, 0x8C, 0x82, 0x51, 0x30, 0x0A, 0x46, 0xC1, 0x28, 0x18]
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x63, 0x18]
        bytes.reserveCapacity(1_690_736)
        for _ in 0..<130_054 { bytes += more }
        bytes += more.dropLast() + [0, 0]
        return bytes + littleEndian(0x09CC_1077, 4) + littleEndian(268_433_521, 4)
    }()

    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + stored(bytes) + littleEndian(checksum(bytes), 4)
            + littleEndian(UInt32(truncatingIfNeeded: bytes.count), 4)
    }

    private static func deflate(_ bytes: [UInt8]) -> [UInt8] {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: bytes.count, by: 5000) {
            for byte in bytes[start..<min(start + 5000, bytes.count)] {
                low += UInt32(byte)
                high += low
            }
            (low, high) = (low % 65_521, high % 65_521)
        }
        return [0x78, 0x01] + stored(bytes) + littleEndian(high << 16 | low, 4).reversed()
    }

    /// Blocks of RFC 1951 section 3.2.4.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        pieces(bytes, 65_535) { count, isLast in
            [isLast ? 1 : 0] + littleEndian(UInt32(count), 2) + littleEndian(~UInt32(count), 2)
        }
    }

    /// Uncompressed meta-blocks of RFC 7932 section 9.2, behind a window of 16 bits, which is one bit that is 0.
    private static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        var isFirst = true
        return pieces(bytes, 65_536) { count, _ in
            let head: UInt32 = UInt32(count - 1) << 3 | 1 << 19
            defer { isFirst = false }
            return littleEndian(isFirst ? head << 1 : head, 3)
        } + [3]
    }

    /// Raw blocks of RFC 8878 section 3.1.1.2, behind a frame header with a window of 128 KiB.
    private static func zstandard(_ bytes: [UInt8]) -> [UInt8] {
        [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]
            + pieces(bytes, 131_072) { count, isLast in littleEndian(UInt32(count) << 3 | (isLast ? 1 : 0), 3) }
    }

    private static func pieces(
        _ bytes: [UInt8], _ size: Int, _ head: (_ count: Int, _ isLast: Bool) -> [UInt8]
    ) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / size * 8 + 16)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let end = min(start + size, bytes.count)
            result += head(end - start, end == bytes.count)
            result += bytes[start..<end]
        }
        return result
    }

    private static func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// CRC-32 as defined for gzip.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes { crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ crc >> 8 }
        return ~crc
    }

    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }
}
