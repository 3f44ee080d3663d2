import LectureAdaptive
import LectureFormats

/// HLS playlists, and the references in them.
extension FuzzTarget {
    static let playlists = [
        FuzzTarget("playlist", longest: 2048, cost: 4, playlist), FuzzTarget("url-reference", urlReference),
    ]

    @Sendable private static func playlist(_ input: [UInt8]) throws {
        let imports = [PlaylistDefinition(name: "i", value: "imported")]
        var limits = PlaylistLimits()
        (limits.lineBytes, limits.entries) = (512, 8)
        func read(_ bytes: [UInt8], splitAt place: Int) throws -> Playlist {
            var reader = PlaylistReader(limits: limits, imports: imports, query: "q=a%20b")
            try reader.read(bytes[..<place])
            try reader.read(bytes[place...])
            return try reader.finish()
        }
        let playlist: Playlist
        do {
            playlist = try PlaylistReader.playlist(input, limits: limits, imports: imports, query: "q=a%20b")
        } catch {
            let count = input.count { $0 == 0x0A } + 1
            try require((1...count).contains(error.line), "a mistake is in a line: \(error)")
            try require((try? read(input, splitAt: input.count / 3)) == nil, "in pieces it is refused, too")
            return
        }
        try require(try read(input, splitAt: input.count / 3) == playlist, "pieces do not matter")
        let written = try PlaylistWriter.bytes(playlist)
        // The lines may be longer than those that were read: a byte range has its offset.
        limits.lineBytes = 2 * 512
        let again = try PlaylistReader.playlist(written, limits: limits)
        try require(again == playlist, "it reads back: \(text(written))")
        try require(try PlaylistWriter.bytes(again) == written, "it is written the same again")
        switch playlist {
        case .media(let media): try check(media)
        case .multivariant(let multivariant): try check(multivariant)
        }
    }

    private static func check(_ playlist: MediaPlaylist) throws {
        var end: UInt64 = 0
        for (index, segment) in playlist.segments.enumerated() {
            try require(segment.nanoseconds >= 0 && !segment.uri.isEmpty, "a segment has a duration and a URI")
            end = segment.byteRange?.end ?? 0
            try require(end <= UInt64(Int64.max), "a range is within 63 bits")
            try require(segment.map.map(playlist.maps.indices.contains) ?? true, "a map exists")
            try require(segment.keySet.map(playlist.keySets.indices.contains) ?? true, "keys exist")
            for key in segment.keySet.map({ playlist.keySets[$0] }) ?? [] {
                let vector = key.initializationVector(forSegment: playlist.number(ofSegment: index))
                try require(vector.count == 16 && key.uri?.isEmpty == false, "a key has a URI and a vector")
            }
        }
        try require(playlist.totalDuration >= .zero, "durations add up")
    }

    private static func check(_ playlist: MultivariantPlaylist) throws {
        for preference in [AdaptiveLimits.Preference.best, .worst, .index(0)] {
            var limits = AdaptiveLimits()
            (limits.variant, limits.audio, limits.subtitles) = (preference, .ranges(["en", "ko"]), .all)
            guard let choice = try? VariantChoice(from: playlist, limits: limits) else { continue }
            try require(playlist.variants[choice.index] == choice.variant, "a choice is a variant")
            try require(!choice.alternatives.contains(choice.index), "an alternative is another one")
            try require(choice.audio.allSatisfy { $0.group == choice.variant.audioGroup }, "audio is of the group")
        }
    }

    @Sendable private static func urlReference(_ input: [UInt8]) throws {
        let parts = lines(input, most: 2).map { text($0) }
        guard parts.count == 2, let base = try? URLParts(parsing: parts[0]),
            let target = try? base.resolving(parts[1])
        else { return }
        try require(target.scheme == "http" || target.scheme == "https", "a reference is http or https")
        try require(target.text.utf8.count <= URLParts.limit, "a URL has its limit")
        try require((try? URLParts(parsing: target.text)) == target, "what is resolved parses back: \(target.text)")
        let segments = target.path.utf8.split(separator: UInt8(ascii: "/"))
        try require(
            !segments.contains { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }, "no dot segments")
        try require((try? base.resolving(target.text)) == target, "an absolute reference is itself: \(target.text)")
    }
}
