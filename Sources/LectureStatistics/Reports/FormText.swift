import LectureFormats

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
            FormEncoding.append(parameter.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            FormEncoding.append(parameter.value, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
