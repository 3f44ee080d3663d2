import Foundation
import LectureDownload
import LectureModel
import Testing

/// Which first bytes are those of a lecture, and which are not.
struct FirstBytesTests {
    /// The start of a real file, made by `Tools/make-container-heads`.
    struct Head: Sendable, CustomTestStringConvertible {
        let name: String
        /// The format that ffprobe reports; nil for bare samples, which cannot be recognised.
        let format: String?
        let mediaType: String
        let bytes: [UInt8]

        var testDescription: String { name }
    }

    static let heads: [Head] = {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Containers/heads.tsv")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 4, let data = Data(base64Encoded: parts[3]) else { return nil }
            return Head(
                name: parts[0], format: parts[1] == "-" ? nil : parts[1], mediaType: parts[2], bytes: [UInt8](data))
        }
    }()

    /// Astronomical images, a game's sounds without a signature, and one whose first bytes are a length.
    private static let withoutSignature: Set<String> = ["fits", "wsaud", "apm", "f64be", "f64le"]

    @Test func `more than a hundred real files are recognised, whatever their declared type`() {
        let known = Self.heads.filter { $0.format != nil && !Self.withoutSignature.contains($0.name) }
        #expect(known.count > 115)
        for head in known {
            for type in ["video/mp4", "audio/mpeg", head.mediaType, "application/octet-stream", nil] {
                let refusal = FirstBytes.refusal(head.bytes, mediaType: type)
                #expect(refusal == nil, "\(head.name) as \(type ?? "nothing"): \(refusal?.cause ?? "")")
            }
        }
    }

    @Test func `a truncated file is recognised as well`() {
        for name in [
            "mp4", "matroska", "mpegts", "m2ts", "ts-cut", "m2ts-cut", "mp3-bare", "wav", "flac", "h264", "dts",
        ] {
            guard let head = Self.heads.first(where: { $0.name == name }) else {
                Issue.record("there is no \(name)")
                continue
            }
            for count in [620, 640] {
                #expect(FirstBytes.refusal(Array(head.bytes.prefix(count)), mediaType: "video/mp4") == nil)
            }
        }
    }

    @Test(arguments: [
        ("#EXTM3U\n#EXT-X-VERSION:3\n", "an HLS playlist"), ("\u{FEFF}#EXTM3U\r\n", "an HLS playlist"),
        ("<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">", "a DASH manifest"),
        ("<!-- made today -->\n<mpd>", "a DASH manifest"),
        ("<SmoothStreamingMedia MajorVersion=\"2\">", "a Smooth Streaming manifest"),
    ])
    func `a playlist is recognised under any type`(text: String, cause: String) {
        for type in ["application/octet-stream", "video/mp4", "video/mp2t", nil] {
            let refusal = FirstBytes.refusal(Array(text.utf8), mediaType: type)
            #expect(refusal?.code == .playlistUnsupported && refusal?.cause == cause)
        }
    }

    @Test(arguments: [
        ("Please sign in to the network.", "it is text"), ("{\"error\":\"denied\"}", "it is JSON"),
        ("  [1, 2]", "it is JSON"), ("<!DOCTYPE html><p>", "it is a web page"),
        ("<?xml version='1.0'?><html>", "it is a web page"),
        ("<Error><Code>AccessDenied</Code></Error>", "it is text"), ("RIFF is a container format", "it is text"),
        ("로그인하세요", "it is text"), ("not found\n", "it is text"), ("a", "it is text"),
    ])
    func `text is not a lecture under any type`(text: String, cause: String) {
        for type in ["application/octet-stream", "video/mp4", "audio/mpeg", "text/plain", "application/pdf", nil] {
            let refusal = FirstBytes.refusal(Array(text.utf8), mediaType: type)
            #expect(refusal?.code == .notMedia && refusal?.cause == cause)
        }
    }

    @Test func `UTF-16 text, and text cut in the middle of a character, is text`() {
        let letters = Array("Sign in".utf8)
        let wide: [UInt8] = letters.reduce(into: [0xFF, 0xFE]) { $0 += [$1, 0] }
        let big: [UInt8] = letters.reduce(into: [0xFE, 0xFF]) { $0 += [0, $1] }
        let cut = Array(String(repeating: "가", count: 2000).utf8.prefix(FirstBytes.length))
        for bytes in [wide, big, cut] {
            #expect(FirstBytes.refusal(bytes, mediaType: "video/mp4")?.cause == "it is text")
        }
    }

    @Test func `an empty file is not a lecture`() {
        #expect(FirstBytes.refusal([], mediaType: "video/mp4")?.cause == "the file is empty")
        #expect(FirstBytes.refusal([], mediaType: nil)?.code == .notMedia)
    }

    @Test func `other data is accepted, but not as video or audio`() {
        let archive: [UInt8] = Array("PK".utf8) + [3, 4, 20, 0, 0, 0, 8, 0]
        let random = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 3) }
        for bytes in [archive, random, [0], [0xFF], [UInt8](repeating: 0, count: 4096)] {
            #expect(FirstBytes.refusal(bytes, mediaType: "application/octet-stream") == nil)
            #expect(FirstBytes.refusal(bytes, mediaType: nil) == nil)
            let refusal = FirstBytes.refusal(bytes, mediaType: "video/mp4")
            #expect(refusal?.cause == "it is labelled video/mp4 and starts like no known media format")
        }
        #expect(FirstBytes.refusal(Array("%PDF-1.4\n1 0 obj\n".utf8), mediaType: "application/pdf") == nil)
    }

    @Test func `bare samples are accepted where their type says so`() {
        #expect(FirstBytes.refusal([0x80, 0x81, 0x82, 0x83], mediaType: "audio/l16") == nil)
        #expect(FirstBytes.refusal([0x80, 0x81, 0x82, 0x83], mediaType: "audio/mp4") != nil)
    }

    @Test(arguments: [
        ("<!DOCTYPE html><p>", "it is a web page"), ("\u{FEFF} <HTML>", "it is a web page"),
        ("#EXTM3U\n#EXTINF:9,\n0.ts\n", "an HLS playlist"), ("<?xml version='1.0'?><MPD>", "a DASH manifest"),
        ("<SmoothStreamingMedia>", "a Smooth Streaming manifest"), ("WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n", nil),
        ("<?xml version='1.0'?><tt xmlns='http://www.w3.org/ns/ttml'>", nil), ("0123456789abcdef", nil), ("", nil),
        ("{\"a\":1}", nil), ("#EXT", nil), ("ID3", nil),
    ])
    func `what a playlist names may be text or encrypted, but neither a page nor a playlist`(
        text: String, cause: String?
    ) {
        let refusal = FirstBytes.streamRefusal(Array(text.utf8))
        #expect(refusal?.cause == cause && (refusal == nil || refusal?.code == .notMedia))
    }
}
