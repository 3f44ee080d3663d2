/// Width and height of pictures, in pixels.
package struct PictureSize: Hashable, Sendable {
    /// The number of columns.
    package let width: Int64
    /// The number of lines.
    package let height: Int64

    /// Reads `1280x720`; nil for anything else.
    init?(_ text: String) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard parts.count == 2, let width = PlaylistNumber.integer(parts[0]),
            let height = PlaylistNumber.integer(parts[1])
        else { return nil }
        (self.width, self.height) = (width, height)
    }
}

/// A variant, or one of I-frames only (RFC 8216 sections 4.3.4.2 and 4.3.4.3). What is missing or malformed is nil.
package struct PlaylistVariant: Hashable, Sendable {
    /// The URI of its media playlist, as written.
    package var uri: String
    /// All attributes; of a variant of I-frames without the URI.
    package var attributes: AttributeList

    /// Creates a variant.
    ///
    /// - Parameters:
    ///   - uri: the URI of its media playlist.
    ///   - attributes: all others.
    package init(uri: String, attributes: AttributeList) {
        self.uri = uri
        self.attributes = attributes
    }

    /// Compares URIs by bytes.
    package static func == (left: Self, right: Self) -> Bool {
        left.uri.utf8.elementsEqual(right.uri.utf8) && left.attributes == right.attributes
    }

    /// The peak bit rate in bit/s.
    package var bandwidth: Int64? { attributes.integer("BANDWIDTH") }
    /// The average bit rate in bit/s.
    package var averageBandwidth: Int64? { attributes.integer("AVERAGE-BANDWIDTH") }
    /// The formats, separated by commas (RFC 6381).
    package var codecs: String? { attributes.text("CODECS") }
    /// The size of the pictures.
    package var resolution: PictureSize? { attributes.text("RESOLUTION").flatMap(PictureSize.init) }
    /// Pictures in 1,000 seconds.
    package var frameRate: Int64? {
        attributes.text("FRAME-RATE").flatMap { PlaylistNumber.nanoseconds(Array($0.utf8)[...]) }.map { $0 / 1_000_000 }
    }
    /// `SDR`, `HLG` or `PQ`.
    package var videoRange: String? { attributes.text("VIDEO-RANGE") }
    /// The group of its audio renditions.
    package var audioGroup: String? { attributes.text("AUDIO") }
    /// The group of its video renditions.
    package var videoGroup: String? { attributes.text("VIDEO") }
    /// The group of its subtitles.
    package var subtitlesGroup: String? { attributes.text("SUBTITLES") }
    /// The servers that it belongs to (rfc8216bis section 4.4.6.2).
    package var pathway: String? { attributes.text("PATHWAY-ID") }
}

/// A rendition (RFC 8216 section 4.3.4.1).
package struct PlaylistRendition: Hashable, Sendable {
    /// What a rendition is.
    package enum Kind: String, Sendable {
        /// Sound.
        case audio = "AUDIO"
        /// Pictures.
        case video = "VIDEO"
        /// Subtitles.
        case subtitles = "SUBTITLES"
        /// Closed captions inside the video.
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    /// All attributes.
    package var attributes: AttributeList

    /// Creates a rendition.
    ///
    /// - Parameter attributes: with `TYPE`, `GROUP-ID` and `NAME`.
    package init(attributes: AttributeList) { self.attributes = attributes }

    /// What it is; nil for a type that is not known.
    package var kind: Kind? { attributes.text("TYPE").flatMap(Kind.init) }
    /// The group that variants name.
    package var group: String { attributes.text("GROUP-ID") ?? "" }
    /// A name for people.
    package var name: String { attributes.text("NAME") ?? "" }
    /// The language (BCP 47).
    package var language: String? { attributes.text("LANGUAGE") }
    /// The URI of its media playlist as written; nil when it is in the variant's own stream.
    package var uri: String? { attributes.text("URI") }
    /// Whether it is played without a choice.
    package var isDefault: Bool { attributes.isYes("DEFAULT") }
    /// Whether a player may choose it because of its language.
    package var isAutoselected: Bool { attributes.isYes("AUTOSELECT") }
    /// Whether it is essential, for subtitles.
    package var isForced: Bool { attributes.isYes("FORCED") }
}

/// Variants of one lecture, and renditions that they share (RFC 8216 section 4.3.4).
package struct MultivariantPlaylist: Hashable, Sendable {
    /// What both kinds of playlists have.
    package var head = PlaylistHead()
    /// Variables, which media playlists may import.
    package var definitions: [PlaylistDefinition] = []
    /// The variants, in their order.
    package var variants: [PlaylistVariant] = []
    /// The variants of I-frames only.
    package var iFrameVariants: [PlaylistVariant] = []
    /// The renditions, in their order.
    package var renditions: [PlaylistRendition] = []
    /// Keys of segments, named beforehand.
    package var sessionKeys: [PlaylistKey] = []
    /// The attributes of session data.
    package var sessionData: [AttributeList] = []

    /// Creates an empty playlist.
    package init() {}
}
