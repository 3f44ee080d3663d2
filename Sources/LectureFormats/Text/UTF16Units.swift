/// UTF-16 as bytes.
package enum UTF16Units {
    /// The units of a text.
    ///
    /// - Parameters:
    ///   - bytes: without a mark; half a unit at the end is left out.
    ///   - lowFirst: whether the low byte of a unit comes first.
    /// - Returns: the units, which need not be valid UTF-16.
    package static func read(_ bytes: ArraySlice<UInt8>, lowFirst: Bool) -> [UInt16] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { place in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return lowFirst ? second << 8 | first : first << 8 | second
        }
    }
}
