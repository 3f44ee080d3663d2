package import LectureFormats
package import LectureModel

/// A media playlist of the store, whose URIs are names of files: `12.ts`.
package struct LocalPlaylist: Sendable {
    /// A part of the stream, in the order of play.
    package struct Piece: Sendable, Hashable {
        /// The file.
        package var file: String
        /// Its bytes that belong to the piece; nil for all.
        package var range: ByteRange?
        /// What it is encrypted with.
        package var cipher: Cipher?
        /// Whether it is an initialisation section.
        package var isInitialisation = false
    }

    /// AES-128 in CBC mode (RFC 8216 section 5.2).
    package struct Cipher: Sendable, Hashable {
        /// The file of the key.
        package var key: String
        /// The initialisation vector, 16 bytes.
        package var vector: [UInt8]
    }

    private var playlist: MediaPlaylist

    /// Reads a media playlist.
    ///
    /// - Parameter text: as the store has it.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package init(_ text: String) throws(LectureError) {
        guard case .media(let playlist) = try Self.read(text) else {
            throw LectureError(.playlistDamaged, cause: "a local playlist names variants")
        }
        self.playlist = playlist
    }

    private static func read(_ text: String) throws(LectureError) -> Playlist {
        do throws(PlaylistError) { return try PlaylistReader.playlist(Array(text.utf8)) } catch {
            throw LectureError(.playlistDamaged, cause: "line \(error.line): \(error.reason)")
        }
    }

    /// Whether nothing of it can be played.
    package var isEmpty: Bool { playlist.segments.isEmpty }

    /// The playlist as text.
    ///
    /// - Returns: what a player reads.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package func text() throws(LectureError) -> String {
        do throws(PlaylistError) {
            return String(decoding: try PlaylistWriter.bytes(.media(playlist)), as: UTF8.self)
        } catch {
            throw LectureError(.playlistDamaged, cause: error.reason)
        }
    }

    // MARK: What is there

    /// Marks segments whose file is missing with `EXT-X-GAP`, and ends before the first file that is still to come.
    ///
    /// A playlist that ends before its end has no `EXT-X-ENDLIST` and the type `EVENT`: players ask for it again, and
    /// find more segments (RFC 8216 section 6.2.1).
    ///
    /// - Parameters:
    ///   - end: the position of the first file that is not there; nil when all are.
    ///   - missing: names of files that will not come.
    package mutating func show(until end: Int?, without missing: Set<String>) {
        var segments = SegmentTable()
        var hasGaps = false
        for var segment in playlist.segments {
            let files = files(of: segment)
            if let end, files.contains(where: { Self.position(of: $0).map { $0 >= end } ?? false }) { break }
            if !segment.isGap, files.contains(where: missing.contains) {
                (segment.isGap, hasGaps) = (true, true)
            }
            segments.append(segment)
        }
        // rfc8216bis section 8.
        if hasGaps { playlist.head.version = max(8, playlist.head.version ?? 1) }
        playlist.segments = segments
        guard end != nil else { return }
        (playlist.isEnded, playlist.type) = (false, .event)
        // From its beginning: a player would take it for a broadcast, and start near the end.
        if playlist.head.start == nil { playlist.head.start = PlaylistStart(nanoseconds: 0) }
    }

    private func files(of segment: PlaylistSegment) -> [String] {
        var files = [segment.uri]
        func add(_ set: Int?) {
            guard let set, let uri = playlist.keySets[set].first?.uri else { return }
            files.append(uri)
        }
        add(segment.keySet)
        if let map = segment.map {
            files.append(playlist.maps[map].uri)
            add(playlist.maps[map].keySet)
        }
        return files
    }

    /// The position in a file's name; nil for `gap.ts`.
    private static func position(of name: String) -> Int? { Int(name.prefix { $0 != "." }) }

    /// The gaps of the playlist.
    ///
    /// - Parameters:
    ///   - missing: names of files that will not come.
    ///   - isMissedOnly: whether those are left out that the server has marked itself.
    /// - Returns: in the order of play; segments one after the other are one gap.
    package func gaps(without missing: Set<String>, isMissedOnly: Bool = false) -> [StreamGap] {
        var (gaps, start): ([StreamGap], Duration) = ([], .zero)
        for segment in playlist.segments {
            let end = start + segment.duration
            let isMarked = segment.isGap && (!isMissedOnly || CapturedPlaylist.isMissed(segment))
            if isMarked || files(of: segment).contains(where: missing.contains) {
                if gaps.last?.end == start {
                    gaps[gaps.count - 1].end = end
                    gaps[gaps.count - 1].segments += 1
                } else {
                    gaps.append(StreamGap(start: start, end: end, segments: 1))
                }
            }
            start = end
        }
        return gaps
    }

    // MARK: Parts

    /// How many parts there are between discontinuities: each may have a clock of its own.
    package var partCount: Int { playlist.segments.isEmpty ? 0 : part(of: playlist.segments.count - 1) + 1 }

    private func part(of index: Int) -> Int {
        Int(playlist.discontinuitySequence(ofSegment: index) - playlist.discontinuitySequence(ofSegment: 0))
    }

    /// Leaves only one of the parts.
    ///
    /// - Parameter number: from 0.
    package mutating func keep(part number: Int) {
        let indices = playlist.segments.indices.filter { part(of: $0) == number }
        var segments = SegmentTable()
        for index in indices {
            var segment = playlist.segments[index]
            segment.isDiscontinuity = false
            segments.append(segment)
        }
        // Vectors follow from the numbers.
        playlist.mediaSequence += Int64(indices.first ?? 0)
        playlist.discontinuitySequence = 0
        playlist.segments = segments
    }

    /// A local multivariant playlist that names other media playlists.
    ///
    /// - Parameters:
    ///   - text: as the store has it.
    ///   - name: gives the new name for an old one.
    /// - Returns: the text.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package static func multivariant(
        _ text: String, naming name: @escaping (String) -> String
    ) throws(LectureError) -> String {
        let playlist = try read(text)
        do throws(PlaylistError) {
            let bytes = try PlaylistWriter.bytes(playlist) { _, uri in name(uri) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw LectureError(.playlistDamaged, cause: error.reason)
        }
    }

    // MARK: Names

    /// Replaces the names of files by others.
    ///
    /// - Parameter name: gives the new name for an old one.
    package mutating func rename(_ name: (String) throws -> String) rethrows {
        var segments = SegmentTable()
        for var segment in playlist.segments {
            if !segment.isGap { segment.uri = try name(segment.uri) }
            segments.append(segment)
        }
        playlist.segments = segments
        for index in playlist.maps.indices {
            playlist.maps[index].attributes["URI"] = .quoted(try name(playlist.maps[index].uri))
        }
    }

    /// Whether a segment or an initialisation section is encrypted.
    package var isEncrypted: Bool { !playlist.keySets.isEmpty }

    // MARK: The stream as one

    /// The initialisation sections and segments in the order of play, without gaps. A section comes before its first
    /// segment, and again where another one was in force between.
    package var pieces: [Piece] {
        var pieces: [Piece] = []
        var map: Int?
        for (index, segment) in playlist.segments.enumerated() where !segment.isGap {
            if let next = segment.map, next != map {
                let section = playlist.maps[next]
                pieces.append(
                    Piece(
                        file: section.uri, range: section.byteRange, cipher: cipher(section.keySet, nil),
                        isInitialisation: true))
            }
            map = segment.map
            let number = playlist.number(ofSegment: index)
            pieces.append(
                Piece(file: segment.uri, range: segment.byteRange, cipher: cipher(segment.keySet, number)))
        }
        return pieces
    }

    /// What can be joined to one file: an initialisation section and its segments, each with the nanoseconds that it
    /// and gaps behind it play.
    package struct Joinable: Sendable {
        /// The section.
        package var section: Piece
        /// The segments.
        package var segments: [(piece: Piece, nanoseconds: Int64)]
    }

    /// Its segments, where all have one initialisation section; nil where one is encrypted, the first is a gap, or
    /// there is a discontinuity.
    package var joinable: Joinable? {
        let pieces = pieces
        guard !isEncrypted, partCount == 1, let first = playlist.segments.first, !first.isGap,
            let section = pieces.first, section.isInitialisation,
            !pieces.dropFirst().contains(where: \.isInitialisation),
            playlist.segments.allSatisfy({ $0.isGap || $0.map == first.map })
        else { return nil }
        var times: [Int64] = []
        for segment in playlist.segments {
            if segment.isGap {
                times[times.count - 1] += segment.nanoseconds
            } else {
                times.append(segment.nanoseconds)
            }
        }
        return Joinable(section: section, segments: zip(pieces.dropFirst(), times).map { ($0, $1) })
    }

    /// How long all of it plays, gaps included.
    package var duration: Duration { playlist.totalDuration }

    private func cipher(_ set: Int?, _ number: Int64?) -> Cipher? {
        guard let set, let key = playlist.keySets[set].first, let uri = key.uri else { return nil }
        return Cipher(key: uri, vector: key.initializationVector(forSegment: number ?? 0))
    }
}

/// A part of a stream that is not there.
package struct StreamGap: Sendable, Hashable {
    /// Where it begins, from the beginning of the playlist.
    package var start: Duration
    /// Where it ends.
    package var end: Duration
    /// How many segments it has.
    package var segments: Int
}

/// A track of a local multivariant playlist: the variant, or a rendition with sound or pictures.
package struct LocalTrack: Sendable, Hashable {
    /// The name of its media playlist.
    package let playlist: String
    /// The name in a menu; empty for the variant.
    package let name: String
    /// The language, BCP 47; empty when unknown.
    package let language: String

    /// Creates a track.
    ///
    /// - Parameters:
    ///   - playlist: the name of its media playlist.
    ///   - name: in a menu.
    ///   - language: BCP 47.
    package init(playlist: String, name: String = "", language: String = "") {
        (self.playlist, self.name, self.language) = (playlist, name, language)
    }

    /// The tracks of a playlist.
    ///
    /// - Parameter text: a local multivariant playlist.
    /// - Returns: the variant first, then the renditions that are played without a choice, then others; none
    ///   for what cannot be read.
    package static func all(in text: String) -> [Self] {
        guard case .multivariant(let playlist)? = try? PlaylistReader.playlist(Array(text.utf8)),
            let variant = playlist.variants.first
        else { return [] }
        let media = playlist.renditions.filter { $0.kind == .audio || $0.kind == .video }
        let renditions = (media.filter(\.isDefault) + media.filter { !$0.isDefault }).compactMap { rendition in
            rendition.uri.map { Self(playlist: $0, name: rendition.name, language: rendition.language ?? "") }
        }
        // Sound alone may be both the variant and a rendition.
        guard !renditions.contains(where: { $0.playlist == variant.uri }) else { return renditions }
        return [Self(playlist: variant.uri)] + renditions
    }
}
