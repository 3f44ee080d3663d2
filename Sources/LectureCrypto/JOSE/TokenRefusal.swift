/// Why a token is refused. A token may have several reasons, one per broken rule.
package enum TokenRefusal: Hashable, Sendable {
    /// It is longer than 1 MiB.
    case tooLong
    /// It has the wrong number of parts for its form (RFC 7515 section 7.1, RFC 7516 section 7.1).
    case parts
    /// A part, named, is not canonical base64url.
    case encoding(part: String)
    /// The header is not strict JSON; the text names the position.
    case headerSyntax(String)
    /// The header is not an object.
    case headerNotObject
    /// A member of the header, named, has the wrong type or form.
    case headerMember(String)
    /// `alg` is missing.
    case algorithmMissing
    /// `alg` is `none` in some spelling (RFC 8725 section 2.1).
    case algorithmNone
    /// `alg` is unknown.
    case algorithmUnknown
    /// `alg` is known, but the policy does not permit it.
    case algorithmNotPermitted
    /// None of the named keys accepts `alg` (RFC 8725 section 3.1).
    case algorithmNotOfKey
    /// `enc` is not A256GCM.
    case encryptionUnknown
    /// `crit` is not an array of names, is empty, or names a member twice or one that is missing (RFC 7515 section
    /// 4.1.11).
    case criticalMalformed
    /// `crit` names an extension that is not understood.
    case criticalUnknown
    /// `zip`: compressed text leaks its length and may expand without bound (RFC 8725 section 3.6).
    case compressed
    /// `jku`: keys are not fetched from where a token says (RFC 8725 section 3.10).
    case keyURL
    /// `x5u`: neither are certificates.
    case certificateURL
    /// `jwk`: a token is not trusted because it contains its own key.
    case embeddedKey
    /// `b64`: an unencoded payload (RFC 7797).
    case unencodedPayload
    /// `cty` says that the payload is a token; nesting is not supported (RFC 8725 section 3.3).
    case nested
    /// `typ` is not an accepted type (RFC 8725 section 3.11).
    case type
    /// `kid` names no configured key.
    case keyUnknown
    /// There is no `kid`, and too many keys are possible.
    case keyAmbiguous
    /// `x5c` is present, but no root is configured.
    case noRoots
    /// The certificates in `x5c` are refused.
    case certificate(CertificateRefusal)
    /// `x5t#S256` is not the digest of the first certificate.
    case certificateThumbprint
    /// There is no signature.
    case signatureMissing
    /// The signature is wrong.
    case signatureWrong
    /// `epk` is not a public key on P-256.
    case ephemeralKey
    /// The content key cannot be decrypted: another key, or something was changed. Deliberately one reason, since
    /// saying where it failed helps an attacker (RFC 7516 section 11.5).
    case notForThisKey

    /// The reason as a sentence for people, without a full stop.
    package var sentence: String {
        switch self {
        case .tooLong: "the token is longer than 1 MiB"
        case .parts: "the token has the wrong number of parts"
        case .encoding(let part): "the \(part) is not base64url without padding"
        case .headerSyntax(let place): "the header is not strict JSON: \(place)"
        case .headerNotObject: "the header is not a JSON object"
        case .headerMember(let name): "the header's member '\(name)' has a wrong type or form"
        case .algorithmMissing: "the header names no algorithm"
        case .algorithmNone: "the token is not signed (alg none)"
        case .algorithmUnknown: "the header's algorithm is unknown"
        case .algorithmNotPermitted: "the header's algorithm is not permitted"
        case .algorithmNotOfKey: "the key is not for the header's algorithm"
        case .encryptionUnknown: "the content encryption is not A256GCM"
        case .criticalMalformed: "the header's list of critical members is malformed"
        case .criticalUnknown: "the header needs an extension that is unknown"
        case .compressed: "the token is compressed"
        case .keyURL: "the header names a key URL"
        case .certificateURL: "the header names a certificate URL"
        case .embeddedKey: "the header contains its own key"
        case .unencodedPayload: "the payload is not encoded"
        case .nested: "the payload is another token"
        case .type: "the token is of another type"
        case .keyUnknown: "the header's key identifier is unknown"
        case .keyAmbiguous: "the header names no key and several are configured"
        case .noRoots: "the token contains certificates, but no root is configured"
        case .certificate(let refusal): refusal.sentence
        case .certificateThumbprint: "the certificate's thumbprint does not match"
        case .signatureMissing: "there is no signature"
        case .signatureWrong: "the signature is wrong"
        case .ephemeralKey: "the ephemeral key is not a public key on P-256"
        case .notForThisKey: "the content key cannot be opened with this device's key"
        }
    }
}
