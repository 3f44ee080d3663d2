package import LectureCrypto
import LectureFiles
import LectureFormats
package import LectureModel

/// Reads the files that name devices and signers.
package enum BundleFiles {
    private static let longest = 1 << 20

    /// The device that a bundle is for.
    ///
    /// - Parameter path: a public key as `lecturectl device show` prints it: the JWK, or the line of `--json`.
    /// - Returns: the device.
    /// - Throws: ``LectureError``: `readFile`, `configuration` for another file.
    package static func recipient(_ path: String) throws(LectureError) -> BundleRecipient {
        let keys = try publicKeys(path)
        guard keys.count == 1, let key = keys.first else { throw unusable(path, "it has not exactly one key") }
        do throws(KeyRefusal) { return try BundleRecipient(key) } catch { throw unusable(path, error.sentence) }
    }

    /// The thumbprints of keys that are trusted.
    ///
    /// - Parameter path: a JWK, a JWK set (RFC 7517), or the line of `lecturectl device show --json`.
    /// - Returns: one or more.
    /// - Throws: ``LectureError``: `readFile`, `configuration` for another file.
    package static func trusted(_ path: String) throws(LectureError) -> [String] {
        var names: [String] = []
        for key in try publicKeys(path) {
            do throws(KeyRefusal) { names.append(try JWK.thumbprint(key)) } catch {
                throw unusable(path, error.sentence)
            }
        }
        if names.isEmpty { throw unusable(path, "it has no key") }
        return names
    }

    /// The key that signs a bundle.
    ///
    /// - Parameter path: PKCS#8 in PEM, on P-256 or of Ed25519; only its owner may read it.
    /// - Returns: the signer.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, `configuration` for another file.
    package static func signer(_ path: String) throws(LectureError) -> BundleSigner {
        let bytes = try SecretFile.open(path, limit: longest).bytes()
        do throws(LectureError) { return try BundleSigner(pem: bytes) } catch {
            throw LectureError(error.code, detail: path, cause: error.cause)
        }
    }

    private static func publicKeys(_ path: String) throws(LectureError) -> [JSONValue] {
        let bytes = try SecretFile.open(path, limit: longest, .open).bytes()
        let value: JSONValue
        do throws(FormatError) { value = try JSONScanner.scan(bytes) } catch { throw unusable(path, "it is no JSON") }
        if let keys = value["keys"]?.elements { return keys }
        return [value["public_jwk"] ?? value]
    }

    private static func unusable(_ path: String, _ cause: String) -> LectureError {
        LectureError(.configuration, detail: path, cause: cause)
    }
}
