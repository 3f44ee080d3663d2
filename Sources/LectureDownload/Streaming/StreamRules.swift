package import LectureFormats
package import LectureModel

/// How media is cut into blocks for the streaming cache: a block is one segment of the sealed format in a file of its
/// own, so that one tag authenticates it, and its position in the media is part of the nonce.
package struct StreamBlocks: Hashable, Sendable {
    /// The length of the media in bytes.
    package let total: UInt64
    /// The grid: 1 MiB without the tag; the first block is shorter by the header, as in a sealed file.
    package let grid = SealedFormat.grid(segments: 1)

    /// The blocks of media.
    ///
    /// - Parameter total: its length in bytes.
    package init(total: UInt64) { self.total = total }

    /// How many blocks there are.
    package var count: Int { grid.count(total: total) }

    /// The bytes of a block in the media.
    ///
    /// - Parameter index: from 0, below ``count``.
    /// - Returns: offsets.
    package func range(of index: Int) -> Range<UInt64> { grid.range(of: index, total: total) }

    /// The length of a block's file: header, bytes, tag.
    ///
    /// - Parameter index: from 0, below ``count``.
    /// - Returns: in bytes.
    package func fileBytes(of index: Int) -> Int64 {
        Int64(range(of: index).count + SealedFormat.headerBytes + SealedFormat.tagBytes)
    }

    /// Whether the media ends with a block.
    ///
    /// - Parameter index: from 0.
    /// - Returns: true for the last one.
    package func isLast(_ index: Int) -> Bool { index == count - 1 }
}

/// How much is requested at once, and how far ahead.
package enum StreamAhead {
    /// How many blocks may wait in memory for the reader. Beyond that the connection is not read.
    package static let waiting = 8
    /// How many blocks beyond the wanted ones are requested when the reader reads sequentially.
    package static let beyond = 4

    /// The blocks of the next request.
    ///
    /// - Parameters:
    ///   - first: the first block, which is missing.
    ///   - last: the last block that the reader wants now.
    ///   - isSequential: whether the reader continues where it was, or wants several blocks.
    ///   - count: how many blocks there are.
    ///   - cached: whether a block is in the cache.
    /// - Returns: from the first block to the next cached one, or as far as is wanted.
    package static func run(
        first: Int, last: Int, isSequential: Bool, count: Int, cached: (Int) -> Bool
    ) -> Range<Int> {
        let end = min(count, max(first, last) + 1 + (isSequential ? beyond : 0))
        var next = first + 1
        while next < end, !cached(next) { next += 1 }
        return first..<next
    }
}

/// The size limit of the streaming cache.
package enum StreamLimit {
    /// The limit of a store where none was set: 512 MiB.
    package static let standard: Int64 = 512 << 20

    /// How many bytes all blocks may use now.
    ///
    /// - Parameters:
    ///   - limit: the limit that was set; with 0, media is kept while it is streamed, up to ``standard``.
    ///   - used: what the blocks use.
    ///   - free: what the disk has left.
    ///   - reserve: what has to stay free.
    /// - Returns: the smaller of the limit and what the disk allows.
    package static func bound(limit: Int64, used: Int64, free: UInt64, reserve: Int64) -> Int64 {
        let set = limit > 0 ? limit : standard
        let (space, overflow) = Int64(clamping: free).subtractingReportingOverflow(max(0, reserve))
        let (most, tooMuch) = used.addingReportingOverflow(overflow ? 0 : space)
        return tooMuch ? set : max(0, min(set, most))
    }
}

/// Whether cached bytes belong to the version that a server has now.
package enum StreamVersion {
    /// Whether blocks of one version may be used for another one.
    ///
    /// - Parameters:
    ///   - kept: the validator of the blocks.
    ///   - reported: the validator that the server sends now.
    /// - Returns: true only where a strong validator proves it and the lengths are equal.
    package static func isSame(_ kept: Validator, _ reported: Validator) -> Bool {
        kept.total != nil && kept.total == reported.total && kept.agrees(with: reported) == .same
    }

    /// Whether bytes of several answers with this validator may be combined, and so be kept.
    ///
    /// - Parameter validator: the validator that the server sends.
    /// - Returns: true for a strong one with a length.
    package static func isKept(_ validator: Validator) -> Bool { validator.isStrong && validator.total ?? 0 > 0 }
}
