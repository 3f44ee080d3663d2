package import LectureFormats

/// A segment of a media playlist.
package struct PlaylistSegment: Hashable, Sendable {
    /// The URI as written, not resolved.
    package var uri: String
    /// The duration in nanoseconds, never negative.
    package var nanoseconds: Int64
    /// The title behind the duration, often empty.
    package var title: String = ""
    /// The bytes of the resource, nil for all of it. A missing offset has been filled in.
    package var byteRange: ByteRange?
    /// The index of its media initialization section in ``MediaPlaylist/maps``.
    package var map: Int?
    /// The index of the keys in force in ``MediaPlaylist/keySets``; nil when it is not encrypted.
    package var keySet: Int?
    /// Whether a discontinuity is before it.
    package var isDiscontinuity = false
    /// Whether its media is missing and must not be loaded (rfc8216bis section 4.4.4.7).
    package var isGap = false
    /// The value of `EXT-X-PROGRAM-DATE-TIME`, as written.
    package var programDateTime: String?
    /// The value of `EXT-X-BITRATE` before it in kbit/s; the tag applies to the segments after it, too.
    package var bitrate: Int32?

    /// Creates a segment without anything special; the other values are set.
    ///
    /// - Parameters:
    ///   - uri: the URI as written.
    ///   - nanoseconds: the duration.
    package init(uri: String, nanoseconds: Int64) {
        self.uri = uri
        self.nanoseconds = nanoseconds
    }

    /// The duration.
    package var duration: Duration { .nanoseconds(nanoseconds) }
}

/// The segments of a playlist: their texts are in one buffer, so that a million of them need about 100 bytes each.
package struct SegmentTable: RandomAccessCollection, Sendable {
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let discontinuity = Flags(rawValue: 1)
        static let gap = Flags(rawValue: 2)
        static let isDated = Flags(rawValue: 4)
    }

    /// A part of the buffer.
    struct Place {
        var start = 0
        var count: UInt32 = 0
    }

    // Table debt: one row of the table; ends of ranges are zero, and indexes −1, where there is none.
    struct Row {
        var nanoseconds: Int64 = 0
        var uri = Place()
        var title = Place()
        var date = Place()
        var rangeStart: UInt64 = 0
        var rangeEnd: UInt64 = 0
        var map: Int32 = -1
        var keySet: Int32 = -1
        var bitrate: Int32 = -1
        var discontinuities: UInt32 = 0
        var flags = Flags()
    }

    private(set) var rows: [Row] = []
    private var buffer: [UInt8] = []

    /// Creates an empty table.
    package init() {}

    /// Always 0.
    package var startIndex: Int { 0 }
    /// The number of segments.
    package var endIndex: Int { rows.count }

    /// A segment, made from its row.
    ///
    /// - Parameter position: its index.
    package subscript(position: Int) -> PlaylistSegment {
        let row = rows[position]
        var segment = PlaylistSegment(uri: text(row.uri), nanoseconds: row.nanoseconds)
        segment.title = text(row.title)
        segment.byteRange = ByteRange(start: row.rangeStart, end: row.rangeEnd)
        segment.map = row.map < 0 ? nil : Int(row.map)
        segment.keySet = row.keySet < 0 ? nil : Int(row.keySet)
        segment.isDiscontinuity = row.flags.contains(.discontinuity)
        segment.isGap = row.flags.contains(.gap)
        segment.programDateTime = row.flags.contains(.isDated) ? text(row.date) : nil
        segment.bitrate = row.bitrate < 0 ? nil : row.bitrate
        return segment
    }

    /// Adds a segment.
    ///
    /// - Parameter segment: its indexes of maps and key sets are of the playlist that the table is part of.
    package mutating func append(_ segment: PlaylistSegment) {
        var row = Row()
        row.nanoseconds = segment.nanoseconds
        row.uri = place(Array(segment.uri.utf8)[...], like: rows.last?.uri)
        row.title = place(Array(segment.title.utf8)[...])
        if let date = segment.programDateTime {
            row.date = place(Array(date.utf8)[...])
            row.flags.insert(.isDated)
        }
        if let range = segment.byteRange { (row.rangeStart, row.rangeEnd) = (range.start, range.end) }
        row.map = segment.map.map { Int32(clamping: $0) } ?? -1
        row.keySet = segment.keySet.map { Int32(clamping: $0) } ?? -1
        row.bitrate = segment.bitrate ?? -1
        if segment.isDiscontinuity { row.flags.insert(.discontinuity) }
        if segment.isGap { row.flags.insert(.gap) }
        append(row)
    }

    /// Adds a row whose texts are in the buffer.
    mutating func append(_ row: Row) {
        var row = row
        row.discontinuities = (rows.last?.discontinuities ?? 0) &+ (row.flags.contains(.discontinuity) ? 1 : 0)
        rows.append(row)
    }

    /// Keeps a text; one that is equal to another text shares its place.
    mutating func place(_ text: ArraySlice<UInt8>, like other: Place? = nil) -> Place {
        if let other, text.elementsEqual(bytes(other)) { return other }
        let place = Place(start: buffer.count, count: UInt32(clamping: text.count))
        buffer.append(contentsOf: text)
        return place
    }

    /// A text as bytes.
    func bytes(_ place: Place) -> ArraySlice<UInt8> { buffer[place.start..<(place.start + Int(place.count))] }

    private func text(_ place: Place) -> String { String(decoding: bytes(place), as: UTF8.self) }
}

/// By bytes, wherever they are in the buffers.
extension SegmentTable: Equatable {
    /// Compares all values and texts.
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count
            && left.indices.allSatisfy { index in
                let (one, other) = (left.rows[index], right.rows[index])
                return one.nanoseconds == other.nanoseconds && one.rangeStart == other.rangeStart
                    && one.rangeEnd == other.rangeEnd && one.map == other.map && one.keySet == other.keySet
                    && one.bitrate == other.bitrate && one.flags == other.flags
                    && left.bytes(one.uri).elementsEqual(right.bytes(other.uri))
                    && left.bytes(one.title).elementsEqual(right.bytes(other.title))
                    && left.bytes(one.date).elementsEqual(right.bytes(other.date))
            }
    }
}
