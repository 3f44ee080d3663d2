import CSystem
import Glibc
import LectureModel

/// A name outside the store under which a file shall stand, whole or not at all.
///
/// A new file has no name until it is whole (`O_TMPFILE`), so that a kill in the middle leaves nothing behind; where
/// the file system cannot do that it has a temporary one.
struct OutputPlace {
    /// The directory the file shall be in.
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

        /// Deletes it. That this may fail changes nothing about the error that is already on its way.
        func discard() {
            if let name { _ = try? directory.unlink(name) }
        }
    }

    /// Makes a file.
    ///
    /// - Parameter mode: its permissions, cut by the umask. Unlike the store's own files, what is given to the user has
    ///   those of the user's umask.
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
    ///   - replacing: whether it may take the place of another file.
    /// - Throws: ``SystemError``, with `EEXIST` when it may not and there is one.
    func install(_ file: NewFile, replacing: Bool = true) throws(SystemError) {
        do {
            try file.descriptor.sync()
            if let temporary = file.name, replacing {
                try systemCall { unsafe renameat(directory.number, temporary, directory.number, name) }
            } else if let temporary = file.name {
                try directory.rename(temporary, to: name)
            } else if replacing {
                try give { (new) throws(SystemError) in try link(file, new) }
            } else {
                try link(file, name)
            }
        } catch {
            file.discard()
            throw error
        }
    }

    private func link(_ file: NewFile, _ new: String) throws(SystemError) {
        let status = unsafe csystem_link_unnamed(file.descriptor.number, directory.number, new)
        if status != 0 { throw SystemError(number: status) }
    }

    /// Makes a link under the output's name: at once where nothing stands there, else by way of a temporary name.
    func give(_ link: (String) throws(SystemError) -> Void) throws(SystemError) {
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
