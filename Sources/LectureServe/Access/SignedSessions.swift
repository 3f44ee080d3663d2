import LectureCrypto
import LectureFormats
import LectureModel

/// Sessions of browsers: signed texts in a cookie. The server keeps no list of them, so they outlive its restarts; what
/// ends one early is that its token is no longer in the access file.
struct SignedSessions: Sendable {
    /// What a session says.
    struct Session: Sendable, Hashable {
        /// Who it belongs to.
        let person: SitePerson
        /// Of the entry in the access file, or of the signed link.
        let fingerprint: String
        /// When it ends, in seconds since 1970.
        let expiry: Int64
    }

    /// Signs; 32 bytes.
    let key: SecretBytes

    /// The text of a session (HMAC-SHA-256).
    ///
    /// - Parameter session: what it says.
    /// - Returns: a text of letters, digits, `-`, `_` and `.`.
    /// - Throws: `LectureError` with `cryptography`.
    func text(_ session: Session) throws(LectureError) -> String {
        let person = session.person
        let words = [person.name, person.role.rawValue, person.lecture ?? "", session.fingerprint, "\(session.expiry)"]
        let claim = words.map { Base64URL.text(Array($0.utf8)) }.joined(separator: ".")
        return "\(claim).\(try signature("session/1", claim))"
    }

    /// Reads a session.
    ///
    /// - Parameters:
    ///   - text: of a cookie.
    ///   - now: the time.
    /// - Returns: nil when it was changed, or has expired.
    /// - Throws: `LectureError` with `cryptography`.
    func session(_ text: String, now: Timestamp) throws(LectureError) -> Session? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, text.utf8.count <= 4096 else { return nil }
        let claim = parts.dropLast().joined(separator: ".")
        guard OpenSSLDigests.equal(Array(parts[5].utf8), Array(try signature("session/1", claim).utf8)) else {
            return nil
        }
        let words = parts.dropLast().map { part in
            Base64URL.bytes(Array(part.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
        }
        guard let name = words[0], let role = words[1].flatMap(SiteRole.init(rawValue:)), let lecture = words[2],
            let fingerprint = words[3], let expiry = words[4].flatMap(Int64.init), now.milliseconds < expiry * 1000
        else { return nil }
        let person = SitePerson(name: name, role: role, lecture: lecture.isEmpty ? nil : lecture)
        return Session(person: person, fingerprint: fingerprint, expiry: expiry)
    }

    /// What forms of a session have to send.
    ///
    /// - Parameter session: the text of the session.
    /// - Returns: the token.
    /// - Throws: `LectureError` with `cryptography`.
    func formToken(_ session: String) throws(LectureError) -> String { try signature("form/1", session) }

    /// The signature of a text for one purpose: one never does for another.
    func signature(_ purpose: String, _ text: String) throws(LectureError) -> String {
        Base64URL.text(try KeyDerivation.hmac(key, Array("lecture-serve/\(purpose)\n\(text)".utf8)))
    }
}
