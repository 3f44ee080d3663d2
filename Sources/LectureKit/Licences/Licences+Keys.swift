import LectureLicence
import LectureModel

/// The result of a provider's statement about new keys.
public struct GrantingKeyChange: Sendable, Hashable {
    /// How many licences it has changed; 0 when all were changed before.
    public let changed: Int
    /// The thumbprint of the key that signed it, which no longer counts for them.
    public let oldKey: String
    /// The thumbprints of the keys that count in its place.
    public let newKeys: [String]

    /// Creates a result.
    package init(changed: Int, oldKey: String, newKeys: [String]) {
        (self.changed, self.oldKey, self.newKeys) = (changed, oldKey, newKeys)
    }
}

extension LectureManager.Licences {
    /// Carries out a provider's statement about new keys: the licences that the signing key covers take those that it
    /// names. Licences under other keys stay as they are. Repeating it changes nothing more; after an error or a
    /// cancellation what was changed stays changed, and the same statement continues.
    ///
    /// ```swift
    /// let change = try await manager.licences.changeGrantingKeys(by: statement)
    /// print("\(change.changed) licences take answers of the new key")
    /// ```
    ///
    /// - Parameters:
    ///   - statement: the compact token; docs/licences.md lists its claims.
    ///   - trust: what it is verified with; nil for the keys of the configuration. Which keys these are is no matter of
    ///     trust: only the thumbprint that a licence has recorded counts.
    /// - Returns: what was changed.
    /// - Throws: ``LectureError``: `rekeyRefused`, `keyNotGranting` for a key that covers no licence,
    ///   `licenceKeyMissing`, `storeCopied`, a store's or a disk's code. `CancellationError` when the task is
    ///   cancelled.
    public func changeGrantingKeys(by statement: String, trust: LicenceTrust? = nil) async throws -> GrantingKeyChange {
        let used = try trust ?? LicenceTrust(configuration.rights)
        if used.isEmpty { throw LectureError(.licenceKeyMissing) }
        let engine = try licensing.open().engine
        let now = try engine.time().noEarlierThan ?? clock.now()
        let (order, signer) = try LicenceVerifier(trust: used).statement(token: statement, at: now)
        var (changed, last): (Int, ContentKey?) = (0, nil)
        repeat {
            try Task.checkCancellation()
            let part = try engine.changeKeys(order, from: signer, after: last)
            changed += part.changed
            last = part.last
            // Downloads and plays go on between two parts.
            await Task.yield()
        } while last != nil
        if changed == 0 {
            let isRepeated = try order.newKeys.contains { try engine.hasLicences(coveredBy: $0) }
            if !isRepeated { throw LectureError(.keyNotGranting, cause: "its key covers no licence here") }
        }
        return GrantingKeyChange(changed: changed, oldKey: signer, newKeys: order.newKeys)
    }
}
