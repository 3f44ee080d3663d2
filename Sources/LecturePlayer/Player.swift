import Dispatch
public import LectureKit

/// Options of a player.
public struct PlayerOptions: Sendable, Hashable {
    /// Where to begin; nil for where the lecture was left.
    public var start: Duration?
    /// The only part that is played; nil for the whole lecture.
    public var section: Range<Duration>?
    /// The learner in the reports; nil takes the one named by the gateway.
    public var user: String?
    /// Whether reports about what was watched are stored.
    public var reports = true
    /// How often a report is stored while it plays, where the lecture's channels do not say; nil for only at changes.
    public var reportPeriod: Duration?
    /// How long to wait for a licence server.
    public var patience: Duration = .seconds(10)

    /// Creates the default options.
    public init() {}
}

/// One session of a player: a kept lecture, played by a video engine under its licence.
///
/// ```swift
/// let player = Player(manager, key, engine: try MpvEngine())
/// player.play()
/// for await event in player.events { show(event) }
/// let ending = await player.ending()
/// ```
///
/// Requests return at once, and their effect is an event. The licence is evaluated before the media is opened, and the
/// play is counted when the first picture is ready: a lecture that cannot be opened changes nothing. What is watched is
/// stored every second or so, and reported at the start, at each pause and jump, at the end, and as often as the
/// lecture's channels want.
public final class Player: Sendable {
    /// The lecture.
    public let key: ContentKey
    /// What happens; for one reader. It ends with ``PlayerState/stopped(_:)``.
    public let events: AsyncStream<PlayerEvent>
    private let inputs: AsyncStream<PlayerInput>.Continuation
    private let session: Task<PlayerEnding, Never>

    /// Creates a player, which does nothing yet.
    ///
    /// - Parameters:
    ///   - manager: the store's manager; it must not be closed before the player has stopped.
    ///   - key: a complete lecture.
    ///   - engine: what decodes and shows it. It belongs to this player.
    ///   - options: how to play.
    public init(
        _ manager: LectureManager, _ key: ContentKey, engine: any VideoEngine, options: PlayerOptions = PlayerOptions()
    ) {
        let (events, report) = AsyncStream.makeStream(of: PlayerEvent.self)
        let (received, inputs) = AsyncStream.makeStream(of: PlayerInput.self)
        (self.key, self.events, self.inputs) = (key, events, inputs)
        session = Task {
            let run = PlayerRun(manager, key, engine, options, inputs: inputs, report: report)
            return await run.follow(received)
        }
    }

    deinit {
        // What was watched of a dropped player is stored.
        inputs.yield(.stop)
        inputs.finish()
    }

    /// Evaluates the licence and opens the media, without playing it. ``PlayerState/prepared`` follows.
    public func prepare() { inputs.yield(.prepare) }

    /// Plays, or plays on; prepares first where that was not done.
    public func play() { inputs.yield(.play) }

    /// Pauses.
    public func pause() { inputs.yield(.pause) }

    /// Jumps.
    ///
    /// - Parameter position: from the start of the lecture; one outside the section jumps to the section's start.
    public func seek(to position: Duration) { inputs.yield(.seek(position)) }

    /// Changes the speed.
    ///
    /// - Parameter rate: 0.5 to 10; 1 is normal.
    public func setRate(_ rate: Double) { inputs.yield(.rate(rate)) }

    /// Ends the session.
    public func stop() { inputs.yield(.stop) }

    /// Waits for the end of the session. Everything is stored when this returns.
    ///
    /// - Returns: why it ended.
    public func ending() async -> PlayerEnding { await session.value }
}

/// Performs what the rules of a session decide.
actor PlayerRun {
    private let manager: LectureManager
    private let key: ContentKey
    private let engine: any VideoEngine
    private let options: PlayerOptions
    private let inputs: AsyncStream<PlayerInput>.Continuation
    private let report: AsyncStream<PlayerEvent>.Continuation
    private var machine: PlayerMachine
    private var play: Play?
    private var recorder: PlayRecorder?
    /// The licence is being asked, or the play counted.
    private var asking: Task<Void, Never>?
    private var shown: PlayerState = .idle
    private var length: Duration?

    init(
        _ manager: LectureManager, _ key: ContentKey, _ engine: any VideoEngine, _ options: PlayerOptions,
        inputs: AsyncStream<PlayerInput>.Continuation, report: AsyncStream<PlayerEvent>.Continuation
    ) {
        (self.manager, self.key, self.engine, self.options) = (manager, key, engine, options)
        (self.inputs, self.report) = (inputs, report)
        machine = PlayerMachine(section: options.section)
    }

    /// Handles inputs until the session is over.
    func follow(_ received: AsyncStream<PlayerInput>) async -> PlayerEnding {
        let watching = Task { [engine, inputs] in
            for await event in engine.events { inputs.yield(.engine(event)) }
        }
        let heartbeat = Heartbeat { [inputs] in inputs.yield(.tick) }
        let clock = SuspendingClock()
        let began = clock.now
        for await input in received {
            await handle(input, at: clock.now - began)
            if machine.state.isOver { break }
        }
        await handle(.stop, at: clock.now - began)
        heartbeat.stop()
        // A process must not end while its video library does.
        await watching.value
        report.finish()
        guard case .stopped(let ending) = machine.state else { return .stopped }
        return ending
    }

    private func handle(_ input: PlayerInput, at now: Duration) async {
        let effects = machine.handle(input, at: now)
        for effect in effects { await perform(effect) }
        show(input)
    }

    /// Reports what an application shows.
    private func show(_ input: PlayerInput) {
        switch input {
        case .engine(.duration(let length)): report.yield(.duration(length))
        case .engine(.position(let place)), .engine(.ready(let place)): report.yield(.position(place))
        case .engine(.rate(let rate)): report.yield(.rate(rate))
        default: break
        }
        guard machine.state != shown else { return }
        shown = machine.state
        report.yield(.state(shown))
    }

    private func perform(_ effect: PlayerEffect) async {
        switch effect {
        case .judge: asking = Task { await judge() }
        case .load(let start):
            guard let play else { return }
            engine.load(play, from: start)
        case .count: asking = Task { await count() }
        case .setPaused(let isPaused): engine.setPaused(isPaused)
        case .seek(let place): engine.seek(to: place)
        case .setRate(let rate): engine.setRate(rate)
        case .record(let interval): await record(interval)
        case .report: await storeReport()
        case .checkLicence: await checkLicence()
        case .close: await close()
        }
    }

    // MARK: The licence

    private func judge() async {
        do {
            let start = try await manager.contents.details(of: key)?.resumePoint ?? .zero
            let play = try await manager.licences.preparePlay(key, patience: options.patience)
            self.play = play
            let licence = try await manager.licences.status(of: key)
            let limit = licence?.playTimeLeft.map { left in
                PlayLimit(unit: licence?.policy?.playTimeUnit ?? .media, left: left)
            }
            inputs.yield(.permitted(from: options.start ?? start, limit: limit))
        } catch { inputs.yield(.refused(Self.known(error))) }
    }

    private func count() async {
        do {
            try await play?.start()
            if options.reports {
                recorder = try await manager.reports.recordPlay(of: key, user: options.user, duration: length)
            }
            inputs.yield(.counted(period: recorder?.period ?? options.reportPeriod))
        } catch { inputs.yield(.refused(Self.known(error))) }
    }

    /// The reasons that end a play that has begun. Others, such as a count that this play used up, are for the next
    /// one; play time is charged ahead, so that the licence may have none left while this play has.
    private static let endingReasons: Set<LicenceReason> = [.deleted, .forceExpired, .otherKey, .expired]

    private func checkLicence() async {
        do {
            guard let licence = try await manager.licences.status(of: key),
                let reason = licence.reasons.first(where: Self.endingReasons.contains)
            else { return }
            inputs.yield(.refused(LectureError(reason.code, detail: key.text)))
        } catch { report.yield(.trouble(Self.known(error))) }
    }

    // MARK: What was watched

    private func record(_ interval: PlayedInterval) async {
        await recorder?.record(interval)
        guard let play else { return }
        do throws(LectureError) {
            if interval.activity == .play {
                try await play.watched(media: interval.to - interval.from, running: interval.lasting)
            }
            try await play.reached(interval.to)
        } catch {
            if error.code == .playTimeUsedUp { inputs.yield(.refused(error)) } else { report.yield(.trouble(error)) }
        }
    }

    private func storeReport() async {
        do throws(LectureError) { try await recorder?.report() } catch { report.yield(.trouble(error)) }
    }

    private func close() async {
        asking?.cancel()
        engine.close()
        guard let play else { return }
        do throws(LectureError) {
            // The next play of a lecture that was watched to its end starts over.
            if case .stopped(.finished) = machine.state { try await play.reached(.zero) }
            try await play.end()
        } catch { report.yield(.trouble(error)) }
    }

    private static func known(_ error: any Error) -> LectureError {
        switch error {
        case let error as LectureError: error
        case is CancellationError: LectureError(.cancelled)
        default: LectureError(.bug, cause: "\(type(of: error))")
        }
    }
}

/// Calls a function about once a second.
///
/// `@unchecked Sendable`: the timer is only cancelled after it was started, which Dispatch permits from any thread.
private final class Heartbeat: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(_ beat: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecture.player.heartbeat"))
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler(handler: beat)
        timer.activate()
    }

    func stop() { timer.cancel() }
}
