import LectureFormats
import LectureModel

/// The chosen representations of a manifest as HLS playlists (RFC 8216 section 3.3, fragmented MPEG-4): one for each
/// track, over all periods.
struct DASHStreams {
    /// The media playlists, with the addresses of the source.
    private(set) var tracks: [StreamTrack] = []
    /// The playlist that names them, with local names.
    private(set) var local = MultivariantPlaylist()
    /// The size of the pictures.
    private(set) var resolution: PictureSize?

    /// Chooses and converts.
    ///
    /// - Parameters:
    ///   - root: the outermost element of the manifest.
    ///   - url: the URL that answered it.
    ///   - selection: what is kept.
    /// - Throws: ``LectureError`` with `playlistDamaged`, `playlistUnsupported`, `streamLive`, `streamProtected` or
    ///   `variantUnavailable`.
    init(_ root: XMLElement, url: String, _ selection: StreamSelection) throws(LectureError) {
        let base = try StreamURL(url)
        do throws(DASHError) {
            let manifest = try DASHManifest(root, url: url)
            let periods = try DASHChoice(AdaptiveLimits(selection)).choose(from: manifest)
            try Self.checkOffsets(periods)
            let places = try Self.places(periods)
            for place in places { tracks.append(try Self.track(periods, place, base)) }
            describe(places.map { place in periods.map { $0.tracks[place] } })
        } catch {
            throw LectureError(error)
        }
    }

    // MARK: What can be in HLS

    /// The tracks that HLS playlists can have. Subtitles that they cannot have are left out, as if there were none.
    private static func places(_ periods: [DASHChosenPeriod]) throws(DASHError) -> [Int] {
        var places: [Int] = []
        for place in periods[0].tracks.indices {
            let tracks = periods.map { $0.tracks[place] }
            let first = tracks[0].representation.container
            guard tracks[0].kind == .video || tracks[0].kind == .audio else {
                let isUsable = (first == .mp4 || first == .webVTT)
                if isUsable, tracks.allSatisfy({ $0.representation.container == first }) { places.append(place) }
                continue
            }
            for track in tracks {
                let type = track.representation.format.mimeType
                switch track.representation.container {
                case .mp4, .transportStream: break
                case .other where type.isEmpty: break
                case .webM: throw DASHError(.unsupported, "the media are WebM, which HLS players do not play")
                case .webVTT, .ttml, .other:
                    throw DASHError(.unsupported, "the media are \(DASHText.quoted(type)), not MP4")
                }
            }
            places.append(place)
        }
        return places
    }

    /// How far the media times may be apart at which the tracks of a period start, in nanoseconds: what is not noticed
    /// between sound and pictures (ITU-R BT.1359).
    private static let offsetTolerance: Int64 = 45_000_000

    /// HLS plays what has the same media time at the same moment, so the tracks of a period must start at the same one.
    private static func checkOffsets(_ periods: [DASHChosenPeriod]) throws(DASHError) {
        for period in periods {
            let offsets = period.tracks.filter { $0.representation.container == .mp4 }.compactMap { track in
                switch track.representation.media {
                case .segments(let media):
                    DASHTime.nanoseconds(media.presentationTimeOffset, timescale: media.timescale)
                case .indexed(let file): DASHTime.nanoseconds(file.presentationTimeOffset, timescale: file.timescale)
                }
            }
            if let first = offsets.min(), let last = offsets.max(), last - first > offsetTolerance {
                throw DASHError(.unsupported, "the tracks of a period start at different media times")
            }
        }
    }

    // MARK: Media playlists

    private static func track(
        _ periods: [DASHChosenPeriod], _ place: Int, _ base: StreamURL
    ) throws(DASHError) -> StreamTrack {
        var track = StreamTrack(MediaPlaylist(targetDuration: 1), base)
        track.playlist.head.version = 7
        (track.playlist.type, track.playlist.isEnded) = (.video, true)
        switch periods[0].tracks[place].representation.container {
        case .webVTT: track.suffix = "vtt"
        case .transportStream: track.suffix = "ts"
        case .mp4, .webM, .ttml, .other: track.suffix = "m4s"
        }
        // Media time offsets of files that are a segment each, by their addresses.
        var wholes: [String: UInt64] = [:]
        for period in periods {
            let first = track.playlist.segments.count
            var offset: UInt64 = 0
            switch period.tracks[place].representation.media {
            case .segments(let segments):
                try track.add(segments, of: period)
                offset = segments.presentationTimeOffset
            case .indexed(let file):
                try track.add(file, of: period)
                offset = file.presentationTimeOffset
            }
            guard track.playlist.segments.count == first + 1, track.playlist.segments[first].byteRange == nil else {
                continue
            }
            let url = track.playlist.segments[first].uri
            if let other = wholes.updateValue(offset, forKey: url), other != offset {
                throw DASHError(.unsupported, "several periods are parts of one file")
            }
        }
        track.playlist.targetDuration = track.playlist.longestDuration
        return track
    }

    // MARK: The multivariant playlist

    private mutating func describe(_ tracks: [[DASHChosenTrack]]) {
        let format = tracks[0][0].representation.format
        if let width = format.width, let height = format.height { resolution = PictureSize("\(width)x\(height)") }
        let sounds = tracks.filter { $0[0].kind == .audio }
        let bandwidths = [tracks[0]] + (tracks[0][0].kind == .audio ? [] : sounds)
        let peaks = bandwidths.map { track in track.map(\.representation.bandwidth).max() ?? 0 }
        let sum = peaks[0].addingReportingOverflow(peaks.dropFirst().max() ?? 0)
        var attributes = AttributeList()
        attributes["BANDWIDTH"] = .plain("\(min(max(1, sum.overflow ? .max : sum.partialValue), 1 << 62))")
        if let codecs = Self.codecs(tracks) { attributes["CODECS"] = .quoted(codecs) }
        if let resolution { attributes["RESOLUTION"] = .plain("\(resolution.width)x\(resolution.height)") }
        if let rate = format.frameRate {
            attributes["FRAME-RATE"] = .plain("\(rate / 1_000).\(String("\(1_000 + rate % 1_000)".dropFirst()))")
        }
        // Sound alone is the variant itself; further languages of it are renditions, and so is the first then.
        let hasVideo = tracks[0][0].kind == .video
        for (place, track) in tracks.enumerated() {
            let isSound = track[0].kind == .audio
            if place == 0, hasVideo || sounds.count == 1 { continue }
            add(track[0], StreamPlaylistPath.name(place + 1), isSound ? .audio : .subtitles)
            attributes[isSound ? "AUDIO" : "SUBTITLES"] = .quoted(isSound ? "audio" : "subtitles")
        }
        local.head.version = 7
        local.variants = [PlaylistVariant(uri: StreamPlaylistPath.name(1), attributes: attributes)]
    }

    /// The codecs of all tracks, each once; nil when those of video or sound are not named.
    private static func codecs(_ tracks: [[DASHChosenTrack]]) -> String? {
        var found: [String] = []
        for track in tracks.joined() {
            let codecs = track.representation.format.codecs
            if codecs.isEmpty, track.kind != .subtitles { return nil }
            for codec in codecs.split(separator: ",").map({ String(FieldText.trimmed($0)) })
            where !codec.isEmpty && !found.contains(codec) {
                found.append(codec)
            }
        }
        return found.isEmpty ? nil : found.joined(separator: ",")
    }

    private mutating func add(_ track: DASHChosenTrack, _ uri: String, _ kind: PlaylistRendition.Kind) {
        let others = local.renditions.filter { $0.kind == kind }
        var attributes = AttributeList()
        attributes["TYPE"] = .plain(kind.rawValue)
        attributes["GROUP-ID"] = .quoted(kind == .audio ? "audio" : "subtitles")
        if let language = track.language { attributes["LANGUAGE"] = .quoted(language) }
        let roles = track.roles.filter { $0 != "main" && $0 != "subtitle" }
        let name = ([track.language ?? "und"] + roles).joined(separator: " ")
        // Names in a group differ (RFC 8216 section 4.3.4.1.1).
        attributes["NAME"] = .quoted(others.contains { $0.name == name } ? "\(name) \(others.count + 1)" : name)
        let isDefault = kind == .audio && others.isEmpty
        attributes["DEFAULT"] = .plain(isDefault ? "YES" : "NO")
        attributes["AUTOSELECT"] = .plain("YES")
        if kind == .subtitles, track.roles.contains("forced-subtitle") { attributes["FORCED"] = .plain("YES") }
        attributes["URI"] = .quoted(uri)
        local.renditions.append(PlaylistRendition(attributes: attributes))
    }
}

extension StreamTrack {
    /// How much of a period may be left when a segment starts that may not exist, in nanoseconds: manifests round
    /// durations up, to whole seconds at most, and the tracks of a period are not of exactly the same length.
    private static let roundedUp: Int64 = 1_000_000_000

    /// Adds the segments of a period.
    fileprivate mutating func add(_ media: DASHSegments, of period: DASHChosenPeriod) throws(DASHError) {
        let map = media.initialization.map { addMap($0) }
        let isFirst = playlist.segments.isEmpty
        let length = period.duration.map { Int64(clamping: $0) * 1_000 }
        var (ticks, start): (UInt64, Int64) = (0, 0)
        for index in 0..<media.count {
            let source = try media.segment(at: index)
            var segment = PlaylistSegment(uri: source.resource.url, nanoseconds: 0)
            if let duration = source.duration {
                let (sum, overflow) = ticks.addingReportingOverflow(duration)
                guard !overflow, let end = DASHTime.nanoseconds(sum, timescale: media.timescale) else {
                    throw DASHError(.limit, "the segments of a representation are beyond a hundred years")
                }
                (segment.nanoseconds, ticks) = (end - start, sum)
            } else if media.count > 1 {
                throw DASHError(.invalid, "the durations of segments are unknown")
            }
            if index == media.count - 1, let length {
                let left = length - start
                if media.isCountComputed, index > 0, left <= min(Self.roundedUp, segment.nanoseconds / 2) {
                    optional.append(playlist.segments.count)
                }
                if media.isDurationNominal, left > 0 { segment.nanoseconds = min(left, segment.nanoseconds) }
            }
            start += segment.nanoseconds
            segment.byteRange = source.resource.range
            segment.map = map
            segment.isDiscontinuity = index == 0 && !isFirst
            playlist.segments.append(segment)
        }
    }

    /// Adds a file whose segments are in its index: one segment, the whole, until the index is read.
    fileprivate mutating func add(_ file: DASHIndexedFile, of period: DASHChosenPeriod) throws(DASHError) {
        let range = file.index.url == file.url ? file.index.range : nil
        // What is before the index: the types and the movie box (ISO/IEC 23009-1 section 8.5.2).
        var before = file.initialization
        if before == nil, let start = range?.start, let head = ByteRange(start: 0, end: start) {
            before = DASHResource(url: file.url, range: head)
        }
        var segment = PlaylistSegment(
            uri: file.url, nanoseconds: period.duration.map { Int64(clamping: $0) * 1_000 } ?? 0)
        if let before, before.url != file.url || before.range != nil { segment.map = addMap(before) }
        segment.isDiscontinuity = !playlist.segments.isEmpty
        if let range { indexes[playlist.segments.count] = range }
        playlist.segments.append(segment)
    }

    private mutating func addMap(_ resource: DASHResource) -> Int {
        var attributes = AttributeList()
        attributes["URI"] = .quoted(resource.url)
        if let range = resource.range { attributes["BYTERANGE"] = .quoted("\(range.count)@\(range.start)") }
        playlist.maps.append(PlaylistMap(attributes: attributes))
        return playlist.maps.count - 1
    }
}
