import LectureArchive
package import LectureCrypto
import LectureFiles
import LectureFormats
package import LectureModel

/// A chunk of a bundle that is not what was signed.
package struct BundleDamage: Sendable, Hashable {
    /// The lecture.
    package let key: ContentKey
    /// The file of the lecture.
    package let role: BundledRole
    /// The chunk of that file, from 0.
    package let chunk: Int
    /// The file of the archive.
    package let name: String
    /// Where in that file the chunk is, in bytes.
    package let offset: UInt64

    /// The error that names it.
    package var error: LectureError {
        LectureError(
            .bundleDamaged, detail: key.text, cause: "\(role.rawValue), chunk \(chunk): \(name) from byte \(offset) on")
    }
}

/// A bundle that is read: an archive whose manifest has a right signature, and whose files are those that were signed,
/// by name, order and length. Their bytes are compared with their digests when they are read.
///
/// Memory: the catalogue, the names of the archive, and the digests of the lectures that are being read.
package final class BundleReader: Sendable {
    /// The digests of how many lectures are kept.
    private static let keptDigests = 4

    /// What was signed.
    package let manifest: BundleManifest
    /// The lectures, and where their chunks are.
    package let contents: BundleContents
    /// The thumbprint of the signer's key (RFC 7638) as base64url.
    package let signer: String
    private let bytes: any RandomBytes
    private let entries: [TarEntry]
    private let kept = Guarded<[(lecture: Int, digests: [UInt8])]>([])
    private let sums: OpenSSLDigests

    /// Opens a bundle, and verifies the signature and the catalogue.
    ///
    /// - Parameters:
    ///   - path: the archive, a regular file.
    ///   - limits: how large it may be.
    /// - Throws: ``LectureError``: `readFile`, `bundleRefused`, `bundleNewer`, `bundleSignature`.
    package convenience init(path: String, limits: BundleLimits = BundleLimits()) throws(LectureError) {
        do throws(LectureError) {
            try self.init(try RandomFile(path), limits: limits)
        } catch {
            throw error.detail.isEmpty ? LectureError(error.code, detail: path, cause: error.cause) : error
        }
    }

    /// Opens a bundle that is in memory, or in another place.
    ///
    /// - Parameters:
    ///   - bytes: the archive. It may change: whatever is used was compared with its digest in memory.
    ///   - limits: how large it may be.
    /// - Throws: as ``init(path:limits:)``.
    package init(_ bytes: any RandomBytes, limits: BundleLimits = BundleLimits()) throws(LectureError) {
        self.bytes = bytes
        // Only SHA-256 is used.
        sums = try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32))
        let listed = try Self.listed(bytes, limits)
        let names = listed.map { BundleName($0.name) }
        guard let last = listed.last, names.last == .manifest, listed.count >= 2, let before = listed.dropLast().last,
            names[listed.count - 2] == .catalogue
        else { throw .refusedBundle("the last two files are not a catalogue and a manifest") }
        (manifest, signer) = try Self.verified(try Self.whole(last, bytes, limits.manifestBytes), limits)
        guard before.count == manifest.catalogueBytes else { throw .refusedBundle("the catalogue has another length") }
        let catalogue = try Self.whole(before, bytes, limits.catalogueBytes)
        guard try sums.sha256(of: catalogue) == manifest.catalogueDigest else {
            throw LectureError(.bundleDamaged, cause: "the catalogue: \(before.name)")
        }
        contents = try BundleContents(catalogue: catalogue, manifest, limits: limits)
        entries = listed.dropLast(2)
        let expected = contents.expected
        guard expected.count == entries.count else { throw .refusedBundle("it has other files than signed") }
        for (file, entry) in zip(expected, entries) where file.name.text != entry.name || file.count != entry.count {
            throw .refusedBundle("\(entry.name) is not the file that was signed")
        }
    }

    private static func listed(_ bytes: any RandomBytes, _ limits: BundleLimits) throws(LectureError) -> [TarEntry] {
        let entries: [TarEntry]
        do throws(TarRefusal) { entries = try TarIndex.entries(of: bytes, limit: limits.entries) } catch {
            throw error.bundleError
        }
        var names: Set<String> = []
        for entry in entries {
            guard BundleName(entry.name) != nil else { throw .refusedBundle("a file has a name that no bundle has") }
            guard names.insert(entry.name).inserted else { throw .refusedBundle("\(entry.name) is in it twice") }
        }
        return entries
    }

    private static func whole(
        _ entry: TarEntry, _ bytes: any RandomBytes, _ limit: UInt64
    ) throws(LectureError) -> [UInt8] {
        guard entry.count <= limit, let count = Int(exactly: entry.count) else {
            throw .refusedBundle("\(entry.name) is too long")
        }
        guard let whole = try bytes.bytes(count, at: entry.offset) else { throw .refusedBundle("it is cut off") }
        return whole
    }

    private static func verified(
        _ token: [UInt8], _ limits: BundleLimits
    ) throws(LectureError) -> (BundleManifest, String) {
        guard let claimed = BundleSigner.unverifiedPayload(of: token) else {
            throw .refusedBundle("the manifest is no signed token")
        }
        let unverified = try BundleManifest(claimed, limits: limits)
        let key: VerificationKey
        do throws(KeyRefusal) { key = try JWK.bundleKey(unverified.signer) } catch {
            throw .refusedBundle("the signer's key: \(error.sentence)")
        }
        guard let payload = try BundleSigner.payload(of: token, signedWith: key) else {
            throw LectureError(.bundleSignature)
        }
        return (try BundleManifest(payload, limits: limits), try key.thumbprint())
    }

    // MARK: Keys

    /// Refuses a signer that is not trusted.
    ///
    /// - Parameter thumbprints: of the keys that are.
    /// - Throws: ``LectureError`` with `bundleUntrusted`, which names the key.
    package func requireTrust(in thumbprints: Set<String>) throws(LectureError) {
        guard thumbprints.contains(signer) else { throw LectureError(.bundleUntrusted, detail: signer) }
    }

    /// The key of the bundle.
    ///
    /// - Parameter device: one of those it is for.
    /// - Returns: the key.
    /// - Throws: ``LectureError`` with `bundleNotForDevice`.
    package func key(for device: DeviceKey) throws(LectureError) -> BundleKey {
        let name = try device.thumbprint()
        guard let recipient = manifest.recipients.first(where: { $0.thumbprint == name }) else {
            throw LectureError(.bundleNotForDevice, detail: name)
        }
        return try BundleKey(recipient.key, device: device)
    }

    // MARK: Chunks

    /// A chunk as it is in the archive.
    ///
    /// - Parameters:
    ///   - lecture: the index of its lecture.
    ///   - file: the index of its file.
    ///   - chunk: its index in the file.
    /// - Returns: its bytes, which are those that were signed.
    /// - Throws: ``LectureError``: `bundleDamaged` when they are not, `readFile`.
    package func chunk(lecture: Int, file: Int, chunk: Int) throws(LectureError) -> [UInt8] {
        guard let place = contents.place(lecture: lecture, file: file, chunk: chunk) else {
            throw LectureError(.bug, detail: "chunk \(chunk)")
        }
        let digests = try digests(of: lecture)
        let entry = entries[place.index]
        let count = Int(place.range.upperBound - place.range.lowerBound)
        let due = digests[(place.digest * BundleFormat.digestBytes)...].prefix(BundleFormat.digestBytes)
        guard let found = try bytes.bytes(count, at: entry.offset + place.range.lowerBound),
            try sums.sha256(of: found).elementsEqual(due)
        else {
            let lecture = contents.lectures[lecture]
            throw BundleDamage(
                key: lecture.key, role: lecture.files[file].role, chunk: chunk, name: entry.name,
                offset: place.range.lowerBound
            ).error
        }
        return found
    }

    private func digests(of lecture: Int) throws(LectureError) -> [UInt8] {
        if let known = kept.withLock({ $0.first { $0.lecture == lecture }?.digests }) { return known }
        let entry = entries[contents.digestsIndex(lecture: lecture)]
        let key = contents.lectures[lecture].key.text
        guard let found = try bytes.bytes(Int(entry.count), at: entry.offset),
            try sums.sha256(of: found) == contents.lectures[lecture].digestOfDigests
        else { throw LectureError(.bundleDamaged, detail: key, cause: "the digests: \(entry.name)") }
        kept.withLock { kept in
            kept.removeAll { $0.lecture == lecture }
            kept.append((lecture, found))
            if kept.count > Self.keptDigests { kept.removeFirst() }
        }
        return found
    }

    /// Compares every chunk of a lecture with its digest.
    ///
    /// - Parameters:
    ///   - lecture: its index.
    ///   - found: gets the errors, each of which names a chunk; returns false to end.
    /// - Returns: how many chunks were compared.
    /// - Throws: ``LectureError`` with `readFile`.
    package func verify(lecture: Int, _ found: (LectureError) -> Bool) throws(LectureError) -> Int {
        var count = 0
        do throws(LectureError) { _ = try digests(of: lecture) } catch {
            guard error.code == .bundleDamaged else { throw error }
            _ = found(error)
            return 0
        }
        for (file, bundled) in contents.lectures[lecture].files.enumerated() {
            for chunk in 0..<bundled.chunkCount {
                count += 1
                do throws(LectureError) { _ = try self.chunk(lecture: lecture, file: file, chunk: chunk) } catch {
                    guard error.code == .bundleDamaged else { throw error }
                    guard found(error) else { return count }
                }
            }
        }
        return count
    }
}

extension TarRefusal {
    /// The error for a person.
    var bundleError: LectureError {
        switch self {
        case .unreadable(let position, let reason):
            .refusedBundle("from byte \(position) on it is no tar archive: \(reason)")
        case .notRegular(_, let kind): .refusedBundle("it contains what no bundle does: \(kind)")
        case .cutOff: .refusedBundle("it is cut off")
        case .trailing(let position): .refusedBundle("something stands behind its end at byte \(position)")
        case .tooMany(let limit): .refusedBundle("it has more than \(limit) files")
        case .failed(let error): error
        }
    }
}
