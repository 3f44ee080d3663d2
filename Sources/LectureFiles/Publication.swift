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
    private let directory: Descriptor
    private let name: String

    /// Opens the output's directory, which must exist.
    ///
    /// - Parameter output: a path, relative to the working directory or absolute. Links among its directories are
    ///   followed; it belongs to the user.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` when it cannot be a file.
    init(output: String) throws(LectureError) {
        self.output = output
        let parts = output.split(separator: "/", omittingEmptySubsequences: false)
        name = parts.last.map(String.init) ?? ""
        guard !output.utf8.contains(0), !name.isEmpty, name != ".", name != ".." else {
            throw LectureError(.outputRefused, detail: output, cause: "it does not name a file")
        }
        let parent = parts.dropLast().joined(separator: "/")
        let path = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
        directory = Descriptor(
            takingOwnership: try systemCall(.output, output) { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
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
            if let there = try directory.status(of: name) {
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
        guard let file = try? makeFile() else { return false }
        guard csystem_clone(source.number, file.descriptor.number) == 0 else {
            file.discard()
            return false
        }
        try install(file)
        return true
    }

    /// Gives the file a second name; false where that cannot be.
    private func link(_ sourceName: String, in bucket: Descriptor) throws(SystemError) -> Bool {
        do {
            try give { (new) throws(SystemError) in
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
        let file: NewFile
        let total: UInt64
        do {
            file = try makeFile()
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
            try install(file)
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

    // MARK: Names

    /// A new file in the output's directory, without a name where the file system can do that.
    private struct NewFile {
        let descriptor: Descriptor
        /// The temporary name; nil while the file has none.
        let name: String?
        let directory: Descriptor

        /// Deletes it. That this may fail changes nothing about the error that is already on its way.
        func discard() {
            if let name { _ = try? directory.unlink(name) }
        }
    }

    private func makeFile() throws(SystemError) -> NewFile {
        // Unlike the store's own files, what is given to the user has the permissions of the user's umask.
        let number = csystem_open_unnamed(directory.number, 0o666)
        if number >= 0 {
            return NewFile(descriptor: Descriptor(takingOwnership: number), name: nil, directory: directory)
        }
        guard [EOPNOTSUPP, EISDIR, ENOENT, EINVAL, ENOSYS].contains(-number) else {
            throw SystemError(number: -number)
        }
        let name = temporaryName()
        let descriptor = try directory.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o666)
        return NewFile(descriptor: descriptor, name: name, directory: directory)
    }

    /// Syncs a whole new file and gives it the output's name.
    private func install(_ file: NewFile) throws(SystemError) {
        do {
            try file.descriptor.sync()
            if let temporary = file.name {
                try systemCall { unsafe renameat(directory.number, temporary, directory.number, name) }
            } else {
                try give { (new) throws(SystemError) in
                    let status = unsafe csystem_link_unnamed(file.descriptor.number, directory.number, new)
                    if status != 0 { throw SystemError(number: status) }
                }
            }
        } catch {
            file.discard()
            throw error
        }
    }

    /// Makes a link under the output's name: at once where nothing stands there, else by way of a temporary name.
    private func give(_ link: (String) throws(SystemError) -> Void) throws(SystemError) {
        do {
            return try link(name)
        } catch {
            if error.number != EEXIST { throw error }
        }
        let temporary = temporaryName()
        try link(temporary)
        do {
            try systemCall { unsafe renameat(directory.number, temporary, directory.number, name) }
        } catch {
            _ = try? directory.unlink(temporary)
            throw error
        }
    }

    private func temporaryName() -> String { ".lecturekit-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp" }
}
