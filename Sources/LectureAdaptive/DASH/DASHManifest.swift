package import LectureFormats

/// A manifest of MPEG-DASH for media on demand (ISO/IEC 23009-1), resolved: every address is absolute, and what outer
/// elements say is in each representation.
package struct DASHManifest: Hashable, Sendable {
    /// `mediaPresentationDuration` in microseconds, nil when the manifest does not say.
    package let duration: UInt64?
    /// The periods in their order, at least one; those without a duration of their own are left out.
    package let periods: [DASHPeriod]

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - root: the outermost element.
    ///   - url: where the manifest came from, after redirects: an absolute http or https URL.
    /// - Throws: ``DASHError``.
    package init(_ root: XMLElement, url: String) throws(DASHError) {
        var reader = DASHReader()
        (duration, periods) = try reader.manifest(root, at: url)
    }
}

/// A part of a presentation, one after the other in time.
package struct DASHPeriod: Hashable, Sendable {
    /// Its id, nil when it has none.
    package let id: String?
    /// When it starts, in microseconds from the start of the presentation.
    package let start: UInt64
    /// How long it is, in microseconds; nil when the manifest does not say.
    package let duration: UInt64?
    /// Its adaptation sets in their order.
    package let tracks: [DASHTrack]
    /// Why adaptation sets and representations were left out: a sentence for each.
    package let skipped: [String]
}

/// An adaptation set: the same content in several qualities.
package struct DASHTrack: Hashable, Sendable {
    /// What it is.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Pictures, perhaps with sound.
        case video
        /// Sound.
        case audio
        /// Timed text.
        case subtitles
        /// Thumbnails, data.
        case other
    }

    /// Its id, nil when it has none.
    package let id: String?
    /// What it is.
    package let kind: Kind
    /// A language tag (RFC 5646) as written, nil when it has none.
    package let language: String?
    /// Its roles of `urn:mpeg:dash:role:2011`, such as `main`.
    package let roles: [String]
    /// Its representations in their order, at least one.
    package let representations: [DASHRepresentation]
}

/// A quality of a track.
package struct DASHRepresentation: Hashable, Sendable {
    /// The container, by the media type (ISO/IEC 23009-1 section 5.3.7.2).
    package enum Container: Hashable, Sendable {
        /// ISO base media, fragmented.
        case mp4
        /// WebM.
        case webM
        /// An MPEG-2 transport stream.
        case transportStream
        /// WebVTT, by itself.
        case webVTT
        /// TTML, by itself.
        case ttml
        /// Another, or none is named.
        case other
    }

    /// Where the media are.
    package enum Media: Hashable, Sendable {
        /// Segments that the manifest describes. A representation in one file without an index has one.
        case segments(DASHSegments)
        /// A file whose segments are in its index.
        case indexed(DASHIndexedFile)
    }

    /// What is said of the media itself.
    package struct Format: Hashable, Sendable {
        /// The media type in lower case without parameters, empty when none is named.
        package let mimeType: String
        /// The codecs (RFC 6381) as written, empty when none are named.
        package let codecs: String
        /// The width of the pictures, nil when it is not named.
        package let width: UInt64?
        /// The height of the pictures, nil when it is not named.
        package let height: UInt64?
        /// Samples of sound in a second, nil when it is not named; the first of a range.
        package let samplingRate: UInt64?
        /// Pictures in 1,000 seconds, rounded; nil when it is not named.
        package let frameRate: UInt64?
    }

    /// Its id, unique in its period; nil when it has none.
    package let id: String?
    /// Bits per second, 0 when it is not named.
    package let bandwidth: UInt64
    /// What is said of the media itself.
    package let format: Format
    /// The systems that protect it; empty when it is clear.
    package let protections: [DASHProtection]
    /// Where the media are.
    package let media: Media
    /// Its base addresses in their order; what is resolved uses the first.
    package let bases: [String]

    /// The container, by the media type.
    package var container: Container {
        switch format.mimeType {
        case "video/mp4", "audio/mp4", "application/mp4": .mp4
        case "video/webm", "audio/webm": .webM
        case "video/mp2t", "audio/mp2t": .transportStream
        case "text/vtt": .webVTT
        case "application/ttml+xml": .ttml
        default: .other
        }
    }
}
