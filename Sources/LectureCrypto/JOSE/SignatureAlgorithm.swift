/// A signature algorithm by its name in `alg` (RFC 7518 section 3.1, RFC 8037). `none` is not one.
package enum SignatureAlgorithm: String, CaseIterable, Hashable, Sendable {
    /// HMAC with SHA-256.
    case hs256 = "HS256"
    /// HMAC with SHA-384.
    case hs384 = "HS384"
    /// HMAC with SHA-512.
    case hs512 = "HS512"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// Ed25519.
    case edDSA = "EdDSA"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// RSASSA-PSS with SHA-384.
    case ps384 = "PS384"
    /// RSASSA-PSS with SHA-512.
    case ps512 = "PS512"

    /// The default algorithms for licences: one digest, so one strength, for all.
    package static let licence: Set<SignatureAlgorithm> = [.hs256, .es256, .edDSA, .rs256, .ps256]

    /// The algorithms of a key of this kind when nothing else restricts it.
    static func all(for parts: PublicKey.Parts) -> Set<SignatureAlgorithm> {
        switch parts {
        case .p256: [.es256]
        case .ed25519: [.edDSA]
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        }
    }

    /// The place among all of them.
    private var ordinal: UInt8 {
        switch self {
        case .hs256: 0
        case .hs384: 1
        case .hs512: 2
        case .es256: 3
        case .edDSA: 4
        case .rs256: 5
        case .rs384: 6
        case .rs512: 7
        case .ps256: 8
        case .ps384: 9
        case .ps512: 10
        }
    }

    /// Without it the name would be hashed, which takes several times as long, and each token is looked up in the sets
    /// of a policy and of a key.
    package func hash(into hasher: inout Hasher) { hasher.combine(ordinal) }

    /// As the hash, by the case and not by the name.
    package static func == (one: Self, other: Self) -> Bool { one.ordinal == other.ordinal }

    /// The digest of an HMAC, nil for public key algorithms.
    var secretDigest: SHA2? {
        switch self {
        case .hs256: .sha256
        case .hs384: .sha384
        case .hs512: .sha512
        case .es256, .edDSA, .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: nil
        }
    }

    /// How a public key verifies it, nil for an HMAC.
    var scheme: SignatureScheme? {
        switch self {
        case .hs256, .hs384, .hs512: nil
        case .es256: .ecdsaP256
        case .edDSA: .ed25519
        case .rs256: .rsaPKCS1(.sha256)
        case .rs384: .rsaPKCS1(.sha384)
        case .rs512: .rsaPKCS1(.sha512)
        case .ps256: .rsaPSS(.sha256)
        case .ps384: .rsaPSS(.sha384)
        case .ps512: .rsaPSS(.sha512)
        }
    }
}
