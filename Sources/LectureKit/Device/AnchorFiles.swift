import LectureCrypto
import LectureFiles
import LectureFormats
import LectureModel

/// Anchors as files beside the device's key, one for each store:
///
/// | offset | length | what |
/// | --- | --- | --- |
/// | 0 | 9 | `LKANCHOR` and the version, 1 |
/// | 9 | 8 | the revision |
/// | 17 | 32 | the code of the row |
/// | 49 | 1 | bit 0: there is a proven time; bit 1: there is a best guess |
/// | 50 | 16 | both times in milliseconds, 0 where there is none |
/// | 66 | 32 | HMAC-SHA-256 under the ledger key over the store's name and all bytes before |
///
/// Integers are big endian. A file that does not match its code counts as missing: it was not written by this device.
struct AnchorFiles: AnchorKeeper {
    private static let magic = Array("LKANCHOR".utf8) + [1]
    private static let codeLength = 32
    private static let bodyLength = 66

    private let place: SecretDirectory
    private let key: SecretBytes

    /// Stores the location and the key of the codes.
    init(_ place: SecretDirectory, key: SecretBytes) { (self.place, self.key) = (place, key) }

    func anchor(of store: String) throws(LectureError) -> LedgerAnchor? {
        let name = try Self.fileName(store)
        guard let file = try place.file(name, limit: DeviceHome.longest) else { return nil }
        return try read(file.bytes(), store)
    }

    func keep(_ anchor: LedgerAnchor, of store: String) throws(LectureError) {
        let name = try Self.fileName(store)
        let body = try Self.body(anchor)
        let bytes = body + (try code(body, store))
        try place.withLock { () throws(LectureError) in
            if let present = try self.anchor(of: store), present.revision > anchor.revision { return }
            let failure: LectureError? = unsafe bytes.withUnsafeBytes { buffer in
                do throws(LectureError) {
                    _ = try unsafe place.write(name, buffer, replacing: true)
                    return nil
                } catch { return error }
            }
            if let failure { throw failure }
        }
    }

    func obstacle(of store: String) -> LectureError? {
        do throws(LectureError) {
            try place.requireWritable(try Self.fileName(store))
            return nil
        } catch { return error }
    }

    func newestTimes() throws(LectureError) -> AnchoredTimes {
        var times = AnchoredTimes()
        for name in try place.names() where (try? Self.fileName(name)) == name {
            // A file that cannot be read is another user's or was cut short; it vouches for no time.
            if let anchor = try? anchor(of: name) { times.add(anchor) }
        }
        return times
    }

    // MARK: Bytes

    /// A store's name is a UUID; anything else could lead outside the directory.
    private static func fileName(_ store: String) throws(LectureError) -> String {
        let isName = store.utf8.allSatisfy { Hexadecimal.digit($0) != nil || $0 == UInt8(ascii: "-") }
        guard isName, (1...64).contains(store.utf8.count) else {
            throw LectureError(.parameter, detail: "name of a store", cause: "it is not a UUID")
        }
        return store.lowercased()
    }

    private func code(_ body: [UInt8], _ store: String) throws(LectureError) -> [UInt8] {
        let name = Array("lecturekit/anchor/1:\(try Self.fileName(store)):".utf8)
        return try KeyDerivation.hmac(key, name + body)
    }

    private static func body(_ anchor: LedgerAnchor) throws(LectureError) -> [UInt8] {
        guard anchor.code.count == codeLength, anchor.revision >= 0 else {
            throw LectureError(.bug, detail: "an anchor that no ledger has")
        }
        let flags: UInt8 = (anchor.proven == nil ? 0 : 1) | (anchor.estimate == nil ? 0 : 2)
        let times = [anchor.proven, anchor.estimate].flatMap { ($0?.milliseconds ?? 0).bigEndianBytes }
        return magic + anchor.revision.bigEndianBytes + anchor.code + [flags] + times
    }

    private func read(_ bytes: [UInt8], _ store: String) throws(LectureError) -> LedgerAnchor? {
        let body = Array(bytes.prefix(Self.bodyLength))
        guard bytes.count == Self.bodyLength + Self.codeLength, body.starts(with: Self.magic),
            OpenSSLDigests.equal(Array(bytes.dropFirst(Self.bodyLength)), try code(body, store))
        else { return nil }
        func time(_ offset: Int, _ flag: UInt8) -> Timestamp? {
            body[49] & flag == 0 ? nil : Timestamp(milliseconds: Self.number(body[offset..<(offset + 8)]))
        }
        return LedgerAnchor(
            revision: Self.number(body[9..<17]), code: Array(body[17..<49]), proven: time(50, 1),
            estimate: time(58, 2))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
