import LectureFormats

/// The segments of a track in fragments of MP4 as one file that is seekable: an initialisation section, an index of
/// each track in it (`sidx`, ISO/IEC 14496-12 section 8.16.3) and the segments one after the other.
///
/// No byte of a segment is needed for the layout. What a segment has before its first fragment (`styp`, an index of its
/// own) comes behind its last one, as a box `free` of the same length: so each reference leads to a `moof`, and
/// there are no further indexes. Offsets in a fragment are relative to it, so that they stay true.
package struct JoinedMovie: Sendable, Hashable {
    /// A segment: bytes of a file.
    package struct Segment: Sendable, Hashable {
        /// The file.
        package let file: String
        /// Its bytes in it.
        package let range: Range<Int64>
        /// How long it plays, with gaps behind it.
        package let nanoseconds: Int64

        /// Creates a segment.
        ///
        /// - Parameters:
        ///   - file: the name of its file.
        ///   - range: its bytes in it.
        ///   - nanoseconds: how long it plays, with gaps behind it.
        package init(file: String, range: Range<Int64>, nanoseconds: Int64) {
            (self.file, self.range, self.nanoseconds) = (file, range, nanoseconds)
        }
    }

    /// Where bytes of the joined file come from.
    package enum Source: Sendable, Hashable {
        /// Bytes of ``JoinedMovie/head``.
        case head(Range<Int>)
        /// Bytes of a segment, counted in it as it stands in the joined file.
        case segment(Int, Range<Int64>)
    }

    /// The initialisation section and the indexes.
    package let head: [UInt8]
    /// The segments in their order.
    package let segments: [Segment]
    /// When the first picture or sound is presented, in nanoseconds of the media's own clock.
    package let start: Int64
    /// Where each segment ends in the joined file.
    private let ends: [Int64]

    /// The most references of an index.
    package static let mostSegments = 65_535

    /// Lays out a track, or several in the same segments; nil where an index cannot have it: no segment or more than
    /// ``mostSegments``, a segment of 2 GiB, or one of 2^32 units of time.
    ///
    /// Each track has an index in its own timescale: FFmpeg 5.1 takes the times of an index for those of any track.
    /// All times are half a second late. The durations of a playlist may be rounded, and sound is not cut where
    /// pictures are; where a fragment begins later than its index says, FFmpeg goes on from samples of another one
    /// that it still has. Now it takes the fragment before for a place that may be in either, and no picture is lost.
    ///
    /// - Parameters:
    ///   - header: its initialisation section.
    ///   - segments: its segments, none of them empty.
    ///   - starts: when each track starts in the first; see ``MovieHeader/starts(of:)``.
    package init?(_ header: MovieHeader, _ segments: [Segment], starts: [Int64?]) {
        guard (1...Self.mostSegments).contains(segments.count), starts.count == header.tracks.count else { return nil }
        var (end, ends): (Int64, [Int64]) = (0, [])
        for segment in segments {
            guard (1..<1 << 31).contains(segment.range.count) else { return nil }
            end += Int64(segment.range.count)
            ends.append(end)
        }
        var first: Int64?
        for (track, start) in zip(header.tracks, starts) {
            guard let start else { continue }
            let (seconds, rest) = start.quotientAndRemainder(dividingBy: Int64(track.timescale))
            guard abs(seconds) < 1 << 33 else { return nil }
            let place = seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(track.timescale)
            first = min(first ?? place, place)
        }
        start = first ?? 0
        var head = header.bytes
        for (number, track) in header.tracks.enumerated() {
            let scale = Int64(track.timescale)
            guard let references = Self.references(segments, scale),
                let own = starts[number] ?? Self.units(max(0, start), scale)
            else { return nil }
            // The segments begin behind the indexes that follow.
            let offset = (header.tracks.count - 1 - number) * (40 + references.count)
            head += UInt32(40 + references.count).bigEndianBytes + Array("sidx".utf8)
            head += UInt32(1 << 24).bigEndianBytes + track.number.bigEndianBytes + track.timescale.bigEndianBytes
            head += UInt64(max(0, own) + scale / 2).bigEndianBytes + UInt64(offset).bigEndianBytes
            head += UInt16(0).bigEndianBytes + UInt16(segments.count).bigEndianBytes + references
        }
        (self.head, self.segments) = (head, segments)
        self.ends = ends.map { Int64(head.count) + $0 }
    }

    /// The references of an index, 12 bytes each.
    private static func references(_ segments: [Segment], _ scale: Int64) -> [UInt8]? {
        var references: [UInt8] = []
        // Places are rounded, not durations: so no error adds up.
        var (place, units): (Int64, Int64) = (0, 0)
        for segment in segments {
            let (next, overflow) = place.addingReportingOverflow(max(0, segment.nanoseconds))
            guard !overflow, let until = Self.units(next, scale), let duration = UInt32(exactly: until - units) else {
                return nil
            }
            // Starts with a stream access point of type 1.
            references += UInt32(segment.range.count).bigEndianBytes + duration.bigEndianBytes
            references += UInt32(0x9000_0000).bigEndianBytes
            (place, units) = (next, until)
        }
        return references
    }

    /// Nanoseconds in units of a second, rounded to the nearest.
    private static func units(_ nanoseconds: Int64, _ scale: Int64) -> Int64? {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: scale)
        let (sum, isBeyond) = whole.addingReportingOverflow((rest * scale + 500_000_000) / 1_000_000_000)
        return overflow || isBeyond ? nil : sum
    }

    /// The length of the joined file.
    package var byteCount: Int64 { ends.last ?? 0 }

    /// Where a range of the joined file comes from.
    ///
    /// - Parameter range: bytes from 0; those beyond the end are left out.
    /// - Returns: in their order, without gaps.
    package func sources(of range: Range<Int64>) -> [Source] {
        let wanted = range.clamped(to: 0..<byteCount)
        guard !wanted.isEmpty else { return [] }
        var sources: [Source] = []
        let top = wanted.clamped(to: 0..<Int64(head.count))
        if !top.isEmpty { sources.append(.head(Int(top.lowerBound)..<Int(top.upperBound))) }
        var index = firstSegment(endingBehind: max(wanted.lowerBound, Int64(head.count)))
        while index < ends.count {
            let start = index == 0 ? Int64(head.count) : ends[index - 1]
            let part = wanted.clamped(to: start..<ends[index])
            guard !part.isEmpty else { break }
            sources.append(.segment(index, part.lowerBound - start..<part.upperBound - start))
            index += 1
        }
        return sources
    }

    private func firstSegment(endingBehind place: Int64) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > place { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// A segment as it stands in a joined file: from its first fragment on, and what was before that behind it as a box
/// `free`.
package struct JoinedSegment: Sendable, Hashable {
    /// Where bytes come from.
    package enum Source: Sendable, Hashable {
        /// Bytes of the segment.
        case media(Range<Int64>)
        /// Bytes that stand for what was moved.
        case filler([UInt8])
    }

    /// What the search for the first fragment came to.
    package enum Search: Sendable, Hashable {
        /// The segment is known.
        case found(JoinedSegment)
        /// Bytes from this place on are needed.
        case wanted(Int64)
    }

    /// How many bytes it has.
    package let byteCount: Int64
    /// How many are before its first fragment: none, or at least a box.
    package let headCount: Int64

    /// Looks for the first fragment of a segment.
    ///
    /// - Parameters:
    ///   - bytes: a part of the segment, which starts at a box; at least 16 bytes where it has so many.
    ///   - place: where it starts in the segment.
    ///   - byteCount: how long the segment is.
    /// - Returns: the segment, or where a further part must start. One without a fragment stays as it is.
    package static func search(_ bytes: [UInt8], at place: Int64, byteCount: Int64) -> Search {
        var next = 0
        while let box = MovieBox(bytes, at: next) {
            let start = place + Int64(next)
            if box.type == "moof" { return .found(JoinedSegment(byteCount: byteCount, headCount: start)) }
            next = box.range.upperBound
            guard Int64(next) < byteCount - place else { break }
            // A head is 16 bytes at most.
            if next > bytes.count - 16, place + Int64(bytes.count) < byteCount { return .wanted(place + Int64(next)) }
        }
        return .found(JoinedSegment(byteCount: byteCount, headCount: 0))
    }

    /// What a box of a segment is.
    ///
    /// - Parameter head: its first 16 bytes, or what there is of them.
    /// - Returns: whether it is a fragment, and its length; nil for what is no box.
    package static func box(_ head: [UInt8]) -> (isFragment: Bool, byteCount: Int64)? {
        MovieBox(head, at: 0).map { ($0.type == "moof", Int64($0.range.count)) }
    }

    /// Where a range comes from.
    ///
    /// - Parameter range: bytes of the segment as it stands in the joined file.
    /// - Returns: in their order.
    package func sources(of range: Range<Int64>) -> [Source] {
        let wanted = range.clamped(to: 0..<byteCount)
        let border = byteCount - headCount
        let media = wanted.clamped(to: 0..<border)
        let rest = wanted.clamped(to: border..<byteCount)
        var sources: [Source] = []
        if !media.isEmpty { sources.append(.media(media.lowerBound + headCount..<media.upperBound + headCount)) }
        guard !rest.isEmpty else { return sources }
        let head = UInt32(clamping: headCount).bigEndianBytes + Array("free".utf8)
        let places = Int(rest.lowerBound - border)..<Int(rest.upperBound - border)
        sources.append(.filler(places.map { $0 < head.count ? head[$0] : 0 }))
        return sources
    }
}
