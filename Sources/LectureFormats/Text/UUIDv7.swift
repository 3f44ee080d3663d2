/// Identities that sort by creation time (RFC 9562 section 5.7), so that consecutive rows are adjacent in an index.
package enum UUIDv7 {
    /// The latest time that fits: 48 bits of milliseconds.
    private static let latest: Int64 = (1 << 48) - 1

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - time: the creation time; clamped to 48 bits.
    ///   - random: returns 64 random bits; 74 bits are taken from two numbers.
    /// - Returns: 36 characters, lower case.
    package static func text(at time: Timestamp, random: () -> UInt64) -> String {
        let milliseconds = UInt64(min(max(0, time.milliseconds), latest))
        let high = milliseconds << 16 | 0x7000 | random() >> 52
        let low = random() >> 2 | 0x8000_0000_0000_0000
        let digits = [high, low].flatMap { half in
            stride(from: 60, through: 0, by: -4).map { digit in Self.digits[Int(half >> UInt64(digit) & 0xF)] }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for (position, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(position) { bytes.append(UInt8(ascii: "-")) }
            bytes.append(digit)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
