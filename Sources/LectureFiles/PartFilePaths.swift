import CSystem
import Glibc
import LectureModel

/// The two names of one resource in its bucket, and what may be done to them.
///
/// ```
///   (nothing) ──create──▶ NAME.part ──finalize──▶ NAME
///                             ▲                    │
///                             └─────take back──────┘
/// ```
///
/// The file under the final name is whole and verified at every instant. So after a crash between the rename and its
/// row, and for a repair of damaged chunks, the file is first renamed back: it is worked on as `NAME.part` and
/// finalized again. A rename costs nothing; a half-repaired file under a final name could be played.
struct PartFilePaths: Sendable {
    /// The checked path.
    let path: MediaPath
    /// The open bucket.
    let bucket: Descriptor
    /// Syncs the bucket for several files at once.
    let syncs: DirectorySyncs
    /// A file up to this length is not reserved while there is plenty of space: it is written at once, and a full disk
    /// is found by that write as well.
    static let unreservedBytes: UInt64 = 1 << 20
    /// What is plenty: more than all files together that may be written at a time without having been reserved.
    private static let plentyBytes: UInt64 = 4 << 30

    /// Creates the part file, or empties one that was left without a committed chunk. Anything else under one of the
    /// two names is deleted: nothing of it is committed, and it would be in the way.
    ///
    /// - Returns: the file, open for reading and writing.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createFile`` or a code of the disk.
    func create() throws(LectureError) -> Descriptor {
        do throws(SystemError) {
            try clearFinalName()
            try clearReplacement()
            do {
                return try bucket.open(path.partName, O_RDWR | O_CREAT | O_EXCL)
            } catch {
                if error.number != EEXIST { throw error }
            }
            // Checked before it is opened: a link, a directory or a socket cannot be.
            if let status = try bucket.status(of: path.partName), status.isRegular, status.st_nlink == 1 {
                // Emptied and reused rather than deleted: ext4 searches past recently deleted inodes one by one.
                let left = try bucket.open(path.partName, O_RDWR)
                try systemCall { ftruncate(left.number, 0) }
                return left
            }
            try bucket.remove(path.partName)
            return try bucket.open(path.partName, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            throw FileIntent.makeFile.error(error, path.text)
        }
    }

    /// Frees the final name: a file there becomes the part file, anything else is deleted.
    private func clearFinalName() throws(SystemError) {
        guard let final = try bucket.status(of: path.name) else { return }
        guard final.isRegular else { return try bucket.remove(path.name) }
        // A link into the user's directories shares these bytes (`--output`); they must not be emptied.
        if final.st_nlink == 1, try bucket.status(of: path.partName) == nil {
            try bucket.rename(path.name, to: path.partName)
        } else {
            try bucket.unlink(path.name)
        }
    }

    /// Opens the part file of a resource with committed chunks; renames it back if it is under its final name.
    ///
    /// - Parameter total: the length of the whole file in bytes, if known.
    /// - Returns: the file, open for reading and writing.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when neither name exists, when it is not a regular
    ///   file, or when it is shorter than `total`: then no committed chunk can be relied on.
    func reopen(total: UInt64?) throws(LectureError) -> Descriptor {
        let file: Descriptor
        let status: stat
        do {
            try takeBack()
            try clearReplacement()
            file = try bucket.open(path.partName, O_RDWR | O_NONBLOCK)
            status = try file.status()
        } catch {
            if error.number == ENOENT { throw LectureError(.damaged, detail: path.text, cause: "the file is gone") }
            // The errors for a link, a directory and a socket.
            if [ELOOP, EISDIR, ENXIO].contains(error.number) { throw notRegular }
            throw FileIntent.makeFile.error(error, path.text)
        }
        guard status.isRegular else { throw notRegular }
        if let total, status.byteCount < total {
            throw LectureError(
                .damaged, detail: path.text, cause: "it has \(status.byteCount) bytes instead of \(total)")
        }
        return file
    }

    private var notRegular: LectureError { LectureError(.damaged, detail: path.text, cause: "not a regular file") }

    /// Renames a file from its final name to the part file's name, unless there is a part file.
    private func takeBack() throws(SystemError) {
        guard let final = try bucket.status(of: path.name), final.isRegular else { return }
        if let part = try bucket.status(of: path.partName) {
            // One file with two names: a crash inside `Descriptor.rename` where it has to link and unlink.
            if part.isSameFile(as: final) { try bucket.unlink(path.name) }
            return
        }
        try bucket.rename(path.name, to: path.partName)
    }

    /// Reserves the file's space, so that a full disk is detected before the first byte and not in the middle.
    ///
    /// - Parameters:
    ///   - file: the open part file.
    ///   - total: the length of the whole file in bytes; 0 while unknown.
    ///   - reserve: how many bytes must stay free beside it.
    ///   - media: the directory of all files, which knows the free bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/storageFull`` or ``LectureError/Code/writeFile``.
    func reserve(
        _ file: Descriptor, length total: UInt64, reserve: UInt64, in media: MediaDirectory
    ) throws(LectureError) {
        if total > 0, total <= Self.unreservedBytes, let length = off_t(exactly: total),
            try media.freeBytes() / 2 >= max(reserve, Self.plentyBytes)
        {
            try systemCall(.write, path.text) { ftruncate(file.number, length) }
            return
        }
        // Held from checking to reserving, so that files started together do not all count the same free bytes.
        let turn = try media.reservationTurn()
        defer { withExtendedLifetime(turn) {} }
        let free = try media.freeBytes()
        let status: stat
        do { status = try file.status() } catch { throw FileIntent.write.error(error, path.text) }
        let allocated = min(status.allocatedBytes, total)
        try Self.check(free: free, needs: total - allocated, reserve: reserve, path.text)
        if total == 0 { return }
        guard let length = off_t(exactly: total) else {
            throw LectureError(.badLength, detail: path.text, cause: "\(total) bytes")
        }
        switch csystem_fallocate(file.number, 0, length) {
        case 0: return
        case EOPNOTSUPP, ENOSYS:
            // Without a reservation a full disk is detected later, which is a stop reason and not damage.
            if status.byteCount < total {
                try systemCall(.write, path.text) { ftruncate(file.number, length) }
            }
        case let number: throw FileIntent.write.error(SystemError(number: number), path.text)
        }
    }

    /// Checks the free space against what is needed.
    ///
    /// - Parameters:
    ///   - free: the free bytes of the file system.
    ///   - needs: how many bytes the file will take.
    ///   - reserve: how many bytes must stay free beside it.
    ///   - subject: the path, for the message.
    /// - Throws: ``LectureError`` with ``LectureError/Code/storageFull``.
    static func check(free: UInt64, needs: UInt64, reserve: UInt64, _ subject: String) throws(LectureError) {
        let (due, overflow) = needs.addingReportingOverflow(reserve)
        if overflow || free < due {
            throw LectureError(
                .storageFull, detail: subject,
                cause: "\(needs) bytes are needed and \(reserve) stay reserved, \(free) are free")
        }
    }

    /// Gives the file its length and its final name, durably.
    ///
    /// - Parameters:
    ///   - file: the open part file.
    ///   - total: the length of the whole file in bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when the file is shorter, or
    ///   ``LectureError/Code/writeFile``, also when another file has the final name.
    func finalize(_ file: Descriptor, total: UInt64) throws(LectureError) {
        do {
            let length = try file.status().byteCount
            if length >= total {
                if length > total, let end = off_t(exactly: total) { try systemCall { ftruncate(file.number, end) } }
                // Usually the last flush has done it; then only timestamps would be written, which need no wait.
                try systemCall { fdatasync(file.number) }
                try bucket.rename(path.partName, to: path.name)
                try syncs.sync(bucket)
                return
            }
        } catch {
            throw FileIntent.write.error(error, path.text)
        }
        throw LectureError(.damaged, detail: path.text, cause: "it has fewer than \(total) bytes")
    }

    // MARK: Replacing the part file

    /// Creates the file that is to replace the part file; one that a crash left is deleted.
    ///
    /// - Returns: the file, open for reading and writing.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createFile`` or a code of the disk.
    func createReplacement() throws(LectureError) -> Descriptor {
        do {
            try clearReplacement()
            return try bucket.open(path.replacementName, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            throw FileIntent.makeFile.error(error, path.text)
        }
    }

    /// Deletes the file that was to replace the part file.
    ///
    /// - Throws: ``SystemError``.
    func clearReplacement() throws(SystemError) {
        if try bucket.status(of: path.replacementName) != nil { try bucket.remove(path.replacementName) }
    }

    /// Renames a whole file to the part file's name, durably; the old one is replaced atomically.
    ///
    /// - Parameter file: the result of ``createReplacement()``.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile``.
    func install(_ file: Descriptor) throws(LectureError) {
        do {
            try systemCall { fdatasync(file.number) }
            try systemCall {
                unsafe renameat(bucket.number, path.replacementName, bucket.number, path.partName)
            }
            try bucket.sync()
        } catch {
            throw FileIntent.write.error(error, path.text)
        }
    }

    /// Deletes the part file, durably.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile``.
    func deletePart() throws(LectureError) {
        do {
            if try bucket.unlink(path.partName) { try bucket.sync() }
        } catch {
            throw FileIntent.write.error(error, path.text)
        }
    }
}
