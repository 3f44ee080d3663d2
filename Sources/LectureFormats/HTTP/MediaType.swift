/// The media type of an answer, lower-cased and without parameters (RFC 9110 section 8.3.1).
package struct MediaType: Hashable, Sendable {
    /// Type and subtype, for example `video/mp4`.
    package let essence: String

    /// Reads a `Content-Type` value.
    ///
    /// - Parameter value: the field value; parameters after `;` are dropped.
    package init?(_ value: String) {
        let essence = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        let parts = FieldText.trimmed(Substring(essence)).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ FieldText.isToken($0) }) else { return nil }
        self.essence = FieldText.lowercased("\(parts[0])/\(parts[1])")
    }

    /// The media type of a content descriptor.
    package static let descriptor = "application/vnd.lecturekit.descriptor+json"

    /// The media type of an HLS playlist (RFC 8216 section 10).
    package static let hls = "application/vnd.apple.mpegurl"

    /// The media type of a DASH manifest (ISO/IEC 23009-1, annex C).
    package static let dash = "application/dash+xml"

    /// Whether this is a content descriptor.
    package var isDescriptor: Bool { essence == Self.descriptor }

    /// Whether this is an HLS playlist (RFC 8216 section 4, with the older spellings) or a DASH manifest (ISO/IEC
    /// 23009-1, annex C).
    package var isPlaylist: Bool {
        [
            Self.hls, "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl", Self.dash,
        ].contains(essence)
    }

    /// Whether this is a DASH manifest.
    package var isManifest: Bool { essence == Self.dash }

    /// Whether this is XML without a more exact type (RFC 7303 section 9).
    package var isXML: Bool { essence == "application/xml" || essence == "text/xml" }

    /// Whether this is a page for people.
    package var isPage: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    /// Whether this is data for programs, as servers use it for errors; media never is.
    package var isMessage: Bool {
        ["application/json", "application/problem+json", "application/xml", "application/problem+xml", "text/xml"]
            .contains(essence)
    }

    /// Whether this is a body of several ranges.
    package var isMultipartRanges: Bool { essence == "multipart/byteranges" }
}
