package import LectureFormats

/// The playlists of a lecture as they were stored, with what only its files can show: the segments of a file that has
/// an index, and whether a segment exists whose number was computed.
package struct OpenPlaylists: Sendable {
    /// A segment index in a file.
    package struct Index: Sendable, Hashable {
        /// The name of the file.
        package let file: String
        /// Its bytes with the `sidx` box.
        package let range: ByteRange
    }

    /// The bytes of an index, read from the file.
    package struct IndexBytes: Sendable, Hashable {
        /// The bytes of the range, as far as the file has them.
        package var bytes: [UInt8]
        /// The length of the file.
        package var total: UInt64

        /// Collects them.
        ///
        /// - Parameters:
        ///   - bytes: the bytes of the range.
        ///   - total: the length of the file.
        package init(bytes: [UInt8], total: UInt64) { (self.bytes, self.total) = (bytes, total) }
    }

    /// The longest index that is read, in bytes: 65,535 entries of 12 bytes each, and its head.
    package static let longestIndex: UInt64 = 1 << 20

    /// The indexes that are to be read, each once.
    package let indexes: [Index]
    /// The names of files that may not exist.
    package let optional: Set<String>
    private let texts: [String]
    private let notes: [[StreamNote]]

    /// Reads what is open.
    ///
    /// - Parameter texts: the playlists as stored.
    package init(_ texts: [String]) {
        self.texts = texts
        notes = texts.map { StreamNote.all(in: $0) }
        var (indexes, optional): ([Index], Set<String>) = ([], [])
        for note in notes.joined() {
            switch note {
            case .closed, .capturing, .captured, .live: break
            case .optional(let file): optional.insert(file)
            case .index(let file, let range):
                let index = Index(file: file, range: range)
                if range.count <= Self.longestIndex, !indexes.contains(index) { indexes.append(index) }
            }
        }
        (self.indexes, self.optional) = (indexes, optional)
    }

    /// The playlists with what is known now. Where an index is not known or is damaged, the file stays one segment, and
    /// its note stays for another attempt.
    ///
    /// - Parameters:
    ///   - indexes: what was read of the files, by their names.
    ///   - missing: files that do not exist; only ``optional`` ones are left out.
    /// - Returns: the texts to store; those that were given where nothing changes.
    package func closed(_ indexes: [String: IndexBytes], missing: Set<String>) -> [String] {
        zip(texts, notes).map { text, notes in
            guard !notes.isEmpty else { return text }
            return Self.closed(text, notes, indexes, missing: missing.intersection(optional)) ?? text
        }
    }

    private static func closed(
        _ text: String, _ notes: [StreamNote], _ indexes: [String: IndexBytes], missing: Set<String>
    ) -> String? {
        var tables: [String: [DASHIndexedSegment]] = [:]
        var left: [StreamNote] = [.closed]
        for note in notes {
            if case .index(let file, let range) = note, let index = indexes[file],
                let segments = DASHIndexedSegment.all(index, at: range)
            {
                tables[file] = segments
            } else if note != .closed {
                left.append(note)
            }
        }
        let isLeftOut = notes.contains { if case .optional(let file) = $0 { missing.contains(file) } else { false } }
        guard !tables.isEmpty || isLeftOut,
            case .media(var playlist)? = try? PlaylistReader.playlist(Array(text.utf8))
        else { return nil }
        var segments = SegmentTable()
        for segment in playlist.segments where !missing.contains(segment.uri) {
            guard segment.byteRange == nil, let parts = tables[segment.uri] else {
                segments.append(segment)
                continue
            }
            for (place, part) in parts.enumerated() {
                var piece = segment
                (piece.nanoseconds, piece.byteRange) = (part.nanoseconds, part.range)
                if place > 0 { piece.isDiscontinuity = false }
                segments.append(piece)
            }
        }
        guard !segments.isEmpty else { return nil }
        playlist.segments = segments
        playlist.targetDuration = playlist.longestDuration
        guard let bytes = try? PlaylistWriter.bytes(.media(playlist)) else { return nil }
        return String(decoding: bytes, as: UTF8.self) + left.map(\.line).joined()
    }
}

/// A segment of a file with an index.
private struct DASHIndexedSegment {
    let range: ByteRange
    let nanoseconds: Int64

    /// The segments of a file; nil when the index is damaged, leads to further indexes, or beyond the file.
    static func all(_ index: OpenPlaylists.IndexBytes, at range: ByteRange) -> [Self]? {
        guard let box = try? SegmentIndex(index.bytes, firstOffset: range.start) else { return nil }
        var (found, ticks, start): ([Self], UInt64, Int64) = ([], 0, 0)
        for entry in box.entries {
            ticks += entry.duration
            guard entry.kind == .media, entry.range.end <= index.total,
                let end = DASHTime.nanoseconds(ticks, timescale: box.timescale)
            else { return nil }
            found.append(Self(range: entry.range, nanoseconds: end - start))
            start = end
        }
        return found
    }
}

extension MediaPlaylist {
    /// The longest duration of a segment in seconds, rounded, at least 1 (RFC 8216 section 4.3.3.1).
    var longestDuration: Int64 {
        let longest = segments.rows.map(\.nanoseconds).max() ?? 0
        return max(1, longest / 1_000_000_000 + (longest % 1_000_000_000 >= 500_000_000 ? 1 : 0))
    }
}
