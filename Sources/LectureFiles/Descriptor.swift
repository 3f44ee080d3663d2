import CSystem
import Glibc
import LectureModel

/// An open file or directory; closed when the last reference goes.
final class Descriptor: Sendable {
    /// The kernel's number.
    let number: Int32

    /// Takes over an open descriptor.
    ///
    /// - Parameter number: to be closed by this object only.
    init(takingOwnership number: Int32) { self.number = number }

    deinit { close(number) }

    /// Opens a path below this directory. `O_CLOEXEC` and `O_NOFOLLOW` are always added.
    ///
    /// - Parameters:
    ///   - name: one component, or a path that needs no protection.
    ///   - flags: of `open(2)`.
    ///   - mode: the permissions of a new file, cut by the umask; nil for those of the store's files: only for its
    ///     owner, in a shared directory also for the group (see ``GroupSharing``).
    /// - Returns: the open file.
    /// - Throws: ``SystemError``.
    func open(_ name: String, _ flags: Int32, mode: mode_t? = nil) throws(SystemError) -> Descriptor {
        let opened = Descriptor(
            takingOwnership: try systemCall {
                unsafe openat(number, name, flags | O_CLOEXEC | O_NOFOLLOW, mode ?? 0o600)
            })
        guard flags & O_CREAT != 0, mode == nil, try status().isShared else { return opened }
        let facts = try opened.status()
        // Without O_EXCL the file may be another member's, who has set its permissions.
        if facts.st_uid == geteuid(), facts.st_mode & 0o777 != SharedPermissions.file {
            // Not by the mode of `open(2)`: the umask may take the group's part away.
            try systemCall { fchmod(opened.number, SharedPermissions.file) }
        }
        return opened
    }

    /// Opens the file once more, past the page cache.
    ///
    /// - Parameter mode: `O_RDONLY` or `O_RDWR`.
    /// - Returns: the same file with `O_DIRECT`; nil where the file system refuses that.
    func openDirect(_ mode: Int32) -> Descriptor? {
        // Not by F_SETFL: other reads and writes share the flags of their descriptor.
        let opened = csystem_open_direct(number, mode)
        return opened >= 0 ? Descriptor(takingOwnership: opened) : nil
    }

    /// Makes a directory in this one, unless there is one: only for its owner, in a shared directory also for the
    /// group.
    ///
    /// - Parameter name: one component.
    /// - Throws: ``SystemError``.
    func makeDirectory(_ name: String) throws(SystemError) {
        do {
            try systemCall { unsafe mkdirat(number, name, 0o700) }
        } catch {
            if error.number == EEXIST { return }
            throw error
        }
        guard try status().isShared else { return }
        try systemCall { unsafe fchmodat(number, name, SharedPermissions.directory, 0) }
    }

    /// The status of the file.
    ///
    /// - Returns: the answer of `fstat(2)`.
    /// - Throws: ``SystemError``.
    func status() throws(SystemError) -> stat {
        var status = stat()
        try systemCall { unsafe fstat(number, &status) }
        return status
    }

    /// The status of a name in this directory; symbolic links are not followed.
    ///
    /// - Parameter name: one component.
    /// - Returns: the answer of `fstatat(2)`, or nil when there is no such name.
    /// - Throws: ``SystemError``.
    func status(of name: String) throws(SystemError) -> stat? {
        var status = stat()
        do {
            try systemCall { unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
            return status
        } catch {
            if error.number == ENOENT { return nil }
            throw error
        }
    }

    /// Deletes a name in this directory.
    ///
    /// - Parameter name: one component, not a directory.
    /// - Returns: whether it was there.
    /// - Throws: ``SystemError``.
    @discardableResult
    func unlink(_ name: String) throws(SystemError) -> Bool {
        do {
            try systemCall { unsafe unlinkat(number, name, 0) }
            return true
        } catch {
            if error.number == ENOENT { return false }
            throw error
        }
    }

    /// Deletes a name in this directory, also that of an empty directory.
    ///
    /// - Parameter name: one component.
    /// - Throws: ``SystemError``, with `ENOTEMPTY` for a directory that is not empty: its files may be foreign.
    func remove(_ name: String) throws(SystemError) {
        do {
            try unlink(name)
        } catch {
            guard try status(of: name)?.isDirectory == true else { throw error }
            try systemCall { unsafe unlinkat(number, name, AT_REMOVEDIR) }
        }
    }

    /// Renames a file in this directory, unless the new name is taken.
    ///
    /// Where the file system lacks `RENAME_NOREPLACE` a link and an unlink do the same; a crash between them leaves
    /// both names on one file, which ``PartFilePaths`` recognises.
    ///
    /// - Parameters:
    ///   - old: one component.
    ///   - new: one component.
    /// - Throws: ``SystemError``, with `EEXIST` when `new` is taken.
    func rename(_ old: String, to new: String) throws(SystemError) {
        let status = unsafe csystem_rename_noreplace(number, old, number, new)
        if status == 0 { return }
        guard status == EINVAL || status == ENOSYS else { throw SystemError(number: status) }
        try systemCall { unsafe linkat(number, old, number, new, 0) }
        try unlink(old)
    }

    /// Waits until the file's bytes and everything needed to find them are on the disk.
    ///
    /// - Throws: ``SystemError``. After one failure the kernel may mark the lost pages clean: do not retry.
    func sync() throws(SystemError) { try systemCall { fsync(number) } }

    /// The most that is written by one call, in bytes. For a longer write the page cache of a newer kernel takes larger
    /// pieces of memory, which are cold or have to be put together first: with ext4 of Linux 6.18 1 MiB at once cost
    /// seven times the processor time of four times 256 KiB.
    private static let longestWrite = 262_144

    /// Writes all bytes at an offset.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - offset: where, in bytes.
    /// - Throws: ``SystemError``.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        guard let start = off_t(exactly: offset) else { throw SystemError(number: EFBIG) }
        var done = 0
        while done < bytes.count {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...].prefix(Self.longestWrite))
            done += try systemCall { unsafe pwrite(number, piece.baseAddress, piece.count, start + done) }
        }
    }

    /// Reads bytes at an offset, as many as there are.
    ///
    /// - Parameters:
    ///   - buffer: where they go.
    ///   - offset: where they come from, in bytes.
    /// - Returns: how many were read; fewer than the buffer holds only at the end of the file.
    /// - Throws: ``SystemError``.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemError) -> Int {
        guard let start = off_t(exactly: offset) else { throw SystemError(number: EFBIG) }
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try systemCall { unsafe pread(number, rest.baseAddress, rest.count, start + done) }
            if count == 0 { break }
            done += count
        }
        return done
    }
}

extension Descriptor {
    /// Whether this directory is one of others or below one, whichever links led here.
    ///
    /// - Parameter places: the other directories.
    /// - Returns: whether it is in one of them.
    /// - Throws: ``SystemError``.
    func isWithin(_ places: [stat]) throws(SystemError) -> Bool {
        var (current, facts) = (self, try status())
        while !places.contains(where: { $0.isSameFile(as: facts) }) {
            let number = csystem_open_parent(current.number)
            if number < 0 { throw SystemError(number: -number) }
            let parent = Descriptor(takingOwnership: number)
            let above = try parent.status()
            if above.isSameFile(as: facts) { return false }
            (current, facts) = (parent, above)
        }
        return true
    }
}

extension stat {
    /// What recognises the file later.
    var outputFacts: OutputFacts {
        OutputFacts(
            inode: Int64(truncatingIfNeeded: st_ino), bytes: Int64(st_size),
            modifiedNanoseconds: Int64(st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(st_mtim.tv_nsec))
    }

    /// Whether this is a symbolic link.
    var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
    /// Whether this is a regular file.
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    /// Whether this is a directory.
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    /// The length in bytes.
    var byteCount: UInt64 { UInt64(max(0, st_size)) }
    /// How many bytes the file occupies on disk. `st_blocks` counts 512 bytes whatever the file system's blocks are.
    var allocatedBytes: UInt64 { UInt64(max(0, st_blocks)) * 512 }

    /// Whether two results are about the same file.
    ///
    /// - Parameter other: another result.
    /// - Returns: whether device and inode agree.
    func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
