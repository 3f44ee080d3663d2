import Glibc
package import LectureModel

/// The user to whom a store belongs. What another user writes into it, root included, the owner could not read, so
/// nobody else works on it.
package enum StoreOwner {
    /// Refuses a user to whom the store does not belong.
    ///
    /// An existing store belongs to the owner of its database. A directory without one belongs to whoever may write to
    /// it, but not to root where it is another user's: a service's directory is made before its store.
    ///
    /// - Parameter directory: the store's directory, without symbolic links.
    /// - Throws: ``LectureError`` with the code `storeOwner`, which names the owner.
    package static func require(_ directory: String) throws(LectureError) {
        var facts = stat()
        let user = geteuid()
        if unsafe lstat("\(directory)/\(StoreLocation.databaseName)", &facts) == 0 {
            if facts.st_uid == user { return }
        } else {
            guard user == 0, unsafe stat(directory, &facts) == 0, facts.st_uid != user else { return }
        }
        let name = name(of: facts.st_uid)
        // sudo takes a number behind a '#', for users that have no name here.
        let words = "sudo -u \(name ?? "'#\(facts.st_uid)'") lecturectl …"
        throw LectureError(
            .storeOwner, detail: directory, cause: "it is owned by \(name ?? "user \(facts.st_uid)"): \(words)")
    }

    private static func name(of user: uid_t) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let size = buffer.count
        // What the entry points at lies in the buffer, so it is copied before the buffer goes.
        return unsafe buffer.withUnsafeMutableBufferPointer { room in
            guard let base = room.baseAddress else { return nil }
            guard unsafe getpwuid_r(user, &entry, base, size, &found) == 0, unsafe found != nil,
                let name = unsafe entry.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }
}
