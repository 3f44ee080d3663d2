import LectureCrypto
import LectureFiles
public import LectureModel

extension DeviceHome {
    /// What the device tells issuers, if it has a key; none is drawn.
    ///
    /// - Returns: nil without a key.
    /// - Throws: ``LectureError`` with `deviceKeyRefused` or a disk code.
    public func presentIdentity() throws(LectureError) -> DeviceIdentity? {
        guard let place = try SecretDirectory.open(directory, creating: false), let key = try Self.read(place) else {
            return nil
        }
        return try Self.identity(key)
    }

    /// Draws a new key for this device. The old one stays beside it as `device-PLAYERID.key`, with its mode, so that
    /// nothing is lost for good; what it has sealed and the licences bound to it cannot be used while the new one is in
    /// place. Whoever has the old key open already works with it until it closes.
    ///
    /// To go back, the old file takes the place of `device.key` while no program works on the stores. A store that was
    /// used with the new key meanwhile belongs to another device then, until its licence servers have answered.
    ///
    /// - Returns: who the device is from now on.
    /// - Throws: ``LectureError``: `deviceKeyRefused` for a present key that cannot be read (nothing is put in its
    ///   place), a disk code or `cryptography`.
    public func replaceKey() throws(LectureError) -> DeviceIdentity {
        guard let place = try SecretDirectory.open(directory, creating: true) else {
            throw LectureError(.createDirectory, detail: directory)
        }
        return try place.withLock { () throws(LectureError) in
            if let present = try Self.read(place) { try Self.keepAside(present, in: place) }
            let key = try DeviceKey.generate()
            // The old key is durable under its other name by now: a kill before this leaves it in place as well, and
            // one behind it leaves both keys.
            _ = try Self.write(key, to: place, replacing: true)
            return try Self.identity(key)
        }
    }

    /// Makes a key durable under a name of its own; a file that holds it already stays as it is.
    private static func keepAside(_ key: DeviceKey, in place: SecretDirectory) throws(LectureError) {
        let player = try key.thumbprint()
        for number in 1... {
            let name = number == 1 ? "device-\(player).key" : "device-\(player)-\(number).key"
            if try write(key, as: name, to: place, replacing: false) { return }
            // A damaged copy, or somebody else's file under this name, is no copy, and nothing is written over it.
            if let other = try? read(place, name), try other.fileBytes().isEqual(to: key.fileBytes()) { return }
        }
    }

    private static func identity(_ key: DeviceKey) throws(LectureError) -> DeviceIdentity {
        DeviceIdentity(playerID: try key.thumbprint(), publicJWK: try key.publicJWK())
    }
}
