import Glibc
public import LectureModel

/// An empty store in a directory of its own below `$TMPDIR`, for queries before there is a store, such as what a run
/// would do.
public struct TemporaryStore: Sendable {
    /// The store's directory.
    public let path: String

    /// Creates the directory; only its owner may read it.
    ///
    /// - Throws: ``LectureError`` with `createDirectory`.
    public init() throws(LectureError) {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        // mkdtemp(3) replaces the six X.
        let pattern = String(repeating: "X", count: 6)
        var template = Array("\(parent)/lecturekit-plan-\(pattern)".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe mkdtemp($0) } != nil
        }
        guard made else {
            throw LectureError(.createDirectory, detail: parent)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Deletes the directory and what is in it. What cannot be deleted stays for the system to clear.
    public func remove() { Self.remove(path) }

    /// A store has few levels; links are deleted and not followed.
    private static func remove(_ path: String) {
        guard unsafe unlink(path) != 0, let stream = unsafe opendir(path) else { return }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        _ = unsafe closedir(stream)
        for name in names { remove("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }
}
