package import LectureFormats

/// An HLS playlist (RFC 8216, draft-pantos-hls-rfc8216bis).
package enum Playlist: Hashable, Sendable {
    /// Variants of one lecture, each with a media playlist of its own.
    case multivariant(MultivariantPlaylist)
    /// The segments of one variant or rendition.
    case media(MediaPlaylist)
}

/// A variable that is defined (rfc8216bis section 4.4.2.3).
package struct PlaylistDefinition: Hashable, Sendable {
    /// The name: letters, digits, `-` and `_`.
    package var name: String
    /// The value, in which nothing is replaced.
    package var value: String

    /// Creates a definition.
    ///
    /// - Parameters:
    ///   - name: letters, digits, `-` and `_`.
    ///   - value: without quotes, control characters and references.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Where to begin to play (RFC 8216 section 4.3.5.2).
package struct PlaylistStart: Hashable, Sendable {
    /// The place in nanoseconds, from the end when negative.
    package var nanoseconds: Int64
    /// Whether what is before the place in its segment is not to be shown.
    package var isPrecise: Bool

    /// Creates a place.
    ///
    /// - Parameters:
    ///   - nanoseconds: the place, from the end when negative.
    ///   - isPrecise: whether what is before it is not to be shown.
    package init(nanoseconds: Int64, isPrecise: Bool = false) {
        self.nanoseconds = nanoseconds
        self.isPrecise = isPrecise
    }
}

/// What both kinds of playlists have.
package struct PlaylistHead: Hashable, Sendable {
    /// The version of the format; nil without the tag, which means 1.
    package var version: Int64?
    /// Whether each segment can be decoded without others.
    package var isIndependent = false
    /// Where to begin to play.
    package var start: PlaylistStart?

    /// Creates the head of a playlist without any tag.
    package init() {}
}

/// The encryption of segments (RFC 8216 section 4.3.2.4), or a key that a multivariant playlist names beforehand.
package struct PlaylistKey: Hashable, Sendable {
    /// How segments are encrypted.
    package enum Method: Hashable, Sendable {
        /// Not at all; only in a tag, never in a key set.
        case none
        /// Whole segments with AES-128 in CBC mode.
        case aes128
        /// Samples, with AES-128 in CBC mode.
        case sampleAES
        /// Samples, with AES-128 in CTR mode (ISO/IEC 23001-7).
        case sampleAESCTR
        /// A method that is not known.
        case other(String)
    }

    /// All attributes.
    package var attributes: AttributeList

    /// Creates a key.
    ///
    /// - Parameter attributes: with `METHOD` and `URI`.
    package init(attributes: AttributeList) { self.attributes = attributes }

    /// How segments are encrypted.
    package var method: Method {
        switch attributes.text("METHOD") {
        case "NONE": .none
        case "AES-128": .aes128
        case "SAMPLE-AES": .sampleAES
        case "SAMPLE-AES-CTR": .sampleAESCTR
        case let other: .other(other ?? "")
        }
    }

    /// The URI of the key as written.
    package var uri: String? { attributes.text("URI") }

    /// What the URI stands for; `identity`, the key itself in 16 bytes, when it is missing.
    package var keyFormat: String { attributes.text("KEYFORMAT") ?? "identity" }

    /// The versions of the key format; `1` when they are missing.
    package var keyFormatVersions: String { attributes.text("KEYFORMATVERSIONS") ?? "1" }

    /// The explicit initialization vector, 16 bytes; nil without one.
    package var initializationVector: [UInt8]? { attributes.text("IV").flatMap(Self.vector) }

    /// The vector of a segment with `AES-128` (RFC 8216 section 5.2).
    ///
    /// - Parameter number: the media sequence number of the segment. A map has none: the RFC requires that a key of a
    ///   map has an explicit vector.
    /// - Returns: the explicit vector, else the number in 16 bytes, big endian.
    package func initializationVector(forSegment number: Int64) -> [UInt8] {
        initializationVector ?? [UInt8](repeating: 0, count: 8) + number.bigEndianBytes
    }

    static func vector(_ text: String) -> [UInt8]? {
        guard text.utf8.starts(with: "0x".utf8) || text.utf8.starts(with: "0X".utf8) else { return nil }
        let bytes = Hexadecimal.bytes(Substring(text.utf8.dropFirst(2)))
        return bytes?.count == 16 ? bytes : nil
    }
}

/// A media initialization section (RFC 8216 section 4.3.2.5).
package struct PlaylistMap: Hashable, Sendable {
    /// All attributes.
    package var attributes: AttributeList
    /// The index of the keys in force at its tag in ``MediaPlaylist/keySets``; nil when it is not encrypted.
    package var keySet: Int?

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - attributes: with `URI`.
    ///   - keySet: the index of its keys.
    package init(attributes: AttributeList, keySet: Int? = nil) {
        self.attributes = attributes
        self.keySet = keySet
    }

    /// The URI as written.
    package var uri: String { attributes.text("URI") ?? "" }

    /// The bytes of the resource, nil for all of it; without an offset they begin with the first byte.
    package var byteRange: ByteRange? {
        attributes.text("BYTERANGE").flatMap { Self.range(Array($0.utf8)[...], following: 0) }
    }

    /// A range `length@offset` or `length`.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - end: the offset of a range without one; nil when there is none.
    /// - Returns: the range; nil when it is malformed, empty or beyond 2^63.
    static func range(_ bytes: ArraySlice<UInt8>, following end: UInt64?) -> ByteRange? {
        let at = bytes.firstIndex(of: UInt8(ascii: "@"))
        let offset = at.map { PlaylistNumber.integer(PlaylistText.trimmed(bytes[($0 + 1)...])) } ?? end.map(Int64.init)
        guard let offset, let count = PlaylistNumber.integer(PlaylistText.trimmed(bytes[..<(at ?? bytes.endIndex)])),
            let range = ByteRange(start: UInt64(offset), count: UInt64(count)), range.end <= UInt64(Int64.max)
        else { return nil }
        return range
    }
}

/// The segments of a variant or a rendition (RFC 8216 section 4.3.3).
package struct MediaPlaylist: Hashable, Sendable {
    /// What a playlist promises about its changes.
    package enum PlaylistType: String, Sendable {
        /// Segments are only added.
        case event = "EVENT"
        /// Nothing changes.
        case video = "VOD"
    }

    /// What both kinds of playlists have.
    package var head = PlaylistHead()
    /// The longest duration of a segment in seconds, rounded; where the tag is missing, that of the segments.
    package var targetDuration: Int64
    /// The media sequence number of the first segment.
    package var mediaSequence: Int64 = 0
    /// The discontinuity sequence number before the first segment.
    package var discontinuitySequence: Int64 = 0
    /// What the playlist promises about its changes.
    package var type: PlaylistType?
    /// Whether no more segments will be added.
    package var isEnded = false
    /// Whether each segment is one I-frame.
    package var isIFramesOnly = false
    /// The media initialization sections, in the order of their first segments.
    package var maps: [PlaylistMap] = []
    /// The keys that are in force together: one for each key format, all of which lead to the same content key.
    package var keySets: [[PlaylistKey]] = []
    /// The attributes of date ranges.
    package var dateRanges: [AttributeList] = []
    /// The segments.
    package var segments = SegmentTable()

    /// Creates a playlist without segments.
    ///
    /// - Parameter targetDuration: the longest duration of a segment in seconds, rounded.
    package init(targetDuration: Int64) { self.targetDuration = targetDuration }

    /// Compares all values; texts of segments by bytes.
    package static func == (left: Self, right: Self) -> Bool {
        left.head == right.head && left.targetDuration == right.targetDuration
            && left.mediaSequence == right.mediaSequence && left.discontinuitySequence == right.discontinuitySequence
            && left.type == right.type && left.isEnded == right.isEnded && left.isIFramesOnly == right.isIFramesOnly
            && left.maps == right.maps && left.keySets == right.keySets && left.dateRanges == right.dateRanges
            && left.segments == right.segments
    }

    /// Hashes the number of segments and that of the first.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(mediaSequence)
        hasher.combine(segments.count)
    }

    /// The sum of all durations.
    package var totalDuration: Duration { segments.rows.reduce(.zero) { $0 + .nanoseconds($1.nanoseconds) } }

    /// Whether segments may be added: it has no end and does not promise to stay as it is.
    package var isLive: Bool { !isEnded && type != .video }

    /// The methods of all keys that segments or maps use.
    package var encryption: Set<PlaylistKey.Method> { Set(keySets.joined().map(\.method)) }

    /// The media sequence number of a segment (RFC 8216 section 3).
    ///
    /// - Parameter index: its index.
    /// - Returns: the number.
    package func number(ofSegment index: Int) -> Int64 { mediaSequence + Int64(index) }

    /// The discontinuity sequence number of a segment (RFC 8216 section 4.3.3.3).
    ///
    /// - Parameter index: its index.
    /// - Returns: the number.
    package func discontinuitySequence(ofSegment index: Int) -> Int64 {
        discontinuitySequence + Int64(segments.rows[index].discontinuities)
    }
}
