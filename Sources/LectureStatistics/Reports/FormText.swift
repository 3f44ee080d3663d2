/// Parameters as the query of a GET or the body of a POST (`application/x-www-form-urlencoded`, WHATWG URL section
/// 5.2).
package enum FormText {
    /// Encodes parameters as UTF-8.
    ///
    /// - Parameter parameters: names and values, not encoded.
    /// - Returns: `name=value&name=value`, ASCII only; empty without parameters.
    package static func encode(_ parameters: [ReportParameter]) -> String {
        var bytes: [UInt8] = []
        for parameter in parameters {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(parameter.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(parameter.value, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            case 0x20: bytes.append(UInt8(ascii: "+"))
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}
