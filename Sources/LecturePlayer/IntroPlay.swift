import LectureKit

/// The play of an intro: nothing of it counts as watched, and a learner cannot jump ahead before it may be skipped.
struct IntroPlay: Sendable, Hashable {
    /// What follows from something that happened.
    enum Step: Sendable, Hashable {
        /// The intro goes on.
        case resume([PlayerEffect])
        /// The lecture is next; with the reason when the intro could not be played.
        case end(LectureError?)
    }

    /// A position that is further from the farthest one is a jump.
    private static let tolerance: Duration = .milliseconds(500)

    private let skippableAfter: Duration?
    /// Whether it has a picture or sound.
    private var isOpen = false
    /// Whether it was played, if only for a moment.
    private var wasPlayed = false
    private(set) var isPaused: Bool
    private var activity = PlayerActivity.steady
    /// How far it was played.
    private var farthest: Duration = .zero

    /// Creates the play of an intro that has to be opened.
    ///
    /// - Parameters:
    ///   - rule: what it is.
    ///   - plays: whether it plays as soon as it can.
    init(_ rule: PlaybackRules.Intro, plays: Bool) { (skippableAfter, isPaused) = (rule.skippableAfter, !plays) }

    /// What an application sees.
    var state: PlayerState {
        if !isOpen { return .preparing }
        if !wasPlayed { return .prepared }
        return isPaused ? .paused(activity) : .playing(activity)
    }

    /// Whether the rest may be skipped.
    var isSkippable: Bool { isOpen && skippableAfter.map { farthest >= $0 } ?? false }

    /// Handles what happened.
    ///
    /// - Parameter input: what happened.
    /// - Returns: what to do.
    mutating func handle(_ input: PlayerInput) -> Step {
        switch input {
        case .play: return isOpen ? .resume([.setPaused(false)]) : wait(plays: true)
        case .pause: return isOpen ? .resume([.setPaused(true)]) : wait(plays: false)
        case .skip: return isSkippable ? .end(nil) : .resume([])
        case .engine(let event): return observe(event)
        default: return .resume([])
        }
    }

    private mutating func wait(plays: Bool) -> Step {
        isPaused = !plays
        return .resume([])
    }

    private mutating func observe(_ event: VideoEvent) -> Step {
        switch event {
        case .ready(let place): return arrived(at: place)
        case .position(let place):
            if activity == .steady, place > farthest { farthest = place }
        // The engine opens media paused, and reports that.
        case .paused(let isPaused) where isOpen:
            self.isPaused = isPaused
            wasPlayed = wasPlayed || !isPaused
        case .seeking where isOpen: activity = .seeking
        case .buffering(let waits) where activity != .seeking: activity = waits ? .buffering : .steady
        case .skip: return handle(.skip)
        case .ended: return .end(nil)
        case .failed(let error): return .end(error)
        default: break
        }
        return .resume([])
    }

    private mutating func arrived(at place: Duration) -> Step {
        guard isOpen else {
            isOpen = true
            return .resume(isPaused ? [] : [.setPaused(false)])
        }
        if place > farthest + Self.tolerance, !isSkippable { return .resume([.seek(farthest)]) }
        activity = .steady
        return .resume([])
    }
}
