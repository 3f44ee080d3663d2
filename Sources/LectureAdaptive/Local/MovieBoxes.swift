import LectureFormats

/// A box of a file in the ISO base media format (ISO/IEC 14496-12 section 4.2).
struct MovieBox: Sendable {
    /// Its type, four characters.
    let type: String
    /// All of it, and what is behind its head, as places in the bytes.
    let range, body: Range<Int>

    /// Reads the head of a box; nil where it is cut off, or the length cannot be. The box may end beyond the bytes.
    ///
    /// - Parameters:
    ///   - bytes: a part of a file.
    ///   - start: where the box starts in it.
    ///   - end: where what it is in ends; nil for an end that is not known.
    init?(_ bytes: [UInt8], at start: Int, in end: Int? = nil) {
        guard let short = bytes.bigEndian(4, at: start), let name = bytes.slice(4, at: start + 4) else { return nil }
        var (count, head) = (short, 8)
        if short == 1 {
            guard let long = bytes.bigEndian(8, at: start + 8) else { return nil }
            (count, head) = (long, 16)
        }
        if short == 0 {
            guard let end, end > start else { return nil }
            count = UInt64(end - start)
        }
        guard count >= UInt64(head), count <= UInt64(Int.max / 2 - start) else { return nil }
        range = start..<start + Int(count)
        body = start + head..<range.upperBound
        if let end, range.upperBound > end { return nil }
        type = String(decoding: name, as: UTF8.self)
    }

    /// The boxes in a part of a file, up to the first that is damaged or not there as a whole.
    static func all(in bytes: [UInt8], _ range: Range<Int>) -> [MovieBox] {
        var (boxes, place) = ([MovieBox](), range.lowerBound)
        while place < range.upperBound, let box = MovieBox(bytes, at: place, in: range.upperBound) {
            boxes.append(box)
            place = box.range.upperBound
        }
        return boxes
    }

    /// A number behind two times, which are longer in version 1: the timescale or the number in `mvhd`, `tkhd` and
    /// `mdhd` (sections 8.2.2, 8.3.2 and 8.4.2).
    static func number(_ box: MovieBox, _ bytes: [UInt8]) -> UInt32? {
        guard let version = bytes.bigEndian(1, at: box.body.lowerBound) else { return nil }
        return bytes.bigEndian(4, at: box.body.lowerBound + (version == 0 ? 12 : 20)).map(UInt32.init)
    }

    /// The first box on a path of types.
    func first(_ path: String..., in bytes: [UInt8]) -> MovieBox? {
        var box: MovieBox? = self
        for type in path { box = box.flatMap { Self.all(in: bytes, $0.body).first { $0.type == type } } }
        return box
    }
}

extension [UInt8] {
    func slice(_ count: Int, at place: Int) -> ArraySlice<UInt8>? {
        guard place >= 0, count >= 0, place <= self.count - count else { return nil }
        return self[place..<place + count]
    }

    /// A number in network order; nil where it is cut off.
    func bigEndian(_ count: Int, at place: Int) -> UInt64? {
        slice(count, at: place)?.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// An initialisation section in MP4: what a joined file begins with, and what its indexes refer to.
package struct MovieHeader: Sendable, Hashable {
    /// A track.
    package struct Track: Sendable, Hashable {
        /// Its number in the file.
        package let number: UInt32
        /// Units of a second.
        package let timescale: UInt32
        /// The media time at which the presentation starts, in these units, by its edit list; below 0 where it waits
        /// first.
        package let mediaTime: Int64
    }

    /// The boxes `ftyp` and `moov`.
    package let bytes: [UInt8]
    /// Its tracks; at least one.
    package let tracks: [Track]

    /// Reads an initialisation section; nil when it is not MP4 with fragments (`mvex`, ISO/IEC 14496-12 section
    /// 8.8.1), or has no track. What it has beside `ftyp` and `moov` is left out.
    ///
    /// - Parameter section: as it was received.
    package init?(_ section: [UInt8]) {
        let boxes = MovieBox.all(in: section, 0..<section.count)
        guard let movie = boxes.first(where: { $0.type == "moov" }), movie.first("mvex", in: section) != nil else {
            return nil
        }
        let found = MovieBox.all(in: section, movie.body).filter { $0.type == "trak" }
        let scale = movie.first("mvhd", in: section).flatMap { MovieBox.number($0, section) } ?? 0
        tracks = found.compactMap { Track($0, section, movieScale: scale) }
        guard !tracks.isEmpty, tracks.count == found.count else { return nil }
        bytes = boxes.filter { $0.type == "ftyp" || $0.type == "moov" }.flatMap { section[$0.range] }
    }

    /// When the first sample of each track is presented (sections 8.8.7, 8.8.8 and 8.8.12).
    ///
    /// - Parameter fragment: the beginning of a segment, with the whole `moof` box.
    /// - Returns: for each track, in units of its timescale; nil where the fragment does not say it.
    package func starts(of fragment: [UInt8]) -> [Int64?] {
        let boxes = MovieBox.all(in: fragment, 0..<fragment.count)
        let runs = boxes.filter { $0.type == "moof" }.flatMap { MovieBox.all(in: fragment, $0.body) }
        return tracks.map { track in runs.lazy.compactMap { track.start(of: $0, fragment) }.first }
    }
}

extension MovieHeader.Track {
    fileprivate init?(_ box: MovieBox, _ section: [UInt8], movieScale: UInt32) {
        guard let id = box.first("tkhd", in: section).flatMap({ MovieBox.number($0, section) }),
            let timescale = box.first("mdia", "mdhd", in: section).flatMap({ MovieBox.number($0, section) }),
            timescale > 0
        else { return nil }
        (self.number, self.timescale) = (id, timescale)
        mediaTime =
            box.first("edts", "elst", in: section).map { list in
                Self.mediaTime(list, section) { wait in
                    movieScale == 0 ? 0 : Int64(clamping: min(wait, 1 << 31) * UInt64(timescale) / UInt64(movieScale))
                }
            } ?? 0
    }

    /// The media time of the first edit that is not empty, less the empty ones before it (section 8.6.6).
    private static func mediaTime(_ box: MovieBox, _ bytes: [UInt8], _ units: (UInt64) -> Int64) -> Int64 {
        let start = box.body.lowerBound
        guard let version = bytes.bigEndian(1, at: start), let count = bytes.bigEndian(4, at: start + 4) else {
            return 0
        }
        let width = version == 0 ? 4 : 8
        var wait: Int64 = 0
        for entry in 0..<Int(min(count, 16)) {
            let place = start + 8 + entry * (2 * width + 4)
            guard let length = bytes.bigEndian(width, at: place), let time = bytes.bigEndian(width, at: place + width)
            else { break }
            let signed = width == 4 ? Int64(Int32(truncatingIfNeeded: time)) : Int64(truncatingIfNeeded: time)
            if signed >= 0 { return min(signed, 1 << 62) - wait }
            (wait, _) = wait.addingReportingOverflow(min(units(length), 1 << 56))
        }
        return -wait
    }

    /// When the first sample of a `traf` box is presented; nil for what is not one of this track.
    fileprivate func start(of run: MovieBox, _ fragment: [UInt8]) -> Int64? {
        guard run.type == "traf", let head = run.first("tfhd", in: fragment),
            fragment.bigEndian(4, at: head.body.lowerBound + 4) == UInt64(number),
            let time = run.first("tfdt", in: fragment),
            let version = fragment.bigEndian(1, at: time.body.lowerBound),
            let decoded = fragment.bigEndian(version == 0 ? 4 : 8, at: time.body.lowerBound + 4),
            decoded < 1 << 61
        else { return nil }
        let offset = run.first("trun", in: fragment).map { Self.offset($0, fragment) } ?? 0
        return Int64(decoded) + offset - mediaTime
    }

    /// The composition offset of the first sample.
    private static func offset(_ run: MovieBox, _ bytes: [UInt8]) -> Int64 {
        guard let head = bytes.bigEndian(4, at: run.body.lowerBound), head & 0x800 != 0 else { return 0 }
        // Behind the count: two optional numbers of the run, then up to three of the sample.
        let numbers = [0x1, 0x4, 0x100, 0x200, 0x400].filter { head & $0 != 0 }.count
        guard let offset = bytes.bigEndian(4, at: run.body.lowerBound + 8 + 4 * numbers) else { return 0 }
        return head >> 24 == 0 ? Int64(offset) : Int64(Int32(truncatingIfNeeded: offset))
    }
}
