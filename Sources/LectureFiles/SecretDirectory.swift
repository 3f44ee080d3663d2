import Glibc
package import LectureModel

/// A directory of small secret files: mode 0700, its files 0600, each of them whole or absent; or shared with a group
/// (``GroupSharing``). Several processes may use it at once.
package final class SecretDirectory: Sendable {
    /// The path as given; for messages.
    package let path: String
    private let descriptor: Descriptor
    /// The group that shares the directory; nil for a private one.
    private let group: gid_t?
    /// Whether ``syncNames()`` has run.
    private let hasSynced = Guarded(false)

    /// Anyone who may write to the directory could put another key into it.
    private init(examining descriptor: Descriptor, path: String) throws(LectureError) {
        let facts: stat
        do { facts = try descriptor.status() } catch { throw FileIntent.read.error(error, path) }
        // Only members of the group may write to a shared directory.
        if !facts.isShared {
            guard facts.st_uid == geteuid() else {
                throw LectureError(.deviceKeyRefused, detail: path, cause: "the directory is another user's")
            }
            guard facts.st_mode & 0o022 == 0 else {
                throw LectureError(.deviceKeyRefused, detail: path, cause: "others may write to the directory")
            }
        }
        (self.descriptor, self.path) = (descriptor, path)
        group = facts.isShared ? facts.st_gid : nil
    }

    /// Opens the directory.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory. Links are followed: the user may keep it elsewhere.
    ///   - creating: whether it is created, with its parents, when it is missing.
    /// - Returns: the directory; nil when there is none and it is not to be created.
    /// - Throws: ``LectureError`` with ``LectureError/Code/deviceKeyRefused`` when it is another user's or others may
    ///   write to it, or a disk code.
    package static func open(_ path: String, creating: Bool) throws(LectureError) -> SecretDirectory? {
        if !creating, !path.isEmpty, !path.utf8.contains(0), unsafe access(path, F_OK) != 0, errno == ENOENT {
            return nil
        }
        return try SecretDirectory(examining: try StoreRoot.open(path), path: path)
    }

    /// Makes the names of the directory, and of any parents created for it, durable before the first file is written. A
    /// name lost in a power cut takes the key with it. Where there is a file this has been done, so that a program that
    /// only reads does not wait for the disk.
    private func syncNames() {
        guard !hasSynced.withLock({ $0 }), var inner = try? descriptor.status() else { return }
        var child = descriptor
        while let above = try? child.open("..", O_RDONLY | O_DIRECTORY), let outer = try? above.status(),
            outer.st_uid == geteuid(), outer.st_dev == inner.st_dev, !outer.isSameFile(as: inner)
        {
            // Some file systems cannot sync a directory, and another user's directory was not created here.
            _ = try? above.sync()
            (child, inner) = (above, outer)
        }
        hasSynced.withLock { $0 = true }
    }

    /// A subdirectory, created when it is missing.
    ///
    /// - Parameter name: one component.
    /// - Returns: the directory.
    /// - Throws: as ``open(_:creating:)``; a link is refused.
    package func directory(_ name: String) throws(LectureError) -> SecretDirectory {
        let place = "\(path)/\(name)"
        let inner: Descriptor
        do throws(SystemError) {
            if try descriptor.status(of: name) == nil {
                try descriptor.makeDirectory(name)
                try descriptor.sync()
            }
            inner = try descriptor.open(name, O_RDONLY | O_DIRECTORY)
        } catch {
            throw FileIntent.makeDirectory.error(error, place)
        }
        return try SecretDirectory(examining: inner, path: place)
    }

    /// Opens a file of the directory.
    ///
    /// - Parameters:
    ///   - name: one component.
    ///   - limit: the maximum number of bytes.
    /// - Returns: the open file; nil when there is none.
    /// - Throws: ``LectureError`` with ``LectureError/Code/deviceKeyRefused`` for a link, or a file that others may
    ///   read or that is another user's, or ``LectureError/Code/readFile``.
    package func file(_ name: String, limit: Int) throws(LectureError) -> SecretFile? {
        let place = "\(path)/\(name)"
        let opened: Descriptor
        do {
            opened = try descriptor.open(name, O_RDONLY | O_NONBLOCK)
        } catch {
            if error.number == ENOENT { return nil }
            if error.number == ELOOP { throw LectureError(.deviceKeyRefused, detail: place, cause: "it is a link") }
            throw FileIntent.read.error(error, place)
        }
        let file = try SecretFile.examined(opened, place, limit, foreignOwners: [], sharedWith: group)
        if file.isExposed {
            throw LectureError(.deviceKeyRefused, detail: place, cause: "others may read it, or it is another user's")
        }
        return file
    }

    /// Writes a file of the directory, whole and durable. Only inside ``withLock(_:)``.
    ///
    /// - Parameters:
    ///   - name: one component.
    ///   - bytes: its bytes.
    ///   - replacing: whether it may replace another one.
    /// - Returns: whether it was written; false when there is another one that may not be replaced.
    /// - Throws: ``LectureError`` with a disk code.
    package func write(
        _ name: String, _ bytes: UnsafeRawBufferPointer, replacing: Bool
    ) throws(LectureError) -> Bool {
        syncNames()
        do {
            try unsafe descriptor.install(bytes, as: name, by: ".\(name).new", replacing: replacing)
            return true
        } catch {
            if error.number == EEXIST { return false }
            throw FileIntent.makeFile.error(error, "\(path)/\(name)")
        }
    }

    /// The names in the directory.
    ///
    /// - Returns: the names, in no order.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package func names() throws(LectureError) -> [String] {
        do { return try descriptor.names() } catch { throw FileIntent.read.error(error, path) }
    }

    /// Finds what would keep ``write(_:_:replacing:)`` from replacing a file, as far as can be seen without writing: a
    /// read-only or full file system, missing rights, an immutable file.
    ///
    /// - Parameter name: one component; need not exist.
    /// - Throws: ``LectureError`` with a disk code.
    package func requireWritable(_ name: String) throws(LectureError) {
        do throws(SystemError) {
            try systemCall { unsafe faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS) }
            do throws(SystemError) {
                try systemCall { unsafe faccessat(descriptor.number, name, W_OK, AT_EACCESS) }
            } catch {
                // A file is replaced, not opened, so its own rights do not matter.
                if ![ENOENT, EACCES].contains(error.number) { throw error }
            }
            var space = statvfs()
            try systemCall { unsafe fstatvfs(descriptor.number, &space) }
            if space.f_bavail == 0 || space.f_files > 0 && space.f_favail == 0 { throw SystemError(number: ENOSPC) }
        } catch {
            throw FileIntent.makeFile.error(error, "\(path)/\(name)")
        }
    }

    /// Runs while no other process, and no other thread of this one, does so for this directory. Blocks.
    ///
    /// - Parameter body: short.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, or ``LectureError`` with ``LectureError/Code/writeFile``.
    package func withLock<Result>(_ body: () throws(LectureError) -> Result) throws(LectureError) -> Result {
        let turn: Descriptor
        do {
            // Opened again, since `flock` applies to an open file description and not to a process.
            turn = try descriptor.open(".", O_RDONLY | O_DIRECTORY)
            try systemCall { flock(turn.number, LOCK_EX) }
        } catch {
            throw FileIntent.write.error(error, path)
        }
        defer { withExtendedLifetime(turn) {} }
        return try body()
    }
}
