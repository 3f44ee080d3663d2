import LectureFormats
package import LectureModel

/// Reads the textual form of certificates, revocation lists and private keys (RFC 7468).
package enum PEM {
    /// The kind of value.
    package enum Label: String, Sendable {
        /// A certificate.
        case certificate = "CERTIFICATE"
        /// A revocation list.
        case revocationList = "X509 CRL"
        /// A private key (PKCS#8).
        case privateKey = "PRIVATE KEY"
    }

    private static let dashes = "-----"

    /// Reads every block with a label; text around the blocks, and blocks with other labels, are ignored.
    ///
    /// - Parameters:
    ///   - bytes: a PEM file, or one value in DER.
    ///   - label: the kind of value.
    /// - Returns: the values in DER, in order; at least one.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` when there is none, or one is malformed.
    package static func values(of bytes: [UInt8], _ label: Label) throws(LectureError) -> [[UInt8]] {
        // Every certificate and list is a SEQUENCE, with which no text starts.
        if bytes.first == 0x30 { return [bytes] }
        var values: [[UInt8]] = []
        var block: String?
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = String(decoding: line, as: UTF8.self)
            let text = line.trimmingBlanks
            if text == "\(dashes)BEGIN \(label.rawValue)\(dashes)" {
                if block != nil { throw fault(label, "a block starts inside another one") }
                block = ""
            } else if text == "\(dashes)END \(label.rawValue)\(dashes)" {
                guard let digits = block, let der = Base64.bytes(digits), !der.isEmpty else {
                    throw fault(label, "a block is not base64")
                }
                values.append(der)
                block = nil
            } else if block != nil {
                block?.append(contentsOf: text)
            }
        }
        if block != nil { throw fault(label, "a block does not end") }
        if values.isEmpty { throw fault(label, "none was found") }
        return values
    }

    private static func fault(_ label: Label, _ cause: String) -> LectureError {
        LectureError(.configuration, detail: "PEM \(label.rawValue)", cause: cause)
    }
}

extension String {
    /// The text without blanks and tabs around it.
    fileprivate var trimmingBlanks: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = self[...]
        while let first = text.first, isBlank(first) { text.removeFirst() }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
