/// Why the certificates of a token are refused. The order is that of the checks.
package enum CertificateRefusal: Hashable, Sendable {
    /// There is no certificate, or there are more than eight.
    case count
    /// One is not DER in plain base64 without trailing bytes.
    case encoding
    /// The chain ends at no configured root.
    case untrusted
    /// A signature in the chain is wrong.
    case signature
    /// The chain is longer than permitted.
    case tooDeep
    /// A certificate of the chain is not valid yet at the trusted time.
    case notYetValid
    /// A certificate of the chain has expired at the trusted time.
    case expired
    /// A certificate of the chain was revoked.
    case revoked
    /// Revocation lists are configured, but none that is valid covers a certificate of the chain.
    case revocationUnknown
    /// A certificate of the chain must not issue what it issued: not an authority, a path that is too long, key usage.
    case authority
    /// An issuer's certificate is limited to other purposes.
    case issuerPurpose
    /// A key or digest in the chain is below security level 2.
    case weak
    /// The chain breaks another rule of RFC 5280; OpenSSL's message.
    case chain(String)
    /// The leaf is not of version 3.
    case version
    /// The leaf is an authority.
    case leafIsAuthority
    /// The leaf's key usage is not digitalSignature without keyCertSign.
    case keyUsage
    /// The leaf lacks the purpose of signing licences; any purpose does not count.
    case purpose
    /// The leaf's serial number is not positive or longer than 20 octets.
    case serial
    /// A critical extension is not understood.
    case criticalExtension
    /// The leaf's key is of another kind or weak; a sentence.
    case key(KeyRefusal)

    /// The reason as a sentence for people, without a full stop.
    package var sentence: String {
        switch self {
        case .count: "the token has no certificate or more than eight"
        case .encoding: "a certificate is not plain base64 of one DER value"
        case .untrusted: "the certificates lead to no configured root"
        case .signature: "a certificate's signature is wrong"
        case .tooDeep: "the chain of certificates is too long"
        case .notYetValid: "a certificate is not valid yet"
        case .expired: "a certificate has expired"
        case .revoked: "a certificate was revoked"
        case .revocationUnknown: "no valid revocation list covers a certificate"
        case .authority: "a certificate's issuer is not allowed to issue it"
        case .issuerPurpose: "an issuer's certificate is limited to other purposes"
        case .weak: "a key or digest among the certificates is too weak"
        case .chain(let words): "the chain of certificates is refused: \(words)"
        case .version: "the signer's certificate is not of version 3"
        case .leafIsAuthority: "the signer's certificate is an authority's"
        case .keyUsage: "the signer's key is not for signatures alone"
        case .purpose: "the signer's certificate is not for licences"
        case .serial: "the signer's certificate has an invalid serial number"
        case .criticalExtension: "a certificate has an unknown critical extension"
        case .key(let refusal): "the signer's certificate: \(refusal.sentence)"
        }
    }
}
