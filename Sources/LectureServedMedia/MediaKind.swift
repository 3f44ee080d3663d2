import LectureFormats

/// The media type of a file, from its first bytes.
package enum MediaKind {
    /// Recognises a container.
    ///
    /// - Parameter bytes: the first bytes.
    /// - Returns: the type; `application/octet-stream` for what is unknown.
    package static func type(of bytes: [UInt8]) -> String {
        func has(_ text: String, at place: Int = 0) -> Bool {
            bytes.dropFirst(place).starts(with: text.utf8)
        }
        if has("ftyp", at: 4) {
            if has("M4A", at: 8) || has("M4B", at: 8) { return "audio/mp4" }
            return has("qt  ", at: 8) ? "video/quicktime" : "video/mp4"
        }
        if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            let isWebM = bytes.prefix(64).split(separator: UInt8(ascii: "w")).contains { $0.starts(with: "ebm".utf8) }
            return isWebM ? "video/webm" : "video/x-matroska"
        }
        if has("RIFF") { return has("WAVE", at: 8) ? "audio/wav" : "video/x-msvideo" }
        if has("OggS") { return "application/ogg" }
        if has("fLaC") { return "audio/flac" }
        if has("FLV") { return "video/x-flv" }
        if has("ID3") || bytes.count > 1 && bytes[0] == 0xFF && bytes[1] & 0xE6 == 0xE2 { return "audio/mpeg" }
        if bytes.count > 188, bytes[0] == 0x47, bytes[188] == 0x47 { return "video/mp2t" }
        return "application/octet-stream"
    }
}

/// The secret part of a URL.
package enum PlayToken {
    /// A new one, of 256 bits from the system's generator.
    ///
    /// - Returns: letters, digits, `-` and `_`.
    package static func make() -> String {
        var random = SystemRandomNumberGenerator()
        return Base64URL.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// Compares without a difference in time that depends on where they differ.
    ///
    /// - Parameters:
    ///   - one: a text.
    ///   - other: another one.
    /// - Returns: whether they are equal.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
