import LectureDownload
import LectureFormats
import LectureModel

/// What the gateway of a lecture permits a player: the member `playback` of its descriptor. Members that are absent, or
/// that no player can follow, permit everything.
public struct PlaybackRules: Sendable, Hashable {
    /// How far a learner may jump.
    public enum Seeking: Sendable, Hashable {
        /// Anywhere.
        case free
        /// Up to a position.
        case upTo(Duration)
        /// Not at all.
        case none

        /// Whether a jump may end at a position.
        ///
        /// - Parameter position: from the start of the lecture.
        /// - Returns: whether it is permitted.
        public func permits(_ position: Duration) -> Bool {
            switch self {
            case .free: true
            case .upTo(let end): position <= end
            case .none: false
            }
        }
    }

    /// How much of a lecture may be played at once, whatever its licence says: a preview, for instance.
    public struct Limit: Sendable, Hashable {
        /// How much of the lecture, whatever the speed.
        public var duration: Duration
        /// What a player shows then; empty for its own text.
        public var message: String

        /// Creates a limit.
        public init(duration: Duration, message: String) { (self.duration, self.message) = (duration, message) }
    }

    /// Where a player offers the next episode, and where it is asked for.
    public struct NextEpisode: Sendable, Hashable {
        /// The position at which it is offered.
        public var showTime: Duration
        /// The URL that names the next episode.
        public var callbackURL: String
        /// The parameters of the request.
        public var parameters: [String: String]
        /// Whether the player shows a button.
        public var showsButton: Bool

        /// Creates an offer.
        public init(showTime: Duration, callbackURL: String, parameters: [String: String], showsButton: Bool) {
            (self.showTime, self.callbackURL) = (showTime, callbackURL)
            (self.parameters, self.showsButton) = (parameters, showsButton)
        }
    }

    /// Media that is played before a stream.
    public struct Intro: Sendable, Hashable {
        /// Where it is: a media file, or a gateway's link.
        public var url: String
        /// After how long it can be skipped; nil for never.
        public var skippableAfter: Duration?

        /// Creates an intro.
        public init(url: String, skippableAfter: Duration?) { (self.url, self.skippableAfter) = (url, skippableAfter) }
    }

    /// How far a learner may jump: `seekable`, `seekable_end`.
    public var seeking = Seeking.free
    /// Whether the speed stays as it is: `disable_playrate`.
    public var hasFixedRate = false
    /// Whether a play begins where the last one ended: not with `disable_nscreen`.
    public var resumes = true
    /// Whether it does so without asking the learner: `force_nscreen`.
    public var resumesWithoutAsking = false
    /// Whether a play that was left at the start leaves the resume point where it was: `ignore_zero`.
    public var ignoresZero = false
    /// The only part that is played: `play_section`.
    public var section: Range<Duration>?
    /// A part that is played again and again: `repeat_section`.
    public var repeated: Range<Duration>?
    /// How much may be played at once: `limit`.
    public var limit: Limit?
    /// The next episode: `next_episode`.
    public var nextEpisode: NextEpisode?
    /// What is played before a stream: `intro`. A download does not have it.
    public var intro: Intro?

    /// Creates rules that permit everything.
    public init() {}
}

// MARK: Reading a descriptor

extension PlaybackRules {
    init(_ value: JSONValue) {
        if value["seekable"]?.bool == false {
            seeking = Self.time(value["seekable_end"]).map(Seeking.upTo) ?? .none
        }
        hasFixedRate = value["disable_playrate"]?.bool ?? false
        resumes = !(value["disable_nscreen"]?.bool ?? false)
        resumesWithoutAsking = value["force_nscreen"]?.bool ?? false
        ignoresZero = value["ignore_zero"]?.bool ?? false
        section = value["play_section"].flatMap(Self.range)
        repeated = value["repeat_section"].flatMap(Self.range)
        limit = value["limit"].flatMap(Self.limit)
        nextEpisode = value["next_episode"].flatMap(Self.nextEpisode)
        intro = value["intro"].flatMap(Self.intro)
    }

    private static func limit(_ value: JSONValue) -> Limit? {
        guard let duration = time(value["duration"]), duration > .zero else { return nil }
        return Limit(duration: duration, message: value["message"]?.string ?? "")
    }

    private static func nextEpisode(_ value: JSONValue) -> NextEpisode? {
        guard let url = address(value["callback_url"]), let time = time(value["show_time"]) else { return nil }
        let parameters = (value["callback_params"]?.members ?? []).compactMap { member in
            member.value.string.map { (member.name, $0) }
        }
        return NextEpisode(
            showTime: time, callbackURL: url, parameters: Dictionary(parameters) { _, last in last },
            showsButton: value["show_button"]?.bool ?? false)
    }

    private static func intro(_ value: JSONValue) -> Intro? {
        address(value["url"]).map { Intro(url: $0, skippableAfter: time(value["skip_after"])) }
    }

    /// A part of a lecture: not empty, not reversed.
    private static func range(_ value: JSONValue) -> Range<Duration>? {
        guard let start = time(value["start_time"]), let end = time(value["end_time"]), start < end else { return nil }
        return start..<end
    }

    /// Seconds, at most a hundred years; a negative number is as none.
    private static func time(_ value: JSONValue?) -> Duration? {
        value?.double.flatMap { (0...3_153_600_000).contains($0) ? .seconds($0) : nil }
    }

    private static func address(_ value: JSONValue?) -> String? {
        guard let url = value?.string, (try? Origin(url: url)) != nil else { return nil }
        return url
    }
}
