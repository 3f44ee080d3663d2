/// Texts as bytes.
package enum TextBytes {
    /// Whether two texts have the same bytes. `==` of `String` also holds for two normalisations of a letter, and names
    /// and identities must not have two spellings.
    ///
    /// - Parameters:
    ///   - one: a text.
    ///   - other: another one.
    /// - Returns: whether every byte of their UTF-8 is the same.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        // The lengths first: most names differ in length, and claims are looked up by the dozen.
        guard one.utf8.count == other.utf8.count else { return false }
        var (one, other) = (one, other)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                // proof: both have this many bytes, as their lengths were compared.
                for place in 0..<one.count where unsafe one[place] != other[place] { return false }
                return true
            }
        }
    }

    /// Whether all bytes are printable ASCII: from the space to the tilde.
    ///
    /// - Parameters:
    ///   - bytes: of any text.
    ///   - range: which of them.
    /// - Returns: true for none.
    package static func arePrintable(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        return unsafe bytes.withUnsafeBytes { buffer in
            var place = range.lowerBound
            // proof: the range is within the bytes, and a word is read where eight of it are left.
            while place + 8 <= range.upperBound {
                let word = unsafe buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                if !ByteWord.isPrintable(word) { return false }
                place += 8
            }
            while place < range.upperBound {
                if unsafe !(0x20..<0x7F).contains(buffer[place]) { return false }
                place += 1
            }
            return true
        }
    }
}

/// Eight bytes of a text at once.
enum ByteWord {
    /// The top bit of each byte: what is set in none of them where all are ASCII.
    static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Whether each of the bytes is printable ASCII.
    ///
    /// - Parameter word: eight bytes, in any order.
    /// - Returns: false where one is a control character, or none of ASCII.
    static func isPrintable(_ word: UInt64) -> Bool {
        // As below; and one more than 0x7F, and no smaller byte, has the top bit.
        let small = (word &- ones &* 0x20) & ~word
        return (small | word | ((word & ~tops) &+ ones)) & tops == 0
    }

    /// Whether one of the bytes does not stand for itself in a JSON string: a quotation mark, a backslash, or a control
    /// character (RFC 8259 section 7).
    ///
    /// - Parameter word: eight bytes, in any order.
    /// - Returns: whether there is such a byte.
    static func endsPlainText(_ word: UInt64) -> Bool {
        // Subtracting borrows from the top bit of a byte that is smaller, unless the byte had it set itself. A borrow
        // out of a byte only happens beside one that was found anyway.
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let found =
            (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
        return found & tops != 0
    }
}
