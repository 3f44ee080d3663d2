/// The length and the CRC-32 in the gzip trailer (RFC 1952 sections 2.3.1 and 8).
struct Checksum {
    /// Sixteen bytes per step would need sixteen tables; four are fast enough next to inflating.
    private static let tables: [[UInt32]] = {
        var tables = [[UInt32]](repeating: [UInt32](repeating: 0, count: 256), count: 4)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
            tables[0][byte] = value
        }
        for index in 1..<4 {
            for byte in 0..<256 {
                let value = tables[index - 1][byte]
                tables[index][byte] = value >> 8 ^ tables[0][Int(value & 0xFF)]
            }
        }
        return tables
    }()

    private var remainder = UInt32.max
    private(set) var length: UInt32 = 0

    /// The CRC-32 of the bytes so far.
    var value: UInt32 { ~remainder }

    /// Adds the next bytes.
    mutating func update(_ bytes: ArraySlice<UInt8>) {
        length &+= UInt32(truncatingIfNeeded: bytes.count)
        let remainder = remainder
        self.remainder = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Self.tables[0].withUnsafeBufferPointer { first in
                unsafe Self.tables[1].withUnsafeBufferPointer { second in
                    unsafe Self.tables[2].withUnsafeBufferPointer { third in
                        unsafe Self.tables[3].withUnsafeBufferPointer { fourth in
                            var value = remainder
                            var index = 0
                            while index + 4 <= buffer.count {
                                let word = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                                value ^= UInt32(littleEndian: word)
                                value =
                                    unsafe fourth[Int(value & 0xFF)] ^ third[Int(value >> 8 & 0xFF)]
                                    ^ second[Int(value >> 16 & 0xFF)] ^ first[Int(value >> 24)]
                                index += 4
                            }
                            while index < buffer.count {
                                value = unsafe value >> 8 ^ first[Int(value & 0xFF ^ UInt32(buffer[index]))]
                                index += 1
                            }
                            return value
                        }
                    }
                }
            }
        }
    }

    /// Whether the trailer of a file says that other bytes were compressed. Several gzip streams may follow one
    /// another; the last trailer covers all bytes only if its length matches, so a different length proves nothing.
    ///
    /// - Parameter tail: the last eight bytes of the file.
    /// - Returns: whether it does.
    func contradicts(tail: [UInt8]) -> Bool {
        guard tail.count == 8 else { return true }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
        return number(tail[4...]) == length && number(tail[..<4]) != value
    }
}
