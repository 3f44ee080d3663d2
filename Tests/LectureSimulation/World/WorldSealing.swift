import LectureCrypto
package import LectureModel

/// Seals the media of all lectures, or of none, and the keys of streams always. The memory disk stores plaintext, so
/// that only chunks, proofs and headers are those of sealed files.
package final class WorldSealing: ContentSealing {
    /// Whether media is sealed.
    package var isOn: Bool
    /// Every call throws this.
    package var failure: LectureError?
    private var ciphers: [ContentKey: any ContentCipher] = [:]

    /// Seals, or not.
    ///
    /// - Parameter isOn: whether media is sealed.
    package init(isOn: Bool = false) { self.isOn = isOn }

    /// The same cipher for a lecture each time.
    package func cipher(
        for item: ItemRecord, role: ResourceRole, in transaction: any StoreTransaction
    ) throws -> (any ContentCipher)? {
        try cipher(for: item, role: role)
    }

    /// The same without rows, of which it needs none.
    package func cipher(for item: ItemRecord, role: ResourceRole) throws -> (any ContentCipher)? {
        if let failure { throw failure }
        let key = item.content.key
        if role.isOfStream, role != .key, !isOn { return nil }
        if let known = ciphers[key] { return known }
        guard isOn && (role == .media || role.isOfStream) || role == .key else { return nil }
        let made = try SealedContent(try SecretBytes.random(32), content: key.text)
        ciphers[key] = made
        return made
    }
}
