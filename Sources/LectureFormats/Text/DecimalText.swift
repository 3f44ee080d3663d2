/// Numbers as decimal digits, written into bytes: a line of many numbers then needs no string for each.
package enum DecimalText {
    /// Appends a number as `String(number)` writes it. Not generic: the caller is in another module.
    ///
    /// - Parameters:
    ///   - number: any number.
    ///   - bytes: what the digits are appended to.
    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var low = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        // The last digit came first.
        var high = bytes.count - 1
        while low < high {
            bytes.swapAt(low, high)
            (low, high) = (low + 1, high - 1)
        }
    }

    /// A number with zeros in front of it.
    ///
    /// - Parameters:
    ///   - number: not negative.
    ///   - width: how many digits there are at least.
    /// - Returns: the digits.
    static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
