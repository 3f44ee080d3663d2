import SandboxSecurity

/// The signed answers of callbacks.
struct AnswerToken: Sendable {
    /// Signs them.
    let secret: [UInt8]

    /// How a token is spoiled.
    enum Fault {
        case wrongSignature
        case algorithmNone
    }

    /// The compact form (RFC 7515 section 3.1).
    ///
    /// - Parameters:
    ///   - payload: the text that is signed.
    ///   - fault: how it is spoiled, if it is.
    /// - Returns: the token.
    func text(_ payload: String, _ fault: Fault? = nil) -> String {
        let isUnsigned = fault == .algorithmNone
        let header = JSON.object([("alg", .string(isUnsigned ? "none" : "HS256")), ("typ", .string("JWT"))])
        let signed = [header.text, payload].map { Text.base64URL(Array($0.utf8)) }.joined(separator: ".")
        if isUnsigned { return signed + "." }
        var mac = hmacSHA256(key: secret, message: Array(signed.utf8))
        if fault == .wrongSignature { mac[0] ^= 1 }
        return signed + "." + Text.base64URL(mac)
    }
}
