/// A number made from a name: names with different numbers are different names.
///
/// The claims of a token are looked up by the dozen, and comparing two numbers costs a fraction of comparing two texts.
struct NameMark: Hashable, Sendable {
    private static let long: UInt64 = 1 << 63
    /// 2⁶⁴ divided by the golden ratio, odd: a product with it depends on all bits in its upper half.
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    private let number: UInt64

    /// Makes the mark of a name.
    ///
    /// - Parameter name: any text; each spelling of a letter has a mark of its own.
    init(_ name: String) {
        var name = name
        number = name.withUTF8 { unsafe Self.number(UnsafeRawBufferPointer($0)) }
    }

    /// Whether no other name has this mark: then comparing the names would find nothing.
    var isWhole: Bool { number & Self.long == 0 }

    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        if count < 8 {
            // The length is in front of the bytes, so that no name is the end of another one.
            var number = UInt64(count)
            for place in 0..<count { number = number << 8 | UInt64(unsafe bytes[place]) }
            return number
        }
        let first = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let last = unsafe bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        // Names with one beginning often have different lengths or ends, as `expiration_count` and `expiration_date`.
        let mixed = (first ^ (last << 29 | last >> 35)) &* factor &+ UInt64(count)
        return mixed | long
    }
}

extension [JSONMember] {
    /// Where the member with a name is.
    ///
    /// - Parameters:
    ///   - name: compared byte by byte, so that two spellings of one letter are two names.
    ///   - mark: its mark.
    /// - Returns: the place of the first one; nil when there is none.
    func place(of name: String, _ mark: NameMark) -> Int? {
        // By place: each element would be copied, and its name and value retained and released.
        for place in indices where self[place].mark == mark {
            if mark.isWhole || TextBytes.areEqual(self[place].name, name) { return place }
        }
        return nil
    }
}
