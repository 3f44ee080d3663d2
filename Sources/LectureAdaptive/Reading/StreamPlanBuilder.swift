import LectureFormats
import LectureModel

/// Puts the files of several media playlists into the order of play.
struct StreamPlanBuilder {
    /// One media playlist.
    private struct Track {
        let source: StreamTrack
        /// The next segment.
        var next = 0
        /// When it starts, in nanoseconds.
        var start: Int64 = 0
        /// The names of its segments, maps and keys, as far as they were added.
        var segments: [String] = []
        var maps: [Int: String] = [:]
        var keys: [Int: String] = [:]

        var playlist: MediaPlaylist { source.playlist }
        var isAtEnd: Bool { next >= source.playlist.segments.count }

        /// What is not known of its playlist before its files are there.
        var notes: [StreamNote] {
            source.indexes.sorted { $0.key < $1.key }.map { .index(file: segments[$0.key], range: $0.value) }
                + source.optional.map { .optional(file: segments[$0]) }
        }
    }

    private var tracks: [Track] = []
    private var files: StreamFiles

    /// Creates a builder.
    ///
    /// - Parameter firstPosition: of the first file.
    init(firstPosition: Int) { files = StreamFiles(firstPosition: firstPosition) }

    /// Adds a playlist.
    mutating func add(_ playlist: MediaPlaylist, _ url: StreamURL) throws(LectureError) {
        try Protection.check(playlist.keySets.flatMap { $0 })
        if playlist.isLive { throw LectureError(.streamLive) }
        if playlist.segments.isEmpty { throw LectureError(.playlistDamaged, cause: "it has no segments") }
        for map in playlist.maps { try playlist.checkVector(of: map) }
        add(StreamTrack(playlist, url))
    }

    /// Adds a playlist that needs no check.
    mutating func add(_ track: StreamTrack) { tracks.append(Track(source: track)) }

    /// Makes the plan of a lecture with one playlist, or of the chosen streams.
    ///
    /// - Parameters:
    ///   - local: the multivariant playlist that names those that were added, in its order; nil for one playlist alone.
    ///   - resolution: the size of the pictures.
    /// - Returns: the plan.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    mutating func plan(
        _ local: MultivariantPlaylist? = nil, resolution: PictureSize? = nil
    ) throws(LectureError) -> StreamPlan {
        while let track = nextTrack { try addSegment(of: track) }
        var plan = StreamPlan()
        plan.requests = files.requests
        if let local { plan.playlists.append(try StreamFiles.text(.multivariant(local))) }
        for track in tracks { plan.playlists.append(try Self.text(of: track)) }
        plan.facts.type = .adaptiveDownload
        plan.facts.duration = tracks.map(\.playlist.totalDuration).max()
        plan.facts.width = resolution.map { Int(clamping: $0.width) }
        plan.facts.height = resolution.map { Int(clamping: $0.height) }
        return plan
    }

    /// The track whose next segment starts first.
    private var nextTrack: Int? {
        tracks.indices.filter { !tracks[$0].isAtEnd }.min { tracks[$0].start < tracks[$1].start }
    }

    private mutating func addSegment(of index: Int) throws(LectureError) {
        let (playlist, url) = (tracks[index].playlist, tracks[index].source.url)
        let segment = playlist.segments[tracks[index].next]
        if let map = segment.map {
            if let set = playlist.maps[map].keySet { try addKeys(set, of: index) }
            if tracks[index].maps[map] == nil {
                tracks[index].maps[map] = try files.add(
                    playlist.maps[map].uri, url, .initialisation, standard: "mp4", isShared: true)
            }
        }
        if let set = segment.keySet { try addKeys(set, of: index) }
        let standard = tracks[index].source.suffix ?? (segment.map == nil ? "ts" : "m4s")
        let name =
            segment.isGap
            ? "gap.\(standard)"
            : try files.add(segment.uri, url, .segment, standard: standard, isShared: segment.byteRange != nil)
        tracks[index].segments.append(name)
        tracks[index].next += 1
        let (end, overflow) = tracks[index].start.addingReportingOverflow(segment.nanoseconds)
        if overflow { throw LectureError(.playlistDamaged, cause: "its durations are too long") }
        tracks[index].start = end
    }

    private mutating func addKeys(_ set: Int, of index: Int) throws(LectureError) {
        guard tracks[index].keys[set] == nil, let key = tracks[index].playlist.keySets[set].first else { return }
        guard let uri = key.uri else { throw LectureError(.playlistDamaged, cause: "a key has no URI") }
        tracks[index].keys[set] = try files.add(uri, tracks[index].source.url, .key, standard: "key", isShared: true)
    }

    private static func text(of track: Track) throws(LectureError) -> String {
        let playlist = try StreamFiles.text(.media(track.playlist)) { name, uri in
            switch name {
            case .segment(let index): track.segments[index]
            case .map(let index): track.maps[index] ?? uri
            case .key(let set, _): track.keys[set] ?? uri
            case .variant, .iFrameVariant, .rendition, .sessionKey, .sessionData: uri
            }
        }
        return playlist + track.notes.map(\.line).joined()
    }
}
