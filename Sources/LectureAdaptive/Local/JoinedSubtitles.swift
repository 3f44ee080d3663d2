import LectureFormats

/// Puts the segments of a WebVTT rendition together into one file.
///
/// Times of cues are those of the first segment's clock: where another segment maps its own to another place of the
/// media (`X-TIMESTAMP-MAP`, RFC 8216 section 3.5), its cues are moved by the difference. A cue that spans segments is
/// in each of them, and is kept once.
package struct JoinedSubtitles: Sendable {
    /// Where a segment's times are: ticks of 90 kHz, and milliseconds.
    private struct Map: Hashable {
        var ticks: Int64 = 0
        var local: Int64 = 0
    }

    /// Where the counter of MPEG-TS begins again.
    private static let wrap: Int64 = 1 << 33
    private var first: Map?
    private var blocks: [String] = []
    private var known: Set<String> = []

    /// Nothing is added yet.
    package init() {}

    /// The file, in UTF-8.
    package var bytes: [UInt8] { Array((["WEBVTT"] + blocks).joined(separator: "\n\n").utf8) + [0x0A] }

    /// Adds a segment.
    ///
    /// - Parameter segment: the file as received; one that is not WebVTT adds nothing.
    package mutating func add(_ segment: [UInt8]) {
        let text = String(
            decoding: segment.starts(with: [0xEF, 0xBB, 0xBF]) ? segment.dropFirst(3) : segment[...], as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        guard lines.first?.hasPrefix("WEBVTT") == true else { return }
        let paragraphs = lines.split { $0.isEmpty }
        let map = paragraphs.first?.lazy.compactMap(Self.map).first ?? Map()
        let base = first ?? map
        first = base
        let shift = Self.shift(from: base, to: map)
        for paragraph in paragraphs.dropFirst() {
            guard let block = Self.block(paragraph, movedBy: shift), known.insert(block).inserted else { continue }
            blocks.append(block)
        }
    }

    /// A paragraph with its times moved; nil for a remark.
    private static func block(_ lines: ArraySlice<Substring>, movedBy shift: Int64) -> String? {
        guard let head = lines.first, !head.hasPrefix("NOTE") else { return nil }
        guard let timing = lines.firstIndex(where: { $0.contains("-->") }) else {
            return head.hasPrefix("STYLE") || head.hasPrefix("REGION") ? lines.joined(separator: "\n") : nil
        }
        let words = lines[timing].split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 3, words[1] == "-->", let start = time(words[0]), let end = time(words[2]) else {
            return nil
        }
        guard end + shift > 0 else { return nil }
        let moved =
            [WebVTTTime.text(start + shift), "-->", WebVTTTime.text(end + shift)] + words.dropFirst(3).map(String.init)
        var block = lines.map(String.init)
        block[timing - lines.startIndex] = moved.joined(separator: " ")
        return block.joined(separator: "\n")
    }

    /// How far the times of one clock are behind those of another, in milliseconds.
    private static func shift(from base: Map, to map: Map) -> Int64 {
        var ticks = map.ticks - base.ticks
        if ticks < -wrap / 2 { ticks += wrap }
        if ticks > wrap / 2 { ticks -= wrap }
        return ticks / 90 - (map.local - base.local)
    }

    /// Reads `X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000`.
    private static func map(_ line: Substring) -> Map? {
        guard line.hasPrefix("X-TIMESTAMP-MAP=") else { return nil }
        var map = Map()
        for part in line.dropFirst(16).split(separator: ",") {
            if part.hasPrefix("MPEGTS:") { map.ticks = min(wrap, max(0, Int64(part.dropFirst(7)) ?? 0)) }
            if part.hasPrefix("LOCAL:") { map.local = time(part.dropFirst(6)) ?? 0 }
        }
        return map
    }

    /// Milliseconds of `00:00.000` and `00:00:00.000`.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let seconds = parts.last?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard (2...3).contains(parts.count), seconds.count == 2, seconds[1].count == 3 else { return nil }
        var total: Int64 = 0
        for part in parts.dropLast() + [seconds[0]] {
            guard part.count <= 6, let number = Int64(part), number >= 0 else { return nil }
            total = total * 60 + number
        }
        guard let fraction = Int64(seconds[1]), fraction >= 0 else { return nil }
        return total * 1000 + fraction
    }
}

/// A rendition of subtitles in a local multivariant playlist.
package struct SubtitleRendition: Sendable, Hashable {
    /// The name in a menu.
    package let name: String
    /// The language, BCP 47; empty when unknown.
    package let language: String
    /// The name of its media playlist.
    package let playlist: String

    /// Those of a playlist.
    ///
    /// - Parameter text: a local multivariant playlist.
    /// - Returns: in its order; none for what cannot be read.
    package static func all(in text: String) -> [Self] {
        guard case .multivariant(let playlist)? = try? PlaylistReader.playlist(Array(text.utf8)) else { return [] }
        return playlist.renditions.compactMap { rendition in
            guard rendition.kind == .subtitles, let uri = rendition.uri else { return nil }
            let (name, language) = (rendition.attributes.text("NAME"), rendition.attributes.text("LANGUAGE"))
            return Self(name: name ?? language ?? uri, language: language ?? "", playlist: uri)
        }
    }
}
