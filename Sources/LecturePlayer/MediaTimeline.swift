/// An adaptive lecture as files that can be jumped in: tracks that are played at the same time, each in parts that are
/// played one after the other. Each part has a clock of its own.
public struct MediaTimeline: Sendable {
    /// A part of all tracks.
    public struct Part: Sendable, Hashable {
        /// When it starts by the clock of its files, the same for all tracks.
        public let start: Duration
        /// How long it is.
        public let length: Duration

        /// Creates a part.
        public init(start: Duration, length: Duration) { (self.start, self.length) = (start, length) }
    }

    /// One track, or several in the same files.
    public struct Track: Sendable {
        /// The name in a menu; empty without one.
        public let name: String
        /// The language, BCP 47; empty when unknown.
        public let language: String
        /// Its file for each part.
        public let files: [any MediaSource]

        /// Creates a track.
        public init(name: String, language: String, files: [any MediaSource]) {
            (self.name, self.language, self.files) = (name, language, files)
        }
    }

    /// The parts, in their order; mostly it is one.
    public let parts: [Part]
    /// The tracks, those to be played without a choice first. Each has as many files as there are parts.
    public let tracks: [Track]

    /// Creates a timeline.
    ///
    /// - Parameters:
    ///   - parts: in their order.
    ///   - tracks: each with a file for each part.
    public init(parts: [Part], tracks: [Track]) { (self.parts, self.tracks) = (parts, tracks) }
}
