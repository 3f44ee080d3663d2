/// Which pieces of huge pages are unused. A page is cut into pieces of one size, and is whole again when none of them
/// is in use.
///
/// A value that only counts: memory is known by its address, and never touched here.
struct HugePageMap: Sendable {
    /// A page of which at least one piece is in use.
    private struct CutPage {
        let start: UInt
        let pieceBytes: Int
        /// A bit for each unused piece, that of the first piece lowest.
        var unused: UInt32
    }

    /// The size of a page in bytes, and its alignment.
    let pageBytes: Int
    /// How many whole pages are kept.
    let keptPages: Int
    private var cut: [CutPage] = []
    private var whole: [UInt] = []

    /// How many pages there are.
    var pageCount: Int { cut.count + whole.count }

    /// A map without a page.
    ///
    /// - Parameters:
    ///   - pageBytes: the size of a page in bytes; a power of two.
    ///   - keptPages: how many unused pages are kept before one is returned to the system.
    init(pageBytes: Int, keptPages: Int) {
        self.pageBytes = pageBytes
        self.keptPages = keptPages
    }

    /// Takes an unused piece, of a page that is cut already if there is one: the others become whole again.
    ///
    /// - Parameter bytes: the size of the piece: a page divided by a power of two, at least a thirty-second of it.
    /// - Returns: its address, a multiple of its size; nil when a page has to be added first.
    mutating func take(_ bytes: Int) -> UInt? {
        if let index = cut.firstIndex(where: { $0.pieceBytes == bytes && $0.unused != 0 }) {
            let piece = cut[index].unused.trailingZeroBitCount
            cut[index].unused &= cut[index].unused - 1
            return cut[index].start + UInt(piece * bytes)
        }
        guard let page = whole.popLast() else { return nil }
        cut.append(CutPage(start: page, pieceBytes: bytes, unused: all(bytes) & ~1))
        return page
    }

    /// Adds an unused page.
    ///
    /// - Parameter page: its address, a multiple of its size.
    mutating func add(_ page: UInt) {
        whole.append(page)
    }

    /// Returns a piece.
    ///
    /// - Parameter piece: what ``take(_:)`` returned.
    /// - Returns: the address of a page that is no longer part of the map and belongs to the system again, if there is
    ///   one.
    mutating func giveBack(_ piece: UInt) -> UInt? {
        let start = piece & ~UInt(pageBytes - 1)
        guard let index = cut.firstIndex(where: { $0.start == start }) else { return nil }
        let bytes = cut[index].pieceBytes
        cut[index].unused |= 1 << (Int(piece - start) / bytes)
        guard cut[index].unused == all(bytes) else { return nil }
        cut.remove(at: index)
        guard whole.count < keptPages else { return start }
        whole.append(start)
        return nil
    }

    /// The bits of all pieces of this size.
    private func all(_ bytes: Int) -> UInt32 { ~0 >> (UInt32.bitWidth - pageBytes / bytes) }
}
