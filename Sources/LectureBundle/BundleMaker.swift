import LectureCrypto
import LectureFiles
public import LectureKit
public import LectureModel

/// Makes a bundle of lectures of a store: the file appears whole and durable, or not at all.
///
/// ```swift
/// let maker = try BundleMaker(
///     "algebra.tar", recipients: ["room-12.jwk"], device: DeviceHome(directory: directory))
/// for key in keys { try await maker.add(key, from: manager) }
/// try maker.finish(created: now)
/// ```
public final class BundleMaker {
    private let output: Guarded<OutputFile>
    private let written: WriteBehind
    private let writer: BundleWriter
    /// The thumbprint of the key that signs it.
    public let signer: String

    /// Starts a bundle.
    ///
    /// - Parameters:
    ///   - path: where it is to be placed; the directory must exist.
    ///   - mayReplace: whether an existing regular file is replaced.
    ///   - recipients: files with the public keys of the devices that may open it.
    ///   - device: where the key of the device is kept that signs it.
    ///   - keyFile: a file with a private key (PKCS#8) that signs it instead.
    /// - Throws: ``LectureError``: `bundleRecipient` without a device, `configuration` and `secretReadable` for keys
    ///   that cannot be used, `outputExists`, `outputRefused`, `storageFull`.
    public init(
        _ path: String, mayReplace: Bool = false, recipients: [String], device: DeviceHome, keyFile: String? = nil
    ) throws(LectureError) {
        let devices = try recipients.map { path throws(LectureError) in try BundleFiles.recipient(path) }
        let signer =
            if let keyFile { try BundleFiles.signer(keyFile) } else { try BundleSigner(device: try device.key()) }
        let output = Guarded(try OutputFile(path, mayReplace: mayReplace))
        let written = WriteBehind { bytes throws(LectureError) in
            try output.withLock { output throws(LectureError) in try output.write(bytes) }
        }
        (self.output, self.written, self.signer) = (output, written, signer.thumbprint)
        writer = try BundleWriter(signer: signer, recipients: devices) { bytes throws(LectureError) in
            try written.write(bytes)
        }
    }

    /// Adds a lecture. Nothing may follow a failure of reading or writing.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - manager: whose store has it.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `mediaMissing`, `bundleUnsuitable`, and the
    ///   verdict's code for a licensed lecture that may not be played now: it is left out, and others may follow.
    ///   `damaged`, `sealedElsewhere`, `readFile`, `storageFull`, `outputRefused`; `CancellationError`.
    public func add(_ key: ContentKey, from manager: LectureManager) async throws {
        try await add(try await manager.contents.carried(key), from: manager)
    }

    /// Adds a lecture. Nothing may follow a failure.
    ///
    /// - Parameters:
    ///   - carried: the lecture.
    ///   - manager: whose store has it.
    /// - Throws: ``LectureError``: `damaged`, `sealedElsewhere`, `readFile`, `storageFull`, `outputRefused`,
    ///   `bundleUnsuitable`; `CancellationError`.
    package func add(_ carried: CarriedLecture, from manager: LectureManager) async throws {
        let key = carried.content.key
        var documents: [(file: BundledFile, bytes: [UInt8])] = []
        func document(_ role: BundledRole, _ bytes: [UInt8]) {
            documents.append((BundledFile(role: role, count: UInt64(bytes.count)), bytes))
        }
        document(.details, BundledDetails(carried).bytes)
        if let description = carried.description { document(.description, Array(description.utf8)) }
        let files = try carried.files.map { file throws(LectureError) in
            guard let role = BundledRole(rawValue: file.role.name) else {
                throw LectureError(.bundleUnsuitable, detail: key.text, cause: "it is adaptive")
            }
            return BundledFile(role: role, count: file.count)
        }
        try writer.begin(BundledLecture(carried), files: documents.map(\.file) + files)
        for (index, document) in documents.enumerated() {
            try writer.beginFile(index)
            try writer.write(document.bytes)
            try writer.endFile()
        }
        var sha256: [UInt8] = []
        for (index, file) in carried.files.enumerated() {
            try writer.beginFile(documents.count + index)
            let digest = try await copy(file, of: key, from: manager)
            if file.role == .media { sha256 = digest }
            try writer.endFile()
        }
        try writer.end(sha256: sha256)
    }

    /// The digest of a lecture's media, computed where it never was.
    ///
    /// - Parameters:
    ///   - carried: the lecture.
    ///   - manager: whose store has it.
    /// - Returns: 32 bytes.
    /// - Throws: ``LectureError``: `damaged`, `sealedElsewhere`, `readFile`; `CancellationError`.
    package static func sha256(of carried: CarriedLecture, in manager: LectureManager) async throws -> [UInt8] {
        let media = carried.files[0]
        if let known = media.sha256 ?? carried.content.sha256 { return known }
        let digest = Guarded(try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32)).sha256())
        try await manager.contents.read(media, of: carried.content.key) { bytes in
            digest.withLock { digest in unsafe bytes.withUnsafeBytes { unsafe digest.update($0) } }
        }
        return try digest.withLock { digest throws(LectureError) in try digest.finish() }
    }

    /// Copies a file.
    ///
    /// - Returns: its SHA-256.
    private func copy(
        _ file: CarriedFile, of key: ContentKey, from manager: LectureManager
    ) async throws -> [UInt8] {
        let digests = try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32))
        let digest = Guarded(file.sha256 == nil ? try digests.sha256() : nil)
        let writer = Guarded(writer)
        // Four threads at once: one reads a chunk, one adds it to the digest, one seals it, one writes it.
        let sealed = WriteBehind { bytes throws(LectureError) in
            try writer.withLock { writer throws(LectureError) in try writer.write(bytes) }
        }
        do {
            try await manager.contents.read(file, of: key) { bytes in
                try sealed.write(bytes)
                digest.withLock { digest in unsafe bytes.withUnsafeBytes { unsafe digest?.update($0) } }
            }
        } catch {
            // Nothing uses the writer any more when this has failed.
            try? sealed.finish()
            throw error
        }
        try sealed.finish()
        let computed = try digest.withLock { digest throws(LectureError) in try digest?.finish() }
        return file.sha256 ?? computed ?? []
    }

    /// Ends the bundle and gives the file its name.
    ///
    /// - Parameter created: the time that it names.
    /// - Throws: ``LectureError``: `storageFull`, `outputRefused`, `cryptography`.
    public func finish(created: Timestamp) throws(LectureError) {
        try writer.finish(created: created)
        try written.finish()
        try output.withLock { output throws(LectureError) in try output.finish() }
    }
}

extension BundledDetails {
    fileprivate init(_ carried: CarriedLecture) {
        self.init(
            url: carried.sourceURL,
            sources: carried.files.map { file in
                Source(
                    url: file.url, mediaType: file.mediaType, entityTag: file.entityTag,
                    lastModified: file.lastModified)
            }, absentURLs: carried.absentURLs)
    }
}

extension BundledLecture {
    fileprivate init(_ carried: CarriedLecture) {
        self.init(key: carried.content.key)
        title = Self.clipped(carried.content.title)
        course = Self.clipped(carried.content.course)
        teacher = Self.clipped(carried.content.teacher)
        folder = Self.clipped(carried.content.folder)
        isLicensed = carried.licence != nil
    }

    /// A text as long as a catalogue may have it.
    static func clipped(_ text: String) -> String {
        var text = String(text.unicodeScalars.filter { $0.value != 0 }.map(Character.init))
        while text.utf8.count > 4096 { text.removeLast() }
        return text
    }
}
