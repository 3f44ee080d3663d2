import LectureFormats
import LectureModel

/// A live media playlist as it is kept: all segments that were listed while it was followed, and gaps where some were
/// missed.
///
/// A missed segment is there with `EXT-X-GAP` (rfc8216bis section 4.4.4.7), so that the media sequence numbers go on: a
/// segment without an explicit vector is decrypted by its number (RFC 8216 section 5.2). Where the numbers cannot go on
/// because the server has begun anew, vectors become explicit.
struct CapturedPlaylist: Sendable {
    /// With the names of files. Its numbers are those of the server until it begins anew.
    private(set) var playlist: MediaPlaylist
    private(set) var window: LiveWindow
    /// Whether nothing more comes: its end was listed, or the time is over.
    private(set) var isOver = false
    /// How long it plays, gaps included, in nanoseconds.
    private(set) var nanoseconds: Int64 = 0
    /// The segments of a list that are still to be added, the next one first, and what comes before the first.
    private var pending: Pending?

    /// What a list has brought.
    private struct Pending {
        var list: MediaPlaylist
        let url: StreamURL
        var news: LiveWindow.News

        /// The place of the next segment; nil for one that was missed.
        var place: Int? { news.missed > 0 ? nil : news.fresh.lowerBound }
        var isEmpty: Bool { news.missed == 0 && news.fresh.isEmpty }
    }

    /// How a segment that was missed is named: no file has this name.
    private static let missedName = "missed"

    /// Whether a segment is one that was missed.
    static func isMissed(_ segment: PlaylistSegment) -> Bool { segment.isGap && segment.uri.hasPrefix(missedName) }

    /// Nothing is captured.
    init() { (playlist, window) = (MediaPlaylist(targetDuration: 1), LiveWindow()) }

    // MARK: As stored

    /// Continues what is stored.
    ///
    /// - Parameters:
    ///   - text: the playlist.
    ///   - sources: the URLs of its files, by their names.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    init(stored text: String, sources: [String: String]) throws(LectureError) {
        guard case .media(let playlist)? = try? PlaylistReader.playlist(Array(text.utf8)) else {
            throw LectureError(.playlistDamaged, cause: "a local playlist cannot be read")
        }
        self.playlist = playlist
        isOver = playlist.isEnded
        nanoseconds = playlist.segments.rows.reduce(0) { $0 + $1.nanoseconds }
        window = LiveWindow()
        for case .live(let next, let first, let discontinuities) in StreamNote.all(in: text) {
            var seen: [LiveWindow.Seen] = []
            for (place, segment) in playlist.segments.suffix(LiveWindow.memory).reversed().enumerated() {
                let number = next - 1 - Int64(place)
                guard number >= first, let url = sources[segment.uri] else { continue }
                seen.append(LiveWindow.Seen(number, uri: url, nanoseconds: segment.nanoseconds))
            }
            window = LiveWindow(next: next, first: first, discontinuities: discontinuities, seen: seen.reversed())
        }
    }

    /// The text to store: while it is captured, a playlist of the type EVENT that is played from its beginning.
    func text() throws(LectureError) -> String {
        var shown = playlist
        (shown.isEnded, shown.type) = (isOver, isOver ? .video : .event)
        shown.head.start = isOver ? nil : PlaylistStart(nanoseconds: 0)
        var notes = [isOver ? StreamNote.captured : .capturing]
        if !isOver, let next = window.next {
            notes.append(.live(next: next, first: window.first, discontinuities: window.discontinuities))
        }
        return try StreamFiles.text(.media(shown)) + notes.map(\.line).joined()
    }

    // MARK: Lists

    /// Takes a list that was loaded; its new segments are added by ``addNext(to:)``.
    ///
    /// - Parameters:
    ///   - list: the playlist.
    ///   - url: its URL.
    /// - Returns: whether it brings anything.
    /// - Throws: ``LectureError`` with `streamProtected`, `playlistUnsupported` or `playlistDamaged`.
    mutating func take(_ list: MediaPlaylist, _ url: StreamURL) throws(LectureError) -> Bool {
        guard !isOver else { return false }
        try Protection.check(list.keySets.flatMap { $0 })
        for map in list.maps { try list.checkVector(of: map) }
        if list.segments.rows.contains(where: { $0.rangeEnd > $0.rangeStart }) {
            throw LectureError(.playlistUnsupported, cause: "its segments are ranges of a file that grows")
        }
        let isFirst = window.next == nil
        let news = window.take(list)
        if isFirst, news != nil {
            playlist.mediaSequence = list.mediaSequence
            playlist.discontinuitySequence = list.discontinuitySequence
        }
        playlist.head.version = max(playlist.head.version ?? 1, list.head.version ?? 1)
        playlist.head.isIndependent = list.head.isIndependent && (isFirst || playlist.head.isIndependent)
        playlist.isIFramesOnly = list.isIFramesOnly
        playlist.targetDuration = max(playlist.targetDuration, list.targetDuration)
        let isMarked = addDates(of: list)
        pending = news.map { Pending(list: list, url: url, news: $0) }
        isEnding = list.isEnded || list.type == .video
        if pending == nil, isEnding { isOver = true }
        return news != nil || isOver || isMarked
    }

    /// Whether the list that was taken is the last one.
    private var isEnding = false

    /// Takes over the date ranges: one that is there already gets the attributes that are new (RFC 8216 section
    /// 4.3.2.7).
    private mutating func addDates(of list: MediaPlaylist) -> Bool {
        var isChanged = false
        for dates in list.dateRanges {
            let known = playlist.dateRanges.lastIndex { $0.text("ID") == dates.text("ID") }
            guard let known else {
                guard playlist.dateRanges.count < StreamCapture.mostDates else { continue }
                playlist.dateRanges.append(dates)
                isChanged = true
                continue
            }
            for element in dates.elements where playlist.dateRanges[known][element.name] == nil {
                playlist.dateRanges[known][element.name] = element.value
                isChanged = true
            }
        }
        return isChanged
    }

    /// The URLs that a list has for segments that were taken before: tokens in them may be new.
    ///
    /// - Parameters:
    ///   - list: the playlist, before it is taken.
    ///   - url: its URL.
    /// - Returns: URLs by names.
    func urls(in list: MediaPlaylist, _ url: StreamURL) -> [String: String] {
        var window = window
        guard let next = window.next, window.take(list)?.isRestart != true else { return [:] }
        var urls: [String: String] = [:]
        for (index, segment) in list.segments.enumerated() {
            let place = Int64(playlist.segments.count) - (next - list.number(ofSegment: index))
            guard place >= 0, place < playlist.segments.count else { continue }
            let known = playlist.segments[Int(place)]
            if !known.isGap, let new = try? url.resolving(segment.uri) { urls[known.uri] = new }
        }
        return urls
    }

    // MARK: Segments

    /// Whether there is a segment to add.
    var hasNext: Bool { !isOver && pending != nil }

    /// Adds the next segment, or one that was missed.
    ///
    /// - Parameters:
    ///   - files: gets its files.
    ///   - limit: nothing is added once it plays so long, in nanoseconds; nil for no limit.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    mutating func addNext(to files: inout StreamFiles, limit: Int64?) throws(LectureError) {
        guard var pending else { return }
        if let place = pending.place {
            try add(place, of: pending, to: &files)
            pending.news.fresh = place + 1..<pending.news.fresh.upperBound
            (pending.news.isRestart, pending.news.isDiscontinuity) = (false, false)
        } else {
            addMissed(of: pending)
            pending.news.missed -= 1
        }
        let (end, overflow) = nanoseconds.addingReportingOverflow(playlist.segments.rows.last?.nanoseconds ?? 0)
        if overflow { throw LectureError(.playlistDamaged, cause: "its durations are too long") }
        nanoseconds = end
        playlist.targetDuration = max(playlist.targetDuration, playlist.segments.rows.last?.roundedSeconds ?? 0)
        self.pending = pending.isEmpty ? nil : pending
        if isEnding && pending.isEmpty || limit.map({ nanoseconds >= $0 }) ?? false { close() }
    }

    /// Nothing more comes.
    mutating func close() { (isOver, pending) = (true, nil) }

    /// A missed segment is taken to play as long as the one before it: nothing has said how long it does.
    private mutating func addMissed(of pending: Pending) {
        let last = playlist.segments.last
        let known = last?.nanoseconds ?? pending.list.segments.first?.nanoseconds
        var gap = PlaylistSegment(uri: "\(Self.missedName).ts", nanoseconds: known ?? 0)
        (gap.map, gap.keySet, gap.isGap) = (last?.map, last?.keySet, true)
        playlist.head.version = max(8, playlist.head.version ?? 1)
        playlist.segments.append(gap)
    }

    private mutating func add(
        _ place: Int, of pending: Pending, to files: inout StreamFiles
    ) throws(LectureError) {
        let (list, url) = (pending.list, pending.url)
        var segment = list.segments[place]
        let standard = segment.map == nil ? "ts" : "m4s"
        let numbers = (here: playlist.number(ofSegment: playlist.segments.count), there: list.number(ofSegment: place))
        if let map = segment.map { segment.map = try index(of: list.maps[map], in: list, url, &files) }
        if let set = segment.keySet {
            let vector = numbers.here == numbers.there ? nil : numbers.there
            segment.keySet = try index(of: list.keySets[set], url, &files, vector)
        }
        if segment.map == nil, let last = playlist.segments.rows.last, last.map >= 0 {
            // A playlist cannot say that a section is not in force any more.
            throw LectureError(.playlistUnsupported, cause: "its segments change their container")
        }
        if pending.news.isRestart || pending.news.isDiscontinuity { segment.isDiscontinuity = true }
        if segment.isGap {
            segment.uri = "gap.\(standard)"
            playlist.head.version = max(8, playlist.head.version ?? 1)
        } else {
            segment.uri = try files.add(segment.uri, url, .segment, standard: standard, isShared: false)
        }
        playlist.segments.append(segment)
    }

    /// The index of a section; it is added if it is another one than the last.
    private mutating func index(
        of map: PlaylistMap, in list: MediaPlaylist, _ url: StreamURL, _ files: inout StreamFiles
    ) throws(LectureError) -> Int {
        var local = map
        local.keySet = nil
        if let set = map.keySet { local.keySet = try index(of: list.keySets[set], url, &files, nil) }
        local.attributes["URI"] = .quoted(
            try files.add(map.uri, url, .initialisation, standard: "mp4", isShared: true))
        if let known = playlist.maps.lastIndex(of: local) { return known }
        playlist.maps.append(local)
        return playlist.maps.count - 1
    }

    /// The index of keys; they are added if they are other ones than the last. A number is the vector where keys have
    /// none; it is nil where the local number is the vector.
    private mutating func index(
        of keys: [PlaylistKey], _ url: StreamURL, _ files: inout StreamFiles, _ number: Int64?
    ) throws(LectureError) -> Int {
        guard let uri = keys.first?.uri else { throw LectureError(.playlistDamaged, cause: "a key has no URI") }
        let name = try files.add(uri, url, .key, standard: "key", isShared: true)
        let local = keys.map { key in
            var local = key
            local.attributes["URI"] = .quoted(name)
            if let number, key.initializationVector == nil {
                let vector = key.initializationVector(forSegment: number)
                local.attributes["IV"] = .plain("0x\(Hexadecimal.text(vector))")
            }
            return local
        }
        // Only the last ones: keys that are changed often are not used again.
        let recent = playlist.keySets.indices.suffix(8)
        if let known = recent.last(where: { playlist.keySets[$0] == local }) { return known }
        if number != nil { playlist.head.version = max(2, playlist.head.version ?? 1) }
        playlist.keySets.append(local)
        return playlist.keySets.count - 1
    }
}

extension SegmentTable.Row {
    /// The duration in seconds, rounded (RFC 8216 section 4.3.3.1).
    fileprivate var roundedSeconds: Int64 {
        nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 >= 500_000_000 ? 1 : 0)
    }
}
