import LectureCrypto
import LectureFormats
package import LectureModel

/// Verifies the answers of DRM callbacks with the configured keys.
package struct ConfiguredAnswerVerifier: AnswerVerifier {
    private let keys: ConfiguredKeys
    private let userKey: [UInt8]?
    private let permitsUnverified: Bool
    /// The thumbprints of the keys.
    package let signers: GrantingKeys

    /// Reads the keys.
    ///
    /// - Parameter rights: the configuration.
    /// - Throws: ``LectureError``: `configuration` for a key that cannot be used, `secretReadable`, `readFile`, `json`.
    package init(_ rights: RightsConfiguration) throws(LectureError) {
        keys = try ConfiguredKeys(rights.keys)
        signers = try keys.signers()
        userKey = rights.userKey.map { Array($0.utf8) }
        permitsUnverified = rights.permitsUnverified
    }

    /// Verifies an answer. Without any key its payload is read unverified where the configuration permits that; then
    /// `isVerified` is false.
    package func payload(
        of token: String, keyID: String, userKey: String?, at time: Timestamp?
    ) throws(LectureError) -> VerifiedAnswer {
        // Before the token: an answer without the channel's key is ignored, and the difference is not reported.
        if let due = self.userKey, let given = userKey, !OpenSSLDigests.equal(Array(given.utf8), due) {
            throw LectureError(.answerUndecodable, detail: "X-KOLLUS-USERKEY", cause: "it does not match")
        }
        if keys.entries.isEmpty {
            guard permitsUnverified else { throw LectureError(.licenceKeyMissing) }
            return try Self.answer(try Self.unverifiedPayload(token), signer: nil)
        }
        let candidates = keyID.isEmpty ? keys.entries : keys.entries.filter { $0.id.utf8.elementsEqual(keyID.utf8) }
        guard !candidates.isEmpty else { throw LectureError(.licenceKeyMissing, detail: "the server's key is unknown") }
        var reasons: [TokenRefusal] = []
        for candidate in candidates {
            // Without a time no certificate is valid: 1970 is before all of them.
            let verdict = try TokenVerifier.verify(
                Array(token.utf8), keys: candidate.policy, at: time ?? Timestamp(milliseconds: 0))
            if let verified = verdict.token {
                return try Self.answer(verified.payload, signer: try verified.signerThumbprint())
            }
            reasons += verdict.reasons.filter { !reasons.contains($0) }
        }
        throw LectureError(.answerUndecodable, detail: reasons.map(\.sentence).joined(separator: "; "))
    }

    private static func answer(_ payload: [UInt8], signer: String?) throws(LectureError) -> VerifiedAnswer {
        let value: JSONValue
        do throws(LectureError) { value = try JSONScanner.value(of: payload) } catch {
            throw LectureError(.answerUnreadable, detail: error.detail)
        }
        guard value.members != nil else { throw LectureError(.answerUnreadable, detail: "it is not an object") }
        // Informational only, so an impossible time is ignored.
        let second = value["iat"]?.integer.flatMap { (0...253_402_300_799).contains($0) ? $0 : nil }
        return VerifiedAnswer(
            payload: value, isVerified: signer != nil, issued: second.map { Timestamp(milliseconds: $0 * 1000) },
            signer: signer ?? "")
    }

    /// The second of the three parts of a compact token.
    private static func unverifiedPayload(_ token: String) throws(LectureError) -> [UInt8] {
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard bytes.count <= 1 << 20, parts.count == 3, let payload = Base64URL.bytes(parts[1]) else {
            throw LectureError(.answerUndecodable, detail: "it is not a compact token")
        }
        return payload
    }
}
