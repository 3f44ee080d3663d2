import Foundation
import LectureAdaptive
import LectureFormats
import LectureTestSupport
import Testing

/// The same playlists, read by m3u8, which `Tools/m3u8` installs.
@Suite(
    .enabled(if: OtherReader.python != nil, "Tools/m3u8 could not install m3u8: PyPI was not reachable"))
struct PlaylistDifferentialTests {
    @Test func `Another reader finds the same segments, ranges, keys and maps`() throws {
        var generator = SeededGenerator(seed: 88)
        let generated = (0..<300).map { _ in PlaylistCorpus.generated(&generator) }
        let texts = ["everything", "plain", "iframes"].compactMap { PlaylistCorpus.all[$0] } + generated
        let answers = try OtherReader.read(texts)
        try #require(answers.count == texts.count)
        var compared = 0
        for (text, answer) in zip(texts, answers) {
            guard case .media(let playlist) = try PlaylistReader.playlist(Array(text.utf8)) else { continue }
            #expect(answer.target == playlist.targetDuration && answer.sequence == playlist.mediaSequence)
            #expect(answer.ended == playlist.isEnded)
            try #require(answer.segments.count == playlist.segments.count)
            for (index, (other, own)) in zip(answer.segments, playlist.segments).enumerated() {
                compared += 1
                #expect(other.uri == own.uri && other.title == own.title)
                #expect(abs(other.duration - Double(own.nanoseconds) / 1e9) < 1e-6)
                #expect(other.start == own.byteRange.map { Int64($0.start) })
                #expect(other.count == own.byteRange.map { Int64($0.count) })
                #expect(other.discontinuity == own.isDiscontinuity && other.gap == own.isGap)
                #expect(other.number == playlist.number(ofSegment: index))
                let map = own.map.map { playlist.maps[$0] }
                #expect(other.map == map?.uri)
                #expect(other.mapRange == map?.byteRange.map { "\($0.count)@\($0.start)" })
                // It names the last tag only; here several formats are in force at once.
                let keys = own.keySet.map { playlist.keySets[$0] } ?? []
                #expect(keys.isEmpty == (other.key == nil))
                let spelled = keys.map {
                    "\($0.attributes.text("METHOD") ?? "") \($0.uri ?? "") \($0.attributes.text("IV") ?? "")"
                }
                #expect(other.key.map(spelled.contains) ?? true, "\(other.key ?? "") in \(spelled)")
            }
        }
        #expect(compared > 3000)
    }

    @Test func `Another reader finds the same variants and renditions`() throws {
        // It needs BANDWIDTH, as RFC 8216 section 4.3.4.2 does; we read a variant without one, too.
        let text = (PlaylistCorpus.all["multivariant"] ?? "").replacing("{$token}", with: "t=1")
            .replacing("PROGRAM-ID=1", with: "PROGRAM-ID=1,BANDWIDTH=64000")
        let answer = try #require(try OtherReader.read([text]).first)
        guard case .multivariant(let playlist) = try PlaylistReader.playlist(Array(text.utf8)) else { return }
        let variants = playlist.variants.map { variant in
            let size = variant.resolution.map { "\($0.width)x\($0.height)" } ?? "-"
            return "\(variant.uri) \(variant.bandwidth.map(String.init) ?? "-") \(size) \(variant.codecs ?? "-")"
                + " \(variant.audioGroup ?? "-")"
        }
        #expect(answer.variants == variants)
        let renditions = playlist.renditions.map { rendition in
            "\(rendition.attributes.text("TYPE") ?? "") \(rendition.group) \(rendition.name)"
                + " \(rendition.language ?? "-") \(rendition.uri ?? "-") \(rendition.isDefault)"
        }
        #expect(answer.renditions == renditions)
        #expect(answer.iframes == playlist.iFrameVariants.map(\.uri))
    }
}

/// One process of Python for all playlists.
private enum OtherReader {
    struct Segment: Decodable {
        let uri: String
        let title: String
        let duration: Double
        let start: Int64?
        let count: Int64?
        let key: String?
        let map: String?
        let mapRange: String?
        let discontinuity: Bool
        let gap: Bool
        let number: Int64
    }

    struct Answer: Decodable {
        let target: Int64?
        let sequence: Int64?
        let ended: Bool
        let segments: [Segment]
        let variants: [String]
        let renditions: [String]
        let iframes: [String]
    }

    /// What `Tools/m3u8` has installed; without access to PyPI it is missing.
    static let python: String? = {
        let place = Places.repository() + "/.build/m3u8"
        return (try? FileManager.default.contentsOfDirectory(atPath: place))?.sorted()
            .filter { FileManager.default.fileExists(atPath: "\(place)/\($0)/complete") }
            .map { "\(place)/\($0)/bin/python" }.last
    }()

    private static let script = """
        import json, sys, m3u8

        def segments(playlist):
            end, last = 0, None
            for segment in playlist.segments:
                start = count = None
                if segment.byterange:
                    words = segment.byterange.split("@")
                    count = int(words[0])
                    start = int(words[1]) if len(words) > 1 else end
                    end = start + count
                key, part = segment.key, segment.init_section
                yield {
                    "uri": segment.uri, "title": segment.title or "", "duration": segment.duration, "start": start,
                    "count": count, "discontinuity": segment.discontinuity, "gap": bool(segment.gap_tag),
                    "number": segment.media_sequence, "map": part and part.uri, "mapRange": part and part.byterange,
                    "key": f"{key.method} {key.uri} {key.iv or ''}" if key and key.method != "NONE" else None,
                }

        def answer(text):
            playlist = m3u8.loads(text)
            return {
                "target": playlist.target_duration, "sequence": playlist.media_sequence,
                "ended": bool(playlist.is_endlist), "segments": list(segments(playlist)),
                "variants": [
                    " ".join([
                        variant.uri, str(variant.stream_info.bandwidth or "-"),
                        "x".join(map(str, variant.stream_info.resolution or ())) or "-",
                        variant.stream_info.codecs or "-", variant.stream_info.audio or "-",
                    ]) for variant in playlist.playlists
                ],
                "renditions": [
                    f"{part.type} {part.group_id} {part.name} {part.language or '-'} {part.uri or '-'} "
                    + str(part.default == "YES").lower() for part in playlist.media
                ],
                "iframes": [variant.uri for variant in playlist.iframe_playlists],
            }

        print(json.dumps([answer(text) for text in json.load(sys.stdin)]))
        """

    static func read(_ texts: [String]) throws -> [Answer] {
        let input = [UInt8](try JSONEncoder().encode(texts))
        let ending = try ChildProcess.runBlocking(try #require(python), ["-c", script], input: input)
        #expect(ending.status == 0, "\(ending.errorText)")
        return try JSONDecoder().decode([Answer].self, from: ending.output)
    }
}
