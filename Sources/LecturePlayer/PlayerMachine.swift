import LectureKit

/// The rules of a player session, from the first request to the last report. A value without a clock, a store or a
/// video engine: it is given what happens, with the time, and returns what to do.
///
/// ```
///         prepare, play           permitted              ready          play            counted
///  idle ───────────────▶ judging ───────────▶ loading ──────────▶ ready ─────▶ starting ───────▶ running
///                           │ with an intro      ▲
///                           └──────▶ intro ──────┘ ended, skipped, cannot be opened
///
///  each of them: stop, refused, failed, ended, closed ──▶ over
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
        /// How much was played, whatever the speed.
        var played: Duration = .zero
        /// The jump that is being made.
        var jump: Jump?
    }

    /// A jump: where it began, and where it has to end when the player made it.
    private struct Jump: Sendable, Hashable {
        let origin: Duration
        var target: Duration?
    }

    private enum Phase: Sendable, Hashable {
        case idle
        case judging(plays: Bool)
        case intro(IntroPlay)
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
    /// The part that is played again and again.
    private var repeated: Range<Duration>?
    private var hadIntro = false

    /// The slowest and the fastest speed.
    static let rates = 0.5...10.0

    /// What an application sees.
    var state: PlayerState {
        switch phase {
        case .idle: .idle
        case .judging: .preparing
        case .intro(let intro):
            intro.state
        // Between an intro and the lecture it is already playing, to those who watch.
        case .loading(let plays) where hadIntro: plays ? .playing(.buffering) : .paused(.buffering)
        case .ready where hadIntro: .paused(.steady)
        case .starting where hadIntro: .playing(.buffering)
        case .loading: .preparing
        case .ready, .starting: .prepared
        case .running(let run): run.isPaused ? .paused(run.activity) : .playing(run.activity)
        case .over(let ending): .stopped(ending)
        }
    }

    /// Whether an intro is played, and whether it may be skipped now; nil for the lecture.
    var introIsSkippable: Bool? {
        if case .intro(let intro) = phase { intro.isSkippable } else { nil }
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
        case (_, .refused(let error)): return end(.failed(error), at: now)
        case (.intro(let intro), _) where !input.isSetting: return follow(intro, input)
        // There is nothing to play at the resume point: the end is there before the length is reported.
        case (.loading(let plays), .engine(let event)) where event.hasNothingToPlay && terms.canBeginEarlier:
            return startOver(plays: plays)
        case (_, .engine(.failed(let error))): return end(.failed(error), at: now)
        case (_, .rate(let asked)):
            guard !terms.hasFixedRate else { return [] }
            rate = min(max(asked.isNaN ? 1 : asked, Self.rates.lowerBound), Self.rates.upperBound)
            return isOpen ? [.setRate(rate)] : []
        case (_, .repeats(let part)):
            repeated = part
            return isOpen ? [.setRepeat(part)] : []
        case (.running(let run), _): return follow(run, input, at: now)
        default: return prepare(input, at: now)
        }
    }

    /// Whether the engine has media, or opens it.
    private var isOpen: Bool {
        switch phase {
        case .loading, .ready, .starting, .running: true
        case .idle, .judging, .intro, .over: false
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
            if terms.hasFixedRate { rate = 1 }
            repeated = repeated ?? terms.repeated
            guard let intro = terms.intro else { return load(plays: plays) }
            (phase, hadIntro) = (.intro(IntroPlay(intro, plays: plays)), true)
            return [.loadIntro]
        case (.loading, .play), (.loading, .pause): phase = .loading(plays: input == .play)
        case (.loading(let plays), .engine(.duration(let length))) where terms.begins(beyond: length):
            // The media has become shorter since it was left.
            return startOver(plays: plays)
        case (.loading(let plays), .engine(.ready(let place))):
            phase = plays ? .starting(at: place) : .ready(at: place)
            return plays ? [.count] : []
        case (.ready(let place), .play), (.ready(let place), .engine(.paused(false))):
            phase = .starting(at: place)
            return [.count]
        case (.ready, .seek(let asked)) where terms.seeking.permits(asked): return [.seek(terms.clamped(asked))]
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
        case (.ready, .engine(.rate(let shown))), (.starting, .engine(.rate(let shown))):
            if terms.hasFixedRate, shown != rate { return [.setRate(rate)] }
            rate = shown
        default: break
        }
        return []
    }

    /// Opens the lecture at its beginning, or at that of the section.
    private mutating func startOver(plays: Bool) -> [PlayerEffect] {
        terms.start = .zero
        return load(plays: plays)
    }

    /// Opens the lecture.
    private mutating func load(plays: Bool) -> [PlayerEffect] {
        phase = .loading(plays: plays)
        // Before the media: a change of speed at the first picture moves the position back.
        let speed: [PlayerEffect] = rate == 1 ? [] : [.setRate(rate)]
        return speed + (repeated.map { [.setRepeat($0)] } ?? []) + [.load(from: terms.clamped(terms.start))]
    }

    private mutating func follow(_ before: IntroPlay, _ input: PlayerInput) -> [PlayerEffect] {
        var intro = before
        switch intro.handle(input) {
        case .resume(let effects):
            phase = .intro(intro)
            return effects
        case .end(let error):
            return (error.map { [.warn($0)] } ?? []) + [.setPaused(true)] + load(plays: !intro.isPaused)
        }
    }

    // MARK: While it plays

    private mutating func follow(_ before: Run, _ input: PlayerInput, at now: Duration) -> [PlayerEffect] {
        var run = before
        var effects: [PlayerEffect] = []
        switch input {
        case .play: effects = [.setPaused(false)]
        case .pause: effects = [.setPaused(true)]
        case .seek(let asked):
            guard terms.seeking.permits(asked) else { break }
            effects = jump(to: terms.clamped(asked), &run)
        case .tick:
            add(run.meter.cut(at: now), to: &effects, &run)
            effects.append(.checkLicence)
            if let next = run.nextReport, next <= now, !run.isPaused {
                run.nextReport = run.period.map { now + $0 }
                effects.append(.report)
            }
        case .engine(let event): effects = observe(event, &run, at: now)
        case .prepare, .permitted, .counted, .rate, .repeats, .skip, .stop, .refused: break
        }
        phase = .running(run)
        if let limit = run.limit, limit.left <= .zero {
            return effects + end(.failed(LectureError(limit.code)), at: now)
        }
        if let most = terms.most, run.played >= most.duration {
            return effects + end(.failed(LectureError(.playLimitReached, cause: most.message)), at: now)
        }
        if case .engine(.ended) = input { return effects + end(.finished, at: now) }
        if let section = terms.section, run.activity == .steady, !run.isPaused {
            if run.meter.place >= section.upperBound { return effects + end(.finished, at: now) }
            // A key in the window knows nothing of the section; the picture at its start may be a little before it.
            if run.meter.place < section.lowerBound - Self.tolerance { effects += jump(to: section.lowerBound, &run) }
            phase = .running(run)
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
        case .rate(let rate):
            add(run.meter.changes(rate: rate, at: now), to: &effects, &run)
            if terms.hasFixedRate, rate != self.rate { effects.append(.setRate(self.rate)) }
        case .buffering(let waits):
            guard run.activity != .seeking, waits != (run.activity == .buffering) else { return [] }
            run.activity = waits ? .buffering : .steady
            let done =
                waits ? run.meter.waits(at: now) : run.isPaused ? run.meter.pauses(at: now) : run.meter.plays(at: now)
            add(done, to: &effects, &run)
        case .seeking:
            if run.jump == nil { run.jump = Jump(origin: run.meter.place) }
            run.activity = .seeking
            add(run.meter.seeking(at: now), to: &effects, &run)
        case .ready(let place):
            guard run.activity == .seeking else { return [] }
            if let jump = run.jump, !permits(jump, to: place) { return self.jump(to: jump.origin, &run) }
            (run.activity, run.jump) = (.steady, nil)
            add(run.meter.arrived(at: place, plays: !run.isPaused, now: now), to: &effects, &run)
            effects.append(.report)
        case .ended: add(run.meter.cut(at: now), to: &effects, &run)
        case .opening, .duration, .buffered, .pictureSize, .caption, .secondCaption, .skip, .closed, .failed: break
        }
        return effects
    }

    /// A picture may be this far from where a jump had to end.
    private static let tolerance: Duration = .milliseconds(500)

    /// Jumps on behalf of the application or of the rules.
    private func jump(to place: Duration, _ run: inout Run) -> [PlayerEffect] {
        run.jump = Jump(origin: run.jump?.origin ?? run.meter.place, target: place)
        return [.seek(place)]
    }

    /// Whether the learner may be where a jump has ended: a key in the window knows nothing of the rules.
    private func permits(_ jump: Jump, to place: Duration) -> Bool {
        if terms.seeking.permits(place) { return true }
        return [jump.origin, jump.target, repeated?.lowerBound].contains { expected in
            expected.map { abs(($0 - place) / .seconds(1)) <= Self.tolerance / .seconds(1) } ?? false
        }
    }

    /// Adds what was watched, and takes it from what the licence has left.
    private func add(_ intervals: [PlayedInterval], to effects: inout [PlayerEffect], _ run: inout Run) {
        for interval in intervals {
            effects.append(.record(interval))
            guard interval.activity == .play else { continue }
            run.played += interval.to - interval.from
            guard let unit = run.limit?.unit else { continue }
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
