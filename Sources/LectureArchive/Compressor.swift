import CArchive
package import LectureModel

/// Compresses a stream of bytes, using the memory of a few blocks.
///
/// The same bytes give the same result: it contains no time and no name. Used by one thread at a time.
@safe package final class Compressor {
    /// Receives compressed bytes in order.
    package typealias Sink = ([UInt8]) throws(LectureError) -> Void

    /// How many bytes are buffered before the sink gets them.
    private static let blockBytes = 1 << 16

    private let library: ArchiveLibrary
    private let archive: OpaquePointer
    private let outlet: ArchiveOutlet
    private var isEnded = false

    /// Starts a stream.
    ///
    /// - Parameters:
    ///   - compression: how.
    ///   - sink: gets the compressed bytes; what it throws comes out of ``write(_:)`` or ``finish()``.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile`` when libarchive is missing or cannot start.
    package convenience init(_ compression: Compression, _ sink: @escaping Sink) throws(LectureError) {
        try self.init(compression, ArchiveLibrary.shared, sink)
    }

    init(
        _ compression: Compression, _ opened: Result<ArchiveLibrary, ArchiveLibrary.Unusable>, _ sink: @escaping Sink
    ) throws(LectureError) {
        do throws(ArchiveLibrary.Unusable) { library = try opened.get() } catch {
            throw LectureError(.writeFile, detail: compression.rawValue, cause: error.reason)
        }
        guard let archive = unsafe library.writing.new() else {
            throw LectureError(.writeFile, detail: compression.rawValue, cause: "out of memory")
        }
        unsafe self.archive = archive
        outlet = ArchiveOutlet(sink)
        let added =
            switch compression {
            case .gzip: unsafe library.settings.addGzip(archive)
            case .zstd: unsafe library.settings.addZstd(archive)
            }
        // A filter that exists only as an external program returns a warning; no program is started implicitly.
        try require(added)
        if compression == .gzip {
            try require(unsafe library.settings.setOption(archive, "gzip", "timestamp", nil))
        }
        try require(unsafe library.settings.setRawFormat(archive))
        try require(unsafe library.settings.setBlockBytes(archive, Int32(Self.blockBytes)))
        // Otherwise the last block is padded with zeros.
        try require(unsafe library.settings.setLastBlockBytes(archive, 1))
        // The archive is freed with this object, and the outlet lives as long.
        try require(outlet.open(archive, library))
        let entry = unsafe library.writing.newEntry()
        defer { unsafe library.writing.freeEntry(entry) }
        unsafe library.writing.setFileType(entry, UInt32(S_IFREG))
        try require(unsafe library.writing.header(archive, entry))
    }

    deinit {
        // Otherwise freeing an unfinished archive would write its trailer.
        if !isEnded { _ = unsafe library.writing.fail(archive) }
        _ = unsafe library.writing.free(archive)
    }

    /// Compresses the next bytes.
    ///
    /// - Parameter bytes: as many as there are.
    /// - Throws: what the sink throws; nothing may follow then.
    package func write(_ bytes: [UInt8]) throws(LectureError) {
        let isTaken = unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let count = unsafe library.writing.data(archive, piece.baseAddress, piece.count)
                if count <= 0 { return false }
                unsafe rest = unsafe rest.dropFirst(count)
            }
            return true
        }
        if !isTaken { throw failure }
    }

    /// Finishes the stream; nothing may follow.
    ///
    /// - Throws: what the sink throws.
    package func finish() throws(LectureError) {
        let code = unsafe library.writing.close(archive)
        // libarchive forgets a failure of an earlier call.
        if let failure = outlet.failure { throw failure }
        try require(code)
        isEnded = true
    }

    /// Compresses bytes in memory, for instance the body of a request.
    ///
    /// - Parameters:
    ///   - bytes: what to compress.
    ///   - compression: how.
    /// - Returns: the whole stream; the same for the same bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile`` when libarchive cannot.
    package static func compress(_ bytes: [UInt8], _ compression: Compression) throws(LectureError) -> [UInt8] {
        var result: [UInt8] = []
        let compressor = try Compressor(compression) { piece in result += piece }
        try compressor.write(bytes)
        try compressor.finish()
        return result
    }

    private func require(_ code: Int32) throws(LectureError) {
        if code != ARCHIVE_OK { throw failure }
    }

    private var failure: LectureError {
        if let failure = outlet.failure { return failure }
        return unsafe LectureError(.writeFile, detail: "compression", cause: library.reason(archive))
    }
}
