import LectureAdaptive
import LectureModel
import LectureStore

/// A complete adaptive lecture in fragments of MP4 as files that can be jumped in: one for each track and each part
/// between discontinuities. They are nowhere as a whole; each range is read from the files that are kept.
///
/// There are none where a segment is encrypted by AES-128, since its length in clear is only known once it is
/// decrypted; where the first segment has several fragments, since the index would have to name each; where a track
/// is no MP4, begins with a gap, or changes its initialisation section within a part; and beyond the limits of an
/// index: 65,535 segments, and 2 GiB each.
package struct JoinedStreams: Sendable {
    /// A part between discontinuities. Its clock is that of its media.
    package struct Part: Sendable, Hashable {
        /// When it starts by that clock.
        package let start: Duration
        /// How long it is.
        package let length: Duration
    }

    /// A track, or several in the same files.
    package struct Track: Sendable {
        /// The name in a menu; empty without one.
        package let name: String
        /// The language, BCP 47; empty when unknown.
        package let language: String
        /// Its file for each part.
        package let files: [JoinedStream]
    }

    /// The parts, in their order.
    package let parts: [Part]
    /// The tracks: those to be played without a choice first.
    package let tracks: [Track]
}

/// One joined file of an adaptive lecture.
package final class JoinedStream: Sendable {
    let movie: JoinedMovie
    /// The segments whose first fragment has been looked for.
    private let known = Guarded<[Int: JoinedSegment]>([:])

    init(_ movie: JoinedMovie) { self.movie = movie }

    /// Its length in bytes.
    package var byteCount: Int64 { movie.byteCount }

    func segment(_ index: Int) -> JoinedSegment? { known.withLock { $0[index] } }

    func found(_ segment: JoinedSegment, at index: Int) { known.withLock { $0[index] = segment } }
}

extension AdaptiveShelf {
    /// The lecture as files that can be jumped in; nil where there are none.
    nonisolated func joinedStreams() async throws -> JoinedStreams? {
        guard let plans = try await joinedTracks(), let first = plans.first else { return nil }
        let sizes = Dictionary(
            try await files().map { ($0.name, $0.byteCount) }, uniquingKeysWith: { first, _ in first })
        var tracks: [JoinedStreams.Track] = []
        for plan in plans {
            var files: [JoinedStream] = []
            for part in plan.parts {
                guard let movie = try await movie(part, sizes) else { return nil }
                files.append(JoinedStream(movie))
            }
            tracks.append(JoinedStreams.Track(name: plan.track.name, language: plan.track.language, files: files))
        }
        let parts = first.lengths.enumerated().map { number, length in
            // The one that starts first: before it, there is nothing to be played.
            let start = tracks.map { $0.files[number].movie.start }.min() ?? 0
            return JoinedStreams.Part(start: .nanoseconds(max(0, start)), length: length)
        }
        return JoinedStreams(parts: parts, tracks: tracks)
    }

    /// A track that can be joined in each of its parts.
    private struct Plan {
        let track: LocalTrack
        let parts: [LocalPlaylist.Joinable]
        let lengths: [Duration]
    }

    private func joinedTracks() throws -> [Plan]? {
        let (presence, count) = (try presence(), try partCount)
        guard presence.end == nil, count > 0 else { return nil }
        var tracks = [LocalTrack(playlist: names[0])]
        if version.firstMedia > 0 { tracks = LocalTrack.all(in: version.playlists[0]) }
        var plans: [Plan] = []
        for track in tracks {
            guard let place = names.firstIndex(of: track.playlist), place >= version.firstMedia else { return nil }
            var (parts, lengths) = ([LocalPlaylist.Joinable](), [Duration]())
            for number in 0..<count {
                var playlist = try LocalPlaylist(try stored(place))
                playlist.show(until: nil, without: presence.missing)
                if count > 1 { playlist.keep(part: number) }
                guard let part = playlist.joinable else { return nil }
                parts.append(part)
                lengths.append(playlist.duration)
            }
            plans.append(Plan(track: track, parts: parts, lengths: lengths))
        }
        return plans
    }

    private nonisolated func movie(
        _ part: LocalPlaylist.Joinable, _ sizes: [String: Int64]
    ) async throws -> JoinedMovie? {
        guard let section = Self.range(of: part.section, sizes), section.count <= Self.longestSection,
            let header = MovieHeader(try await bytes(part.section.file, section))
        else { return nil }
        var segments: [JoinedMovie.Segment] = []
        for (piece, nanoseconds) in part.segments {
            guard let range = Self.range(of: piece, sizes) else { return nil }
            segments.append(JoinedMovie.Segment(file: piece.file, range: range, nanoseconds: nanoseconds))
        }
        guard let first = segments.first, try await !hasFragments(first) else { return nil }
        let beginning = first.range.lowerBound..<min(first.range.upperBound, first.range.lowerBound + Self.beginning)
        return JoinedMovie(header, segments, starts: header.starts(of: try await bytes(first.file, beginning)))
    }

    /// Whether a segment has more than one fragment: FFmpeg 5.1 would leave out those that its index does not name.
    private nonisolated func hasFragments(_ segment: JoinedMovie.Segment) async throws -> Bool {
        var (place, count) = (segment.range.lowerBound, 0)
        while place < segment.range.upperBound {
            let head = try await bytes(segment.file, place..<min(place + 16, segment.range.upperBound))
            guard let box = JoinedSegment.box(head), !place.addingReportingOverflow(box.byteCount).overflow else {
                break
            }
            if box.isFragment { count += 1 }
            if count > 1 { return true }
            place += box.byteCount
        }
        return false
    }

    /// The longest initialisation section that is taken for one.
    private static let longestSection = 4 << 20
    /// How much of the first segment is read to know when it starts.
    private static let beginning: Int64 = 1 << 16
    /// How much is read of a segment to find its first fragment.
    private static let headBytes: Int64 = 1 << 10

    /// The bytes of a piece in its file; nil where they are not in it.
    private static func range(of piece: LocalPlaylist.Piece, _ sizes: [String: Int64]) -> Range<Int64>? {
        guard let size = sizes[piece.file] else { return nil }
        guard let range = piece.range else { return 0..<size }
        guard range.end <= UInt64(size) else { return nil }
        return Int64(range.start)..<Int64(range.end)
    }

    private nonisolated func bytes(_ file: String, _ range: Range<Int64>) async throws -> [UInt8] {
        let bytes = Guarded<[UInt8]>([])
        try await read(file, range: range, charging: nil) { piece in bytes.withLock { $0 += piece } }
        return bytes.withLock(\.self)
    }

    /// Reads a joined file.
    ///
    /// - Parameters:
    ///   - stream: the file.
    ///   - range: which bytes, from 0; nil for all.
    ///   - charge: how segments are charged.
    ///   - receive: gets the bytes in order.
    /// - Throws: as ``read(_:range:charging:_:)``.
    nonisolated func read(
        _ stream: JoinedStream, range: Range<Int64>?, charging charge: PlayRead?,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let movie = stream.movie
        for source in movie.sources(of: range ?? 0..<movie.byteCount) {
            switch source {
            case .head(let range): try receive(Array(movie.head[range]))
            case .segment(let index, let range):
                let (file, start) = (movie.segments[index].file, movie.segments[index].range.lowerBound)
                for source in try await segment(index, of: stream).sources(of: range) {
                    switch source {
                    case .filler(let bytes): try receive(bytes)
                    case .media(let part):
                        let place = start + part.lowerBound..<start + part.upperBound
                        try await read(file, range: place, charging: charge, receive)
                    }
                }
            }
        }
    }

    /// Where the first fragment of a segment is. It is read once, and not charged: it is read again as media.
    private nonisolated func segment(_ index: Int, of stream: JoinedStream) async throws -> JoinedSegment {
        if let known = stream.segment(index) { return known }
        let segment = stream.movie.segments[index]
        let count = Int64(segment.range.count)
        var place: Int64 = 0
        while true {
            let start = segment.range.lowerBound + place
            let part = try await bytes(segment.file, start..<min(segment.range.upperBound, start + Self.headBytes))
            guard !part.isEmpty else { throw LectureError(.damaged, detail: key.text) }
            switch JoinedSegment.search(part, at: place, byteCount: count) {
            case .wanted(let next): place = next
            case .found(let found):
                stream.found(found, at: index)
                return found
            }
        }
    }
}
