/// Bytes that can be read at any place, such as an open file. May be read by several threads at once.
package protocol RandomBytes: Sendable {
    /// How many there are.
    var count: UInt64 { get }
    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - buffer: takes them.
    ///   - offset: where, in bytes.
    /// - Returns: how many were read; fewer than the buffer takes only where the bytes end.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int
}

extension RandomBytes {
    /// Reads bytes that must exist.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - offset: where, in bytes.
    /// - Returns: exactly so many; nil where the bytes end earlier.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    package func bytes(_ count: Int, at offset: UInt64) throws(LectureError) -> [UInt8]? {
        guard offset <= self.count, UInt64(count) <= self.count - offset else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let result: Result<Int, LectureError> = unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(LectureError) {
                return .success(try unsafe read(into: buffer, at: offset))
            } catch {
                return .failure(error)
            }
        }
        return try result.get() == count ? bytes : nil
    }
}
