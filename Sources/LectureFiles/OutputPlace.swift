import CSystem
import Glibc
import LectureModel

/// A path outside the store where a file is to appear, whole or not at all.
///
/// A new file has no name until it is whole (`O_TMPFILE`), so that a kill in the middle leaves nothing behind; where
/// the file system cannot do that it has a temporary name.
struct OutputPlace {
    /// The directory of the file.
    let directory: Descriptor
    /// The file's name in it.
    let name: String

    /// Opens the output's directory, which must exist.
    ///
    /// - Parameter output: a path, relative to the working directory or absolute. Links among its directories are
    ///   followed; it belongs to the user.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` when it cannot be a file.
    init(_ output: String) throws(LectureError) {
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

    /// A new file in the output's directory, without a name where the file system can do that.
    struct NewFile {
        let descriptor: Descriptor
        /// The temporary name; nil while the file has none.
        let name: String?
        let directory: Descriptor

        /// Deletes it. A failure here does not replace the error that is already being thrown.
        func discard() {
            if let name { _ = try? directory.unlink(name) }
        }
    }

    /// Creates a file.
    ///
    /// - Parameter mode: its permissions, restricted by the umask. Unlike the store's own files, output follows the
    ///   user's umask.
    /// - Returns: the open file.
    /// - Throws: ``SystemError``.
    func makeFile(mode: mode_t = 0o666) throws(SystemError) -> NewFile {
        let number = csystem_open_unnamed(directory.number, mode)
        if number >= 0 {
            return NewFile(descriptor: Descriptor(takingOwnership: number), name: nil, directory: directory)
        }
        guard [EOPNOTSUPP, EISDIR, ENOENT, EINVAL, ENOSYS].contains(-number) else {
            throw SystemError(number: -number)
        }
        let name = temporaryName()
        let descriptor = try directory.open(name, O_RDWR | O_CREAT | O_EXCL, mode: mode)
        return NewFile(descriptor: descriptor, name: name, directory: directory)
    }

    /// Syncs a whole new file and gives it the output's name.
    ///
    /// - Parameters:
    ///   - file: of ``makeFile(mode:)``.
    ///   - right: what may be replaced.
    /// - Throws: ``SystemError``, with `EEXIST` when a file is there that may not be replaced.
    func install(_ file: NewFile, replacing right: OutputRight) throws(SystemError) {
        do throws(SystemError) {
            try file.descriptor.sync()
            if let temporary = file.name {
                do {
                    return try directory.rename(temporary, to: name)
                } catch {
                    guard error.number == EEXIST, right != .nothing else { throw error }
                }
                try replace(by: temporary, right)
            } else {
                try give(right) { (new) throws(SystemError) in try link(file, new) }
            }
        } catch {
            // After a replacement that could not be undone the temporary name is the user's file.
            if error.number != Self.undone { file.discard() }
            throw error
        }
    }

    private func link(_ file: NewFile, _ new: String) throws(SystemError) {
        let status = unsafe csystem_link_unnamed(file.descriptor.number, directory.number, new)
        if status != 0 { throw SystemError(number: status) }
    }

    /// Links the file under the output's name: directly if the name is free, otherwise via a temporary name.
    ///
    /// - Parameters:
    ///   - right: what may be replaced.
    ///   - link: gives the file a name.
    /// - Throws: ``SystemError``, with `EEXIST` when a file is there that may not be replaced.
    func give(_ right: OutputRight, _ link: (String) throws(SystemError) -> Void) throws(SystemError) {
        do {
            return try link(name)
        } catch {
            guard error.number == EEXIST, right != .nothing else { throw error }
        }
        let temporary = temporaryName()
        try link(temporary)
        do {
            try replace(by: temporary, right)
        } catch {
            if error.number != Self.undone { _ = try? directory.unlink(temporary) }
            throw error
        }
    }

    /// The error of a replacement that could not be undone: the former file keeps the temporary name.
    private static let undone = ENOTRECOVERABLE

    /// Gives a temporary file the output's name. The two files are exchanged, and the former one is looked at
    /// afterwards: one that appeared in the last moment, and may not be replaced, gets its name back.
    private func replace(by temporary: String, _ right: OutputRight) throws(SystemError) {
        guard case .own = right else {
            try systemCall { unsafe renameat(directory.number, temporary, directory.number, name) }
            return
        }
        let status = unsafe csystem_rename_exchange(directory.number, temporary, name)
        if status == ENOENT { return try directory.rename(temporary, to: name) }
        if status == EINVAL || status == ENOSYS {
            // The file system cannot exchange names: the look is just before.
            try requireRight(right, name)
            try systemCall { unsafe renameat(directory.number, temporary, directory.number, name) }
            return
        }
        if status != 0 { throw SystemError(number: status) }
        do {
            try requireRight(right, temporary)
        } catch {
            let back = unsafe csystem_rename_exchange(directory.number, temporary, name)
            throw back == 0 ? error : SystemError(number: Self.undone)
        }
        try directory.unlink(temporary)
    }

    private func requireRight(_ right: OutputRight, _ name: String) throws(SystemError) {
        guard let there = try directory.status(of: name) else { return }
        if !there.isRegular || !right.allows(there.outputFacts) { throw SystemError(number: EEXIST) }
    }

    private func temporaryName() -> String { ".lecturekit-\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp" }
}
