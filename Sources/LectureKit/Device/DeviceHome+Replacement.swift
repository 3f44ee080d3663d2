import LectureCrypto
import LectureFiles
public import LectureModel

extension DeviceHome {
    /// What the device sends to issuers, if it has a key; none is created.
    ///
    /// - Returns: nil without a key.
    /// - Throws: ``LectureError`` with `deviceKeyRefused` or a disk code.
    public func presentIdentity() throws(LectureError) -> DeviceIdentity? {
        guard let place = try SecretDirectory.open(directory, creating: false), let key = try Self.read(place) else {
            return nil
        }
        return try Self.identity(key)
    }

    /// Creates a new key for this device. The old one stays beside it as `device-PLAYERID.key`, with its mode, so that
    /// nothing is lost permanently; what it sealed and the licences bound to it cannot be used while the new one is in
    /// place. A program that has the old key open uses it until it closes.
    ///
    /// To go back, replace `device.key` with the old file while no program uses the stores. A store that was used with
    /// the new key meanwhile then belongs to another device, until its licence servers have answered.
    ///
    /// - Returns: the device's new identity.
    /// - Throws: ``LectureError``: `deviceKeyRefused` for an existing key that cannot be read (it is not replaced), a
    ///   disk code or `cryptography`.
    public func replaceKey() throws(LectureError) -> DeviceIdentity {
        guard let place = try SecretDirectory.open(directory, creating: true) else {
            throw LectureError(.createDirectory, detail: directory)
        }
        return try place.withLock { () throws(LectureError) in
            if let present = try Self.read(place) { try Self.keepAside(present, in: place) }
            let key = try DeviceKey.generate()
            // The old key is durable under its other name now: a kill before this also leaves it in place, and one
            // after it leaves both keys.
            _ = try Self.write(key, to: place, replacing: true)
            return try Self.identity(key)
        }
    }

    /// Makes a key durable under a name of its own; a file that already holds it stays as it is.
    private static func keepAside(_ key: DeviceKey, in place: SecretDirectory) throws(LectureError) {
        let player = try key.thumbprint()
        for number in 1... {
            let name = number == 1 ? "device-\(player).key" : "device-\(player)-\(number).key"
            if try write(key, as: name, to: place, replacing: false) { return }
            // A damaged copy, or a foreign file under this name, is no copy, and is not overwritten.
            if let other = try? read(place, name), try other.fileBytes().isEqual(to: key.fileBytes()) { return }
        }
    }

    private static func identity(_ key: DeviceKey) throws(LectureError) -> DeviceIdentity {
        DeviceIdentity(playerID: try key.thumbprint(), publicJWK: try key.publicJWK())
    }
}
