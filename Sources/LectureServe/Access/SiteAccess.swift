package import LectureCrypto
import LectureFormats
import LectureHTTP
package import LectureModel

/// Who a client is: by a token, or by the session of a browser.
package final class SiteAccess: Sendable {
    /// The cookie of a session.
    static let cookie = "lecturekit"
    /// How long a session lasts.
    static let lifetime: Duration = .seconds(12 * 3600)

    /// A person or a program that has proved who they are.
    struct Proof: Sendable, Hashable {
        let person: SitePerson
        /// What a form must send; nil for a token, which no browser adds by itself.
        var formToken: String?
    }

    private let sessions: SignedSessions
    private let digests: OpenSSLDigests
    private let isSecure: Bool
    private let now: @Sendable () -> Timestamp
    private let list: Guarded<AccessList>
    private let wrong = WrongTokens()

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - list: who may use the site.
    ///   - key: signs sessions; 32 bytes.
    ///   - isSecure: whether cookies go over TLS only.
    ///   - now: the time.
    /// - Throws: `LectureError` with `cryptography`.
    package init(
        _ list: AccessList, key: SecretBytes, isSecure: Bool, now: @escaping @Sendable () -> Timestamp
    ) throws(LectureError) {
        sessions = SignedSessions(key: key)
        digests = try OpenSSLDigests(proofKey: key)
        (self.isSecure, self.now, self.list) = (isSecure, now, Guarded(list))
    }

    /// Replaces the list, for all requests from now on.
    ///
    /// - Parameter list: who may use the site.
    /// - Returns: whether it is another one.
    @discardableResult
    package func replace(_ list: AccessList) -> Bool {
        self.list.withLock { current in
            defer { current = list }
            return current != list
        }
    }

    /// Counts a wrong token.
    ///
    /// - Parameter address: where it came from.
    /// - Returns: after how many seconds another one is looked at; nil as long as there are few.
    func countWrongToken(from address: String) -> Int? { wrong.add(address, now: now()) }

    /// Who sends a request.
    ///
    /// - Parameter head: its head: `Authorization` with `Bearer TOKEN` or `Basic NAME:TOKEN`, else the cookie.
    /// - Returns: nil when nothing is proved.
    /// - Throws: `LectureError` with `cryptography`.
    func proof(_ head: HTTPRequestHead) throws(LectureError) -> Proof? {
        if let field = head.value("authorization") {
            guard let sent = Self.credentials(field) else { return nil }
            let digest = try digests.sha256(of: Array(sent.token.utf8))
            return list.withLock { $0.entry(digest: digest, name: sent.name) }.map { Proof(person: $0.person) }
        }
        for text in Self.cookies(head) {
            guard let session = try sessions.session(text, now: now()), isCurrent(session) else { continue }
            return Proof(person: session.person, formToken: try sessions.formToken(text))
        }
        return nil
    }

    /// Begins the session of a person who has typed a token.
    ///
    /// - Parameter token: what they have typed.
    /// - Returns: the person, and the value of `Set-Cookie`; nil when the token is wrong.
    /// - Throws: `LectureError` with `cryptography`.
    package func signIn(token: String) throws(LectureError) -> (person: SitePerson, cookie: String)? {
        let digest = try digests.sha256(of: Array(token.utf8))
        guard let entry = list.withLock({ $0.entry(digest: digest, name: nil) }) else { return nil }
        return (entry.person, try cookie(for: entry.person, fingerprint: entry.fingerprint, lasting: Self.lifetime))
    }

    /// Begins the session of a person who has come by a signed link, which is their proof.
    ///
    /// - Parameters:
    ///   - viewer: who they are; with one lecture.
    ///   - lifetime: how long the session lasts.
    /// - Returns: the value of `Set-Cookie`.
    /// - Throws: `LectureError` with `cryptography`.
    package func admit(_ viewer: SitePerson, lasting lifetime: Duration) throws(LectureError) -> String {
        try cookie(for: viewer, fingerprint: Self.linked, lasting: lifetime)
    }

    /// The value of `Set-Cookie` that ends a session.
    package var endingCookie: String { "\(Self.cookie)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" }

    /// Signs a text, for links to one lecture.
    ///
    /// - Parameter text: the text.
    /// - Returns: the signature.
    /// - Throws: `LectureError` with `cryptography`.
    package func linkSignature(_ text: String) throws(LectureError) -> String {
        try sessions.signature("link/1", text)
    }

    private static let linked = "link"

    private func cookie(
        for person: SitePerson, fingerprint: String, lasting lifetime: Duration
    ) throws(LectureError) -> String {
        let seconds = lifetime.milliseconds / 1000
        let expiry = now().milliseconds / 1000 + seconds
        let session = SignedSessions.Session(person: person, fingerprint: fingerprint, expiry: expiry)
        let text = try sessions.text(session)
        return "\(Self.cookie)=\(text); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    private func isCurrent(_ session: SignedSessions.Session) -> Bool {
        if session.fingerprint == Self.linked { return session.person.lecture != nil }
        return list.withLock(\.entries).contains {
            $0.person == session.person && $0.fingerprint == session.fingerprint
        }
    }

    /// Compares two secrets in constant time.
    static func isSame(_ one: String, _ other: String) -> Bool {
        OpenSSLDigests.equal(Array(one.utf8), Array(other.utf8))
    }

    /// The token of `Authorization` (RFC 6750 section 2.1, RFC 7617).
    private static func credentials(_ field: String) -> (name: String?, token: String)? {
        let words = field.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return nil }
        switch words[0].lowercased() {
        case "bearer": return (nil, words[1])
        case "basic":
            guard let bytes = Base64.bytes(words[1]), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
                return nil
            }
            let name = String(decoding: bytes[..<colon], as: UTF8.self)
            return (name, String(decoding: bytes[(colon + 1)...], as: UTF8.self))
        default: return nil
        }
    }

    /// The values of our cookie, a few at most: other services on the same name may have set some.
    private static func cookies(_ head: HTTPRequestHead) -> [String] {
        let pairs = head.values("cookie").joined(separator: ";").split(separator: ";")
        let ours = pairs.compactMap { pair -> String? in
            let text = pair.drop { $0 == " " }
            return text.hasPrefix("\(cookie)=") ? String(text.dropFirst(cookie.utf8.count + 1)) : nil
        }
        return Array(ours.prefix(4))
    }
}
