import LectureFormats
package import LectureKit
import LectureModel
package import LectureRecords

extension JSONLine {
    /// The verdict on a licence file.
    ///
    /// - Parameter verdict: the verdict.
    /// - Returns: the line.
    package static func verdict(_ verdict: LicenceFileVerdict) -> String {
        line { writer in
            writer.member("record", "verdict")
            writer.member("verdict", verdict.isAccepted ? "accept" : "reject")
            writer.array("reasons") { writer in for name in verdict.reasonNames { writer.element(name) } }
            writer.array("sentences") { writer in for reason in verdict.reasons { writer.element(reason.sentence) } }
            writer.member("algorithm", verdict.algorithm)
            writer.array("claims") { writer in
                for claim in verdict.claims {
                    writer.object { writer in
                        writer.member("name", claim.name)
                        writer.member("value", claim.value)
                    }
                }
            }
        }
    }

    /// What a provider's statement about new keys has changed.
    ///
    /// - Parameter change: the result.
    /// - Returns: the line.
    package static func keyChange(_ change: GrantingKeyChange) -> String {
        line { writer in
            writer.member("record", "rekey")
            writer.member("changed", change.changed)
            writer.member("old_key", change.oldKey)
            writer.array("new_keys") { writer in for key in change.newKeys { writer.element(key) } }
        }
    }

    /// The identity of this device.
    ///
    /// - Parameters:
    ///   - identity: what issuers need.
    ///   - directory: where its key is kept.
    /// - Returns: the line.
    package static func device(_ identity: DeviceIdentity, directory: String) -> String {
        line { writer in
            writer.member("record", "device")
            writer.member("player_id", identity.playerID)
            writer.member("public_jwk", json: (try? JSONScanner.value(of: identity.publicJWK)) ?? .null)
            writer.member("directory", directory)
        }
    }
}
