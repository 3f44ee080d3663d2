import LectureModel

/// Reads the bytes of a resource as they were fetched. Used by one thread at a time.
protocol ByteSource: AnyObject {
    /// Reads bytes that must exist.
    ///
    /// - Parameters:
    ///   - count: how many bytes, at most ``ReadableFile/bufferBytes``.
    ///   - offset: where in the resource.
    ///   - body: gets them in order, in one piece or several; must not store the pointer.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when they do
    ///   not exist.
    func read(_ count: Int, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(LectureError)
}

/// An open file that is read through one buffer. Used by one thread at a time.
@safe final class ReadableFile: ByteSource {
    /// How many bytes fit into the buffer.
    static let bufferBytes = 1 << 20

    private let descriptor: Descriptor
    private let subject: String
    /// Allocated by the first read: a file that is only written needs none.
    private var buffer: UnsafeMutableRawBufferPointer?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - descriptor: the open file.
    ///   - subject: its path, for messages.
    init(_ descriptor: Descriptor, _ subject: String) {
        self.descriptor = descriptor
        self.subject = subject
    }

    deinit { unsafe buffer?.deallocate() }

    /// Reads bytes that must exist.
    ///
    /// - Parameters:
    ///   - count: how many bytes, at most ``bufferBytes``.
    ///   - offset: where, in bytes.
    ///   - body: gets them; must not store the pointer.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when the file
    ///   ends earlier.
    func read(_ count: Int, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(LectureError) {
        let buffer = unsafe self.buffer ?? .allocate(byteCount: Self.bufferBytes, alignment: 4096)
        unsafe self.buffer = buffer
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)])
        let got: Int
        do {
            got = try unsafe descriptor.read(target, at: offset)
        } catch {
            throw FileIntent.read.error(error, subject)
        }
        guard got == count else {
            throw LectureError(.damaged, detail: subject, cause: "it ends at byte \(offset + UInt64(got))")
        }
        unsafe body(UnsafeRawBufferPointer(target))
    }
}
