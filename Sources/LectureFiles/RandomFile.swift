import Glibc
package import LectureModel

/// An open regular file that is read at any place. Its length is that of the moment it was opened.
package final class RandomFile: RandomBytes {
    private let descriptor: Descriptor
    private let path: String
    /// Its length in bytes.
    package let count: UInt64

    /// Opens a file.
    ///
    /// - Parameter path: a regular file; links are followed, since the user has named it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package init(_ path: String) throws(LectureError) {
        self.path = path
        if path.utf8.contains(0) { throw LectureError(.readFile, detail: "a file", cause: "its name holds a NUL") }
        do throws(SystemError) {
            // A FIFO must not make the program wait.
            let number = try systemCall { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
            descriptor = Descriptor(takingOwnership: number)
            let status = try descriptor.status()
            guard status.isRegular else { throw SystemError(number: status.isDirectory ? EISDIR : EINVAL) }
            count = status.byteCount
        } catch {
            throw FileIntent.read.error(error, path)
        }
    }

    /// Reads bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
        do throws(SystemError) {
            return try unsafe descriptor.read(buffer, at: offset)
        } catch {
            throw FileIntent.read.error(error, path)
        }
    }
}
