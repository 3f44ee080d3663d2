import Glibc
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

    /// Reads bytes that must exist to where they are wanted: large ones without another copy.
    ///
    /// - Parameters:
    ///   - buffer: where they go, all of it.
    ///   - offset: where in the resource.
    /// - Throws: as ``read(_:at:_:)``.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError)
}

/// An open file that is read through one buffer. Used by one thread at a time.
@safe final class ReadableFile: ByteSource {
    /// How many bytes fit into the buffer.
    static let bufferBytes = 1 << 20

    private let descriptor: Descriptor
    private var direct: Descriptor?
    private let subject: String
    /// Allocated by the first read: a file that is only written needs none.
    private var buffer: UnsafeMutableRawBufferPointer?
    /// Whether the buffer is within a huge page: for the disk one piece in place of 256.
    private var isBlock = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - descriptor: the open file.
    ///   - subject: its path, for messages.
    ///   - direct: the same file opened with `O_DIRECT`, for whole pages; nil to read all through the page cache.
    init(_ descriptor: Descriptor, _ subject: String, direct: Descriptor? = nil) {
        self.descriptor = descriptor
        self.direct = direct
        self.subject = subject
    }

    /// Reads what is on the disk, and not what the page cache has of it: past the cache where that pays and the file
    /// system permits it, otherwise after the cache has dropped the file as far as it can.
    ///
    /// - Parameters:
    ///   - file: the open file.
    ///   - subject: its path, for messages.
    ///   - length: how long it is, in bytes.
    convenience init(onDisk file: Descriptor, _ subject: String, length: UInt64) {
        // Dirty pages stay, so this is harmless.
        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        self.init(file, subject, direct: length >= MediaWriter.leastBytes ? file.openDirect(O_RDONLY) : nil)
    }

    deinit {
        guard let buffer = unsafe buffer else { return }
        if isBlock, let memory = buffer.baseAddress {
            unsafe BlockMemory.giveBack(memory, buffer.count)
        } else {
            unsafe buffer.deallocate()
        }
    }

    private func makeBuffer() -> UnsafeMutableRawBufferPointer {
        guard direct != nil else { return .allocate(byteCount: Self.bufferBytes, alignment: MediaWriter.page) }
        isBlock = true
        return unsafe UnsafeMutableRawBufferPointer(
            start: BlockMemory.take(Self.bufferBytes), count: Self.bufferBytes)
    }

    /// Reads bytes that must exist.
    ///
    /// - Parameters:
    ///   - count: how many bytes, at most ``bufferBytes``.
    ///   - offset: where, in bytes.
    ///   - body: gets them; must not store the pointer.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/damaged`` when the file
    ///   ends earlier.
    func read(_ count: Int, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) throws(LectureError) {
        let buffer = unsafe self.buffer ?? makeBuffer()
        unsafe self.buffer = buffer
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(count, buffer.count)])
        let got: Int
        do {
            let first = try unsafe readDirectly(target.count, into: buffer, at: offset)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[first...])
            got = try unsafe first == target.count ? first : first + descriptor.read(rest, at: offset + UInt64(first))
        } catch {
            throw FileIntent.read.error(error, subject)
        }
        try require(got, of: count, at: offset)
        unsafe body(UnsafeRawBufferPointer(target))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) {
        let got: Int
        do { got = try unsafe descriptor.read(buffer, at: offset) } catch {
            throw FileIntent.read.error(error, subject)
        }
        try require(got, of: buffer.count, at: offset)
    }

    private func require(_ got: Int, of count: Int, at offset: UInt64) throws(LectureError) {
        guard got < count else { return }
        throw LectureError(.damaged, detail: subject, cause: "it ends at byte \(offset + UInt64(got))")
    }

    /// Reads past the page cache, by one call.
    ///
    /// - Parameters:
    ///   - count: how many bytes; whole pages are read.
    ///   - buffer: aligned to a page, a whole number of them.
    ///   - offset: where, in bytes.
    /// - Returns: how many bytes there are now, at most `count`. Fewer where the file ends, for a place inside a page,
    ///   or where the file system refuses it.
    /// - Throws: ``SystemError``.
    private func readDirectly(
        _ count: Int, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        guard let direct, let start = off_t(exactly: offset), offset.isMultiple(of: UInt64(MediaWriter.page)) else {
            return 0
        }
        let whole = (count + MediaWriter.page - 1) / MediaWriter.page * MediaWriter.page
        do {
            return min(count, try systemCall { unsafe pread(direct.number, buffer.baseAddress, whole, start) })
        } catch {
            guard error.number == EINVAL || error.number == EOPNOTSUPP else { throw error }
            self.direct = nil
            return 0
        }
    }
}
