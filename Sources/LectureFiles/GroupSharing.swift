import Glibc
package import LectureModel

/// Directories that a group of users shares: set-group-ID, readable and writable for the group, closed to others.
///
/// The directory itself carries the setting, as a shared Git repository's does: what is made in it takes the group from
/// the kernel and the permissions from ``Descriptor``, so every program that opens the store follows it.
package enum GroupSharing {
    /// Shares a directory and everything in it with a group. Does nothing if it is shared already. Directories and
    /// files of other users are skipped: only an owner may change them.
    ///
    /// The directory itself is changed last, so that the next call completes an interrupted one.
    ///
    /// - Parameters:
    ///   - path: the directory, made when it is missing.
    ///   - group: the group's name, or its number.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` for a group that does not exist or that the
    ///   user is not a member of, or a disk code.
    package static func share(_ path: String, with group: String) throws(LectureError) {
        let number = try number(of: group)
        let directory = try StoreRoot.open(path)
        do {
            let facts = try directory.status()
            guard facts.st_uid == geteuid() else { return }
            if facts.isShared, facts.st_gid == number { return }
            // Fails before anything is changed if the user is not a member of the group.
            try systemCall { fchown(directory.number, uid_t.max, number) }
            // The second pass covers files that a running program created before the directory was shared.
            for _ in 0..<2 {
                try shareEntries(of: directory, with: number)
                try set(directory, number, SharedPermissions.directory)
            }
        } catch {
            if error.number == EPERM { throw refused("the user is not a member of the group '\(group)'") }
            throw FileIntent.write.error(error, path)
        }
    }

    private static func shareEntries(of directory: Descriptor, with group: gid_t) throws(SystemError) {
        for name in try directory.names() {
            guard let facts = try directory.status(of: name), facts.st_uid == geteuid() || geteuid() == 0 else {
                continue
            }
            if facts.isDirectory {
                let inner = try directory.open(name, O_RDONLY | O_DIRECTORY)
                // Before its entries, so that new files are shared as soon as they are created.
                try set(inner, group, SharedPermissions.directory)
                try shareEntries(of: inner, with: group)
            } else if facts.isRegular {
                do {
                    let file = try directory.open(name, O_RDONLY | O_NONBLOCK)
                    if facts.st_gid == group, facts.st_mode & 0o777 == SharedPermissions.file { continue }
                    try set(file, group, SharedPermissions.file)
                } catch {
                    // Deleted meanwhile.
                    if error.number != ENOENT { throw error }
                }
            }
        }
    }

    /// Changes the group before the mode, because `chown` clears the set-group-ID bit.
    private static func set(_ file: Descriptor, _ group: gid_t, _ mode: mode_t) throws(SystemError) {
        try systemCall { fchown(file.number, uid_t.max, group) }
        try systemCall { fchmod(file.number, mode) }
    }

    private static func refused(_ reason: String) -> LectureError {
        LectureError(.configuration, detail: "storage.group", cause: reason)
    }

    /// Checks that a group exists.
    ///
    /// - Parameter group: the group's name, or its number.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` for one that does not.
    package static func require(_ group: String) throws(LectureError) { _ = try number(of: group) }

    private static func number(of group: String) throws(LectureError) -> gid_t {
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 65_536)
        let size = buffer.count
        let named = unsafe buffer.withUnsafeMutableBufferPointer { bytes -> gid_t? in
            guard let base = bytes.baseAddress, unsafe getgrnam_r(group, &entry, base, size, &found) == 0,
                unsafe found != nil
            else { return nil }
            return unsafe entry.gr_gid
        }
        guard let number = named ?? gid_t(group) else {
            throw refused("there is no group '\(group)' on this machine")
        }
        return number
    }
}

extension stat {
    /// Whether this is a directory that its owner shares with a group, and with no other users.
    var isShared: Bool { isDirectory && SharedPermissions.isShared(mode: st_mode) }
}
