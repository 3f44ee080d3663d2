import LectureFormats
package import LectureModel

/// Decides by the first bytes whether a body can be a lecture.
///
/// Sign-in pages, error messages and playlists come under any media type, also as `video/mp4`, and with any name. So a
/// body of a media type must start like a known container or elementary stream (``MediaSignature``); text is refused
/// under every type. Binary data of any other type, such as an archive, is accepted.
package enum FirstBytes {
    /// How many bytes are inspected. A transport stream needs a few packets of 188 to 204 bytes, and binary data that
    /// starts like text should have shown other bytes by then.
    package static let length = 4096

    /// Why a body is refused.
    package struct Refusal: Hashable, Sendable {
        /// `notMedia` or `playlistUnsupported`.
        package let code: LectureError.Code
        /// What the body seems to be, as the cause of an error.
        package let cause: String
    }

    /// Inspects the start of a body.
    ///
    /// - Parameters:
    ///   - bytes: the first ``length`` bytes, or all of a shorter body.
    ///   - mediaType: its media type according to the server, lower-cased and without parameters; nil without one.
    /// - Returns: why it is not a lecture; nil when it may be one.
    package static func refusal(_ bytes: [UInt8], mediaType: String?) -> Refusal? {
        if bytes.isEmpty { return Refusal(code: .notMedia, cause: "the file is empty") }
        let text = Text(bytes)
        if let refusal = text.markup { return refusal }
        let isMedia = mediaType.map { $0.hasPrefix("video/") || $0.hasPrefix("audio/") } ?? false
        if text.isText {
            // A document may start with a line of text.
            if !isMedia, bytes.starts(with: "%PDF-".utf8) { return nil }
            return Refusal(code: .notMedia, cause: text.looksLikeJSON ? "it is JSON" : "it is text")
        }
        guard isMedia, let mediaType, !headless.contains(mediaType), !MediaSignature.isKnown(bytes) else { return nil }
        return Refusal(code: .notMedia, cause: "it is labelled \(mediaType) and starts like no known media format")
    }

    /// The media type of a playlist whose files can be fetched.
    ///
    /// - Parameter bytes: as above.
    /// - Returns: that of an HLS playlist or of a DASH manifest; nil for everything else.
    package static func playlistType(_ bytes: [UInt8]) -> String? { Text(bytes).playlistType }

    /// Whether a body is a web page, regardless of its media type.
    ///
    /// - Parameter bytes: as above.
    /// - Returns: true for HTML.
    package static func isPage(_ bytes: [UInt8]) -> Bool { Text(bytes).isPage }

    /// Inspects the start of a file that a playlist names. It may be encrypted or text, so only what stands in for it
    /// is known: a web page, or a playlist from a server that answers everything alike.
    ///
    /// - Parameter bytes: as above.
    /// - Returns: why it is not a part of a lecture; nil when it may be one.
    package static func streamRefusal(_ bytes: [UInt8]) -> Refusal? {
        Text(bytes).markup.map { Refusal(code: .notMedia, cause: $0.cause) }
    }

    /// Types without a signature at the start: bare samples.
    private static let headless: Set<String> = [
        "audio/basic", "audio/l8", "audio/l16", "audio/l20", "audio/l24", "audio/pcm", "audio/pcma", "audio/pcmu",
        "audio/g722", "audio/g723", "audio/g726-16", "audio/g726-24", "audio/g726-32", "audio/g726-40", "audio/g729",
        "audio/gsm", "audio/x-gsm", "audio/aptx", "video/raw", "video/x-raw",
    ]
}

/// The start of a body, read as text.
private struct Text {
    /// Whether all bytes can be text.
    let isText: Bool
    private let start: [UInt8]

    init(_ bytes: [UInt8]) {
        var rest = bytes.prefix(FirstBytes.length)
        if rest.starts(with: [0xFF, 0xFE]) || rest.starts(with: [0xFE, 0xFF]) {
            // UTF-16: for the ASCII characters that matter here, every second byte.
            let isBig = rest.first == 0xFE
            let units = rest.dropFirst(2).enumerated().filter { ($0.offset % 2 == 1) == isBig }.map(\.element)
            isText = units.allSatisfy(Self.isPrintable)
            start = Self.lowered(units[...])
            return
        }
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        isText = rest.allSatisfy(Self.isPrintable) && Self.isUTF8(rest)
        start = Self.lowered(rest)
    }

    /// Leading white space is dropped; an ASCII capital differs from its small letter in one bit.
    private static func lowered(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }.prefix(1024)
            .map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func isPrintable(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || (0x09...0x0D).contains(byte) || byte == 0x1B
    }

    /// Whether the bytes are UTF-8, except for a last character that may be cut.
    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        (0...3).contains { cut in cut < bytes.count && String(validating: bytes.dropLast(cut), as: UTF8.self) != nil }
    }

    private func begins(with text: String) -> Bool { start.starts(with: text.utf8) }

    private func holds(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard start.count >= wanted.count else { return false }
        return (0...start.count - wanted.count).contains { start[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }

    var playlistType: String? {
        if begins(with: "#extm3u") { return MediaType.hls }
        return begins(with: "<") && !isPage && holds("<mpd") ? MediaType.dash : nil
    }

    var isPage: Bool { begins(with: "<!doctype html") || begins(with: "<html") }
    var looksLikeJSON: Bool { begins(with: "{") || begins(with: "[") }

    /// A page or a playlist that is recognised by its markup.
    var markup: FirstBytes.Refusal? {
        if begins(with: "#extm3u") { return FirstBytes.Refusal(code: .playlistUnsupported, cause: "an HLS playlist") }
        if isPage { return FirstBytes.Refusal(code: .notMedia, cause: "it is a web page") }
        guard begins(with: "<") else { return nil }
        if holds("<mpd") { return FirstBytes.Refusal(code: .playlistUnsupported, cause: "a DASH manifest") }
        if holds("<smoothstreamingmedia") {
            return FirstBytes.Refusal(code: .playlistUnsupported, cause: "a Smooth Streaming manifest")
        }
        if holds("<html") { return FirstBytes.Refusal(code: .notMedia, cause: "it is a web page") }
        return nil
    }
}
