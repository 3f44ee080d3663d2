package import Glibc
package import LectureModel

/// An open file with secret bytes. They go straight to the caller's buffer, so that no copy remains.
package final class SecretFile {
    /// Who else may be able to read the file.
    package enum Strictness: Sendable {
        /// A file that others may read, or that belongs to another user, is refused.
        case secret
        /// Anybody may read it: a certificate, a public key.
        case open
    }

    /// The length in bytes when it was opened.
    package let count: Int
    /// Whether group or others may read or write it, or it is another user's.
    package let isExposed: Bool
    private let descriptor: Descriptor
    private let path: String

    private init(_ descriptor: Descriptor, path: String, count: Int, isExposed: Bool) {
        (self.descriptor, self.path, self.count, self.isExposed) = (descriptor, path, count, isExposed)
    }

    /// Opens a file that a person has named. Links are followed, since secrets may be provided that way; what counts is
    /// the file that is opened.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - limit: the maximum number of bytes.
    ///   - strictness: who else may be able to read it.
    /// - Returns: the open file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile`` when it cannot be read, is not a regular file or
    ///   is too long, or ``LectureError/Code/secretReadable``.
    package static func open(
        _ path: String, limit: Int, _ strictness: Strictness = .secret
    ) throws(LectureError) -> SecretFile {
        if path.utf8.contains(0) { throw LectureError(.readFile, detail: "a file", cause: "its name holds a NUL") }
        // Without O_NONBLOCK a pipe without a writer would block the program.
        let number = try systemCall(.read, path) { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        let file = try examined(Descriptor(takingOwnership: number), path, limit, foreignOwners: [0])
        if strictness == .secret, file.isExposed { throw LectureError(.secretReadable, detail: path) }
        return file
    }

    /// Checks an open file before anything is read.
    static func examined(
        _ descriptor: Descriptor, _ path: String, _ limit: Int, foreignOwners: Set<uid_t>,
        sharedWith group: gid_t? = nil
    ) throws(LectureError) -> SecretFile {
        let facts: stat
        do { facts = try descriptor.status() } catch { throw FileIntent.read.error(error, path) }
        guard facts.isRegular else { throw LectureError(.readFile, detail: path, cause: "it is not a regular file") }
        guard let count = Int(exactly: facts.byteCount), count <= limit else {
            throw LectureError(.readFile, detail: path, cause: "it has more than \(limit) bytes")
        }
        let isTheGroups = group == facts.st_gid
        let isForeign = facts.st_uid != geteuid() && !foreignOwners.contains(facts.st_uid) && !isTheGroups
        let others = facts.st_mode & (isTheGroups ? 0o007 : 0o077)
        let isCredential =
            foreignOwners.contains(0)
            && isCredential(mode: facts.st_mode, owner: facts.st_uid, group: facts.st_gid)
        let isExposed = others != 0 && !isCredential || isForeign
        return SecretFile(descriptor, path: path, count: count, isExposed: isExposed)
    }

    /// Whether a file is one that systemd hands to a service: root's, and only root and the service's user can read it.
    ///
    /// The user is in the file's access list, of which the bits of the group are the mask (acl(5)), so that the mode is
    /// 0440.
    ///
    /// - Parameters:
    ///   - mode: the file's mode.
    ///   - owner: its owner.
    ///   - group: its group.
    /// - Returns: whether it is; never for a file that anybody may write.
    package static func isCredential(mode: mode_t, owner: uid_t, group: gid_t) -> Bool {
        owner == 0 && group == 0 && mode & 0o777 == 0o440
    }

    /// Reads the whole file.
    ///
    /// - Parameter buffer: of ``count`` bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, also when its length has changed since.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(LectureError) {
        let got: Int
        do { got = try unsafe descriptor.read(buffer, at: 0) } catch { throw FileIntent.read.error(error, path) }
        guard got == count, buffer.count == count else {
            throw LectureError(.readFile, detail: path, cause: "its length changed while it was read")
        }
    }

    /// The whole file in an array, for what is not secret.
    ///
    /// - Returns: the bytes.
    /// - Throws: as ``read(into:)``.
    package func bytes() throws(LectureError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let failure: LectureError? = unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(LectureError) {
                try unsafe read(into: buffer)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes a new file that only its owner may read: whole and durable, or not at all.
    ///
    /// - Parameters:
    ///   - bytes: its bytes.
    ///   - path: must not exist unless it is replaced; its directory must.
    ///   - replacing: whether it may replace another file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createFile`` when the path exists already, or a disk code.
    package static func create(
        _ bytes: [UInt8], at path: String, replacing: Bool = false
    ) throws(LectureError) {
        let failure: LectureError? = unsafe bytes.withUnsafeBytes { bytes in
            do throws(LectureError) {
                try unsafe create(bytes, at: path, replacing: replacing)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// Reads a file with one line of text, and makes it first when it is missing.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - limit: the maximum number of bytes.
    ///   - make: the text of a new file.
    /// - Returns: the text, without its line end.
    /// - Throws: as ``open(_:limit:_:)`` and ``create(_:at:replacing:)-([UInt8],_,_)``; what `make` throws;
    ///   ``LectureError/Code/configuration`` when it is not UTF-8.
    package static func line(
        _ path: String, limit: Int, make: () throws(LectureError) -> String
    ) throws(LectureError) -> String {
        if unsafe access(path, F_OK) != 0, errno == ENOENT { try create(Array(make().utf8), at: path) }
        var bytes = try open(path, limit: limit).bytes()
        // As an editor leaves it.
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.configuration, detail: path, cause: "it must have text in UTF-8")
        }
        return text
    }

    /// As ``create(_:at:replacing:)-([UInt8],_,_)``, for a secret that must not be in an array.
    package static func create(
        _ bytes: UnsafeRawBufferPointer, at path: String, replacing: Bool = false
    ) throws(LectureError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = parts.last.map(String.init) ?? ""
        guard !path.utf8.contains(0), !name.isEmpty, name != ".", name != ".." else {
            throw LectureError(.createFile, detail: path, cause: "it does not name a file")
        }
        let parent = parts.dropLast().joined(separator: "/")
        let above = parts.count == 1 ? "." : parent.isEmpty ? "/" : parent
        let number = try systemCall(.makeFile, path) { unsafe Glibc.open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let directory = Descriptor(takingOwnership: number)
        let temporary = ".lecturekit-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
        do throws(SystemError) {
            try unsafe directory.install(bytes, as: name, by: temporary, replacing: replacing)
        } catch {
            throw FileIntent.makeFile.error(error, path)
        }
    }
}

extension Descriptor {
    /// Puts a file of mode 0600 into this directory via a temporary name, durably.
    ///
    /// - Parameters:
    ///   - bytes: what it holds.
    ///   - name: one component.
    ///   - temporary: one component that is not used otherwise.
    ///   - replacing: whether it may replace another file.
    /// - Throws: ``SystemError``, with `EEXIST` when it may not and there is one.
    func install(
        _ bytes: UnsafeRawBufferPointer, as name: String, by temporary: String, replacing: Bool
    ) throws(SystemError) {
        // Left by a killed process.
        try unlink(temporary)
        do {
            let file = try open(temporary, O_WRONLY | O_CREAT | O_EXCL)
            try unsafe file.write(bytes, at: 0)
            try file.sync()
            if replacing {
                try systemCall { unsafe renameat(number, temporary, number, name) }
            } else {
                try rename(temporary, to: name)
            }
        } catch {
            _ = try? unlink(temporary)
            throw error
        }
        try sync()
    }
}
