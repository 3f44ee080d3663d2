import LectureCrypto
import LectureFiles
import LectureFormats
import LectureModel

/// The secrets of archives, which are in files of their own: who has only the store cannot open a lecture.
struct LiveKeys: Sendable {
    /// Bytes of a new key.
    static let length = 32
    /// The longest file that is read, in bytes.
    private static let longest = 4096

    /// Wraps content keys.
    let wrapping: SecretBytes
    /// Signs licences.
    let licence: SigningKey

    /// Reads both files, and makes those that are missing.
    ///
    /// - Parameter options: with the directory of the state without symbolic links.
    /// - Throws: `LectureError`: `secretReadable` for a file that others may read, `configuration` for one without a
    ///   key, `readFile`, `createFile`, `storageFull`, `cryptography`.
    init(_ options: LiveOptions) throws(LectureError) {
        let state = options.stateDirectory
        let archive = try Self.bytes(options.archives.keyFile ?? "\(state)/archive.key")
        guard let raw = Base64URL.bytes(archive.text), raw.count == Self.length else {
            throw LectureError(.configuration, detail: archive.path, cause: "it must have 32 bytes as base64url")
        }
        wrapping = try KeyDerivation.hkdf(
            SecretBytes(copying: raw), salt: [], info: Array("lecture-live/archive/1:content keys".utf8),
            count: Self.length)
        let licence = try Self.bytes(options.archives.licenceKeyFile ?? "\(state)/licence.key")
        guard licence.text.utf8.count >= Self.length else {
            throw LectureError(.configuration, detail: licence.path, cause: "it must have 32 bytes or more")
        }
        self.licence = SigningKey(secret: try SecretBytes(copying: Array(licence.text.utf8)))
    }

    private static func bytes(_ path: String) throws(LectureError) -> (path: String, text: String) {
        let text = try SecretFile.line(path, limit: longest) { () throws(LectureError) in
            Base64URL.text(try SecureRandom.bytes(length))
        }
        return (path, text)
    }
}
