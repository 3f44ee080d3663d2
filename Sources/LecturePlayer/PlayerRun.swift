import Dispatch
import LectureKit

/// Performs what the rules of a session decide.
actor PlayerRun {
    private let manager: LectureManager
    private let media: PlayerMedia
    private let engine: any VideoEngine
    private let options: PlayerOptions
    private let inputs: AsyncStream<PlayerInput>.Continuation
    private let report: AsyncStream<PlayerEvent>.Continuation
    private var machine = PlayerMachine()
    private var lecture: (any PlayedLecture)?
    private var intro: (any PlayedLecture)?
    private var recorder: PlayRecorder?
    /// The licence is being asked, the intro opened, or the play counted.
    private var asking: Task<Void, Never>?
    private var isCounted = false
    private var shown: PlayerState = .idle
    private var picture = Picture()
    private var loads = MediaLoads()

    /// What belongs to the lecture beside its media, and what of it was shown last.
    private struct Picture {
        var tracks = PlayerTracks()
        var watermark: WatermarkSchedule?
        /// What was drawn last.
        var mark: TextOverlay?
        /// What was reported last, in seconds.
        var buffer = 0.0
        /// Whether the intro may be skipped; nil for the lecture.
        var introIsSkippable: Bool?
        var rules = PlaybackRules()
        /// Where the section ends.
        var end: Duration?
        /// The next episode, until it was offered.
        var nextEpisode: PlaybackRules.NextEpisode?
        var licence: LicenceStatus?
        /// How long the media is.
        var length: Duration?
    }

    init(
        _ manager: LectureManager, _ media: PlayerMedia, _ engine: any VideoEngine, _ options: PlayerOptions,
        inputs: AsyncStream<PlayerInput>.Continuation, report: AsyncStream<PlayerEvent>.Continuation
    ) {
        (self.manager, self.media, self.engine, self.options) = (manager, media, engine, options)
        (self.inputs, self.report) = (inputs, report)
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
        if case .engine(let event) = input, !loads.admits(event) { return }
        let effects = machine.handle(input, at: now)
        for effect in effects { await perform(effect) }
        show(input)
        showIntro()
        if let watermark = picture.watermark, !machine.state.isOver { draw(watermark.overlay(at: now)) }
    }

    /// Reports what an application shows.
    private func show(_ input: PlayerInput) {
        switch input {
        case .engine(.duration(let length)):
            picture.length = length
            report.yield(.duration(length))
        case .engine(.position(let place)), .engine(.ready(let place)):
            // Before the first picture it is where the engine was asked to begin.
            guard machine.state != .preparing else { break }
            report.yield(.position(place))
            offerNextEpisode(at: place)
        case .engine(.rate(let rate)): report.yield(.rate(rate))
        case .engine(.pictureSize(let width, let height)): report.yield(.pictureSize(width: width, height: height))
        case .engine(.caption(let text)): report.yield(.caption(text))
        case .engine(.secondCaption(let text)): report.yield(.secondCaption(text))
        case .engine(.buffered(let length)):
            // It changes with each packet.
            let seconds = length / .seconds(1)
            guard abs(seconds - picture.buffer) >= 1 else { break }
            picture.buffer = seconds
            report.yield(.buffered(length))
        default: break
        }
        guard machine.state != shown else { return }
        shown = machine.state
        report.yield(.state(shown))
    }

    private func showIntro() {
        guard machine.introIsSkippable != picture.introIsSkippable else { return }
        picture.introIsSkippable = machine.introIsSkippable
        report.yield(.intro(isSkippable: picture.introIsSkippable))
        if picture.introIsSkippable == true { engine.notify("Enter skips the intro") }
    }

    private func offerNextEpisode(at place: Duration) {
        guard let next = picture.nextEpisode, isCounted, place >= next.showTime else { return }
        picture.nextEpisode = nil
        report.yield(.nextEpisode(next))
    }

    private func draw(_ mark: TextOverlay?) {
        guard mark != picture.mark else { return }
        picture.mark = mark
        engine.show(mark)
    }

    private func perform(_ effect: PlayerEffect) async {
        switch effect {
        case .judge: asking = Task { await judge() }
        case .load(let start):
            guard let lecture else { return }
            load(lecture, with: picture.tracks, from: start, to: picture.end)
        case .loadIntro: asking = Task { await openIntro() }
        case .count: asking = Task { await count() }
        case .setPaused(let isPaused): engine.setPaused(isPaused)
        case .seek(let place): engine.seek(to: place)
        case .setRate(let rate): engine.setRate(rate)
        case .setRepeat(let part): engine.setRepeat(part)
        case .warn(let error): report.yield(.trouble(error))
        case .record(let interval): await record(interval)
        case .report: await storeReport()
        case .checkLicence: await checkLicence()
        case .close: await close()
        }
    }

    private func load(
        _ media: any PlayedLecture, with tracks: PlayerTracks, from start: Duration, to end: Duration?
    ) {
        loads.ask()
        engine.load(media, with: tracks, from: start, to: end)
    }

    // MARK: The licence

    private func judge() async {
        do {
            let lecture = try await open()
            self.lecture = lecture
            // It was stopped meanwhile, and its end found no lecture to end.
            if machine.state.isOver { return try await lecture.end() }
            let outline = try await lecture.outline()
            // A lecture plays without subtitles that cannot be read.
            do { picture.tracks.subtitles = options.chosen(of: try await lecture.subtitles()) } catch {
                report.yield(.trouble(LectureError.known(error)))
            }
            picture.tracks.chapters = options.chapters(of: outline)
            picture.watermark = outline.watermark.map { WatermarkSchedule($0) }
            picture.rules = outline.playback
            picture.nextEpisode = outline.playback.nextEpisode
            let details = try await manager.contents.details(of: lecture.key)
            report.yield(.opened(lecture.key, title: lecture.title ?? details?.content.title))
            report.yield(.outline(outline))
            if let sheet = details?.thumbnailPath.flatMap(ThumbnailSheet.init(path:)) {
                report.yield(.thumbnails(sheet))
            }
            var terms = PlayTerms(picture.rules, options, resumePoint: details?.resumePoint ?? .zero)
            if !lecture.hasIntro { terms.intro = nil }
            let licence = try await lecture.licence()
            show(licence)
            terms.limit = licence?.playTimeLeft.map { left in
                PlayLimit(unit: licence?.policy?.playTimeUnit ?? .media, left: left)
            }
            terms.narrow(by: lecture.permission)
            if let permission = lecture.permission { report.yield(.permitted(permission)) }
            picture.end = terms.section?.upperBound
            if let section = terms.section { report.yield(.section(section)) }
            inputs.yield(.permitted(terms))
        } catch { inputs.yield(.refused(LectureError.known(error))) }
    }

    private func open() async throws -> any PlayedLecture {
        switch media {
        case .lecture(let key): try await KeptLecture(manager, key, patience: options.patience)
        case .stream(let url): try await StreamedLecture(manager, url, patience: options.patience)
        }
    }

    /// Passes on what happens to the permission of a stream.
    private var notify: @Sendable (PermissionNotice) -> Void {
        { [inputs, report] notice in
            switch notice {
            case .ended(let error): inputs.yield(.refused(error))
            case .failed(let error): report.yield(.trouble(error))
            }
        }
    }

    private func openIntro() async {
        guard let url = picture.rules.intro?.url else { return }
        do {
            let intro = try await StreamedLecture(manager, url, patience: nil)
            // It was stopped meanwhile, and its end found no intro to end.
            if machine.state.isOver { return try await intro.end() }
            self.intro = intro
            load(intro, with: PlayerTracks(), from: .zero, to: nil)
        } catch { inputs.yield(.engine(.failed(LectureError.known(error)))) }
    }

    private func closeIntro() async {
        let intro = intro
        self.intro = nil
        do throws(LectureError) { try await intro?.end() } catch { report.yield(.trouble(error)) }
    }

    private func count() async {
        await closeIntro()
        do {
            try await lecture?.start(notify)
            if options.reports { recorder = try await lecture?.recorder(user: options.user, length: picture.length) }
            isCounted = true
            inputs.yield(.counted(period: recorder?.period ?? options.reportPeriod))
        } catch { inputs.yield(.refused(LectureError.known(error))) }
    }

    private func checkLicence() async {
        await lecture?.beat(notify)
        do {
            guard let lecture, let licence = try await lecture.licence() else { return }
            show(licence)
            guard let reason = licence.endingReason else { return }
            inputs.yield(.refused(LectureError(reason.code, detail: lecture.key.text)))
        } catch { report.yield(.trouble(LectureError.known(error))) }
    }

    private func show(_ licence: LicenceStatus?) {
        guard let licence, licence != picture.licence else { return }
        picture.licence = licence
        report.yield(.licence(licence))
    }

    // MARK: What was watched

    private func record(_ interval: PlayedInterval) async {
        await recorder?.record(interval)
        // A program that is killed has then stored what was watched to the second.
        do throws(LectureError) { try await recorder?.keep() } catch { report.yield(.trouble(error)) }
        guard let lecture else { return }
        do throws(LectureError) {
            if interval.activity == .play {
                try await lecture.watched(media: interval.to - interval.from, running: interval.lasting)
            }
            if interval.to > .zero || !picture.rules.ignoresZero { try await lecture.reached(interval.to) }
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
        await closeIntro()
        guard let lecture else { return }
        do throws(LectureError) {
            // The next play of a lecture that was watched to its end starts over.
            if case .stopped(.finished) = machine.state { try await lecture.reached(.zero) }
            try await lecture.end()
        } catch { report.yield(.trouble(error)) }
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
