/// Why a DASH manifest, or a part of it, is not used.
package struct DASHError: Error, Hashable, Sendable {
    /// Which rule is violated.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// The document is no manifest of MPEG-DASH.
        case notManifest
        /// It describes a live stream.
        case live
        /// A part of it is at another address (`xlink:href`).
        case remoteElement
        /// It demands something that is not supported.
        case unsupported
        /// The media are encrypted by a system of content protection.
        case protected
        /// An attribute or an element contradicts ISO/IEC 23009-1.
        case invalid
        /// An address cannot be used.
        case url
        /// It describes more segments, or a longer time, than are read.
        case limit
        /// A segment index (`sidx`) is damaged.
        case index
        /// Nothing in it is within the limits of the choice.
        case nothingFits
    }

    /// Which rule is violated.
    package let kind: Kind
    /// What is wrong, and where: a sentence without a full stop.
    package let detail: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: which rule is violated.
    ///   - detail: what is wrong, and where.
    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}

/// The bounds of what is read of a manifest.
enum DASHBounds {
    /// Segments of a representation.
    static let segments: UInt64 = 1_000_000
    /// Base addresses of a representation.
    static let bases = 16
    /// Periods, and representations in all.
    static let parts = 10_000
    /// Tracks that are chosen of a period.
    static let tracks = 64
    /// The longest time, in seconds: a hundred years.
    static let seconds: UInt64 = 3_153_600_000
    /// The longest text of a manifest that an error quotes, in characters.
    static let quoted = 40
}
