import LectureFormats

/// Which languages are chosen.
package enum LanguageChoice: Hashable, Sendable {
    /// What the playlist plays without a choice: one audio rendition, no subtitles.
    case standard
    /// Those whose language is one of these ranges or begins with it and `-` (RFC 4647 section 3.3.1).
    case ranges([String])
    /// All.
    case all

    /// The places of the ranges that match a language, in their order.
    ///
    /// - Parameter language: a language tag (BCP 47), nil when it is not known.
    /// - Returns: the index of the first range that matches, nil without one.
    func place(of language: String?) -> Int? {
        switch self {
        case .standard: nil
        case .all: 0
        case .ranges(let ranges): ranges.firstIndex { Self.matches($0, language) }
        }
    }

    /// Whether a range matches a language, ignoring case; `*` matches every language.
    private static func matches(_ range: String, _ language: String?) -> Bool {
        if range == "*" { return true }
        guard let language, !range.isEmpty else { return false }
        let length = range.utf8.count
        guard language.utf8.count >= length else { return false }
        let next = language.utf8.dropFirst(length).first
        return FieldText.equal(Substring(language.utf8.prefix(length)), range)
            && (next == nil || next == UInt8(ascii: "-"))
    }
}

/// What is chosen from variants and renditions.
package struct AdaptiveLimits: Hashable, Sendable {
    /// Which variant within the limits.
    package enum Preference: Hashable, Sendable {
        /// The one with the most lines, then with the highest bit rate.
        case best
        /// The one with the fewest lines, then with the lowest bit rate.
        case worst
        /// The one at this place of the playlist, from 0; the limits do not apply.
        case index(Int)
    }

    /// The most lines of a picture; nil for any.
    package var maxHeight: Int64?
    /// The highest bit rate in bit/s; nil for any.
    package var maxBandwidth: Int64?
    /// The languages of audio renditions.
    package var audio = LanguageChoice.standard
    /// The languages of subtitles.
    package var subtitles = LanguageChoice.standard
    /// Which variant within the limits.
    package var variant = Preference.best

    /// Creates limits that allow everything; each can be changed.
    package init() {}
}
