import CSystem
import Glibc
import LectureModel

/// A place outside the store where a finished file shall also stand, whole or not at all.
///
/// Three ways, the first that works: shared blocks (`FICLONE`), a hard link, a copy. A copy has no name until it is
/// whole (`O_TMPFILE`), so that a kill in the middle leaves nothing behind; only a file that replaces another one has a
/// temporary name, between a link and a rename.
struct Publication {
    private let output: String
    private let place: OutputPlace
    private var directory: Descriptor { place.directory }

    /// Opens the output's directory, which must exist.
    ///
    /// - Parameter output: a path, relative to the working directory or absolute. Links among its directories are
    ///   followed; it belongs to the user.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` when it cannot be a file.
    init(output: String) throws(LectureError) {
        self.output = output
        place = try OutputPlace(output)
    }

    /// Puts the file there, durably, in place of what stood there.
    ///
    /// - Parameters:
    ///   - source: the finished file, open for reading.
    ///   - sourceName: its name, for a hard link.
    ///   - bucket: the directory it is in.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused``, ``LectureError/Code/storageFull`` or
    ///   ``LectureError/Code/readFile``.
    func receive(_ source: Descriptor, named sourceName: String, in bucket: Descriptor) throws(LectureError) {
        do throws(SystemError) {
            let status = try source.status()
            if let there = try directory.status(of: place.name) {
                if there.isDirectory { throw SystemError(number: EISDIR) }
                // Linked before. A rename of one file onto itself does nothing and would leave the temporary name.
                if there.isSameFile(as: status) { return }
            }
            var isThere = try clone(source)
            if !isThere { isThere = try link(sourceName, in: bucket) }
            if isThere { return try directory.sync() }
        } catch {
            throw FileIntent.output.error(error, output)
        }
        try copy(source)
    }

    // MARK: The three ways

    /// Shares the source's blocks; false where the file system cannot.
    private func clone(_ source: Descriptor) throws(SystemError) -> Bool {
        guard let file = try? place.makeFile() else { return false }
        guard csystem_clone(source.number, file.descriptor.number) == 0 else {
            file.discard()
            return false
        }
        try place.install(file)
        return true
    }

    /// Gives the file a second name; false where that cannot be.
    private func link(_ sourceName: String, in bucket: Descriptor) throws(SystemError) -> Bool {
        do {
            try place.give { (new) throws(SystemError) in
                try systemCall { unsafe linkat(bucket.number, sourceName, directory.number, new, 0) }
            }
            return true
        } catch {
            // Another file system, one without links, too many links, or links that the kernel protects.
            if [EXDEV, EOPNOTSUPP, EPERM, EMLINK, ENOSYS].contains(error.number) { return false }
            throw error
        }
    }

    private func copy(_ source: Descriptor) throws(LectureError) {
        let file: OutputPlace.NewFile
        let total: UInt64
        do {
            file = try place.makeFile()
            total = try source.status().byteCount
        } catch {
            throw FileIntent.output.error(error, output)
        }
        do throws(LectureError) {
            try copyBytes(source, to: file.descriptor, total)
        } catch {
            file.discard()
            throw error
        }
        do {
            try place.install(file)
            try directory.sync()
        } catch {
            throw FileIntent.output.error(error, output)
        }
    }

    private func copyBytes(_ source: Descriptor, to target: Descriptor, _ total: UInt64) throws(LectureError) {
        if let length = off_t(exactly: total), length > 0 {
            let status = csystem_fallocate(target.number, 0, length)
            if status == ENOSPC || status == EDQUOT {
                throw FileIntent.output.error(SystemError(number: status), output)
            }
        }
        let reader = ReadableFile(source, output)
        var position: UInt64 = 0
        while position < total {
            let length = Int(min(UInt64(ReadableFile.bufferBytes), total - position))
            var failure: SystemError?
            try unsafe reader.read(length, at: position) { bytes in
                do throws(SystemError) {
                    try unsafe target.write(bytes, at: position)
                } catch {
                    failure = error
                }
            }
            if let failure { throw FileIntent.output.error(failure, output) }
            position += UInt64(length)
        }
    }
}
