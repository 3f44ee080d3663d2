/// Text in the query of a GET or the body of a POST (`application/x-www-form-urlencoded`, WHATWG URL section 5.2).
package enum FormEncoding {
    /// Appends text as UTF-8, encoded; ASCII only.
    ///
    /// - Parameters:
    ///   - text: a name or a value.
    ///   - bytes: what it is added to.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + 2 * text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            case 0x20: bytes.append(UInt8(ascii: "+"))
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 15))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
