import LectureAdaptive
import LectureFormats
import Testing

@Suite struct MediaPlaylistTests {
    @Test func `Every tag of a media playlist has its value`() throws {
        let playlist = try PlaylistCorpus.media("everything")
        #expect(playlist.head.version == 8 && playlist.head.isIndependent)
        #expect(playlist.head.start == PlaylistStart(nanoseconds: -1_500_000_000, isPrecise: true))
        #expect(playlist.targetDuration == 6 && playlist.mediaSequence == 7 && playlist.discontinuitySequence == 3)
        #expect(playlist.type == .event && playlist.isEnded && !playlist.isLive && !playlist.isIFramesOnly)
        #expect(playlist.segments.count == 6 && playlist.totalDuration == .nanoseconds(26_006_666_667))
        #expect(playlist.dateRanges.map { $0.text("ID") } == ["splice-1"])
        #expect(playlist.dateRanges[0]["X-COM-EXAMPLE"] == .quoted("a, b=c"))
        #expect(playlist.encryption == [.aes128, .sampleAES, .sampleAESCTR, .other("ISO-23001-7")])
        let segments = Array(playlist.segments)
        #expect(segments.map(\.uri) == ["all.ts", "all.ts", "b.m4s", "c d ä.m4s", "c.m4s?x=1", "d.m4s"])
        #expect(segments.map(\.title) == ["First, with a comma", "", "", "", "", ""])
        #expect(
            segments.map(\.byteRange) == [
                ByteRange(start: 0, count: 1000), ByteRange(start: 1000, count: 500), nil, nil, nil, nil,
            ])
        #expect(segments.map(\.nanoseconds).prefix(3) == [6_006_000_000, 5_000_000_000, 6_006_006_006])
        #expect(segments.map(\.isDiscontinuity) == [false, false, true, false, true, false])
        #expect(segments.indices.map(playlist.discontinuitySequence(ofSegment:)) == [3, 3, 4, 4, 5, 5])
        #expect(segments.indices.map(playlist.number(ofSegment:)) == [7, 8, 9, 10, 11, 12])
        #expect(segments.map(\.isGap) == [false, false, false, true, false, false])
        #expect(segments.map(\.bitrate) == [nil, nil, 1200, nil, nil, nil])
        #expect(segments[0].programDateTime == "2026-11-26T20:00:00.000+09:00" && segments[1].programDateTime == nil)
        #expect(segments.map(\.map) == [nil, nil, 0, 0, 1, 0])
        #expect(playlist.maps.map(\.uri) == ["init.mp4", "init.mp4"])
        #expect(playlist.maps.map(\.byteRange) == [ByteRange(start: 0, count: 600), nil])
        #expect(playlist.maps.map(\.keySet) == [0, 2])
        #expect(segments.map(\.keySet) == [nil, nil, 1, 1, 2, nil])
    }

    @Test func `Keys replace those of their format, and NONE ends all`() throws {
        let playlist = try PlaylistCorpus.media("everything")
        #expect(playlist.keySets.map { $0.map(\.uri) } == [["k1"], ["k1", "skd://2"], ["k3", "skd://2", "w"]])
        let key = playlist.keySets[0][0]
        #expect(key.method == .aes128 && key.keyFormat == "identity" && key.keyFormatVersions == "1")
        #expect(playlist.keySets[1][1].keyFormat == "com.apple.streamingkeydelivery")
        #expect(playlist.keySets[1][1].keyFormatVersions == "1/2")
    }

    @Test(
        "The vector of a segment is the explicit one, else its number in 16 bytes (RFC 8216 section 5.2)",
        arguments: [
            ("", 0x0102, [UInt8](repeating: 0, count: 14) + [1, 2]),
            (",IV=0x000102030405060708090a0B0C0D0E0F", 9, Array(0...15)),
            (",IV=0X000102030405060708090a0B0C0D0E0F", 9, Array(0...15)),
        ] as [(String, Int64, [UInt8])])
    func vectors(attribute: String, number: Int64, vector: [UInt8]) throws {
        let playlist = try media(
            "#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\(attribute)\n#EXTINF:1,\na")
        let found = playlist.keySets[0][0].initializationVector(forSegment: playlist.number(ofSegment: 0))
        #expect(found == vector)
        #expect(playlist.keySets[0][0].initializationVector == (attribute.isEmpty ? nil : vector))
    }

    @Test(
        "Durations are exact to a nanosecond",
        arguments: [
            ("10", 10_000_000_000), ("0", 0), ("0.000000001", 1), ("9.9766440", 9_976_644_000),
            ("1.0000000005", 1_000_000_001), ("1.00000000049", 1_000_000_000), ("0.9999999999", 1_000_000_000),
            ("9223372036.854775807", .max), ("007.5", 7_500_000_000),
        ] as [(String, Int64)])
    func durations(text: String, nanoseconds: Int64) throws {
        #expect(try media("#EXTINF:\(text),\na").segments[0].nanoseconds == nanoseconds)
    }

    @Test func `A playlist is live until it ends or promises to stay`() throws {
        #expect(try media("").isLive)
        #expect(try media("#EXT-X-PLAYLIST-TYPE:EVENT").isLive)
        #expect(try !media("#EXT-X-PLAYLIST-TYPE:VOD").isLive)
        #expect(try !media("#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-ENDLIST").isLive)
    }

    @Test func `Every tag of a multivariant playlist has its value`() throws {
        guard case .multivariant(let playlist) = try PlaylistCorpus.read("multivariant") else { return }
        #expect(playlist.head.version == 6 && playlist.head.isIndependent)
        #expect(playlist.definitions == [PlaylistDefinition(name: "token", value: "t=1")])
        let first = playlist.variants[0]
        #expect(first.uri == "hd.m3u8?t=1" && first.bandwidth == 5_000_000 && first.averageBandwidth == 4_500_000)
        #expect(first.codecs == "avc1.640028,mp4a.40.2" && first.frameRate == 29_970 && first.videoRange == "SDR")
        #expect(first.resolution?.width == 1920 && first.resolution?.height == 1080 && first.pathway == "A")
        #expect(first.audioGroup == "aac" && first.subtitlesGroup == "subs" && first.videoGroup == nil)
        #expect(playlist.variants[2].bandwidth == nil && playlist.variants[2].resolution == nil)
        #expect(playlist.renditions.map(\.kind) == [.audio, .audio, .subtitles, .closedCaptions, .video, nil])
        #expect(playlist.renditions.map(\.uri) == ["ko.m3u8", nil, "sub.m3u8", nil, nil, nil])
        let korean = playlist.renditions[0]
        #expect(korean.group == "aac" && korean.name == "한국어" && korean.language == "ko")
        #expect(korean.isDefault && korean.isAutoselected && playlist.renditions[2].isForced)
        #expect(playlist.iFrameVariants.map(\.uri) == ["iframes.m3u8"])
        #expect(playlist.sessionKeys.map(\.method) == [.sampleAES])
        #expect(playlist.sessionData.map { $0.text("DATA-ID") } == ["com.example.title"])
    }
}
