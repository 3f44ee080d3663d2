extension FixedWidthInteger {
    /// The bytes of the number in network order (RFC 1700): 8 for a number of 64 bits.
    package var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }
}
