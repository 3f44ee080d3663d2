import Glibc

/// Writes the bytes of a part file: whole pages of all but small files go past the page cache.
///
/// A lecture is written once and watched later. Through the page cache its bytes are copied once more, the cache's
/// pages are looked for and given up again, and what other programs read is displaced: twice the processor time of a
/// direct write. Where the file system refuses `O_DIRECT` everything goes through the cache; both kinds of writes may
/// be mixed (open(2), "O_DIRECT").
///
/// Neither is durable before a sync of ``file``.
struct MediaWriter {
    /// The open file, through the page cache.
    let file: Descriptor
    /// The same file opened with `O_DIRECT`; nil where that is not possible or does not pay. What was written is also
    /// read through it: a digest reads once what arrived out of order, and the cache costs more than the disk does.
    private(set) var direct: Descriptor?

    /// The alignment in memory and in the file that direct reads and writes have: the largest block of a common file
    /// system.
    static let page = 4096
    /// The length in bytes from which a direct write pays. On ext4 files of 256 KiB then cost a quarter less processor
    /// time, and 2,000 files of 2 MiB half of it; files of 128 KiB cost the same, and those of 64 KiB a twentieth more.
    static let leastBytes: UInt64 = 256 << 10

    /// Prepares to write a file.
    ///
    /// - Parameters:
    ///   - file: open for writing.
    ///   - total: its whole length in bytes; nil while unknown, then its blocks are not reserved.
    init(_ file: Descriptor, total: UInt64?) {
        self.file = file
        if let total, total >= Self.leastBytes { direct = file.openDirect(O_RDWR) }
    }

    /// Whether the next whole pages go past the page cache.
    var isDirect: Bool { direct != nil }

    /// Writes all bytes at an offset.
    ///
    /// - Parameters:
    ///   - bytes: what to write.
    ///   - offset: where, in bytes.
    /// - Throws: ``SystemError``.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        try unsafe write([bytes], at: offset)
    }

    /// Writes all bytes of several strips, one after the other, at an offset: with one call as far as they go past the
    /// page cache. From huge pages a GiB in calls of 128 KiB took 0.26 s of CPU time, in calls of 1 MiB 0.07.
    ///
    /// - Parameters:
    ///   - strips: what to write, in order.
    ///   - offset: where, in bytes.
    /// - Throws: ``SystemError``.
    mutating func write(_ strips: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError) {
        let done = try unsafe writeDirectly(strips, at: offset)
        var start = 0
        for index in unsafe strips.indices {
            let strip = unsafe strips[index]
            let rest = unsafe UnsafeRawBufferPointer(rebasing: strip.dropFirst(max(0, done - start)))
            try unsafe file.write(rest, at: offset + UInt64(start + strip.count - rest.count))
            start += strip.count
        }
    }

    /// Writes whole pages from the beginning, as many as possible.
    ///
    /// - Returns: how many bytes were written.
    private mutating func writeDirectly(
        _ strips: [UnsafeRawBufferPointer], at offset: UInt64
    ) throws(SystemError) -> Int {
        guard let direct, let start = off_t(exactly: offset), offset.isMultiple(of: UInt64(Self.page))
        else { return 0 }
        var pages = unsafe Self.wholePages(strips)
        var done = 0
        // A write that ended early may have ended inside a page.
        while unsafe !pages.isEmpty, done.isMultiple(of: Self.page) {
            do {
                let count = try systemCall { unsafe Self.write(pages, to: direct.number, at: start + done) }
                unsafe Self.drop(count, from: &pages)
                done += count
            } catch {
                // Refused only now, by some file systems; or the alignment is not enough for this one.
                guard error.number == EINVAL || error.number == EOPNOTSUPP else { throw error }
                self.direct = nil
                return done
            }
        }
        return done
    }

    /// The whole pages of the strips, up to the first place inside a page.
    private static func wholePages(_ strips: [UnsafeRawBufferPointer]) -> [iovec] {
        var pages: [iovec] = unsafe []
        for index in unsafe strips.indices {
            let strip = unsafe strips[index]
            guard let memory = strip.baseAddress, Int(bitPattern: memory).isMultiple(of: page) else { break }
            let whole = strip.count / page * page
            if whole > 0 {
                unsafe pages.append(iovec(iov_base: UnsafeMutableRawPointer(mutating: memory), iov_len: whole))
            }
            if whole < strip.count { break }
        }
        return unsafe pages
    }

    private static func write(_ pages: [iovec], to file: Int32, at offset: off_t) -> Int {
        if unsafe pages.count == 1 { return unsafe pwrite(file, pages[0].iov_base, pages[0].iov_len, offset) }
        return unsafe pwritev(file, pages, Int32(pages.count), offset)
    }

    /// Leaves out what was written.
    static func drop(_ count: Int, from pages: inout [iovec]) {
        var rest = count
        while rest > 0, let first = unsafe pages.first {
            if unsafe rest < first.iov_len {
                unsafe pages[0] = iovec(iov_base: first.iov_base + rest, iov_len: first.iov_len - rest)
                return
            }
            unsafe rest -= first.iov_len
            unsafe pages.removeFirst()
        }
    }
}
