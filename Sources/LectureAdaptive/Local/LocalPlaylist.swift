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

    private func cipher(_ set: Int?, _ number: Int64?) -> Cipher? {
        guard let set, let key = playlist.keySets[set].first, let uri = key.uri else { return nil }
        return Cipher(key: uri, vector: key.initializationVector(forSegment: number ?? 0))
    }
}
