import LectureFormats

/// The tags of media playlists after `#EXT-X-`; of those that are not here, none changes what is loaded.
enum MediaTag: String {
    case targetDuration = "TARGETDURATION"
    case mediaSequence = "MEDIA-SEQUENCE"
    case discontinuitySequence = "DISCONTINUITY-SEQUENCE"
    case playlistType = "PLAYLIST-TYPE"
    case endList = "ENDLIST"
    case iFramesOnly = "I-FRAMES-ONLY"
    case byteRange = "BYTERANGE"
    case map = "MAP"
    case key = "KEY"
    case discontinuity = "DISCONTINUITY"
    case programDateTime = "PROGRAM-DATE-TIME"
    case dateRange = "DATERANGE"
    case gap = "GAP"
    case bitrate = "BITRATE"
    case skip = "SKIP"
}

/// Puts a media playlist together.
struct MediaBuilder: Sendable {
    private let limit: Int
    private var playlist = MediaPlaylist(targetDuration: 0)
    private var targetDuration: Int64?
    private var mediaSequence: Int64?
    private var discontinuitySequence: Int64?
    /// What the next segment will be; its duration is nil before `EXTINF`.
    private var next = SegmentTable.Row()
    private var duration: Int64?
    private var range: ArraySlice<UInt8>?
    private var keys = KeyState()
    private var map = MapState()

    init(limit: Int) { self.limit = limit }

    mutating func take(duration value: ArraySlice<UInt8>) throws(LineFault) {
        guard duration == nil else { throw LineFault("an EXTINF has no URI") }
        let comma = value.firstIndex(of: UInt8(ascii: ",")) ?? value.endIndex
        guard let number = PlaylistNumber.nanoseconds(PlaylistText.trimmed(value[..<comma])) else {
            throw LineFault("the duration of a segment is no number of seconds")
        }
        duration = number
        // People read a title, nothing loads it: bytes that are not UTF-8 are replaced.
        let title = PlaylistText.trimmed(value[comma...].dropFirst())
        let isText = title.allSatisfy { $0 < 0x80 }
        next.title = playlist.segments.place(
            isText ? title : Array(String(decoding: title, as: UTF8.self).utf8)[...])
    }

    mutating func take(uri: ArraySlice<UInt8>) throws(LineFault) {
        guard let duration else { throw LineFault("a URI has no EXTINF before it") }
        if !uri.allSatisfy({ $0 < 0x80 }) { _ = try PlaylistText.string(uri) }
        let last = playlist.segments.rows.last
        next.nanoseconds = duration
        next.uri = playlist.segments.place(uri, like: last?.uri)
        if let range {
            let isSame = last.map { playlist.segments.bytes($0.uri).elementsEqual(uri) } ?? false
            let end = last.map(\.rangeEnd).flatMap { isSame && $0 > 0 ? $0 : nil }
            guard range.contains(UInt8(ascii: "@")) || end != nil else {
                throw LineFault("a byte range has no offset, and the segment before it has no range of its resource")
            }
            guard let found = PlaylistMap.range(range, following: end) else {
                throw LineFault("a byte range is malformed, empty or too large")
            }
            (next.rangeStart, next.rangeEnd) = (found.start, found.end)
        }
        next.map = try map.index(in: &playlist, &keys, limit: limit)
        next.keySet = try keys.index(in: &playlist, limit: limit)
        playlist.segments.append(next)
        next = SegmentTable.Row()
        self.duration = nil
        range = nil
    }

    mutating func take(
        _ tag: MediaTag, _ value: ArraySlice<UInt8>, _ variables: VariableTable
    ) throws(LineFault) {
        switch tag {
        case .targetDuration, .mediaSequence, .discontinuitySequence: try takeNumber(tag, value)
        case .playlistType: playlist.type = .init(rawValue: String(decoding: value, as: UTF8.self))
        case .endList: playlist.isEnded = true
        case .iFramesOnly: playlist.isIFramesOnly = true
        case .byteRange: range = value
        case .map: try takeMap(value, variables)
        case .key:
            let list = try AttributeScanner.list(value, variables)
            try keys.take(Self.key(list))
        case .discontinuity: next.flags.insert(.discontinuity)
        case .programDateTime:
            guard !value.isEmpty else { return }
            _ = try PlaylistText.string(value)
            next.date = playlist.segments.place(value)
            next.flags.insert(.isDated)
        case .dateRange:
            // Nothing is loaded because of it: one that is malformed is ignored.
            guard let list = try? AttributeScanner.list(value, variables) else { return }
            guard playlist.dateRanges.count < limit else { throw LineFault("there are too many dates", kind: .limit) }
            playlist.dateRanges.append(list)
        case .gap: next.flags.insert(.gap)
        case .bitrate: next.bitrate = PlaylistNumber.integer(value).flatMap { Int32(exactly: $0) } ?? -1
        case .skip: throw LineFault("segments are left out: this is an update of another playlist")
        }
    }

    private mutating func takeNumber(_ tag: MediaTag, _ value: ArraySlice<UInt8>) throws(LineFault) {
        if tag == .targetDuration {
            // Some write `10.0`; players round.
            guard let nanoseconds = PlaylistNumber.nanoseconds(value) else {
                throw LineFault("EXT-X-TARGETDURATION is no number of seconds")
            }
            return try Self.set(&targetDuration, nanoseconds / 1_000_000_000, tag)
        }
        guard let number = PlaylistNumber.integer(value) else {
            throw LineFault("EXT-X-\(tag.rawValue) is no number below 2^63")
        }
        // Numbers of segments are initialization vectors: to change them later would corrupt what is decrypted.
        guard playlist.segments.isEmpty else { throw LineFault("EXT-X-\(tag.rawValue) is behind a segment") }
        if tag == .mediaSequence { return try Self.set(&mediaSequence, number, tag) }
        try Self.set(&discontinuitySequence, number, tag)
    }

    private static func set(_ place: inout Int64?, _ value: Int64, _ tag: MediaTag) throws(LineFault) {
        guard place == nil || place == value else { throw LineFault("EXT-X-\(tag.rawValue) has two values") }
        place = value
    }

    private mutating func takeMap(_ value: ArraySlice<UInt8>, _ variables: VariableTable) throws(LineFault) {
        let list = try AttributeScanner.list(value, variables)
        guard let uri = list.text("URI"), !uri.isEmpty else { throw LineFault("EXT-X-MAP has no URI") }
        let found = PlaylistMap(attributes: list)
        guard list["BYTERANGE"] == nil || found.byteRange != nil else {
            throw LineFault("the byte range of EXT-X-MAP is malformed, empty or too large")
        }
        map.take(found, keys)
    }

    /// Checks the attributes of a key.
    static func key(_ list: AttributeList) throws(LineFault) -> PlaylistKey {
        let key = PlaylistKey(attributes: list)
        guard let method = list.text("METHOD"), !method.isEmpty else { throw LineFault("a key has no METHOD") }
        guard key.method == .none || !(key.uri ?? "").isEmpty else { throw LineFault("a key has no URI") }
        guard list["IV"] == nil || key.initializationVector != nil else {
            throw LineFault("an initialization vector is not 0x and 32 hexadecimal digits")
        }
        return key
    }

    mutating func finish(_ head: PlaylistHead) throws(LineFault) -> MediaPlaylist {
        guard duration == nil else { throw LineFault("an EXTINF has no URI") }
        playlist.head = head
        playlist.mediaSequence = mediaSequence ?? 0
        playlist.discontinuitySequence = discontinuitySequence ?? 0
        let count = Int64(playlist.segments.count)
        guard !playlist.mediaSequence.addingReportingOverflow(count).overflow,
            !playlist.discontinuitySequence.addingReportingOverflow(count).overflow
        else { throw LineFault("the numbers of segments exceed 2^63") }
        let longest = playlist.segments.rows.lazy.map(\.nanoseconds).max()
        guard
            let target = targetDuration
                ?? longest.map({ $0 / 1_000_000_000 + ($0 % 1_000_000_000 >= 500_000_000 ? 1 : 0) })
        else { throw LineFault("there is neither EXT-X-TARGETDURATION nor a segment") }
        playlist.targetDuration = target
        return playlist
    }
}

/// The keys in force, and their index in the playlist once something uses them.
struct KeyState: Sendable {
    private(set) var keys: [PlaylistKey] = []
    private var current: Int32?
    private var known: [[PlaylistKey]: Int32] = [:]

    /// A key replaces the one of its format; the method NONE ends all of them (RFC 8216 section 4.3.2.4).
    mutating func take(_ key: PlaylistKey) throws(LineFault) {
        current = nil
        if key.method == .none {
            keys = []
        } else if let place = keys.firstIndex(where: { $0.keyFormat == key.keyFormat }) {
            keys[place] = key
        } else {
            guard keys.count < 64 else { throw LineFault("there are too many key formats at once", kind: .limit) }
            keys.append(key)
        }
    }

    mutating func index(in playlist: inout MediaPlaylist, limit: Int) throws(LineFault) -> Int32 {
        if let current { return current }
        let found = try index(of: keys, in: &playlist, limit: limit)
        current = found
        return found
    }

    mutating func index(
        of keys: [PlaylistKey], in playlist: inout MediaPlaylist, limit: Int
    ) throws(LineFault) -> Int32 {
        if keys.isEmpty { return -1 }
        if let found = known[keys] { return found }
        guard playlist.keySets.count < limit else { throw LineFault("there are too many keys", kind: .limit) }
        let index = Int32(clamping: playlist.keySets.count)
        playlist.keySets.append(keys)
        known[keys] = index
        return index
    }
}

/// The media initialization section in force, and its index in the playlist once a segment uses it.
struct MapState: Sendable {
    private var map: PlaylistMap?
    private var keys: [PlaylistKey] = []
    private var current: Int32? = -1
    private var known: [PlaylistMap: Int32] = [:]

    /// A map is encrypted with the keys in force at its tag.
    mutating func take(_ map: PlaylistMap, _ keys: KeyState) {
        (self.map, self.keys, current) = (map, keys.keys, nil)
    }

    mutating func index(
        in playlist: inout MediaPlaylist, _ state: inout KeyState, limit: Int
    ) throws(LineFault) -> Int32 {
        if let current { return current }
        guard var map else { return -1 }
        let set = try state.index(of: keys, in: &playlist, limit: limit)
        map.keySet = set < 0 ? nil : Int(set)
        if let found = known[map] {
            current = found
            return found
        }
        guard playlist.maps.count < limit else { throw LineFault("there are too many maps", kind: .limit) }
        let index = Int32(clamping: playlist.maps.count)
        playlist.maps.append(map)
        known[map] = index
        current = index
        return index
    }
}
