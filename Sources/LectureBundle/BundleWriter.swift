import LectureArchive
package import LectureCrypto
package import LectureModel

/// Writes a bundle from start to end: each lecture's files are sealed as they come, their digests follow them, and the
/// signed manifest is last. Memory: a chunk, the catalogue, and the digests of the lecture being written. Used by one
/// thread at a time.
package final class BundleWriter {
    /// A file being written.
    private struct OpenFile {
        let file: BundledFile
        let layout: SealedLayout
        let sealer: any SegmentSealing
        let index: Int
        let header: [UInt8]
        var segment = 0
        var pending: [UInt8] = []
    }

    /// A lecture being written.
    private struct OpenLecture {
        var lecture: BundledLecture
        let cipher: any ContentCipher
        var digests: [UInt8] = []
    }

    private let tar: TarWriter
    private let key: BundleKey
    private let recipients: [BundleManifest.Recipient]
    private let signer: BundleSigner
    private let partBytes: UInt64
    private let sums: OpenSSLDigests
    private var catalogue: [UInt8] = []
    private var lectureCount = 0
    private var open: OpenLecture?
    private var file: OpenFile?

    /// Starts a bundle.
    ///
    /// - Parameters:
    ///   - signer: signs it.
    ///   - recipients: the devices that may open it.
    ///   - partBytes: how much of a sealed file one file of the archive holds; another length only in tests.
    ///   - sink: gets the archive.
    /// - Throws: ``LectureError``: `bundleRecipient` without a device; `cryptography`, `writeFile`; what the sink
    ///   throws.
    package init(
        signer: BundleSigner, recipients: [BundleRecipient], partBytes: UInt64 = BundleFormat.partBytes,
        _ sink: @escaping ([UInt8]) throws(LectureError) -> Void
    ) throws(LectureError) {
        guard !recipients.isEmpty else { throw LectureError(.bundleRecipient) }
        let key = try BundleKey.generate()
        var named: [BundleManifest.Recipient] = []
        for device in recipients where !named.contains(where: { $0.thumbprint == device.thumbprint }) {
            named.append(.init(thumbprint: device.thumbprint, key: try key.wrapped(for: device)))
        }
        (self.key, self.recipients, self.signer, self.partBytes) = (key, named, signer, partBytes)
        sums = try OpenSSLDigests(proofKey: [UInt8](repeating: 0, count: 32))
        tar = try TarWriter(sink)
    }

    /// Starts the next lecture.
    ///
    /// - Parameters:
    ///   - lecture: its names; files and digests are filled in here.
    ///   - files: what it consists of, in this order.
    /// - Throws: ``LectureError`` with `bundleUnsuitable` for what a bundle cannot have.
    package func begin(_ lecture: BundledLecture, files: [BundledFile]) throws(LectureError) {
        guard open == nil else { throw LectureError(.bug, detail: "bundle", cause: "a lecture is open") }
        var lecture = lecture
        lecture.files = files
        // What a reader would refuse is refused before gigabytes are written.
        var trial = lecture
        trial.sha256 = [UInt8](repeating: 0, count: 32)
        trial.digestOfDigests = trial.sha256
        do throws(LectureError) { _ = try BundledLecture(line: trial.line.dropLast()) } catch {
            throw LectureError(.bundleUnsuitable, detail: lecture.key.text, cause: error.cause)
        }
        guard lectureCount < BundleLimits().lectures else {
            throw LectureError(.bundleUnsuitable, detail: lecture.key.text, cause: "the bundle has too many lectures")
        }
        open = OpenLecture(lecture: lecture, cipher: try key.cipher(for: lecture.key))
        lectureCount += 1
    }

    /// Starts the next file of the lecture.
    ///
    /// - Parameter index: its index among those that ``begin(_:files:)`` got.
    /// - Throws: ``LectureError`` with `cryptography`, or what the sink throws.
    package func beginFile(_ index: Int) throws(LectureError) {
        guard file == nil, let open, open.lecture.files.indices.contains(index),
            let layout = open.lecture.files[index].layout
        else { throw LectureError(.bug, detail: "bundle", cause: "no such file") }
        let header = try open.cipher.newHeader()
        file = OpenFile(
            file: open.lecture.files[index], layout: layout,
            sealer: try open.cipher.sealer(header: header, sealedBefore: []), index: index, header: header)
    }

    /// Adds bytes to the file.
    ///
    /// - Parameter bytes: in order.
    /// - Throws: ``LectureError``: what the sink throws, `cryptography`, `bug` for more bytes than were announced.
    package func write(_ bytes: [UInt8]) throws(LectureError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let range = file.map({ $0.layout.plaintextRange(ofSegment: $0.segment) }), !range.isEmpty else {
                throw LectureError(.bug, detail: "bundle", cause: "more bytes than were announced")
            }
            let missing = range.count - (file?.pending.count ?? 0)
            file?.pending.append(contentsOf: rest.prefix(missing))
            rest = rest.dropFirst(missing)
            if file?.pending.count == range.count { try seal() }
        }
    }

    /// Ends the file.
    ///
    /// - Throws: ``LectureError`` with `bug` when bytes are missing; as ``write(_:)``.
    package func endFile() throws(LectureError) {
        if file?.file.count == 0 { try seal() }
        guard let file, file.segment == file.layout.segmentCount else {
            throw LectureError(.bug, detail: "bundle", cause: "bytes of a file are missing")
        }
        self.file = nil
    }

    private func seal() throws(LectureError) {
        guard let file else { return }
        let isLast = file.segment == file.layout.lastSegment
        var box = [UInt8](repeating: 0, count: file.pending.count + SealedFormat.tagBytes)
        let failure: LectureError? = unsafe file.pending.withUnsafeBytes { text in
            unsafe box.withUnsafeMutableBytes { buffer in
                do throws(LectureError) {
                    try unsafe file.sealer.seal(segment: file.segment, isLast: isLast, text, into: buffer)
                    return nil
                } catch { return error }
            }
        }
        if let failure { throw failure }
        let chunk = file.segment == 0 ? file.header + box : box
        let start = UInt64(file.segment) * BundleFormat.chunkBytes
        if start.isMultiple(of: partBytes) {
            let part = Int(start / partBytes)
            let name = BundleName.part(lecture: lectureCount, file: file.index, part: part)
            try tar.begin(name.text, count: BundleContents.parts(of: file.file, partBytes)[part])
        }
        try tar.write(chunk)
        open?.digests += try sums.sha256(of: chunk)
        self.file?.segment += 1
        self.file?.pending.removeAll(keepingCapacity: true)
    }

    /// Ends the lecture.
    ///
    /// - Parameter sha256: of its media, 32 bytes.
    /// - Throws: ``LectureError``: what the sink throws, `bundleUnsuitable` for more lectures than a catalogue has
    ///   space for.
    package func end(sha256: [UInt8]) throws(LectureError) {
        guard file == nil, let lecture = open, lecture.digests.count == lecture.lecture.chunkCount * 32 else {
            throw LectureError(.bug, detail: "bundle", cause: "files of a lecture are missing")
        }
        try tar.begin(BundleName.digests(lecture: lectureCount).text, count: UInt64(lecture.digests.count))
        try tar.write(lecture.digests)
        var entry = lecture.lecture
        entry.sha256 = sha256
        entry.digestOfDigests = try sums.sha256(of: lecture.digests)
        catalogue += entry.line
        guard UInt64(catalogue.count) <= BundleLimits().catalogueBytes else {
            throw LectureError(.bundleUnsuitable, detail: entry.key.text, cause: "the bundle has too many lectures")
        }
        open = nil
    }

    /// Writes catalogue and manifest, and ends the archive.
    ///
    /// - Parameter created: the time that the manifest names.
    /// - Throws: ``LectureError``: what the sink throws, `cryptography`.
    package func finish(created: Timestamp) throws(LectureError) {
        guard open == nil else { throw LectureError(.bug, detail: "bundle", cause: "a lecture is open") }
        let manifest = BundleManifest(
            created: created, lectureCount: lectureCount, catalogueBytes: UInt64(catalogue.count),
            catalogueDigest: try sums.sha256(of: catalogue), partBytes: partBytes, recipients: recipients,
            signer: signer.publicKey)
        let token = try signer.sign(manifest.bytes)
        try tar.begin(BundleName.catalogue.text, count: UInt64(catalogue.count))
        try tar.write(catalogue)
        try tar.begin(BundleName.manifest.text, count: UInt64(token.count))
        try tar.write(token)
        try tar.finish()
    }
}
