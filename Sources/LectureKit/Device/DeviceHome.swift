import Glibc
package import LectureCrypto
import LectureFiles
public import LectureModel

/// What a device sends to issuers about itself.
public struct DeviceIdentity: Sendable, Hashable {
    /// The thumbprint of the device's public key (RFC 7638) as base64url: the player's id, to which licences are bound.
    public let playerID: String
    /// The public key as a JWK on one line, for issuers that encrypt content keys.
    public let publicJWK: String
}

/// Where the device's key and the anchors of stores are kept: outside every store, so that a copy of a store is useless
/// elsewhere. Everything is created when it is first needed, once however many processes need it. Blocks for the disk.
public struct DeviceHome: Sendable {
    /// The name of the key's file.
    static let keyName = "device.key"
    /// A longer file in here, in bytes, is not ours.
    static let longest = 4096

    /// The directory.
    public let directory: String

    /// Creates the value; nothing is touched.
    ///
    /// - Parameter directory: absolute, or relative to the working directory.
    public init(directory: String) { self.directory = directory }

    /// The directory that the environment names.
    ///
    /// - Parameter environment: `LECTURE_DEVICE`, else `STATE_DIRECTORY`, which systemd sets for a service, else
    ///   `XDG_DATA_HOME`, else `HOME`.
    /// - Returns: the directory; nil when none of them is set.
    public static func directory(in environment: [String: String]) -> String? {
        if let path = environment["LECTURE_DEVICE"], !path.isEmpty { return path }
        if let path = ServiceDirectories(environment).device { return path }
        // One that is not absolute is ignored, as the XDG Base Directory Specification requires.
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") { return "\(base)/lecturekit-device" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return "\(home)/.local/share/lecturekit-device"
    }

    // MARK: The key

    /// Whether there is a key, usable or not. Nothing is made.
    public var hasKey: Bool { unsafe access("\(directory)/\(Self.keyName)", F_OK) == 0 }

    /// The device's key; created when there is none.
    ///
    /// - Returns: the key.
    /// - Throws: ``LectureError``: `deviceKeyRefused` for a file that others may read, a link, a damaged one (a new key
    ///   never overwrites it), a disk code, or `cryptography`.
    package func key() throws(LectureError) -> DeviceKey {
        if let place = try SecretDirectory.open(directory, creating: false), let key = try Self.read(place) {
            return key
        }
        guard let place = try SecretDirectory.open(directory, creating: true) else {
            throw LectureError(.createDirectory, detail: directory)
        }
        return try place.withLock { () throws(LectureError) in
            // Another process may have been faster.
            if let key = try Self.read(place) { return key }
            let key = try DeviceKey.generate()
            if try Self.write(key, to: place, replacing: false) { return key }
            // Another process was faster without the lock; its key counts.
            guard let other = try Self.read(place) else { throw LectureError(.createFile, detail: directory) }
            return other
        }
    }

    static func read(
        _ place: SecretDirectory, _ name: String = keyName
    ) throws(LectureError) -> DeviceKey? {
        guard let file = try place.file(name, limit: longest) else { return nil }
        let bytes = try unsafe SecretBytes(count: file.count) { buffer throws(LectureError) in
            try unsafe file.read(into: buffer)
        }
        do {
            return try DeviceKey(fileBytes: bytes)
        } catch {
            if error.code == .cryptography { throw error }
            throw LectureError(.deviceKeyRefused, detail: "\(place.path)/\(name)", cause: error.cause)
        }
    }

    static func write(
        _ key: DeviceKey, as name: String = keyName, to place: SecretDirectory, replacing: Bool
    ) throws(LectureError) -> Bool {
        let bytes = try key.fileBytes()
        return try unsafe bytes.withBytes { buffer throws(LectureError) in
            try unsafe place.write(name, buffer, replacing: replacing)
        }
    }

    /// What the device sends to issuers; its key is created when there is none.
    ///
    /// - Returns: nothing secret.
    /// - Throws: as creating the key.
    public func identity() throws(LectureError) -> DeviceIdentity {
        let key = try key()
        return DeviceIdentity(playerID: try key.thumbprint(), publicJWK: try key.publicJWK())
    }

    // MARK: Copies

    /// Writes a copy of the key that only a passphrase opens: 136 bytes, described in docs/sealed-file.md.
    ///
    /// - Parameters:
    ///   - path: must not exist.
    ///   - passphrase: not empty.
    /// - Throws: ``LectureError``: `createFile` when the path is taken, `parameter` for an empty passphrase, or as
    ///   creating the key.
    public func exportKey(to path: String, passphrase: Passphrase) throws(LectureError) {
        let copy = try key().protectedCopy(passphrase: passphrase.bytes)
        let failure: LectureError? = unsafe copy.withUnsafeBytes { buffer in
            do throws(LectureError) {
                try unsafe SecretFile.create(buffer, at: path)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// Imports a copy of a key as this device's.
    ///
    /// - Parameters:
    ///   - path: the copy.
    ///   - passphrase: the one it was made with.
    ///   - replacing: whether another key of this device may be discarded: what it sealed, and the licences bound to
    ///     it, are then permanently unreadable unless there is a copy of it.
    /// - Returns: the device's new identity.
    /// - Throws: ``LectureError``: `deviceKeyInUse`, `damaged` for a file that is not a copy, `parameter` for a wrong
    ///   passphrase, `readFile`, or a disk code.
    public func importKey(
        from path: String, passphrase: Passphrase, replacing: Bool = false
    ) throws(LectureError) -> DeviceIdentity {
        let copy = try SecretFile.open(path, limit: Self.longest, .open).bytes()
        let key = try DeviceKey(protectedCopy: copy, passphrase: passphrase.bytes)
        let identity = DeviceIdentity(playerID: try key.thumbprint(), publicJWK: try key.publicJWK())
        guard let place = try SecretDirectory.open(directory, creating: true) else {
            throw LectureError(.createDirectory, detail: directory)
        }
        try place.withLock { () throws(LectureError) in
            let present: DeviceKey?
            do throws(LectureError) {
                present = try Self.read(place)
            } catch {
                // The existing key cannot be used; a copy is the remedy, but only when that is wanted.
                if !replacing { throw error }
                present = nil
            }
            if let present {
                if try present.fileBytes().isEqual(to: key.fileBytes()) { return }
                if !replacing { throw LectureError(.deviceKeyInUse, detail: directory) }
            }
            _ = try Self.write(key, to: place, replacing: true)
        }
        return identity
    }

    /// Where the anchors of this device's stores are kept.
    ///
    /// - Parameter key: the device's key.
    /// - Returns: the keeper.
    /// - Throws: ``LectureError`` with a disk code or `cryptography`.
    package func anchors(_ key: DeviceKey) throws(LectureError) -> any AnchorKeeper {
        guard let place = try SecretDirectory.open(directory, creating: true) else {
            throw LectureError(.createDirectory, detail: directory)
        }
        return AnchorFiles(try place.directory("anchors"), key: try key.ledgerKey())
    }
}

/// A passphrase in memory that is cleared on release.
public struct Passphrase: Sendable {
    /// The longest passphrase, in bytes.
    static let longest = 65_536
    let bytes: SecretBytes

    /// Copies a passphrase.
    ///
    /// - Parameter text: its UTF-8; the caller clears the array.
    /// - Throws: ``LectureError`` with the code `cryptography` when there is no memory.
    public init(_ text: [UInt8]) throws(LectureError) { bytes = try SecretBytes(copying: text) }

    /// Reads a passphrase from a file that only its owner may read: its bytes without one trailing line end.
    ///
    /// - Parameter path: the file.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, or `parameter` when it is empty.
    public init(file path: String) throws(LectureError) {
        let file = try SecretFile.open(path, limit: Self.longest)
        let all = try unsafe SecretBytes(count: file.count) { buffer throws(LectureError) in
            try unsafe file.read(into: buffer)
        }
        let count = unsafe all.withBytes { text in
            var end = text.count
            if end > 0, unsafe text[end - 1] == 0x0A { end -= 1 }
            if end > 0, end < text.count, unsafe text[end - 1] == 0x0D { end -= 1 }
            return end
        }
        guard count > 0 else { throw LectureError(.parameter, detail: path, cause: "the passphrase is empty") }
        bytes = try unsafe SecretBytes(count: count) { buffer in
            unsafe all.withBytes { unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
