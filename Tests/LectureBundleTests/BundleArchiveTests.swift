import Foundation
import LectureArchive
import LectureBundle
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Whole bundles: what is written is read, and nothing else is.
@Suite(.timeLimit(.minutes(3))) struct BundleArchiveTests {
    static let made = Result { try MemoryBundle() }

    static func bundle(_ bytes: [UInt8]) throws -> BundleReader { try BundleReader(MemoryBytes(bytes: bytes)) }

    /// Why an archive is refused; nil when it is not.
    static func refusal(_ bytes: [UInt8], limits: BundleLimits = BundleLimits()) -> LectureError? {
        do throws(LectureError) {
            _ = try BundleReader(MemoryBytes(bytes: bytes), limits: limits)
            return nil
        } catch { return error }
    }

    @Test func `what was written is read by its device, from any place on`() throws {
        let made = try Self.made.get()
        let bundle = try Self.bundle(made.bytes)
        let key = try bundle.key(for: made.device)
        #expect(bundle.signer == made.signer.thumbprint && bundle.contents.lectures.count == 3)
        for (index, media) in made.media.enumerated() {
            let lecture = bundle.contents.lectures[index]
            #expect(lecture.key.text == "lecture-\(index)" && lecture.isLicensed == (index == 1))
            #expect(lecture.sha256 == (try MemoryBundle.sha256(media)) && lecture.mediaBytes == UInt64(media.count))
            let file = try #require(lecture.files.firstIndex { $0.role == BundledRole.media })
            for start in [0, 1, 1_048_519, 1_048_520, 2_097_080, 4_999_999, 5_000_000] where start <= media.count {
                let read = try MemoryBundle.opened(bundle, index, file, key, from: UInt64(start))
                #expect(read == Array(media[start...]), "lecture \(index) from \(start)")
            }
            var found: [LectureError] = []
            let count = try bundle.verify(lecture: index) { error in
                found.append(error)
                return true
            }
            #expect(found.isEmpty && count == lecture.chunkCount)
        }
        // A reader that has enough ends.
        var pieces = 0
        try unsafe bundle.open(lecture: 0, file: 1, key: key, from: 0) { _ in
            pieces += 1
            return false
        }
        #expect(pieces == 1)
    }

    @Test func `only named devices open it, and only trusted signers count`() throws {
        let bundle = try Self.bundle(try Self.made.get().bytes)
        #expect(throws: LectureError(.bundleNotForDevice)) { try bundle.key(for: try DeviceKey.generate()) }
        #expect(throws: LectureError(.bundleUntrusted)) { try bundle.requireTrust(in: ["another"]) }
        #expect(throws: LectureError(.bundleUntrusted)) { try bundle.requireTrust(in: []) }
        try bundle.requireTrust(in: ["another", bundle.signer])
        #expect(throws: LectureError(.bundleRecipient)) {
            _ = try BundleWriter(signer: try Self.made.get().signer, recipients: []) { _ in }
        }
    }

    @Test func `an archive that is cut at any 512 bytes is refused`() throws {
        let bytes = try MemoryBundle(sizes: [70_000, 0]).bytes
        #expect(Self.refusal(bytes) == nil)
        for end in stride(from: 0, to: bytes.count, by: 512) {
            let error = try #require(Self.refusal(Array(bytes[..<end])), "cut at \(end)")
            #expect(error.code == .bundleRefused, "cut at \(end): \(error.message)")
        }
        // Bytes behind the end, other than padding with zeros.
        #expect(Self.refusal(bytes + [UInt8](repeating: 0, count: 8192)) == nil)
        #expect(Self.refusal(bytes + [UInt8](repeating: 0, count: 2 << 20))?.code == .bundleRefused)
        #expect(Self.refusal(bytes + [1])?.code == .bundleRefused)
        #expect(Self.refusal(bytes + bytes)?.code == .bundleRefused)
    }

    @Test func `a flipped bit in a chunk is exactly that chunk`() throws {
        let made = try Self.made.get()
        let entries = try TarIndex.entries(of: MemoryBytes(bytes: made.bytes), limit: 100)
        var count = 0
        for entry in entries {
            guard case .part(let lecture, let file, let part)? = BundleName(entry.name) else { continue }
            for offset in stride(from: UInt64(0), to: entry.count, by: 1 << 20) {
                let last = min(offset + (1 << 20), entry.count) - 1
                for place in [offset, (offset + last) / 2, last] {
                    var bytes = made.bytes
                    bytes[Int(entry.offset + place)] ^= 0x10
                    let bundle = try Self.bundle(bytes)
                    var found: [LectureError] = []
                    _ = try bundle.verify(lecture: lecture - 1) { error in
                        found.append(error)
                        return true
                    }
                    let chunk = (UInt64(part) * MemoryBundle.partBytes + offset) >> 20
                    let role = bundle.contents.lectures[lecture - 1].files[file].role
                    #expect(found.map(\.code) == [.bundleDamaged], "\(entry.name) at \(place)")
                    let start = "\(role.rawValue), chunk \(chunk): \(entry.name) from byte \(offset) on"
                    #expect(found.first?.cause == start && found.first?.detail == "lecture-\(lecture - 1)")
                    // No byte of it is passed on.
                    let key = try bundle.key(for: made.device)
                    #expect(throws: LectureError(.bundleDamaged)) {
                        try MemoryBundle.opened(bundle, lecture - 1, file, key)
                    }
                    count += 1
                }
            }
        }
        #expect(count > 40)
    }

    @Test func `a flipped bit anywhere else is refused or named`() throws {
        let made = try MemoryBundle(sizes: [3000])
        let entries = try TarIndex.entries(of: MemoryBytes(bytes: made.bytes), limit: 100)
        var random = SeededGenerator(seed: 7)
        var places = (0..<400).map { _ in Int.random(in: 0..<made.bytes.count, using: &random) }
        for entry in entries.suffix(3) { places += (0..<60).map { Int(entry.offset) + $0 * Int(entry.count) / 60 } }
        for place in places {
            var bytes = made.bytes
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let isPadding = entries.contains {
                let end = Int($0.offset + $0.count)
                return (end..<((end + 511) / 512 * 512)).contains(place)
            }
            if let error = Self.refusal(bytes) {
                let codes: [LectureError.Code] = [.bundleRefused, .bundleSignature, .bundleDamaged, .bundleNewer]
                #expect(codes.contains(error.code), "byte \(place): \(error.message)")
                continue
            }
            var damage = 0
            _ = try Self.bundle(bytes).verify(lecture: 0) { _ in
                damage += 1
                return true
            }
            // What stands between two files is no part of anything.
            let header = entries.contains { (Int($0.offset) - 512..<Int($0.offset)).contains(place) }
            #expect(damage > 0 || isPadding || header, "byte \(place)")
        }
    }

    @Test func `swapped and exchanged files are found`() throws {
        let made = try Self.made.get()
        let files = try LooseFile.files(of: made.bytes)
        #expect(Self.refusal(LooseFile.archive(files)) == nil, "the same files, by another writer")
        let other = try LooseFile.files(of: try MemoryBundle().bytes)
        // Two parts of one length.
        var swapped = files
        let one = try #require(files.firstIndex { $0.name.hasSuffix("000001/01.000") })
        let two = try #require(files.firstIndex { $0.name.hasSuffix("000001/01.001") })
        (swapped[one].bytes, swapped[two].bytes) = (swapped[two].bytes, swapped[one].bytes)
        var found: [LectureError] = []
        _ = try Self.bundle(LooseFile.archive(swapped)).verify(lecture: 0) { error in
            found.append(error)
            return true
        }
        #expect(found.count == 4 && found.allSatisfy { $0.code == .bundleDamaged })
        // Each file of another bundle of the same lectures.
        for place in files.indices {
            var mixed = files
            mixed[place] = other[place]
            let archive = LooseFile.archive(mixed)
            guard Self.refusal(archive) == nil else { continue }
            let bundle = try Self.bundle(archive)
            var errors = 0
            for lecture in bundle.contents.lectures.indices {
                _ = try bundle.verify(lecture: lecture) { _ in
                    errors += 1
                    return true
                }
            }
            #expect(errors > 0, "\(files[place].name)")
        }
    }

    @Test func `a manifest that was changed or signed by another is not believed`() throws {
        let made = try Self.made.get()
        let files = try LooseFile.files(of: made.bytes)
        let manifest = try BundleManifest(
            BundleSigner.unverifiedPayload(of: files[files.count - 1].bytes) ?? [])
        func archive(_ token: [UInt8]) -> [UInt8] {
            var changed = files
            changed[files.count - 1].bytes = token
            return LooseFile.archive(changed)
        }
        let mallory = try BundleSigner(device: try DeviceKey.generate())
        // Signed by another, who still names the first key.
        #expect(Self.refusal(archive(try mallory.sign(manifest.bytes)))?.code == .bundleSignature)
        // A signature of one's own: right, and not trusted.
        let own = BundleManifest(
            created: manifest.created, lectureCount: manifest.lectureCount, catalogueBytes: manifest.catalogueBytes,
            catalogueDigest: manifest.catalogueDigest, partBytes: manifest.partBytes, recipients: manifest.recipients,
            signer: mallory.publicKey)
        let resigned = try Self.bundle(archive(try mallory.sign(own.bytes)))
        #expect(resigned.signer == mallory.thumbprint)
        #expect(throws: LectureError(.bundleUntrusted)) { try resigned.requireTrust(in: [made.signer.thumbprint]) }
        // Another payload under the signature.
        let token = String(decoding: files[files.count - 1].bytes, as: UTF8.self).split(separator: ".")
        let other = Base64URL.text(own.bytes)
        #expect(Self.refusal(archive(Array("\(token[0]).\(other).\(token[2])".utf8)))?.code == .bundleSignature)
        let header = Base64URL.text(Array(#"{"alg":"none","typ":"lecturekit-bundle+jwt"}"#.utf8))
        #expect(Self.refusal(archive(Array("\(header).\(token[1]).".utf8)))?.code == .bundleSignature)
        #expect(Self.refusal(archive(Array("a.b".utf8)))?.code == .bundleRefused)
        // A licence of the same signer is no bundle.
        let licence = try SigningKey.generateES256().sign(manifest.bytes, type: "JWT")
        #expect(Self.refusal(archive(licence))?.code == .bundleSignature)
    }

    @Test(arguments: ["es256", "eddsa"])
    func `a key file signs like a device`(kind: String) async throws {
        let directory = try TemporaryDirectory()
        let algorithm = kind == "es256" ? ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"] : ["ED25519"]
        let path = directory.file("key.pem")
        let made = try await ChildProcess.run(
            try Places.command("openssl"), ["genpkey", "-algorithm"] + algorithm + ["-out", path])
        try #require(made.status == 0, "\(made.errorText)")
        unsafe chmod(path, 0o600)
        let signer = try BundleFiles.signer(path)
        let bundle = try Self.bundle(try MemoryBundle(signer: signer, sizes: [10]).bytes)
        #expect(bundle.signer == signer.thumbprint)
        let set = try directory.write(
            Array(#"{"keys":[\#(String(decoding: CanonicalJSON.bytes(signer.publicKey), as: UTF8.self))]}"#.utf8),
            to: "trust.json")
        #expect(try BundleFiles.trusted(set) == [signer.thumbprint])
        unsafe chmod(path, 0o644)
        #expect(throws: LectureError(.secretReadable)) { try BundleFiles.signer(path) }
    }
}
