import LectureCrypto
package import LectureFormats
package import LectureModel

/// What a licence server reads and writes: the form of a request, and the compact token of an answer.
package enum VirtualCallback {
    /// The key that signs answers.
    package static let secret = Array("an HMAC secret of at least 32 bytes".utf8)

    /// Permits every item, until the end of 2028.
    ///
    /// - Parameters:
    ///   - items: as requested.
    ///   - members: more members of every item.
    /// - Returns: the payload.
    package static func permit(_ items: [JSONValue], _ members: String = #""expiration_date":1861919999"#) -> String {
        let answers = items.map { item in
            let key = item["media_content_key"]?.string ?? ""
            let kind = item["kind"]?.integer ?? 0
            return answer(key, kind: kind, #""result":1,\#(members)"#, session: item["session_key"]?.string)
        }
        return #"{"data":[\#(answers.joined(separator: ","))]}"#
    }

    /// One item of a payload.
    package static func answer(_ key: String, kind: Int64, _ members: String, session: String? = nil) -> String {
        let echo = session.map { #","session_key":"\#($0)""# } ?? ""
        return #"{"kind":\#(kind),"media_content_key":"\#(key)",\#(members)\#(echo)}"#
    }

    /// A compact token, as a provider's server makes it.
    package static func sign(_ payload: String) -> [UInt8] {
        guard let secret = try? SecretBytes(copying: secret) else { return [] }
        return (try? SigningKey(secret: secret).sign(Array(payload.utf8), type: "JWT")) ?? []
    }

    /// The items of a request; nil for one that is not what a licence server expects.
    package static func items(of request: TransferRequest) -> [JSONValue]? {
        guard let body = request.body, body.mediaType == "application/x-www-form-urlencoded",
            body.bytes.starts(with: "items=".utf8), !body.bytes.contains(UInt8(ascii: "&"))
        else { return nil }
        var text: [UInt8] = []
        var rest = body.bytes.dropFirst(6)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(0x20)
            case UInt8(ascii: "%"):
                text += Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self)) ?? []
                rest = rest.dropFirst(2)
            default: text.append(byte)
            }
        }
        return try? JSONScanner.value(of: text).elements
    }
}

/// Verifies answers with OpenSSL under the servers' secret.
package struct SecretVerifier: AnswerVerifier {
    /// The secret that the configuration names.
    private let secret: [UInt8]
    /// The thumbprints of configured issuers of licence files.
    private let issuers: [String]

    /// A configuration.
    ///
    /// - Parameters:
    ///   - secret: the secret that it names.
    ///   - issuers: the thumbprints of issuers of licence files.
    package init(secret: [UInt8] = VirtualCallback.secret, issuers: [String] = []) {
        (self.secret, self.issuers) = (secret, issuers)
    }

    /// The thumbprints of the configured keys.
    package var signers: GrantingKeys {
        GrantingKeys(answers: (try? key().signerThumbprint()).map { [$0] } ?? [], files: issuers)
    }

    private func key() throws(LectureError) -> VerificationKey {
        let secret = try SecretBytes(copying: secret)
        guard let key = try? VerificationKey(secret: secret) else { throw LectureError(.configuration) }
        return key
    }

    /// Verifies a token.
    package func payload(
        of token: String, keyID: String, userKey: String?, at time: Timestamp?
    ) throws(LectureError) -> VerifiedAnswer {
        if keyID == "unknown" { throw LectureError(.licenceKeyMissing) }
        let key = try key()
        let verdict = try TokenVerifier.verify(
            Array(token.utf8), keys: KeyPolicy(keys: [key], algorithms: [.hs256]),
            at: time ?? Timestamp(milliseconds: 0))
        guard let verified = verdict.token else { throw LectureError(.answerUndecodable) }
        let payload: JSONValue
        do throws(LectureError) {
            payload = try JSONScanner.value(of: verified.payload)
        } catch {
            throw LectureError(.answerUnreadable, cause: error.detail)
        }
        let issued = payload["iat"]?.integer.map { Timestamp(milliseconds: $0 * 1000) }
        return VerifiedAnswer(
            payload: payload, isVerified: true, issued: issued, signer: try verified.signerThumbprint())
    }
}
