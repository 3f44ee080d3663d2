// Frozen names of refusals, for JSON.

extension TokenRefusal {
    /// The frozen name in JSON.
    package var name: String {
        switch self {
        case .tooLong: "token_too_long"
        case .parts: "token_parts"
        case .encoding(let part): "encoding_\(part.replacing(" ", with: "_"))"
        case .headerSyntax: "header_syntax"
        case .headerNotObject: "header_not_object"
        case .headerMember: "header_member"
        case .algorithmMissing: "alg_missing"
        case .algorithmNone: "alg_none"
        case .algorithmUnknown: "alg_unknown"
        case .algorithmNotPermitted: "alg_not_permitted"
        case .algorithmNotOfKey: "alg_not_of_key"
        case .encryptionUnknown: "enc_unknown"
        case .criticalMalformed: "crit_malformed"
        case .criticalUnknown: "crit_unknown"
        case .compressed: "zip"
        case .keyURL: "jku"
        case .certificateURL: "x5u"
        case .embeddedKey: "jwk"
        case .unencodedPayload: "b64"
        case .nested: "nested"
        case .type: "typ"
        case .keyUnknown: "key_unknown"
        case .keyAmbiguous: "key_ambiguous"
        case .noRoots: "x5c_no_roots"
        case .certificate(let refusal): refusal.name
        case .certificateThumbprint: "x5t_mismatch"
        case .signatureMissing: "signature_missing"
        case .signatureWrong: "signature_wrong"
        case .ephemeralKey: "epk"
        case .notForThisKey: "content_key_not_for_this_key"
        }
    }
}

extension CertificateRefusal {
    /// The frozen name in JSON.
    package var name: String {
        switch self {
        case .count: "x5c_count"
        case .encoding: "x5c_encoding"
        case .untrusted: "x5c_untrusted"
        case .signature: "x5c_signature"
        case .tooDeep: "x5c_too_deep"
        case .notYetValid: "x5c_not_yet_valid"
        case .expired: "x5c_expired"
        case .revoked: "x5c_revoked"
        case .revocationUnknown: "x5c_revocation_unknown"
        case .authority: "x5c_authority"
        case .issuerPurpose: "x5c_issuer_purpose"
        case .weak: "x5c_weak"
        case .chain: "x5c_chain"
        case .version: "x5c_version"
        case .leafIsAuthority: "x5c_leaf_is_authority"
        case .keyUsage: "x5c_key_usage"
        case .purpose: "x5c_purpose"
        case .serial: "x5c_serial"
        case .criticalExtension: "x5c_critical_extension"
        case .key: "x5c_key"
        }
    }
}
