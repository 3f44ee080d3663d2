import LectureFormats
package import LectureModel

/// The codes over the rows of the ledger: HMAC-SHA-256 (RFC 2104) under the device's ledger key.
package struct LedgerAuthenticator: RowAuthenticator {
    /// The thumbprint of the device's key (RFC 7638), 32 bytes.
    package let device: [UInt8]
    private let key: KeyedCode

    /// Takes the ledger key of a device.
    ///
    /// - Parameter device: the device's key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package init(_ device: DeviceKey) throws(LectureError) {
        guard let thumbprint = Base64URL.bytes(try device.thumbprint()) else {
            throw LectureError(.cryptography, detail: "thumbprint")
        }
        self.device = thumbprint
        key = try KeyedCode(try device.ledgerKey())
        // Failures surface here: a missing digest or an invalid key.
        _ = try key.code([])
    }

    /// The code over some bytes.
    package func code(_ bytes: [UInt8]) -> [UInt8] {
        guard let code = try? key.code(bytes) else {
            // proof: it was computed once in init, so it can only fail for lack of memory, as any array; and an
            // invented code would either be accepted or destroy the row it is stored with.
            preconditionFailure("an HMAC without memory")
        }
        return code
    }
}
