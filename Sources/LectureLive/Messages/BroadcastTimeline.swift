public import LectureFormats

/// Where moments of a live lecture are in its recording: the sessions of a broadcast one after another, pauses cut.
///
/// ```
/// clock      ──[ part 1 ]────pause────[ part 2 ]──
/// recording    [ part 1 ][ part 2 ]
/// ```
public struct BroadcastTimeline: Hashable, Sendable {
    /// A session of the broadcast, as it was recorded.
    public struct Part: Hashable, Sendable {
        /// When its first picture was made.
        public var start: Timestamp
        /// How long its recording is.
        public var duration: Duration

        /// Creates a part.
        ///
        /// - Parameters:
        ///   - start: when its first picture was made.
        ///   - duration: how long its recording is.
        public init(start: Timestamp, duration: Duration) { (self.start, self.duration) = (start, duration) }
    }

    /// The sessions, in the order in which they were joined.
    public let parts: [Part]

    /// Creates a timeline.
    ///
    /// - Parameter parts: the sessions, in the order in which they were joined.
    public init(parts: [Part]) { self.parts = parts }

    /// The length of the recording.
    public var duration: Duration { parts.reduce(.zero) { $0 + $1.duration } }

    /// Where a moment is in the recording. What was said before the first part is at the beginning, and what was said
    /// in a pause or after the end is where that begins.
    ///
    /// A clock that was set back during a broadcast makes parts overlap: then the last part that may be meant counts.
    ///
    /// - Parameter moment: for instance when a message was sent.
    /// - Returns: from the start of the recording.
    public func position(of moment: Timestamp) -> Duration {
        var (place, sum) = (Duration.zero, Duration.zero)
        for part in parts {
            if part.start <= moment { place = sum + min(moment - part.start, part.duration) }
            sum += part.duration
        }
        return place
    }
}
