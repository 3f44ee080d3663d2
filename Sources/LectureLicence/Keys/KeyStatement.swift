package import LectureFormats
package import LectureModel

/// A provider's statement that other keys count from now on in place of the one that signed it: the claims of a token
/// whose signature was verified. docs/licences.md has the table.
package struct KeyStatement: Hashable, Sendable {
    /// The token's `typ`, so that no statement is taken for a licence, and no licence for a statement.
    package static let type = "lecturekit-rekey+jwt"
    /// The most lectures that a statement may name.
    package static let contentLimit = 10_000

    /// The thumbprints of the keys that count from now on.
    package let newKeys: [String]
    /// The lectures it applies to; nil for all.
    package let contents: Set<ContentKey>?

    /// Reads the claims.
    ///
    /// - Parameters:
    ///   - payload: the claims.
    ///   - now: the earliest time it can be; nil when none is known.
    /// - Throws: ``LectureError`` with ``LectureError/Code/rekeyRefused``, whose cause names the claim.
    package init(_ payload: JSONValue, at now: Timestamp?) throws(LectureError) {
        guard payload.members != nil else { throw Self.refusal("it is not an object") }
        guard let issued = payload["iat"]?.integer, (0...253_402_300_799).contains(issued) else {
            throw Self.refusal("'iat' is missing or not a time")
        }
        if let end = payload["exp"] {
            guard let second = end.integer, (0...253_402_300_799).contains(second) else {
                throw Self.refusal("'exp' is not a time")
            }
            if let now, now.milliseconds >= second * 1000 { throw Self.refusal("it has expired") }
        }
        let names = payload["new_keys"]?.elements?.map(\.string) ?? []
        let keys = names.compactMap(\.self)
        guard !keys.isEmpty, keys.count == names.count, keys.count <= GrantingKeys.limit,
            keys.allSatisfy(Self.isThumbprint)
        else {
            throw Self.refusal("'new_keys' is not an array of 1 to \(GrantingKeys.limit) thumbprints")
        }
        newKeys = keys
        contents = try payload["mck"].map { value throws(LectureError) in try Self.contents(value) }
    }

    private static func contents(_ value: JSONValue) throws(LectureError) -> Set<ContentKey> {
        let names = value.elements?.map(\.string) ?? [value.string]
        let keys = names.compactMap { name in name.flatMap { try? ContentKey($0) } }
        guard !keys.isEmpty, keys.count == names.count, keys.count <= contentLimit else {
            throw refusal("'mck' names no lectures, or more than \(contentLimit)")
        }
        return Set(keys)
    }

    /// SHA-256 or an HMAC with it, as base64url without padding (RFC 7515 section 2).
    private static func isThumbprint(_ text: String) -> Bool { Base64URL.bytes(text)?.count == 32 }

    private static func refusal(_ cause: String) -> LectureError { LectureError(.rekeyRefused, cause: cause) }
}

extension LicenceEngine {
    /// How many licences one transaction of ``changeKeys(_:from:after:)`` changes at the most.
    package static let keyChangesAtOnce = 500

    /// Carries out a part of a statement: in the licences that one key covers, others take its place. Each part is one
    /// durable transaction, and what it has changed is no longer covered; so a repeated statement continues where a
    /// killed one stopped. Waits for the anchor.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - signer: the thumbprint of the key that signed it.
    ///   - last: the last lecture of the part before; nil for the first part.
    /// - Returns: how many licences were changed, and the last lecture that was looked at; nil at the end.
    /// - Throws: ``LectureError``: a store's or a disk's code.
    package func changeKeys(
        _ statement: KeyStatement, from signer: String, after last: ContentKey? = nil
    ) throws -> (changed: Int, last: ContentKey?) {
        var changed = 0
        var page: [ContentKey] = []
        let anchor = try writing { transaction in
            page = try transaction.ledger.contentKeys.keys(coveredBy: signer, after: last, limit: Self.keyChangesAtOnce)
            for key in page where statement.contents?.contains(key) ?? true {
                if try changeKeys(of: key, from: signer, to: statement.newKeys, &transaction) { changed += 1 }
            }
        }
        try keepNow(anchor)
        return (changed, page.count < Self.keyChangesAtOnce ? nil : page.last)
    }

    /// Whether a key covers any licence.
    ///
    /// - Parameter signer: the thumbprint.
    /// - Returns: whether a licence, or the key of a lecture's media, names it.
    /// - Throws: ``LectureError``: a store's code.
    package func hasLicences(coveredBy signer: String) throws -> Bool {
        try ports.store.read { try !$0.licences.contentKeys.keys(coveredBy: signer, after: nil, limit: 1).isEmpty }
    }

    private func changeKeys(
        of key: ContentKey, from signer: String, to names: [String], _ transaction: inout LicenceTransaction
    ) throws -> Bool {
        let bound = try transaction.content(key)?.grantingKeys?.replacing(signer, by: names)
        var own: GrantingKeys?
        if var entry = try transaction.ledger.entry(key), let next = entry.grantingKeys?.replacing(signer, by: names) {
            entry.grantingKeys = next
            try transaction.keep(entry)
            if entry.suspicion == nil { own = next }
        }
        // A row that is not trusted, or was lost, does not decide what the key of the media is bound to.
        if let keys = bound ?? own { try transaction.bind(key, to: keys) }
        return bound != nil || own != nil
    }
}
