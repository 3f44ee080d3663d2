import LectureFormats
package import LectureModel

/// Seals header fields under a key of the device (AES-256-GCM), bound to their names.
package struct FieldVault: FieldSealing {
    /// True: the value is made of one.
    package var hasKey: Bool { true }
    private let key: SecretBytes

    /// Takes the key of a device.
    ///
    /// - Parameter device: the device's key; another one opens nothing.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package init(_ device: DeviceKey) throws(LectureError) { key = try device.fieldKey() }

    /// Seals a value: nonce, ciphertext and tag as base64url after the mark.
    package func seal(_ value: String, name: String) throws(LectureError) -> String {
        let nonce = try SecureRandom.bytes(AESGCM.nonceLength)
        let plaintext = try SecretBytes(copying: Array(value.utf8))
        let box = try AESGCM().seal(plaintext, key: key, nonce: nonce, associated: Self.associated(name))
        return SealedField.mark + Base64URL.text(nonce + box)
    }

    /// Opens a value.
    package func open(_ text: String, name: String) throws(LectureError) -> String {
        guard let bytes = Base64URL.bytes(String(text.dropFirst())),
            bytes.count >= AESGCM.nonceLength + AESGCM.tagLength
        else { throw LectureError(.headersSealed, detail: name) }
        let box = Array(bytes.dropFirst(AESGCM.nonceLength))
        var isOpen = false
        let plaintext = try unsafe SecretBytes(count: box.count - AESGCM.tagLength) { buffer throws(LectureError) in
            isOpen = try unsafe AESGCM().open(
                box, into: buffer, key: key, nonce: Array(bytes.prefix(AESGCM.nonceLength)),
                associated: Self.associated(name))
        }
        guard isOpen, let value = String(validating: plaintext.exposed(), as: UTF8.self) else {
            throw LectureError(.headersSealed, detail: name)
        }
        return value
    }

    private static func associated(_ name: String) -> [UInt8] {
        Array("lecturekit/field/1:\(FieldText.lowercased(name[...]))".utf8)
    }
}
