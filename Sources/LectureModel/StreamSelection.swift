import LectureFormats

/// Which streams of an adaptive lecture (HLS, DASH) are kept.
///
/// An adaptive lecture offers the same pictures in several sizes, and often several languages. One size is kept, with
/// the languages that are asked for.
public struct StreamSelection: Sendable, Hashable {
    /// Which variant is kept of those that the limits allow.
    public enum Variant: Sendable, Hashable {
        /// The one with the highest bandwidth.
        case best
        /// The one with the lowest bandwidth.
        case worst
        /// The one with this number, in the order of the playlist; the first is 1. The limits do not apply.
        case number(Int)
    }

    /// How much of a live stream (HLS) is kept.
    public enum Capture: Sendable, Hashable {
        /// All until its end.
        case untilEnd
        /// Until what is kept plays so long, gaps included.
        case duration(Duration)

        /// How much is kept; nil for all.
        package var limit: Duration? { if case .duration(let duration) = self { duration } else { nil } }
    }

    /// Which variant is kept.
    public var variant = Variant.best
    /// The largest height in pixels; nil for any.
    public var maxHeight: Int?
    /// The highest bandwidth in bits per second; nil for any.
    public var maxBandwidth: Int?
    /// Languages of sound that are kept, as BCP 47 names (`ko`, `en-US`), or `all`; empty for the stream's default.
    public var audioLanguages: [String] = []
    /// Languages of subtitles that are kept, as BCP 47 names, or `all`; empty for none.
    public var subtitleLanguages: [String] = []
    /// Whether the lecture is complete without the segments that its server does not have. They stay visible.
    public var allowsGaps = false
    /// How much of a live stream is kept; nil refuses it. A recorded lecture is kept whole.
    public var capture: Capture?

    /// The defaults: the best variant with its own sound, no subtitles, no gaps.
    public init() {}

    /// Whether another selection keeps the same streams.
    package func hasStreams(of other: StreamSelection) -> Bool {
        var same = self
        (same.allowsGaps, same.capture) = (other.allowsGaps, other.capture)
        return same == other
    }

    /// Whether nothing was chosen.
    public var isDefault: Bool { self == StreamSelection() }
}

extension StreamSelection {
    /// The words of the variant: `best`, `worst` or a number.
    ///
    /// - Parameter text: one of them.
    /// - Returns: nil for anything else.
    public static func variant(_ text: String) -> Variant? {
        switch text {
        case "best": .best
        case "worst": .worst
        default: Int(text).flatMap { $0 > 0 ? .number($0) : nil }
        }
    }

    /// As stored: JSON, empty for the defaults. Equal selections are equal texts.
    package var text: String {
        if isDefault { return "" }
        return JSONWriter.object { writer in
            switch variant {
            case .best: break
            case .worst: writer.member("variant", "worst")
            case .number(let number): writer.member("variant", "\(number)")
            }
            writer.member("max_height", maxHeight)
            writer.member("max_bandwidth", maxBandwidth)
            if !audioLanguages.isEmpty {
                writer.array("audio") { list in for language in audioLanguages { list.element(language) } }
            }
            if !subtitleLanguages.isEmpty {
                writer.array("subtitles") { list in for language in subtitleLanguages { list.element(language) } }
            }
            if allowsGaps { writer.member("allow_gaps", true) }
            switch capture {
            case nil: break
            case .untilEnd: writer.member("capture", true)
            case .duration(let duration): writer.member("capture_ms", duration.milliseconds)
            }
        }
    }

    /// Reads a stored selection. Unknown members are left out, since a later version may have written them.
    ///
    /// - Parameter text: JSON, empty for the defaults.
    /// - Throws: ``LectureError`` with `storeDamaged` for text that is not JSON.
    package init(stored text: String) throws(LectureError) {
        self.init()
        if text.isEmpty { return }
        guard let value = try? JSONScanner.value(of: Array(text.utf8)) else {
            throw LectureError(.storeDamaged, cause: "a stored selection cannot be read")
        }
        variant = value["variant"]?.string.flatMap(Self.variant) ?? .best
        maxHeight = value["max_height"]?.integer.map { Int(clamping: $0) }
        maxBandwidth = value["max_bandwidth"]?.integer.map { Int(clamping: $0) }
        audioLanguages = value["audio"]?.elements?.compactMap(\.string) ?? []
        subtitleLanguages = value["subtitles"]?.elements?.compactMap(\.string) ?? []
        allowsGaps = value["allow_gaps"]?.bool ?? false
        if value["capture"]?.bool == true { capture = .untilEnd }
        if let time = value["capture_ms"]?.integer { capture = .duration(.milliseconds(time)) }
    }
}
