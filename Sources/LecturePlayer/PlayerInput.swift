import LectureKit

/// Something that happened to a player.
enum PlayerInput: Sendable, Hashable {
    // Requests of the application.
    case prepare, play, pause, stop
    case seek(Duration)
    case rate(Double)
    /// Play this part again and again; nil plays on.
    case repeats(Range<Duration>?)
    /// Skip the intro.
    case skip
    /// The licence permits a play under these terms.
    case permitted(PlayTerms)
    /// The play was counted; its channels want a report this often.
    case counted(period: Duration?)
    /// The licence does not permit it, or no more.
    case refused(LectureError)
    case engine(VideoEvent)
    /// About a second has passed.
    case tick

    /// Whether it sets how the lecture is played, also while something else is.
    var isSetting: Bool {
        switch self {
        case .rate, .repeats: true
        default: false
        }
    }
}

/// Something that a player has to do.
enum PlayerEffect: Sendable, Hashable {
    /// Ask the licence; the answer is ``PlayerInput/permitted(_:)`` or ``PlayerInput/refused(_:)``.
    case judge
    /// Open the media in the engine.
    case load(from: Duration)
    /// Open the intro in the engine.
    case loadIntro
    /// Count the play; the answer is ``PlayerInput/counted(period:)`` or ``PlayerInput/refused(_:)``.
    case count
    case setPaused(Bool)
    case seek(Duration)
    case setRate(Double)
    case setRepeat(Range<Duration>?)
    /// Add what was watched.
    case record(PlayedInterval)
    /// Store a report of everything so far.
    case report
    /// See whether the licence still permits the play.
    case checkLicence
    /// Something beside the media could not be used; the play goes on.
    case warn(LectureError)
    /// End the engine and the play.
    case close
}
