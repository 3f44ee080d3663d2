import Foundation
import LectureKit
import LectureModel
import LecturePlayer

/// One preparation of a ``KollusPlayerView`` and the play that follows it: makes the library's player, and turns its
/// events into the delegate's.
///
/// A preparation has one result. After a successful one the play has one end: the results of the application's stops,
/// or one that it did not request.
final class PlayerSession: Sendable {
    private struct State {
        var player: Player?
        var engine: PlayerEngine?
        /// The player's state, as it was reported last.
        var shown = PlayerState.idle
        var requests = PlayerRequests()
        var seeks = PlayerSeeks()
        /// The preparation has its result.
        var isAnswered = false
        /// How many stops the application has requested.
        var stops = 0
        /// The player has to end, or has.
        var isEnding = false
        /// Another preparation has begun.
        var isReplaced = false
        var isOver = false
        var task: Task<Void, Never>?
        /// What is played, once it is open.
        var key: ContentKey?
        /// What the engine has reported.
        var media = PlayedMedia()
    }

    private let state = Guarded(State())
    private let core: PlayerCore
    private let storage: StorageCore
    private let manager: LectureManager
    private let plan: PlayerPlan
    private let reports: PlayerReports?

    init(_ core: PlayerCore, _ storage: StorageCore, _ manager: LectureManager, _ plan: PlayerPlan) {
        (self.core, self.storage, self.manager, self.plan) = (core, storage, manager, plan)
        reports = plan.hasReports ? PlayerReports(manager) : nil
    }

    // MARK: Begin and end

    /// Begins to prepare, once the previous play is over.
    func begin(after previous: PlayerSession?) {
        // At once: who finds it among the storage's players can wait for it.
        state.withLock { state in
            storage.players.add(self)
            state.task = Task(executorPreference: BridgeExecutor.shared) { [self] in
                await previous?.ended()
                finish(await run())
                // Not a part of the play: a server may take long, and what is not sent is stored.
                Task {
                    await reports?.end()
                    await bookmarks?.syncIfChanged()
                    storage.players.remove(self)
                }
            }
        }
    }

    /// How a play ended.
    ///
    /// - Returns: the error when it could not go on; nil when it was stopped or played to its end.
    private func run() async -> KollusError? {
        do {
            try describe()
            let player = try makePlayer()
            for await event in player.events { show(event) }
            guard case .failed(let error) = await player.ending() else { return nil }
            return KollusError(error)
        } catch { return KollusError.of(error) }
    }

    /// Ends the play; also while it prepares.
    ///
    /// - Parameter isRequested: whether the application expects a result.
    /// - Returns: false when it is over already.
    @discardableResult
    func stop(isRequested: Bool) -> Bool {
        state.withLock { state in
            if state.isOver { return false }
            if isRequested { state.stops += 1 }
            state.isEnding = true
            state.player?.stop()
            return true
        }
    }

    /// Another preparation begins: this one still gives the results that the application waits for.
    func replace() {
        state.withLock { $0.isReplaced = true }
        stop(isRequested: false)
    }

    /// Ends the play and waits until everything is stored.
    func finish() async {
        stop(isRequested: false)
        await ended()
    }

    private func ended() async { await state.withLock { $0.task }?.value }

    // MARK: Preparing

    /// Reads what the store has about the content.
    private func describe() throws {
        guard let key = plan.source.key else { return }
        guard let content = try storage.content(key.text) else {
            throw KollusError(.ERROR_NOT_FOUND_ID, detail: key.text)
        }
        let outline = try translating { try manager.contents.wait { try $0.outline(of: key) } }
        core.change(self) { ($0.content, $0.outline) = (content, outline) }
        guard let bookmarks else { return }
        do {
            let (list, isEditable) = (try bookmarks.list(), try bookmarks.canEdit())
            post(.bookmarks(list, isEditable: isEditable, nil)) {
                ($0.bookmarks, $0.canEditBookmarks) = (list, isEditable)
            }
        } catch { post(.bookmarks(nil, isEditable: false, KollusError.of(error))) }
    }

    /// The bookmarks of the content; nil for a stream.
    var bookmarks: PlayerBookmarks? {
        plan.source.key.map { PlayerBookmarks(manager: manager, key: $0, user: plan.user) }
    }

    private func makePlayer() throws -> Player {
        let (title, repeats) = (core.status.content?.title ?? "", core[\.repeatMode] == .one)
        // A window opens now, so not for a play that has to end.
        if state.withLock({ $0.isEnding }) { throw KollusError(.CONTENT_NOT_PREPARED) }
        let mpv = try MpvEngine(plan.engine(title: title, picture: core.picture, repeats: repeats))
        let engine = PlayerEngine(mpv) { [weak self] event, engine in self?.watch(event, engine) }
        let player = plan.source.player(manager, engine, plan.options)
        state.withLock { state in
            (state.player, state.engine) = (player, engine)
            if state.isEnding { player.stop() }
        }
        player.setRate(Double(core[\.rate]))
        // What was set while the engine was made.
        engine.setRepeats(core[\.repeatMode] == .one, section)
        player.prepare()
        return player
    }

    // MARK: Requests

    /// Adds a request; its result comes through the delegate.
    ///
    /// - Returns: false when the play is over or ends.
    func add(_ request: PlayerRequests.Request) -> Bool {
        state.withLock { state in
            if state.isOver || state.isEnding { return false }
            state.requests.add(request)
            proceed(&state)
            return true
        }
    }

    /// Jumps, as soon as it can.
    ///
    /// - Returns: false when the play is over: the position is for the next one.
    func seek(to place: TimeInterval) -> Bool {
        state.withLock { state in
            if state.isOver { return false }
            state.seeks.add(place)
            proceed(&state)
            return true
        }
    }

    /// Where the player will be; nil without a jump of the application.
    var target: TimeInterval? { state.withLock { $0.seeks.target } }

    func setRate(_ rate: Float) { state.withLock { $0.player }?.setRate(Double(rate)) }

    func setRepeats(_ repeats: Bool) { state.withLock { $0.engine }?.setRepeats(repeats, section) }

    /// The only part that is played.
    private var section: Range<Duration>? { core.status.section ?? plan.section }

    func show(_ picture: PlayerPicture) { state.withLock { $0.engine }?.show(picture) }

    func showSubtitle(_ path: String, isSecond: Bool) -> Bool {
        guard let engine = state.withLock({ $0.engine }) else { return false }
        engine.showSubtitle(path, isSecond: isSecond)
        return true
    }

    func skipIntro() { state.withLock { $0.player }?.skipIntro() }

    /// Gives results and sends requests, as far as the player is.
    private func proceed(_ state: inout State) {
        guard state.isAnswered, let player = state.player else { return }
        // Before the first play a jump and the play wait for each other: the play is counted where it begins.
        let isPlayed = state.shown != .prepared
        while isPlayed || !state.seeks.isRunning, let step = state.requests.next(isPlaying: state.shown.isPlaying) {
            switch step {
            case .answer(let request): answer(request, isRequested: true, nil)
            case .send(.play): player.play()
            case .send(.pause): player.pause()
            }
        }
        guard isPlayed || state.requests.isEmpty, let place = state.seeks.next() else { return }
        post(.position(place)) { $0.isSeeking = true }
        player.seek(to: Duration(position: place))
    }

    private func answer(_ request: PlayerRequests.Request, isRequested: Bool, _ error: KollusError?) {
        switch request {
        case .play: post(.play(isRequested, error)) { if error == nil { $0.isPlaying = true } }
        case .pause: post(.pause(isRequested, error)) { if error == nil { $0.isPlaying = false } }
        }
    }

    // MARK: Events

    /// Something happened in the engine; the player sees it next.
    private func watch(_ event: VideoEvent, _ engine: PlayerEngine?) {
        if case .ready = event { open(engine) }
        state.withLock { state in
            switch event {
            case .position(let place): move(to: place.seconds, &state)
            case .duration(let length): state.media.duration = length.seconds
            case .buffering(let waits):
                guard state.media.changes(isWaiting: waits) else { return }
                post(.buffering(waits, isPrepared: state.isAnswered)) { $0.isBuffering = waits }
            case .rate(let rate):
                guard state.media.changes(rate: Float(rate)) else { return }
                core[\.rate] = Float(rate)
                post(.rate(Float(rate)))
            case .seeking:
                guard state.media.isOpen, state.seeks.began() else { return }
                let place = state.media.position
                state.media.isRepeating = core[\.repeatMode] == .one && state.media.isAtEnd(section)
                post(.position(place)) { $0.isSeeking = true }
            case .ready(let place): arrive(at: place.seconds, &state)
            // The player reports the others as states.
            default: break
            }
        }
    }

    private func move(to place: TimeInterval, _ state: inout State) {
        state.media.position = place
        core.change(self) { $0.position = place }
    }

    private func arrive(at place: TimeInterval, _ state: inout State) {
        move(to: place, &state)
        guard state.seeks.arrived() else { return }
        post(.position(place)) { $0.isSeeking = false }
        if state.media.isRepeating { answer(.play, isRequested: false, nil) }
        state.media.isRepeating = false
        proceed(&state)
    }

    /// The first picture or sound is there: what the engine knows now.
    private func open(_ engine: PlayerEngine?) {
        let isFirst = state.withLock { state in
            defer { state.media.isOpen = true }
            return !state.media.isOpen
        }
        guard isFirst, let engine else { return }
        if let key = plan.source.key { post(.mediaContentKey(key.text)) }
        if core.status.content?.thumbnail != nil { post(.thumbnail) }
        guard let track = engine.pictureTrack else { return }
        let size = CGSize(width: track.width, height: track.height)
        core.setNaturalSize(size, self)
        post(.naturalSize(size))
        if let rate = track.rate { post(.frameRate(Int32(rate.rounded()))) }
    }

    /// Something that the player reports.
    private func show(_ event: PlayerEvent) {
        switch event {
        case .state(let shown): show(shown)
        case .trouble(let error): post(.unknownError(KollusError(error)))
        case .section(let section) where section != plan.section:
            core.change(self) { $0.section = section }
            setRepeats(core[\.repeatMode] == .one)
        case .caption(let text): post(.caption(text))
        case .secondCaption(let text): post(.secondCaption(text))
        case .outline(let outline): core.change(self) { $0.outline = outline }
        case .intro(let isSkippable): core.change(self) { $0.intro = isSkippable }
        case .opened(let key, _) where plan.source.key == nil:
            state.withLock { $0.key = key }
            post(.mediaContentKey(key.text))
        // The engine's own events were first.
        default: break
        }
    }

    private func show(_ shown: PlayerState) {
        state.withLock { state in
            let before = state.shown
            state.shown = shown
            if shown == .prepared, !state.isAnswered {
                state.isAnswered = true
                post(.prepared(nil)) { $0.isPrepared = true }
            }
            if shown.isRunning, !before.isRunning || shown.isPlaying != before.isPlaying {
                let isRequested = state.requests.changed(isPlaying: shown.isPlaying)
                answer(shown.isPlaying ? .play : .pause, isRequested: isRequested, nil)
            }
            proceed(&state)
        }
        // A report is stored at each of these changes, and while it plays.
        if shown.isRunning { reports?.send() }
    }

    /// Something that the storage reports, if it is about this content.
    func take(_ event: KollusEvent) {
        guard let key = (plan.source.key ?? state.withLock { $0.key })?.text else { return }
        switch event {
        case .licenceExchange(let exchange) where exchange.keys.contains(key): post(.exchange(exchange))
        case .reportsExchanged(let exchange):
            let error = exchange.isDelivered ? nil : KollusError(LectureError(.reportRefused))
            for data in exchange.data where PlayerReports.isAbout(key, data) {
                post(.report(data: data, answer: exchange.answer, error: error))
            }
        default: break
        }
    }

    /// The play is over: every call that has no result gets one.
    private func finish(_ error: KollusError?) {
        let dropped = error ?? KollusError(.CONTENT_NOT_PREPARED)
        state.withLock { state in
            (state.isOver, state.player, state.engine) = (true, nil, nil)
            let wasPrepared = state.isAnswered
            state.isAnswered = true
            if !wasPrepared { post(.prepared(dropped), isLast: true) }
            for request in state.requests.removeAll() { answer(request, isRequested: true, dropped) }
            for _ in 0..<state.stops { post(.stop(true, nil), isLast: true) }
            // One that another preparation replaces ends without a call that would be taken for the new one's.
            if state.stops == 0, wasPrepared, !state.isReplaced { post(.stop(false, error), isLast: true) }
        }
    }

    /// Queues a call of the delegate.
    ///
    /// - Parameters:
    ///   - delivery: the call.
    ///   - isLast: whether the session is over with it, so that the delegate may prepare again.
    ///   - change: makes it true for the view.
    private func post(
        _ delivery: PlayerDelivery, isLast: Bool = false,
        _ change: @escaping @Sendable (inout PlayerStatus) -> Void = { _ in }
    ) {
        core.mailbox.post(delivery) { [self] in
            core.change(self, change)
            if isLast { core.leave(self) }
        }
    }
}

/// What the engine of a play has reported.
private struct PlayedMedia {
    /// The first picture or sound is there.
    var isOpen = false
    /// Seconds.
    var position: TimeInterval = 0
    /// Seconds; 0 while unknown.
    var duration: TimeInterval = 0
    /// The jump that is being made starts over.
    var isRepeating = false
    private var rate: Float = 1
    private var isWaiting = false

    /// The engine reports its speed.
    ///
    /// - Returns: whether it is another one.
    mutating func changes(rate next: Float) -> Bool {
        defer { rate = next }
        return next != rate
    }

    /// The engine reports whether it waits for media.
    ///
    /// - Returns: whether that has changed.
    mutating func changes(isWaiting next: Bool) -> Bool {
        defer { isWaiting = next }
        return next != isWaiting
    }

    /// Whether it is so near the end that a jump starts over.
    func isAtEnd(_ section: Range<Duration>?) -> Bool {
        let end = section?.upperBound.seconds ?? duration
        return end > 0 && position >= end - TimeInterval(max(1, rate))
    }
}

extension PlayerState {
    /// Whether it plays.
    var isPlaying: Bool { if case .playing = self { true } else { false } }
    /// Whether it plays or is paused.
    var isRunning: Bool {
        switch self {
        case .playing, .paused: true
        case .idle, .preparing, .prepared, .stopped: false
        }
    }
}
