import CArchive
package import LectureModel

/// Writes a tar archive (POSIX ustar) of regular files, in the order in which they come, without compression.
///
/// What is written contains no time, no owner and no other trace of this machine. Used by one thread at a time.
@safe package final class TarWriter {
    /// Receives the bytes of the archive in order.
    package typealias Sink = ([UInt8]) throws(LectureError) -> Void

    /// The largest file of an archive, in bytes: the twelve octal digits of a ustar header can name more, but some
    /// programs read eleven.
    package static let largestFile: UInt64 = (1 << 33) - 1

    private let library: ArchiveLibrary
    private let archive: OpaquePointer
    private let entry: OpaquePointer
    private let outlet: ArchiveOutlet
    /// Bytes of the open file that are still to come.
    private var rest: UInt64 = 0
    private var isEnded = false

    /// Starts an archive.
    ///
    /// - Parameter sink: gets its bytes; what it throws comes out of the methods.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile`` when libarchive is missing or cannot start.
    package convenience init(_ sink: @escaping Sink) throws(LectureError) {
        try self.init(ArchiveLibrary.shared, sink)
    }

    init(
        _ opened: Result<ArchiveLibrary, ArchiveLibrary.Unusable>, _ sink: @escaping Sink
    ) throws(LectureError) {
        do throws(ArchiveLibrary.Unusable) { library = try opened.get() } catch {
            throw LectureError(.writeFile, detail: "tar", cause: error.reason)
        }
        guard let archive = unsafe library.writing.new() else {
            throw LectureError(.writeFile, detail: "tar", cause: "out of memory")
        }
        guard let entry = unsafe library.writing.newEntry() else {
            _ = unsafe library.writing.free(archive)
            throw LectureError(.writeFile, detail: "tar", cause: "out of memory")
        }
        unsafe (self.archive, self.entry) = (archive, entry)
        outlet = ArchiveOutlet(sink)
        try require(unsafe library.tar.setFormat(archive))
        // No blocks: the sink gets what is written as it is, without a copy, and no padding behind the end.
        try require(unsafe library.settings.setBlockBytes(archive, 0))
        // The archive is freed with this object, and the outlet lives as long.
        try require(outlet.open(archive, library))
    }

    deinit {
        // Otherwise freeing an unfinished archive would write its end.
        if !isEnded { _ = unsafe library.writing.fail(archive) }
        unsafe library.writing.freeEntry(entry)
        _ = unsafe library.writing.free(archive)
    }

    /// Starts the next file.
    ///
    /// - Parameters:
    ///   - name: its path in the archive, at most 100 bytes of ASCII.
    ///   - count: its length in bytes; as many must be written.
    /// - Throws: what the sink throws; ``LectureError`` with ``LectureError/Code/bug`` while bytes of the file before
    ///   are missing, or for a name or a length that a header cannot have.
    package func begin(_ name: String, count: UInt64) throws(LectureError) {
        guard rest == 0, !isEnded, count <= Self.largestFile, (1...100).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw LectureError(.bug, detail: "tar", cause: "\(rest) bytes are missing, or a header is impossible") }
        _ = unsafe library.tar.clearEntry(entry)
        unsafe library.writing.setFileType(entry, UInt32(S_IFREG))
        unsafe library.tar.setPath(entry, name)
        unsafe library.tar.setSize(entry, Int64(count))
        unsafe library.tar.setPermissions(entry, 0o644)
        try require(unsafe library.writing.header(archive, entry))
        rest = count
    }

    /// Writes the next bytes of the file.
    ///
    /// - Parameter bytes: no more than are missing.
    /// - Throws: what the sink throws; nothing may follow then. ``LectureError`` with ``LectureError/Code/bug`` for too
    ///   many bytes.
    package func write(_ bytes: [UInt8]) throws(LectureError) {
        guard UInt64(bytes.count) <= rest else { throw LectureError(.bug, detail: "tar", cause: "too many bytes") }
        let isTaken = unsafe bytes.withUnsafeBytes { buffer in
            var left = unsafe buffer[...]
            while unsafe !left.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: left)
                let count = unsafe library.writing.data(archive, piece.baseAddress, piece.count)
                if count <= 0 { return false }
                unsafe left = unsafe left.dropFirst(count)
            }
            return true
        }
        if !isTaken { throw failure }
        rest -= UInt64(bytes.count)
    }

    /// Ends the archive; nothing may follow.
    ///
    /// - Throws: what the sink throws; ``LectureError`` with ``LectureError/Code/bug`` while bytes are missing.
    package func finish() throws(LectureError) {
        guard rest == 0 else { throw LectureError(.bug, detail: "tar", cause: "\(rest) bytes are missing") }
        let code = unsafe library.writing.close(archive)
        // libarchive forgets a failure of an earlier call.
        if let failure = outlet.failure { throw failure }
        try require(code)
        isEnded = true
    }

    private func require(_ code: Int32) throws(LectureError) {
        if code != ARCHIVE_OK { throw failure }
    }

    private var failure: LectureError {
        if let failure = outlet.failure { return failure }
        return unsafe LectureError(.writeFile, detail: "tar", cause: library.reason(archive))
    }
}
