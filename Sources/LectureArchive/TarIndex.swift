import CArchive
package import LectureModel

/// A file of an archive, and where its bytes are.
package struct TarEntry: Sendable, Hashable {
    /// Its path in the archive, as it is there.
    package let name: String
    /// Its first byte in the archive.
    package let offset: UInt64
    /// Its length in bytes.
    package let count: UInt64
}

/// Why an archive is not read.
package enum TarRefusal: Error, Hashable, Sendable {
    /// It is no tar archive, or a header is damaged.
    ///
    /// - Parameters:
    ///   - position: where, in bytes.
    ///   - reason: libarchive's sentence, or ours.
    case unreadable(position: UInt64, reason: String)
    /// An entry that is not a plain regular file: a link, a directory, a device, one with holes or with an extended
    /// header.
    ///
    /// - Parameters:
    ///   - name: its name; empty for one that has no usable name.
    ///   - kind: what it is.
    case notRegular(name: String, kind: String)
    /// Its files reach beyond its end.
    ///
    /// - Parameter name: the first one.
    case cutOff(name: String)
    /// Something stands behind its end.
    ///
    /// - Parameter position: where the end is.
    case trailing(position: UInt64)
    /// More files than are allowed.
    ///
    /// - Parameter limit: how many are.
    case tooMany(limit: Int)
    /// The bytes cannot be read.
    case failed(LectureError)
}

/// Lists the files of a tar archive without reading their bytes. Strict: what ``TarWriter`` does not write is refused.
package enum TarIndex {
    private static let blockBytes: UInt64 = 512
    /// What stands behind the last file: two blocks of zeros, and padding of some programs.
    private static let mostPadding: UInt64 = 1 << 20

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - bytes: the archive, not compressed.
    ///   - limit: how many files it may have.
    /// - Returns: its files in their order. Names are as they are in the archive: the caller judges them.
    /// - Throws: ``TarRefusal``.
    package static func entries(of bytes: any RandomBytes, limit: Int) throws(TarRefusal) -> [TarEntry] {
        try entries(of: bytes, limit: limit, ArchiveLibrary.shared)
    }

    static func entries(
        of bytes: any RandomBytes, limit: Int, _ opened: Result<ArchiveLibrary, ArchiveLibrary.Unusable>
    ) throws(TarRefusal) -> [TarEntry] {
        let walk = try TarWalk(bytes, opened)
        var entries: [TarEntry] = []
        var end: UInt64 = 0
        while let entry = try walk.next(expectedAt: end) {
            if entries.count == limit { throw .tooMany(limit: limit) }
            let space = bytes.count - entry.offset
            let blocks = (entry.count + blockBytes - 1) / blockBytes * blockBytes
            guard entry.count <= space, blocks <= space else { throw .cutOff(name: entry.name) }
            end = entry.offset + blocks
            entries.append(entry)
        }
        try requireEnd(of: bytes, at: end)
        return entries
    }

    private static func requireEnd(of bytes: any RandomBytes, at end: UInt64) throws(TarRefusal) {
        let left = bytes.count - end
        guard left >= 2 * blockBytes else { throw .unreadable(position: end, reason: "the archive is cut off") }
        guard left <= mostPadding else { throw .trailing(position: end) }
        let rest: [UInt8]?
        do throws(LectureError) { rest = try bytes.bytes(Int(left), at: end) } catch { throw .failed(error) }
        guard let rest, rest.allSatisfy({ $0 == 0 }) else { throw .trailing(position: end) }
    }
}

/// One pass of libarchive over the headers. Used by one thread.
@safe private final class TarWalk {
    /// The context of libarchive's callbacks.
    @safe final class Inlet {
        static let pieceBytes = 1 << 14
        let bytes: any RandomBytes
        let buffer: UnsafeMutableRawBufferPointer
        var position: UInt64 = 0
        var failure: LectureError?

        init(_ bytes: any RandomBytes) {
            self.bytes = bytes
            unsafe buffer = .allocate(byteCount: Self.pieceBytes, alignment: 16)
        }

        deinit { unsafe buffer.deallocate() }

        func read() -> Int {
            do throws(LectureError) {
                let count = try unsafe bytes.read(into: buffer, at: position)
                position += UInt64(count)
                return count
            } catch {
                failure = error
                return -1
            }
        }

        func skip(_ wanted: Int64) -> Int64 {
            let count = min(UInt64(max(0, wanted)), bytes.count - min(position, bytes.count))
            position += count
            return Int64(clamping: count)
        }
    }

    private let library: ArchiveLibrary
    private let archive: OpaquePointer
    private let inlet: Inlet

    init(
        _ bytes: any RandomBytes, _ opened: Result<ArchiveLibrary, ArchiveLibrary.Unusable>
    ) throws(TarRefusal) {
        inlet = Inlet(bytes)
        do throws(ArchiveLibrary.Unusable) { library = try opened.get() } catch {
            throw .failed(LectureError(.readFile, detail: "tar", cause: error.reason))
        }
        guard let archive = unsafe library.reading.new() else {
            throw .failed(LectureError(.readFile, detail: "tar", cause: "out of memory"))
        }
        unsafe self.archive = archive
        // Unretained: the archive is freed with this object, and the inlet lives as long.
        let context = unsafe Unmanaged.passUnretained(inlet).toOpaque()
        guard unsafe library.tar.supportFormat(archive) == ARCHIVE_OK,
            unsafe library.tar.open(archive, context, nil, headersWanted, bytesSkipped, nil) == ARCHIVE_OK
        else { throw refusal(at: 0) }
    }

    deinit { _ = unsafe library.reading.free(archive) }

    /// The next file, whose header must begin where the one before has ended: an extended header in between would make
    /// libarchive and other programs see different names.
    func next(expectedAt end: UInt64) throws(TarRefusal) -> TarEntry? {
        var found: OpaquePointer?
        let code = unsafe library.reading.nextHeader(archive, &found)
        if code == ARCHIVE_EOF, inlet.failure == nil { return nil }
        guard code == ARCHIVE_OK, let entry = unsafe found else { throw refusal(at: end) }
        guard let text = unsafe library.tar.path(entry) else { throw .notRegular(name: "", kind: "a name is no text") }
        let name = unsafe String(cString: text)
        try unsafe requireRegular(entry, name)
        let position = unsafe library.tar.headerPosition(archive)
        guard position == Int64(clamping: end) else {
            throw .notRegular(name: name, kind: "an extended header stands before it")
        }
        try requirePlainHeader(at: end, name)
        return TarEntry(name: name, offset: end + 512, count: UInt64(clamping: unsafe library.tar.size(entry)))
    }

    private func requireRegular(_ entry: OpaquePointer, _ name: String) throws(TarRefusal) {
        if unsafe library.tar.hardLink(entry) != nil { throw .notRegular(name: name, kind: "a link") }
        let kind: String
        switch unsafe library.tar.fileType(entry) & UInt32(S_IFMT) {
        case UInt32(S_IFREG):
            guard unsafe library.tar.holes(entry) == 0 else { throw .notRegular(name: name, kind: "a file with holes") }
            return
        case UInt32(S_IFLNK): kind = "a link"
        case UInt32(S_IFDIR): kind = "a directory"
        case UInt32(S_IFCHR), UInt32(S_IFBLK): kind = "a device"
        case UInt32(S_IFIFO): kind = "a FIFO"
        default: kind = "no regular file"
        }
        throw .notRegular(name: name, kind: kind)
    }

    /// The header itself: ustar, a regular file, no prefix. libarchive also reads headers of other programs.
    private func requirePlainHeader(at position: UInt64, _ name: String) throws(TarRefusal) {
        let header: [UInt8]?
        do throws(LectureError) { header = try inlet.bytes.bytes(512, at: position) } catch { throw .failed(error) }
        let magic = Array("ustar".utf8) + [0] + Array("00".utf8)
        guard let header, header[156] == UInt8(ascii: "0"), Array(header[257..<265]) == magic, header[345] == 0,
            header[157] == 0, header[..<100].prefix(while: { $0 != 0 }).elementsEqual(name.utf8),
            // No size to the base of 256, as GNU tar writes those from 8 GiB on.
            header[124..<135].allSatisfy({ (0x30...0x37).contains($0) })
        else { throw .notRegular(name: name, kind: "its header is not one of POSIX ustar") }
    }

    private func refusal(at position: UInt64) -> TarRefusal {
        if let failure = inlet.failure { return .failed(failure) }
        return .unreadable(position: position, reason: unsafe library.reason(archive))
    }

    fileprivate static func read(
        _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
    ) -> Int {
        guard let context = unsafe context else { return -1 }
        let inlet = unsafe Unmanaged<Inlet>.fromOpaque(context).takeUnretainedValue()
        unsafe bytes?.pointee = unsafe UnsafeRawPointer(inlet.buffer.baseAddress)
        return inlet.read()
    }

    fileprivate static func skip(_ context: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<Inlet>.fromOpaque(context).takeUnretainedValue().skip(count)
    }
}

/// libarchive's read callback; on the thread that reads.
private func headersWanted(
    _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
    unsafe TarWalk.read(context, bytes)
}

/// libarchive's skip callback; on the thread that reads.
private func bytesSkipped(
    _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ count: Int64
) -> Int64 {
    unsafe TarWalk.skip(context, count)
}
