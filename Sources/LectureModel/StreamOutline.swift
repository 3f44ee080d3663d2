/// What an adaptive lecture offers, and what a request would keep of it, according to its playlists.
public struct StreamOutline: Sendable, Hashable {
    /// One variant.
    public struct Variant: Sendable, Hashable {
        /// Its number in the playlist, from 1: the value of `--variant`.
        public var number: Int
        /// Its highest bandwidth in bits per second; nil when the playlist does not say.
        public var bandwidth: Int?
        /// The size of its pictures in pixels; nil when the playlist does not say, or for sound alone.
        public var width: Int?
        /// The size of its pictures in pixels.
        public var height: Int?

        /// Creates a variant of which nothing is known.
        ///
        /// - Parameter number: its number in the playlist, from 1.
        public init(number: Int) { self.number = number }
    }

    /// All variants; empty for a playlist of segments alone.
    public var variants: [Variant] = []
    /// The number of the variant that would be kept; nil for a playlist of segments alone.
    public var chosen: Int?
    /// The languages of sound that there are for it.
    public var audioLanguages: [String] = []
    /// The languages of subtitles that there are for it.
    public var subtitleLanguages: [String] = []
    /// Why nothing of it would be kept: what was selected does not exist. Nil otherwise.
    public var refusal: LectureError?
    /// Whether it is live: what is named here is what its playlists list now.
    public var isLive = false
    /// How many segments would be kept.
    public var segments = 0
    /// How many files would be fetched: segments, initialisation sections and keys.
    public var files = 0
    /// How long it plays.
    public var duration: Duration?
    /// About how many bytes would be kept, from the bandwidth and the duration; nil when the playlist does not say.
    public var estimatedBytes: Int64?

    /// Creates an empty outline.
    public init() {}
}
