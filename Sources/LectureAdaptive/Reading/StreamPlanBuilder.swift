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
    private var requests: [ResourceRequest] = []
    /// Files that more than one segment uses: those with byte ranges, keys, initialisation sections.
    private var shared: [String: String] = [:]
    private var position: Int

    /// Creates a builder.
    ///
    /// - Parameter firstPosition: of the first file.
    init(firstPosition: Int) { position = firstPosition }

    /// Adds a playlist.
    mutating func add(_ playlist: MediaPlaylist, _ url: StreamURL) throws(LectureError) {
        try Protection.check(playlist.keySets.flatMap { $0 })
        if playlist.isLive { throw LectureError(.streamLive) }
        if playlist.segments.isEmpty { throw LectureError(.playlistDamaged, cause: "it has no segments") }
        for map in playlist.maps {
            guard let set = map.keySet, let key = playlist.keySets[set].first else { continue }
            if key.initializationVector == nil {
                throw LectureError(.playlistDamaged, cause: "an encrypted initialisation section has no IV")
            }
        }
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
        plan.requests = requests
        if let local { plan.playlists.append(try Self.text(.multivariant(local))) }
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
                tracks[index].maps[map] = try file(
                    playlist.maps[map].uri, url, .initialisation, standard: "mp4", isShared: true)
            }
        }
        if let set = segment.keySet { try addKeys(set, of: index) }
        let standard = tracks[index].source.suffix ?? (segment.map == nil ? "ts" : "m4s")
        let name =
            segment.isGap
            ? "gap.\(standard)"
            : try file(segment.uri, url, .segment, standard: standard, isShared: segment.byteRange != nil)
        tracks[index].segments.append(name)
        tracks[index].next += 1
        let (end, overflow) = tracks[index].start.addingReportingOverflow(segment.nanoseconds)
        if overflow { throw LectureError(.playlistDamaged, cause: "its durations are too long") }
        tracks[index].start = end
    }

    private mutating func addKeys(_ set: Int, of index: Int) throws(LectureError) {
        guard tracks[index].keys[set] == nil, let key = tracks[index].playlist.keySets[set].first else { return }
        guard let uri = key.uri else { throw LectureError(.playlistDamaged, cause: "a key has no URI") }
        tracks[index].keys[set] = try file(uri, tracks[index].source.url, .key, standard: "key", isShared: true)
    }

    /// Adds a file once; a range of it is served from the whole, and the whole is what a range was served from.
    private mutating func file(
        _ uri: String, _ base: StreamURL, _ role: ResourceRole, standard: String, isShared: Bool
    ) throws(LectureError) -> String {
        let url = try base.resolving(uri)
        if let name = shared[url] { return name }
        let name =
            role == .key
            ? "\(position).key" : StreamFileName.name(position, url: url, standard: standard)
        var request = ResourceRequest(role: role, name: name, urls: [url])
        if role == .key { request.expectedBytes = 16 }
        requests.append(request)
        position += 1
        if isShared { shared[url] = name }
        return name
    }

    private static func text(of track: Track) throws(LectureError) -> String {
        let playlist = try text(.media(track.playlist)) { name, uri in
            switch name {
            case .segment(let index): track.segments[index]
            case .map(let index): track.maps[index] ?? uri
            case .key(let set, _): track.keys[set] ?? uri
            case .variant, .iFrameVariant, .rendition, .sessionKey, .sessionData: uri
            }
        }
        return playlist + track.notes.map(\.line).joined()
    }

    private static func text(
        _ playlist: Playlist, naming: PlaylistWriter.Naming? = nil
    ) throws(LectureError) -> String {
        do throws(PlaylistError) {
            return String(decoding: try PlaylistWriter.bytes(playlist, naming: naming), as: UTF8.self)
        } catch {
            throw LectureError(.playlistDamaged, cause: error.reason)
        }
    }
}
