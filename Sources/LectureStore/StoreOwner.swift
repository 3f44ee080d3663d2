import Glibc
package import LectureModel

/// The user to whom a store belongs. The owner could not read files of another user, root included, so other users are
/// refused, unless the owner shares the directory with a group.
package enum StoreOwner {
    /// Refuses a user to whom the store does not belong, and a directory that others may write.
    ///
    /// An existing store belongs to the owner of its database. A directory without one belongs to any user that may
    /// write to it, but not to root where it is another user's: a service's directory is created before its store. What
    /// is created in a shared directory belongs to its group, so members of the group and root are allowed.
    ///
    /// - Parameter directory: the store's directory, without symbolic links.
    /// - Throws: ``LectureError`` with the code `storeOwner`, which names the owner, or `storeExposed`.
    package static func require(_ directory: String) throws(LectureError) {
        try requireOwner(directory)
        try requireUnexposed(directory)
    }

    /// Refuses a directory that others may write, unless it is shared with a group. New ones are created with the mode
    /// 0700; one that existed before keeps its own.
    private static func requireUnexposed(_ directory: String) throws(LectureError) {
        var facts = stat()
        guard unsafe stat(directory, &facts) == 0, facts.st_mode & 0o022 != 0,
            !SharedPermissions.isShared(mode: facts.st_mode)
        else { return }
        let mode = String(facts.st_mode & 0o7777, radix: 8)
        throw LectureError(.storeExposed, detail: directory, cause: "its mode is 0\(mode)")
    }

    private static func requireOwner(_ directory: String) throws(LectureError) {
        var facts = stat()
        let user = geteuid()
        if unsafe lstat("\(directory)/\(StoreLocation.databaseName)", &facts) == 0 {
            if facts.st_uid == user { return }
        } else {
            let isHidden = errno == EACCES
            guard user == 0 || isHidden, unsafe stat(directory, &facts) == 0, facts.st_uid != user else { return }
        }
        let isShared = isShared(directory)
        if isShared, unsafe access(directory, R_OK | W_OK | X_OK) == 0 { return }
        let name = name(of: facts.st_uid)
        // sudo takes a number after a '#', for users that have no name here.
        let words = "sudo -u \(name ?? "'#\(facts.st_uid)'") lecturectl …"
        let sharing = isShared ? " and shared with a group that this user is not a member of" : ""
        throw LectureError(
            .storeOwner, detail: directory,
            cause: "it is owned by \(name ?? "user \(facts.st_uid)")\(sharing): \(words)")
    }

    /// Whether a directory is shared with a group.
    ///
    /// - Parameter directory: a path.
    /// - Returns: false also when it cannot be inspected.
    static func isShared(_ directory: String) -> Bool {
        var facts = stat()
        guard unsafe stat(directory, &facts) == 0 else { return false }
        return SharedPermissions.isShared(mode: facts.st_mode)
    }

    private static func name(of user: uid_t) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let size = buffer.count
        // The entry points into the buffer, so it is copied before the buffer is released.
        return unsafe buffer.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard unsafe getpwuid_r(user, &entry, base, size, &found) == 0, unsafe found != nil,
                let name = unsafe entry.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }
}
