import LectureKit

/// Something that happened to a player.
enum PlayerInput: Sendable, Hashable {
    // Requests of the application.
    case prepare, play, pause, stop
    case seek(Duration)
    case rate(Double)
    /// The licence permits a play under these terms.
    case permitted(PlayTerms)
    /// The play was counted; its channels want a report this often.
    case counted(period: Duration?)
    /// The licence does not permit it, or no more.
    case refused(LectureError)
    case engine(VideoEvent)
    /// About a second has passed.
    case tick
}

/// Something that a player has to do.
enum PlayerEffect: Sendable, Hashable {
    /// Ask the licence; the answer is ``PlayerInput/permitted(_:)`` or ``PlayerInput/refused(_:)``.
    case judge
    /// Open the media in the engine.
    case load(from: Duration)
    /// Count the play; the answer is ``PlayerInput/counted(period:)`` or ``PlayerInput/refused(_:)``.
    case count
    case setPaused(Bool)
    case seek(Duration)
    case setRate(Double)
    /// Add what was watched.
    case record(PlayedInterval)
    /// Store a report of everything so far.
    case report
    /// See whether the licence still permits the play.
    case checkLicence
    /// End the engine and the play.
    case close
}

/// The rules of a player session, from the first request to the last report. A value without a clock, a store or a
/// video engine: it is given what happens, with the time, and returns what to do.
///
/// ```
///         prepare, play           permitted              ready          play            counted
///  idle ───────────────▶ judging ───────────▶ loading ──────────▶ ready ─────▶ starting ───────▶ running
///                           │                    │                  │             │      ◀──┐      │
///                           └────────────────────┴──────────────────┴─────────────┴─ stop, refused, failed,
///                                                                                    ended, closed ──▶ over
///  running: steady, buffering or seeking, each of them playing or paused
/// ```
///
/// What is counted as watched follows the engine's events and not the requests: a key in the engine's window pauses it
/// as well. A play is counted before the engine plays, so what cannot be opened costs none.
struct PlayerMachine: Sendable, Hashable {
    /// What a player that plays is busy with.
    private struct Run: Sendable, Hashable {
        var activity = PlayerActivity.steady
        var isPaused = false
        var meter: WatchMeter
        var limit: PlayLimit?
        /// How often a report is stored while it plays; nil for never.
        let period: Duration?
        /// When the next report is due.
        var nextReport: Duration?
    }

    private enum Phase: Sendable, Hashable {
        case idle
        case judging(plays: Bool)
        case loading(plays: Bool)
        case ready(at: Duration)
        /// The play is being counted; a key in the window may already have started the engine.
        case starting(at: Duration)
        case running(Run)
        case over(PlayerEnding)
    }

    private var phase = Phase.idle
    /// The speed, also before it plays.
    private var rate = 1.0
    /// What the play may do; the defaults until it is permitted.
    private var terms = PlayTerms()

    /// The slowest and the fastest speed.
    static let rates = 0.5...10.0

    /// What an application sees.
    var state: PlayerState {
        switch phase {
        case .idle: .idle
        case .judging, .loading: .preparing
        case .ready, .starting: .prepared
        case .running(let run): run.isPaused ? .paused(run.activity) : .playing(run.activity)
        case .over(let ending): .stopped(ending)
        }
    }

    /// Handles what happened.
    ///
    /// - Parameters:
    ///   - input: what happened.
    ///   - now: a monotonic clock.
    /// - Returns: what to do, in order.
    mutating func handle(_ input: PlayerInput, at now: Duration) -> [PlayerEffect] {
        switch (phase, input) {
        case (.over, _): return []
        case (_, .stop), (_, .engine(.closed)): return end(.stopped, at: now)
        case (_, .refused(let error)), (_, .engine(.failed(let error))): return end(.failed(error), at: now)
        case (_, .rate(let asked)):
            rate = min(max(asked.isNaN ? 1 : asked, Self.rates.lowerBound), Self.rates.upperBound)
            return isOpen ? [.setRate(rate)] : []
        case (.running(let run), _): return follow(run, input, at: now)
        default: return prepare(input, at: now)
        }
    }

    /// Whether the engine has media, or opens it.
    private var isOpen: Bool {
        switch phase {
        case .loading, .ready, .starting, .running: true
        case .idle, .judging, .over: false
        }
    }

    // MARK: Before it plays

    private mutating func prepare(_ input: PlayerInput, at now: Duration) -> [PlayerEffect] {
        switch (phase, input) {
        case (.idle, .prepare), (.idle, .play):
            phase = .judging(plays: input == .play)
            return [.judge]
        case (.judging, .play), (.judging, .pause):
            phase = .judging(plays: input == .play)
        case (.judging(let plays), .permitted(let terms)):
            self.terms = terms
            phase = .loading(plays: plays)
            // Before the media: a change of speed at the first picture moves the position back.
            return (rate == 1 ? [] : [.setRate(rate)]) + [.load(from: clamped(terms.start))]
        case (.loading, .play), (.loading, .pause): phase = .loading(plays: input == .play)
        case (.loading(let plays), .engine(.ready(let place))):
            phase = plays ? .starting(at: place) : .ready(at: place)
            return plays ? [.count] : []
        case (.ready(let place), .play), (.ready(let place), .engine(.paused(false))):
            phase = .starting(at: place)
            return [.count]
        case (.ready, .seek(let asked)): return [.seek(clamped(asked))]
        case (.ready, .engine(.ready(let place))): phase = .ready(at: place)
        case (.starting, .engine(.ready(let place))): phase = .starting(at: place)
        case (.starting(let place), .counted(let period)):
            var run = Run(meter: WatchMeter(at: place, rate: rate, now: now), limit: terms.limit, period: period)
            _ = run.meter.plays(at: now)
            run.nextReport = period.map { now + $0 }
            phase = .running(run)
            return [.setPaused(false), .report]
        case (.loading, .engine(.ended)), (.ready, .engine(.ended)), (.starting, .engine(.ended)):
            return end(.finished, at: now)
        // While it opens the media, the engine reports the speed that it starts with.
        case (.ready, .engine(.rate(let shown))), (.starting, .engine(.rate(let shown))): rate = shown
        default: break
        }
        return []
    }

    private func clamped(_ place: Duration) -> Duration {
        guard let section = terms.section else { return max(.zero, place) }
        return section.contains(place) ? place : section.lowerBound
    }

    // MARK: While it plays

    private mutating func follow(_ before: Run, _ input: PlayerInput, at now: Duration) -> [PlayerEffect] {
        var run = before
        var effects: [PlayerEffect] = []
        switch input {
        case .play: effects = [.setPaused(false)]
        case .pause: effects = [.setPaused(true)]
        case .seek(let asked): effects = [.seek(clamped(asked))]
        case .tick:
            add(run.meter.cut(at: now), to: &effects, &run)
            effects.append(.checkLicence)
            if let next = run.nextReport, next <= now, !run.isPaused {
                run.nextReport = run.period.map { now + $0 }
                effects.append(.report)
            }
        case .engine(let event): effects = observe(event, &run, at: now)
        case .prepare, .permitted, .counted, .rate, .stop, .refused: break
        }
        phase = .running(run)
        if let limit = run.limit, limit.left <= .zero {
            return effects + end(.failed(LectureError(.playTimeUsedUp)), at: now)
        }
        if case .engine(.ended) = input { return effects + end(.finished, at: now) }
        if let section = terms.section, run.activity == .steady, !run.isPaused {
            if run.meter.place >= section.upperBound { return effects + end(.finished, at: now) }
            // A key in the window knows nothing of the section; the picture at its start may be a little before it.
            if run.meter.place < section.lowerBound - .milliseconds(500) { effects.append(.seek(section.lowerBound)) }
        }
        return effects
    }

    private func observe(_ event: VideoEvent, _ run: inout Run, at now: Duration) -> [PlayerEffect] {
        var effects: [PlayerEffect] = []
        switch event {
        case .position(let place): add(run.meter.moved(to: place, at: now), to: &effects, &run)
        case .paused(let isPaused):
            guard isPaused != run.isPaused else { return [] }
            run.isPaused = isPaused
            guard run.activity == .steady else { return [] }
            add(isPaused ? run.meter.pauses(at: now) : run.meter.plays(at: now), to: &effects, &run)
            effects.append(.report)
        case .rate(let rate): add(run.meter.changes(rate: rate, at: now), to: &effects, &run)
        case .buffering(let waits):
            guard run.activity != .seeking, waits != (run.activity == .buffering) else { return [] }
            run.activity = waits ? .buffering : .steady
            let done =
                waits ? run.meter.waits(at: now) : run.isPaused ? run.meter.pauses(at: now) : run.meter.plays(at: now)
            add(done, to: &effects, &run)
        case .seeking:
            run.activity = .seeking
            add(run.meter.seeking(at: now), to: &effects, &run)
        case .ready(let place):
            guard run.activity == .seeking else { return [] }
            run.activity = .steady
            add(run.meter.arrived(at: place, plays: !run.isPaused, now: now), to: &effects, &run)
            effects.append(.report)
        case .ended: add(run.meter.cut(at: now), to: &effects, &run)
        case .duration, .buffered, .pictureSize, .caption, .closed, .failed: break
        }
        return effects
    }

    /// Adds what was watched, and takes it from what the licence has left.
    private func add(_ intervals: [PlayedInterval], to effects: inout [PlayerEffect], _ run: inout Run) {
        for interval in intervals {
            effects.append(.record(interval))
            guard interval.activity == .play, let unit = run.limit?.unit else { continue }
            run.limit?.left -= unit == .media ? interval.to - interval.from : interval.lasting
        }
    }

    // MARK: The end

    private mutating func end(_ ending: PlayerEnding, at now: Duration) -> [PlayerEffect] {
        defer { phase = .over(ending) }
        guard case .running(var run) = phase else { return [.close] }
        var effects: [PlayerEffect] = []
        add(run.meter.cut(at: now), to: &effects, &run)
        let place = run.meter.place
        return effects + [.record(PlayedInterval(.stop, from: place, to: place, lasting: .zero)), .report, .close]
    }
}
