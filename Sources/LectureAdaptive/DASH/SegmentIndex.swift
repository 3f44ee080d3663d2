package import LectureFormats

/// A segment index box, `sidx` (ISO/IEC 14496-12 section 8.16.3).
package struct SegmentIndex: Hashable, Sendable {
    /// What a reference leads to.
    package enum Kind: Hashable, Sendable {
        /// A subsegment of media.
        case media
        /// Another index.
        case index
    }

    /// A reference.
    package struct Entry: Hashable, Sendable {
        /// What it leads to.
        package let kind: Kind
        /// Its bytes in the file.
        package let range: ByteRange
        /// Its duration in units of the timescale.
        package let duration: UInt64
        /// Whether it starts with a stream access point, so that decoding can start there.
        package let startsWithAccessPoint: Bool
    }

    /// Units of a second.
    package let timescale: UInt64
    /// The start of the first reference, in units of the timescale.
    package let earliestPresentationTime: UInt64
    /// The references in their order: at least one; ranges follow each other without gaps.
    package let entries: [Entry]

    /// Reads the first `sidx` box.
    ///
    /// - Parameters:
    ///   - bytes: a part of a file that starts at a box and has the whole `sidx` box.
    ///   - firstOffset: the offset of the first of these bytes in the file.
    /// - Throws: ``DASHError`` with ``DASHError/Kind/index``.
    package init(_ bytes: [UInt8], firstOffset: UInt64) throws(DASHError) {
        var position = 0
        while true {
            let box = try Self.box(bytes, at: position)
            guard box.type == "sidx" else {
                position = box.end
                continue
            }
            let (anchor, overflow) = firstOffset.addingReportingOverflow(UInt64(box.end))
            guard !overflow else { throw Self.fault("it is beyond what a file can be") }
            var reader = BigEndianReader(bytes[box.start..<box.end])
            (timescale, earliestPresentationTime, entries) = try Self.read(&reader, anchor)
            return
        }
    }

    private static func fault(_ what: String) -> DASHError { DASHError(.index, "a segment index is damaged: \(what)") }

    /// A box: its type, where its body starts, and where it ends (ISO/IEC 14496-12 section 4.2).
    private static func box(
        _ bytes: [UInt8], at position: Int
    ) throws(DASHError) -> (type: String, start: Int, end: Int) {
        var reader = BigEndianReader(bytes[position...])
        guard let short = reader.next(4), let type = reader.take(4) else {
            throw fault("there is no sidx box, or it is cut off")
        }
        var (size, head) = (short, 8)
        if short == 1 {
            guard let long = reader.next(8) else { throw fault("a box is cut off") }
            (size, head) = (long, 16)
        }
        if short == 0 { size = UInt64(bytes.count - position) }
        guard size >= UInt64(head), size <= UInt64(bytes.count - position) else {
            throw fault("a box of \(size) bytes, where there are \(bytes.count - position)")
        }
        return (String(decoding: type, as: UTF8.self), position + head, position + Int(size))
    }

    private static func read(
        _ reader: inout BigEndianReader, _ anchor: UInt64
    ) throws(DASHError) -> (UInt64, UInt64, [Entry]) {
        guard let version = reader.next(1), version <= 1 else { throw fault("its version is not 0 or 1") }
        let width = version == 0 ? 4 : 8
        guard reader.next(3) != nil, reader.next(4) != nil, let timescale = reader.next(4),
            let earliest = reader.next(width), let offset = reader.next(width), reader.next(2) != nil,
            let count = reader.next(2)
        else { throw fault("it is cut off") }
        guard timescale > 0, earliest < 1 << 62 else { throw fault("its time cannot be") }
        guard count > 0 else { throw fault("it has no entries") }
        var (start, overflow) = anchor.addingReportingOverflow(offset)
        var entries: [Entry] = []
        // 65,535 entries of 32 bits each cannot exceed 2^62 with a start below 2^62.
        for _ in 0..<count {
            guard let size = reader.next(4), let duration = reader.next(4), let access = reader.next(4) else {
                throw fault("it is cut off after \(entries.count) of \(count) entries")
            }
            guard !overflow, start < 1 << 62, let range = ByteRange(start: start, count: size & 0x7FFF_FFFF) else {
                throw fault("an entry is empty, or beyond what a file can be")
            }
            entries.append(
                Entry(
                    kind: size >> 31 == 1 ? .index : .media, range: range, duration: duration,
                    startsWithAccessPoint: access >> 31 == 1))
            (start, overflow) = (range.end, false)
        }
        return (timescale, earliest, entries)
    }
}

/// Numbers in network order.
private struct BigEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func next(_ count: Int) -> UInt64? { take(count)?.reduce(0) { $0 << 8 | UInt64($1) } }
}
