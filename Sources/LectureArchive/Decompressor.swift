import CArchive
import Glibc
package import LectureModel

/// Reads a file piece by piece, whether it is gzip, Zstandard or plain; its first bytes decide, not its name.
///
/// One piece is in memory at a time, so a file that expands without end fills neither memory nor disk. Used by one
/// thread at a time, which may block.
@safe package final class Decompressor {
    private static let pieceBytes = 1 << 16

    /// The context of libarchive's callback.
    @safe private final class Inlet {
        let descriptor: Int32
        let path: String
        let buffer: UnsafeMutableRawBufferPointer
        /// The first bytes, which identify a compressed file.
        var magic: [UInt8] = []
        /// The last bytes, which contain the gzip trailer.
        var tail: [UInt8] = []
        var failure: LectureError?

        init(_ descriptor: Int32, _ path: String) {
            (self.descriptor, self.path) = (descriptor, path)
            unsafe buffer = .allocate(byteCount: Decompressor.pieceBytes, alignment: 4096)
        }

        deinit {
            if descriptor > STDIN_FILENO { close(descriptor) }
            unsafe buffer.deallocate()
        }

        /// Reads the next bytes of the file into the buffer.
        ///
        /// - Returns: how many, 0 at the end, −1 after a failure.
        func read() -> Int {
            while true {
                let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 {
                    keep(count)
                    return count
                }
                if errno != EINTR {
                    failure = LectureError(.readFile, detail: path, cause: unsafe String(cString: strerror(errno)))
                    return -1
                }
            }
        }

        private func keep(_ count: Int) {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if magic.count < 4 { unsafe magic.append(contentsOf: piece.prefix(4 - magic.count)) }
            unsafe tail.append(contentsOf: piece.suffix(8))
            tail.removeFirst(max(0, tail.count - 8))
        }
    }

    private enum Kind {
        case plain
        case gzip
        case zstd
    }

    private let library: ArchiveLibrary
    private let archive: OpaquePointer
    private let inlet: Inlet
    private let path: String
    private var kind: Kind?
    private var isEnded = false
    private var checksum = Checksum()
    private var piece: [UInt8]

    /// Opens a file; nothing is read yet.
    ///
    /// - Parameter path: a file or a pipe; `-` is standard input.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, also when libarchive is missing.
    package convenience init(_ path: String) throws(LectureError) { try self.init(path, ArchiveLibrary.shared) }

    init(_ path: String, _ opened: Result<ArchiveLibrary, ArchiveLibrary.Unusable>) throws(LectureError) {
        self.path = path
        if path.utf8.contains(0) { throw LectureError(.readFile, detail: "a file", cause: "its name holds a NUL") }
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LectureError(.readFile, detail: path, cause: unsafe String(cString: strerror(errno)))
        }
        inlet = Inlet(descriptor, path)
        do throws(ArchiveLibrary.Unusable) { library = try opened.get() } catch {
            throw LectureError(.readFile, detail: path, cause: error.reason)
        }
        guard let archive = unsafe library.reading.new() else {
            throw LectureError(.readFile, detail: path, cause: "out of memory")
        }
        unsafe self.archive = archive
        piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        // Without a built-in decoder libarchive would start an external program and return a warning.
        guard unsafe library.reading.supportGzip(archive) == ARCHIVE_OK,
            unsafe library.reading.supportZstd(archive) == ARCHIVE_OK,
            unsafe library.reading.supportRaw(archive) == ARCHIVE_OK,
            unsafe library.reading.supportEmpty(archive) == ARCHIVE_OK
        else { throw LectureError(.readFile, detail: path, cause: unsafe library.reason(archive)) }
    }

    deinit { _ = unsafe library.reading.free(archive) }

    /// The next bytes.
    ///
    /// - Returns: at most 64 KiB; nil at the end.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``, or ``LectureError/Code/exportIncomplete`` when
    ///   the compressed stream is cut off or damaged; the bytes before are not known to be bad.
    package func next() throws(LectureError) -> [UInt8]? {
        if isEnded { return nil }
        let kind = try opened()
        if isEnded { return nil }
        let count = unsafe piece.withUnsafeMutableBytes { buffer in
            unsafe library.reading.data(archive, buffer.baseAddress, buffer.count)
        }
        if count < 0 { throw failure }
        if count == 0 {
            try end(kind)
            return nil
        }
        if kind == .gzip { checksum.update(piece[..<count]) }
        return Array(piece[..<count])
    }

    /// Opens the stream with the first piece, so that creating a reader reads nothing.
    private func opened() throws(LectureError) -> Kind {
        if let kind { return kind }
        // Unretained: the archive is freed with this object, and the inlet lives as long.
        let context = unsafe Unmanaged.passUnretained(inlet).toOpaque()
        guard unsafe library.reading.open(archive, context, nil, bytesWanted, nil) == ARCHIVE_OK else { throw failure }
        var entry: OpaquePointer?
        let code = unsafe library.reading.nextHeader(archive, &entry)
        let kind = foundKind
        self.kind = kind
        switch code {
        case ARCHIVE_OK:
            if kind == .plain, isBeginning { throw damage("it is cut off in its first bytes") }
        case ARCHIVE_EOF: try end(kind)
        default: throw failure
        }
        return kind
    }

    /// What libarchive detected the stream as.
    private var foundKind: Kind {
        switch unsafe library.state.filterCode(archive, 0) {
        case ARCHIVE_FILTER_GZIP: .gzip
        case ARCHIVE_FILTER_ZSTD: .zstd
        default: .plain
        }
    }

    /// Whether a file detected as plain starts like a compressed one but is too short to be recognised.
    private var isBeginning: Bool {
        let magic = inlet.magic
        if magic.starts(with: [0x1F, 0x8B]) || magic == [0x1F] { return true }
        return [0x28, 0xB5, 0x2F, 0xFD].starts(with: magic)
    }

    /// Checks the end of the stream: libarchive compares neither the length nor the checksum of gzip.
    private func end(_ kind: Kind) throws(LectureError) {
        isEnded = true
        let number = unsafe library.state.errorNumber(archive)
        if inlet.failure != nil || number != 0 { throw failure }
        if kind == .gzip, checksum.contradicts(tail: inlet.tail) { throw damage("the gzip checksum does not match") }
    }

    private var failure: LectureError {
        isEnded = true
        return inlet.failure ?? damage(unsafe library.reason(archive))
    }

    private func damage(_ cause: String) -> LectureError {
        isEnded = true
        return LectureError(.exportIncomplete, detail: path, cause: cause)
    }

    /// Reads for libarchive.
    ///
    /// - Parameters:
    ///   - context: what was passed when the archive was opened.
    ///   - bytes: set to the bytes that were read.
    /// - Returns: how many, 0 at the end, −1 after a failure.
    fileprivate static func read(
        _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
    ) -> Int {
        guard let context = unsafe context else { return -1 }
        let inlet = unsafe Unmanaged<Inlet>.fromOpaque(context).takeUnretainedValue()
        unsafe bytes?.pointee = unsafe UnsafeRawPointer(inlet.buffer.baseAddress)
        return inlet.read()
    }
}

/// libarchive's read callback; on the thread that reads.
private func bytesWanted(
    _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
    _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
    unsafe Decompressor.read(context, bytes)
}
