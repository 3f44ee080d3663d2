import LectureDownload
import LectureFiles
import LectureModel

/// What one stream knows of the cache: which blocks exist, which have space, which were used. A value of its stream.
struct StreamShelf {
    /// Uses recorded in one transaction.
    static let recordedAtOnce = 64
    /// Blocks whose space is reserved in one transaction.
    static let reservedAtOnce = 8

    /// The place; nil when nothing is cached.
    private(set) var place: StreamPlace?
    /// Whether blocks are still written.
    var isWritable = true
    private let blocks: StreamBlocks
    private var there: Set<Int>
    private var reserved: Set<Int>
    private var asked: Set<Int>
    private var touched: Set<Int> = []
    private var hasReportedFailure = false

    init(_ place: StreamPlace?, _ blocks: StreamBlocks) {
        (self.place, self.blocks) = (place, blocks)
        (there, reserved, asked) = (place?.blocks ?? [], place?.blocks ?? [], place?.blocks ?? [])
    }

    /// Whether a block is believed to be cached.
    func has(_ index: Int) -> Bool { there.contains(index) }

    /// Opens a block; also one that another process has added since.
    mutating func read(_ index: Int) -> [UInt8]? {
        guard let place else { return nil }
        guard let bytes = try? place.files.read(block(index, place), isLast: blocks.isLast(index), place.cipher),
            bytes.count == blocks.range(of: index).count
        else {
            // Damaged, truncated or gone: it is fetched again into its reserved space.
            there.remove(index)
            return nil
        }
        there.insert(index)
        touched.insert(index)
        return bytes
    }

    /// The blocks for which space is to be reserved, when not done yet.
    mutating func spaceToReserve(_ index: Int, before end: Int) -> [StreamBlock]? {
        guard let place, isWritable, !asked.contains(index), !there.contains(index) else { return nil }
        let due = (index..<max(index + 1, min(index + Self.reservedAtOnce, end))).filter {
            !there.contains($0) && !asked.contains($0)
        }
        asked.formUnion(due)
        return due.map { block($0, place) }
    }

    /// Records reserved space.
    mutating func got(_ granted: Set<Int>) { reserved.formUnion(granted) }

    /// Writes a block that has space; skips others.
    mutating func write(_ bytes: [UInt8], as index: Int) throws(LectureError) {
        guard let place, isWritable, reserved.contains(index) else { return }
        try place.files.write(
            bytes, as: block(index, place), isLast: blocks.isLast(index), place.cipher, by: place.owner)
        there.insert(index)
        touched.insert(index)
    }

    /// Stops writing.
    ///
    /// - Returns: the unused space.
    mutating func releaseUnused() -> [StreamBlock] {
        isWritable = false
        guard let place else { return [] }
        defer { reserved = there }
        return reserved.subtracting(there).map { block($0, place) }
    }

    /// Whether a failure is to be reported: only the first time.
    mutating func reportsFailure() -> Bool {
        defer { hasReportedFailure = true }
        return !hasReportedFailure
    }

    /// The uses to record, when there are enough of them.
    mutating func takeTouched(atLeast count: Int) -> (StreamItemID, Set<Int>)? {
        guard let place, touched.count >= count else { return nil }
        defer { touched = [] }
        return (place.item.id, touched)
    }

    /// Releases the place.
    ///
    /// - Returns: the item; nil without a place.
    mutating func leave() -> StreamItemID? {
        defer { place = nil }
        return place?.item.id
    }

    private func block(_ index: Int, _ place: StreamPlace) -> StreamBlock {
        StreamBlock(item: place.item.id, index: index, bytes: blocks.fileBytes(of: index))
    }
}
