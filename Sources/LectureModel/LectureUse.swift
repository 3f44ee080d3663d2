/// How a lecture in the store is used: what decides whether it may be removed without being asked for.
public struct LectureUse: Sendable, Hashable {
    /// Why a lecture is not removed by rules; the first one that is true counts.
    public enum Obstacle: String, Sendable, CaseIterable {
        /// It is not in the store any more.
        case gone
        /// A person has pinned it.
        case pinned
        /// It is being played, or was within ``LectureUse/playGap``.
        case playing
        /// The last report of a play is still to be made, and its addresses come from the lecture.
        case unreported
        /// It is not complete, or a process works on it.
        case incomplete
    }

    /// A play writes at least this often, so that a lecture is still in use this long after the last time.
    public static let playGap = Duration.seconds(900)

    /// When it was pinned; nil when it is not.
    public var pinned: Timestamp?
    /// When it was last played, to the minute; nil when that was never noted.
    public var lastPlayed: Timestamp?
    /// Where a player resumes; zero for the beginning. It is deleted with the lecture.
    public var resumePoint: Duration
    /// Whether a course list still names it, so that the next download of that list would bring it back.
    public var isListed: Bool
    /// Whether a running process records a play of it.
    public var isPlaying: Bool
    /// Whether a play of a process that ended is still to be reported.
    public var hasOpenPlay: Bool
    /// Whether it is complete and no process works on it.
    public var isSettled: Bool

    /// Creates the use of a lecture that nothing has touched.
    package init() {
        (resumePoint, isListed, isPlaying, hasOpenPlay, isSettled) = (.zero, false, false, false, true)
    }

    /// Why it must stay now; nil when it may go.
    ///
    /// - Parameter now: the wall clock. A play that seems to be in the future is one of now: the clock was set back.
    /// - Returns: the first reason, in the order of ``Obstacle``.
    public func obstacle(at now: Timestamp) -> Obstacle? {
        if pinned != nil { return .pinned }
        if isPlaying || lastPlayed.map({ now - $0 < Self.playGap }) ?? false { return .playing }
        if hasOpenPlay { return .unreported }
        return isSettled ? nil : .incomplete
    }
}
