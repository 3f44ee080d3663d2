import CSystem
import Glibc
package import LectureModel

/// A file without a name: the kernel deletes it with its last descriptor, also when the process is killed.
package final class UnnamedFile: Sendable {
    let descriptor: Descriptor
    private let directory: String

    /// Makes one that only its owner may read.
    ///
    /// - Parameter directory: on the file system where its bytes are to be.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createFile`` or ``LectureError/Code/storageFull``.
    package init(in directory: String) throws(LectureError) {
        self.directory = directory
        let above = Descriptor(
            takingOwnership: try systemCall(.makeFile, directory) {
                unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            })
        let number = csystem_open_unnamed(above.number, 0o600)
        guard number >= 0 else { throw FileIntent.makeFile.error(SystemError(number: -number), directory) }
        descriptor = Descriptor(takingOwnership: number)
    }

    /// The kernel's number of the open file, for a library that writes it. It stays this object's.
    package var number: Int32 { descriptor.number }

    /// Seals the file under a name: whole and durable, or not at all. What has the name is replaced.
    ///
    /// - Parameters:
    ///   - name: one component, in a directory that exists.
    ///   - directory: where.
    ///   - cipher: of the lecture; a header that no other file has is made.
    /// - Returns: what was sealed.
    /// - Throws: ``LectureError``: a disk code, or ``LectureError/Code/cryptography``.
    package func seal(
        as name: String, in directory: String, _ cipher: any ContentCipher
    ) throws(LectureError) -> SealedFacts {
        let path = "\(directory)/\(name)"
        let above = Descriptor(
            takingOwnership: try systemCall(.makeFile, directory) {
                unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            })
        let part = "\(name).part"
        do throws(SystemError) {
            // Left by a process that was killed.
            try above.unlink(part)
        } catch { throw FileIntent.write.error(error, path) }
        do throws(LectureError) {
            let facts = try copy(to: part, in: above, path, cipher)
            try systemCall(.makeFile, path) { unsafe renameat(above.number, part, above.number, name) }
            do throws(SystemError) { try above.sync() } catch { throw FileIntent.makeDirectory.error(error, path) }
            return facts
        } catch {
            _ = try? above.unlink(part)
            throw error
        }
    }

    private func copy(
        to part: String, in above: Descriptor, _ path: String, _ cipher: any ContentCipher
    ) throws(LectureError) -> SealedFacts {
        let file: Descriptor
        let length: UInt64
        do throws(SystemError) {
            length = try descriptor.status().byteCount
            file = try above.open(part, O_WRONLY | O_CREAT | O_EXCL)
        } catch { throw FileIntent.makeFile.error(error, path) }
        guard let size = Int(exactly: length), let layout = SealedLayout(plaintextLength: size) else {
            throw LectureError(.tooLarge, detail: path)
        }
        let header = try cipher.newHeader()
        let sealer = try cipher.sealer(header: header, sealedBefore: [])
        let digest = try cipher.digests.sha256()
        let source = ReadableFile(descriptor, directory)
        try write(header, to: file, at: 0, path)
        var sealed = [UInt8](repeating: 0, count: SealedFormat.segmentBytes)
        for segment in 0..<layout.segmentCount {
            let place = layout.plaintextRange(ofSegment: segment)
            let target = layout.ciphertextRange(ofSegment: segment)
            var failure: LectureError?
            try unsafe source.read(place.count, at: UInt64(place.lowerBound)) { text in
                unsafe digest.update(text)
                unsafe sealed.withUnsafeMutableBytes { sealed in
                    let box = unsafe UnsafeMutableRawBufferPointer(rebasing: sealed[..<target.count])
                    do throws(LectureError) {
                        try unsafe sealer.seal(
                            segment: segment, isLast: segment == layout.lastSegment, text, into: box)
                        try unsafe Self.write(UnsafeRawBufferPointer(box), to: file, at: target.lowerBound, path)
                    } catch { failure = error }
                }
            }
            if let failure { throw failure }
        }
        do throws(SystemError) { try file.sync() } catch { throw FileIntent.write.error(error, path) }
        return SealedFacts(byteCount: size, sha256: try digest.finish())
    }

    private func write(_ bytes: [UInt8], to file: Descriptor, at offset: Int, _ path: String) throws(LectureError) {
        var failure: LectureError?
        unsafe bytes.withUnsafeBytes { bytes in
            do throws(LectureError) { try unsafe Self.write(bytes, to: file, at: offset, path) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to file: Descriptor, at offset: Int, _ path: String
    ) throws(LectureError) {
        do throws(SystemError) {
            try unsafe file.write(bytes, at: UInt64(offset))
        } catch { throw FileIntent.write.error(error, path) }
    }
}

/// What was sealed.
package struct SealedFacts: Hashable, Sendable {
    /// The length of the plaintext in bytes.
    package let byteCount: Int
    /// The SHA-256 of the plaintext.
    package let sha256: [UInt8]
}

/// Reads the plaintext of a file that ``UnnamedFile`` has sealed. It keeps one segment opened, so that its memory does
/// not depend on the length. Used by one thread at a time.
package final class SealedMedia {
    /// The length of the plaintext in bytes.
    package let byteCount: Int
    private let reader: SealedReader
    private let layout: SealedLayout

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: of the sealed file; links are not followed.
    ///   - byteCount: the length of its plaintext, which is known from elsewhere: so a file that was cut is not taken
    ///     for a shorter one.
    ///   - cipher: of the lecture.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when it has
    ///   another length or no header.
    package init(_ path: String, byteCount: Int, _ cipher: any ContentCipher) throws(LectureError) {
        let number = try systemCall(.read, path) { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        let descriptor = Descriptor(takingOwnership: number)
        let facts: stat
        do throws(SystemError) { facts = try descriptor.status() } catch { throw FileIntent.read.error(error, path) }
        guard facts.isRegular, let layout = SealedLayout(plaintextLength: byteCount),
            facts.byteCount == UInt64(layout.ciphertextLength)
        else { throw LectureError(.damaged, detail: path, cause: "it has another length") }
        let file = ReadableFile(descriptor, path)
        let (_, opener) = try SealedReader.header(of: file, cipher)
        (self.byteCount, self.layout) = (byteCount, layout)
        reader = SealedReader(file, opener: opener, layout: layout, last: layout.lastSegment, damage: .isRefused)
    }

    /// Copies bytes of one segment.
    ///
    /// - Parameters:
    ///   - buffer: where they go.
    ///   - offset: in the plaintext, before its end.
    /// - Returns: how many there are: as many as fit, fewer where a segment ends.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` or ``LectureError/Code/readFile``.
    package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(LectureError) -> Int {
        let place = layout.plaintextRange(ofSegment: layout.segment(at: max(0, offset)))
        let count = min(buffer.count, place.upperBound - offset)
        guard place.contains(offset), count > 0 else {
            throw LectureError(.damaged, cause: "it ends before byte \(offset)")
        }
        var done = 0
        try unsafe reader.read(count, at: UInt64(offset)) { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(from: bytes)
            done += bytes.count
        }
        return done
    }
}
