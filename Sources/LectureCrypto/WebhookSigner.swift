import LectureFormats
package import LectureModel

/// Signs requests of webhooks: Standard Webhooks 1.0.0, symmetric signatures (`v1`).
package struct WebhookSigner: Sendable {
    /// The lengths of a secret in bytes.
    package static let lengths = 24...64
    /// How many secrets a file may have: the new one and the former one, while a receiver changes.
    package static let limit = 2
    /// How a secret begins.
    static let prefix = "whsec_"

    private let codes: [KeyedCode]

    /// Reads secrets.
    ///
    /// - Parameter text: a secret in each line: `whsec_` and 24 to 64 bytes in Base64. Empty lines do not count.
    /// - Throws: ``LectureError`` with `webhookSecret`; the text is never reported.
    package init(_ text: String) throws(LectureError) {
        let lines = text.split { $0.isNewline }.map { FieldText.trimmed($0) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw LectureError(.webhookSecret, cause: "there is none") }
        guard lines.count <= Self.limit else {
            throw LectureError(.webhookSecret, cause: "\(lines.count) lines, at most \(Self.limit)")
        }
        var codes: [KeyedCode] = []
        for (number, line) in lines.enumerated() {
            guard line.hasPrefix(Self.prefix), var bytes = Base64.bytes(line.dropFirst(Self.prefix.count)) else {
                throw LectureError(.webhookSecret, cause: "secret \(number + 1) is not 'whsec_' and Base64")
            }
            defer { for index in bytes.indices { bytes[index] = 0 } }
            guard Self.lengths.contains(bytes.count) else {
                throw LectureError(.webhookSecret, cause: "secret \(number + 1) has \(bytes.count) bytes")
            }
            codes.append(try KeyedCode(try SecretBytes(copying: bytes)))
        }
        self.codes = codes
    }

    /// Signs bytes with each secret.
    ///
    /// - Parameter message: the id, the time and the body, joined with full stops.
    /// - Returns: the value of `webhook-signature`: `v1,` and Base64 for each secret, separated by spaces.
    /// - Throws: ``LectureError`` with `cryptography`.
    package func signatures(_ message: [UInt8]) throws(LectureError) -> String {
        var words: [String] = []
        for code in codes { words.append("v1,\(Base64.text(try code.code(message)))") }
        return words.joined(separator: " ")
    }
}
