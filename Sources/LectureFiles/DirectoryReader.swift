import Glibc
package import LectureModel

extension Descriptor {
    /// The names in this directory without `.` and `..`, in no order. Names that are not UTF-8 are left out: the store
    /// never creates such names.
    ///
    /// - Returns: the names.
    /// - Throws: ``SystemError``.
    func names() throws(SystemError) -> [String] {
        // Opened again, because a stream takes over its descriptor and moves its position.
        let copy = try systemCall { unsafe openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = unsafe fdopendir(copy) else {
            let number = errno
            close(copy)
            throw SystemError(number: number)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // Only errno distinguishes the end from a failure.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw SystemError(number: errno) }
                return names
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    unsafe String(validatingCString: $0)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
    }
}

/// Reads directories by their path.
package enum DirectoryReader {
    /// The names in a directory, in no order, without `.` and `..`.
    ///
    /// - Parameter path: the directory.
    /// - Returns: the names.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package static func names(of path: String) throws(LectureError) -> [String] {
        do throws(SystemError) {
            let number = try systemCall { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            return try Descriptor(takingOwnership: number).names()
        } catch { throw FileIntent.read.error(error, path) }
    }
}
