import LectureFormats
package import LectureModel

/// The live playlists of the chosen streams, as they were loaded.
package struct LiveStreams: Sendable, Equatable {
    /// A media playlist.
    struct Track: Sendable, Equatable {
        let playlist: MediaPlaylist
        let url: StreamURL
    }

    /// That of the variant first, then the renditions.
    let tracks: [Track]
    /// The playlist that names them, with local names; nil for one playlist alone.
    let local: MultivariantPlaylist?
    let resolution: PictureSize?
}

/// The capture of a live stream: a value that takes playlists in and gives files to fetch, and the playlists that play
/// them.
///
///     nothing ── take ──▶ following ── take: new segments, gaps ──▶ following
///                             │ every end was listed, or the time is over
///                             ▼
///                           over: the playlists have an end
///
/// It is continued from what is stored: ``init(stored:sources:limit:)``. docs/adaptive-capture.md has the rules.
package struct StreamCapture: Sendable {
    /// The most segments of a playlist, gaps included: 83 hours of 6 seconds each. About 5 MB in memory.
    package static let mostSegments = 50_000
    /// The most date ranges that are kept.
    static let mostDates = 10_000

    private var tracks: [CapturedPlaylist]
    private var shared: [String: String]
    private let limit: Int64?
    /// The multivariant playlist as stored; nil for one playlist alone.
    private var main: String?

    /// What a load brings.
    package struct Update: Sendable {
        /// The files that are added, in the order of play.
        package var requests: [ResourceRequest] = []
        /// The playlists, the one to begin with first; none when nothing has changed.
        package var playlists: [String] = []
        /// What is known of the lecture.
        package var facts = ContentFacts()
        /// The places of the playlists that have something new.
        package var changed: Set<Int> = []
        /// The URLs of segments that were added before and are still listed, by their names.
        package var urls: [String: String] = [:]
    }

    /// Nothing is captured yet.
    ///
    /// - Parameter limit: how much is captured; nil until its end.
    package init(limit: Duration?) {
        (tracks, shared, self.limit) = ([], [:], limit?.nanosecondCount)
    }

    /// Continues a capture; nil when the playlists are none, or one that has ended.
    ///
    /// - Parameters:
    ///   - texts: the playlists as stored.
    ///   - sources: the URLs of the last files, by their names; keys and initialisation sections are used again.
    ///   - limit: how much is captured; nil until its end.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package init?(stored texts: [String], sources: [StreamSource], limit: Duration?) throws(LectureError) {
        guard Self.isGoingOn(texts) else { return nil }
        self.init(limit: limit)
        let media = texts.count > 1 ? texts.dropFirst() : texts[...]
        main = texts.count > 1 ? texts[0] : nil
        let urls = Dictionary(sources.map { ($0.name, $0.url) }, uniquingKeysWith: { first, _ in first })
        for text in media { tracks.append(try CapturedPlaylist(stored: text, sources: urls)) }
        for source in sources where source.role != .segment { shared[source.url] = source.name }
        for index in tracks.indices where limit != nil && tracks[index].nanoseconds >= self.limit ?? .max {
            tracks[index].close()
        }
    }

    /// Whether stored playlists are those of a capture, complete or not.
    package static func isCapture(_ texts: [String]) -> Bool {
        texts.contains { text in StreamNote.all(in: text).contains { $0 == .captured || $0 == .capturing } }
    }

    /// Whether stored playlists are those of a capture that has not ended.
    package static func isGoingOn(_ texts: [String]) -> Bool {
        texts.contains { StreamNote.all(in: $0).contains(.capturing) }
    }

    /// How many media playlists there are; 0 before the first load.
    package var count: Int { tracks.count }

    /// Whether no segment was captured.
    package var isEmpty: Bool { tracks.allSatisfy { $0.nanoseconds == 0 } }

    /// Whether nothing more comes.
    package var isOver: Bool { !tracks.isEmpty && tracks.allSatisfy(\.isOver) }

    /// Whether nothing more comes of the playlist at a place.
    package func isOver(_ track: Int) -> Bool { tracks[track].isOver }

    /// Whether a playlist has as many segments as are kept.
    package var isFull: Bool { tracks.contains { $0.playlist.segments.count >= Self.mostSegments } }

    /// The target duration of the playlist at a place, in seconds.
    package func targetDuration(_ track: Int) -> Int64 { tracks[track].playlist.targetDuration }

    /// The playlists as they are stored now.
    ///
    /// - Returns: the one to begin with first.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package func texts() throws(LectureError) -> [String] {
        var texts = main.map { [$0] } ?? []
        for track in tracks { texts.append(try track.text()) }
        return texts
    }

    // MARK: Loads

    /// Takes playlists that were loaded.
    ///
    /// - Parameters:
    ///   - live: all playlists.
    ///   - loaded: the places of those that were loaded since the last time; nil for all.
    ///   - firstPosition: of the first file that is added.
    /// - Returns: what they bring. The capture is as before when this throws.
    /// - Throws: ``LectureError`` with `playlistDamaged`, `playlistUnsupported` or `streamProtected`.
    package mutating func take(
        _ live: LiveStreams, loaded: Set<Int>? = nil, firstPosition: Int
    ) throws(LectureError) -> Update {
        var next = self
        let update = try next.add(live, loaded, firstPosition)
        self = next
        return update
    }

    private mutating func add(
        _ live: LiveStreams, _ loaded: Set<Int>?, _ firstPosition: Int
    ) throws(LectureError) -> Update {
        let isFirst = tracks.isEmpty
        if isFirst {
            tracks = live.tracks.map { _ in CapturedPlaylist() }
            if let local = live.local { main = try StreamFiles.text(.multivariant(local)) }
        }
        guard live.tracks.count == tracks.count else {
            throw LectureError(.playlistDamaged, cause: "it names other streams than when the capture began")
        }
        var (update, files) = (Update(), StreamFiles(firstPosition: firstPosition, shared: shared))
        for (place, track) in live.tracks.enumerated() where loaded?.contains(place) ?? true {
            update.urls.merge(tracks[place].urls(in: track.playlist, track.url)) { first, _ in first }
            if try tracks[place].take(track.playlist, track.url) { update.changed.insert(place) }
        }
        while !isFull, let place = nextTrack { try tracks[place].addNext(to: &files, limit: limit) }
        shared = files.shared
        update.requests = files.requests
        if isFirst || !update.changed.isEmpty { update.playlists = try texts() }
        update.facts.type = .adaptiveDownload
        update.facts.duration = tracks.map(\.nanoseconds).max().map { .nanoseconds($0) }
        update.facts.width = live.resolution.map { Int(clamping: $0.width) }
        update.facts.height = live.resolution.map { Int(clamping: $0.height) }
        return update
    }

    /// The playlist whose next segment starts first.
    private var nextTrack: Int? {
        tracks.indices.filter { tracks[$0].hasNext }.min { tracks[$0].nanoseconds < tracks[$1].nanoseconds }
    }
}

/// Where a file of a stream came from.
package struct StreamSource: Sendable, Hashable {
    /// Its name in the playlists.
    package var name: String
    /// What it is.
    package var role: ResourceRole
    /// Its URL.
    package var url: String

    /// Describes a file.
    ///
    /// - Parameters:
    ///   - name: in the playlists.
    ///   - role: what it is.
    ///   - url: its URL.
    package init(name: String, role: ResourceRole, url: String) {
        (self.name, self.role, self.url) = (name, role, url)
    }
}
