package import LectureFormats

/// What a broadcaster decides: which call follows which, what waits, and what is tried again. A value without input or
/// output: events go in, effects come out.
///
/// ```
///  idle ──prepare──▶ prepared ──enter──▶ entered ──start──▶ started ◀─────┐ link lost: 0, 1, 2, 4, 8 s
///                     │  ▲                 │                 │  └─────────┘
///                     │  └─ didExist       │                stop, or five attempts failed
///                     │                    │                 ▼
///                     └──restart───────────┼──────────────▶ stopped ──start──▶ started
///                                          └──exit──▶ closed ◀──exit──┘
///  any of them, when the room is ended by another: terminated
/// ```
///
/// Commands queue: `enter()` and `start()` may be called back to back, as the tutorial does. A command that fails drops
/// those queued behind it that need what it has not done, so that one cause is reported once. A command that fits
/// nowhere is refused: `80300` before `prepare`, `80401` later.
///
/// | command | in | calls |
/// |---|---|---|
/// | prepare | idle | stream key, source |
/// | enter | prepared | (stream key,) create or read the room, join, event stream |
/// | restart | prepared | read the room, join, event stream, connect |
/// | start, retry | entered, stopped | connect |
/// | stop | started | disconnect |
/// | exit | entered, stopped; started: after a stop | leave, end; close |
/// | exit | prepared | end the named room, or nothing; close |
///
/// The room is started when its key becomes ACTIVE; ended when the server has noticed the end of the feed, which may be
/// a moment later than `exit`, so that this call alone is repeated by itself. Whether an end whose answer was lost has
/// come true is read from the room.
package struct StreamerMachine: Hashable, Sendable {
    /// The states.
    package enum Phase: String, Hashable, Sendable, CaseIterable {
        case idle, prepared, entered, started, stopped, closed, terminated
    }

    /// What an application can call.
    package enum Command: Hashable, Sendable {
        case prepare
        case enter(roomID: UInt64?, startsRoom: Bool)
        case restart(roomID: UInt64)
        case start, stop, retry
        case exit(roomID: UInt64?)
    }

    /// A call whose answer is awaited.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        case key, source, keyAgain, create, fetch, join, events, connect, disconnect, startRoom, leave, end, endCheck
    }

    /// What happens.
    package enum Event: Hashable, Sendable {
        case command(Command)
        case key(FeedAddress, room: VideoRoom?, state: StreamKeyState)
        case sourceOpened
        case room(VideoRoom)
        case joined
        case channelOpened
        /// The message of the change says more, and may come earlier.
        case roomStarted
        case left
        case roomEnded
        case feedConnected
        case feedDisconnected
        case feedLost
        case failed(Step, LiveFailure)
        case changed(LiveMessage.RoomChange)
        case time
    }

    /// What has to be done.
    package enum Effect: Hashable, Sendable {
        case getStreamKey
        case openSource
        case createRoom(title: String)
        case getRoom(UInt64)
        case join(UInt64)
        case openEvents(channelID: UInt64)
        case closeEvents
        case startRoom(UInt64)
        case leave(UInt64)
        case endRoom(UInt64)
        case connectFeed(FeedAddress)
        case disconnectFeed
        case closeSource
        case wait(until: BootInstant)
        case notify(Notice)
    }

    /// What an application is notified of.
    package enum Notice: Hashable, Sendable {
        case phase(Phase)
        case broadcast(isActive: Bool)
        case exists(VideoRoom)
        case opened(channelID: UInt64)
        case reconnecting(Bool)
        case failed(LiveFailure)
    }

    /// Attempts to get a lost link back.
    private struct Reconnect: Hashable, Sendable {
        var attempt = 0
        /// When the next one begins; nil while one is running.
        var due: BootInstant?
    }

    /// What is known of the start of the room.
    private enum StartCall: Hashable, Sendable { case none, running, failed }

    /// The waits before the attempts to get a lost link back.
    package static let reconnectDelays: [Duration] = [
        .zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8),
    ]
    /// The waits while the server has not noticed the end of the feed.
    package static let endDelays: [Duration] = [
        .milliseconds(200), .milliseconds(400), .milliseconds(800), .milliseconds(1600), .milliseconds(3200),
    ]
    /// More commands than this do not queue.
    package static let queueLimit = 32

    /// The state.
    package private(set) var phase = Phase.idle
    /// The call whose answer is awaited.
    package private(set) var step: Step?
    /// The commands that wait.
    package private(set) var queue: [Command] = []
    /// The room, once it is known.
    package private(set) var room: VideoRoom?
    /// The title of the room that is created.
    package var title = ""
    private var current: Command?
    private var address: FeedAddress?
    private var existing: VideoRoom?
    private var isKeyFresh = false
    private var startsRoom = true
    private var startCall = StartCall.none
    private var keyState: StreamKeyState?
    private var isActive: Bool?
    private var reconnect: Reconnect?
    private var ending = Ending()

    /// How far an exit has come; kept when it fails, so that it goes on from there.
    private struct Ending: Hashable, Sendable {
        var hasLeft = false
        var attempt = 0
        var due: BootInstant?
        var failure: LiveFailure?
    }

    /// Creates a broadcaster that has done nothing yet.
    package init() {}

    /// Whether a lost link is being brought back.
    package var isReconnecting: Bool { reconnect != nil }

    /// Takes an event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when.
    /// - Returns: what has to be done, in order.
    package mutating func handle(_ event: Event, now: BootInstant) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .command(let command): take(command, &effects)
        case .failed(let step, let failure): fail(step, failure, now, &effects)
        case .changed(let change): follow(change, &effects)
        case .time: timePassed(now, &effects)
        case .feedLost: feedLost(now, &effects)
        default: answer(event, now, &effects)
        }
        while step == nil, !queue.isEmpty { begin(queue.removeFirst(), &effects) }
        startRoomIfDue(&effects)
        return effects
    }

    // MARK: Commands

    private mutating func take(_ command: Command, _ effects: inout [Effect]) {
        if reconnect != nil {
            switch command {
            case .stop: endReconnect(&effects)
            case .exit(let id) where id == nil || id == room?.id: endReconnect(&effects)
            case .retry:
                if reconnect?.due != nil { connectAgain(&effects) }
                return
            default: break
            }
        }
        guard queue.count < Self.queueLimit else { return refuse(command, &effects) }
        queue.append(command)
    }

    private mutating func begin(_ command: Command, _ effects: inout [Effect]) {
        current = command
        switch (command, phase) {
        case (.prepare, .idle): call(.key, .getStreamKey, &effects)
        case (.enter(let id, let starts), .prepared):
            startsRoom = id == nil || starts
            if id == nil, !isKeyFresh || existing != nil { return call(.keyAgain, .getStreamKey, &effects) }
            enterRoom(id, &effects)
        case (.restart(let id), .prepared):
            startsRoom = true
            call(.fetch, .getRoom(id), &effects)
        case (.start, .entered), (.start, .stopped), (.retry, .entered), (.retry, .stopped): connect(&effects)
        case (.restart(let id), .entered), (.restart(let id), .stopped):
            if id == room?.id { connect(&effects) } else { refuse(command, &effects) }
        case (.retry, .started) where startCall == .failed: startCall = .none
        case (.stop, .started): call(.disconnect, .disconnectFeed, &effects)
        case (.exit(let id), .started):
            guard id == nil || id == room?.id else { return refuse(command, &effects) }
            queue.insert(command, at: 0)
            begin(.stop, &effects)
        case (.exit(let id), .entered), (.exit(let id), .stopped):
            guard let room, id == nil || id == room.id else { return refuse(command, &effects) }
            ending.attempt = 0
            if ending.hasLeft {
                call(.end, .endRoom(room.id), &effects)
            } else {
                call(.leave, .leave(room.id), &effects)
            }
        case (.exit(let id), .prepared):
            guard let id else { return close(&effects) }
            ending.attempt = 0
            call(.end, .endRoom(id), &effects)
        default: refuse(command, &effects)
        }
    }

    private mutating func enterRoom(_ id: UInt64?, _ effects: inout [Effect]) {
        isKeyFresh = false
        if let id { call(.fetch, .getRoom(id), &effects) } else { call(.create, .createRoom(title: title), &effects) }
    }

    private mutating func connect(_ effects: inout [Effect]) {
        if startCall == .failed { startCall = .none }
        if let address { call(.connect, .connectFeed(address), &effects) }
    }

    private mutating func call(_ step: Step, _ effect: Effect, _ effects: inout [Effect]) {
        self.step = step
        effects.append(effect)
    }

    private func refuse(_ command: Command, _ effects: inout [Effect]) {
        var name = "\(command)"
        if let end = name.firstIndex(of: "(") { name = String(name[..<end]) }
        let failure: LiveFailure
        switch command {
        case .restart(let id) where id != room?.id && (phase == .entered || phase == .stopped):
            failure = LiveFailure(.invalidVideoRoomID, "'\(name)' names another room than the one that was entered")
        case .exit(let id?) where id != room?.id && (phase == .entered || phase == .started || phase == .stopped):
            failure = LiveFailure(.invalidVideoRoomID, "'\(name)' names another room than the one that was entered")
        default:
            failure =
                phase == .idle
                ? LiveFailure(.notPrepared, "'\(name)' needs a broadcaster that is prepared")
                : LiveFailure(.serverUnexpected, "'\(name)' does not fit the state '\(phase.rawValue)'")
        }
        effects.append(.notify(.failed(failure)))
    }

    // MARK: Answers

    private mutating func answer(_ event: Event, _ now: BootInstant, _ effects: inout [Effect]) {
        switch (event, step) {
        case (.key(let address, let room, let state), .key), (.key(let address, let room, let state), .keyAgain):
            (self.address, keyState) = (address, state)
            existing = room.flatMap { $0.state.isFinal ? nil : $0 }
            if step == .key {
                isKeyFresh = true
                call(.source, .openSource, &effects)
            } else if let existing {
                step = nil
                drop()
                effects.append(.notify(.exists(existing)))
            } else {
                enterRoom(nil, &effects)
            }
        case (.sourceOpened, .source): enter(.prepared, &effects)
        case (.room(let room), .create), (.room(let room), .fetch):
            if room.state.isFinal {
                let failure = LiveFailure(.invalidVideoRoomID, "the room has ended: it cannot be entered")
                return fail(step ?? .fetch, failure, now, &effects)
            }
            self.room = room
            call(.join, .join(room.id), &effects)
        case (.joined, .join): call(.events, .openEvents(channelID: room?.channelID ?? 0), &effects)
        case (.channelOpened, .events): channelOpened(&effects)
        case (.feedConnected, .connect): enter(.started, &effects)
        case (.feedConnected, _) where reconnect != nil && reconnect?.due == nil: endReconnect(&effects)
        case (.feedDisconnected, .disconnect): enter(.stopped, &effects)
        case (.left, .leave):
            ending.hasLeft = true
            call(.end, .endRoom(room?.id ?? 0), &effects)
        case (.roomEnded, .end): close(&effects)
        case (.room(let room), .endCheck): endChecked(room, now, &effects)
        default: break
        }
    }

    private mutating func channelOpened(_ effects: inout [Effect]) {
        guard let room else { return }
        (phase, step) = (.entered, nil)
        effects.append(.notify(.opened(channelID: room.channelID)))
        publishBroadcast(room.state, &effects)
        if case .restart = current { connect(&effects) }
    }

    private mutating func enter(_ phase: Phase, _ effects: inout [Effect]) {
        (self.phase, step, current) = (phase, nil, nil)
        effects.append(.notify(.phase(phase)))
    }

    private mutating func close(_ effects: inout [Effect]) {
        effects += room == nil ? [.closeSource] : [.closeEvents, .closeSource]
        enter(.closed, &effects)
    }

    private mutating func endChecked(_ room: VideoRoom, _ now: BootInstant, _ effects: inout [Effect]) {
        if room.state.isFinal { return close(&effects) }
        let failure = ending.failure ?? LiveFailure(.roomEnd, "the room was not ended")
        guard failure.isTooEarly, ending.attempt < Self.endDelays.count else {
            return abandon(.end, failure.during(.roomEnd), &effects)
        }
        let due = now + Self.endDelays[ending.attempt]
        ending.attempt += 1
        ending.due = due
        step = .end
        effects.append(.wait(until: due))
    }

    // MARK: Failures

    private mutating func fail(
        _ step: Step, _ failure: LiveFailure, _ now: BootInstant, _ effects: inout [Effect]
    ) {
        switch step {
        case .connect where reconnect != nil && reconnect?.due == nil: attemptFailed(now, &effects)
        case .startRoom where startCall == .running:
            startCall = .failed
            effects.append(.notify(.failed(failure.during(.roomStart))))
        case .events where self.step != .events:
            if hasChannel { effects.append(.notify(.failed(failure))) }
        case .end:
            guard self.step == .end, ending.due == nil else { return }
            ending.failure = failure
            call(.endCheck, .getRoom(endedRoomID), &effects)
        case .endCheck where self.step == .endCheck:
            abandon(.end, (ending.failure ?? failure).during(.roomEnd), &effects)
        case self.step: abandon(step, failure, &effects)
        default: break
        }
    }

    /// Whether the event stream is of use: before the room is left.
    private var hasChannel: Bool {
        let isLeaving = step == .leave || step == .end || step == .endCheck
        return (phase == .entered || phase == .started || phase == .stopped) && !isLeaving
    }

    private var endedRoomID: UInt64 {
        if case .exit(let id?) = current { id } else { room?.id ?? 0 }
    }

    private mutating func abandon(_ step: Step, _ failure: LiveFailure, _ effects: inout [Effect]) {
        self.step = nil
        if step != .leave, step != .end { drop() }
        current = nil
        if phase == .prepared { (isKeyFresh, room) = (false, nil) }
        if step == .events { effects.append(.closeEvents) }
        effects.append(.notify(.failed(failure)))
    }

    /// Drops the commands that need what the current one has not done.
    private mutating func drop() {
        while let next = queue.first {
            let isIndependent =
                switch next {
                case .prepare: true
                case .exit: phase != .idle
                case .enter, .restart: phase == .prepared
                case .start, .stop, .retry: false
                }
            if isIndependent { return }
            queue.removeFirst()
        }
    }

    // MARK: The link

    private mutating func feedLost(_ now: BootInstant, _ effects: inout [Effect]) {
        guard phase == .started, step != .disconnect, reconnect == nil else { return }
        effects.append(.notify(.reconnecting(true)))
        reconnect = Reconnect()
        connectAgain(&effects)
    }

    private mutating func connectAgain(_ effects: inout [Effect]) {
        guard let address else { return }
        reconnect?.due = nil
        effects.append(.connectFeed(address))
    }

    private mutating func attemptFailed(_ now: BootInstant, _ effects: inout [Effect]) {
        let attempt = (reconnect?.attempt ?? 0) + 1
        guard attempt < Self.reconnectDelays.count else {
            endReconnect(&effects)
            let text = "the link to the media server was lost and could not be brought back"
            effects.append(.notify(.failed(LiveFailure(.tooManyRetries, text))))
            return enter(.stopped, &effects)
        }
        let due = now + Self.reconnectDelays[attempt]
        reconnect = Reconnect(attempt: attempt, due: due)
        effects.append(.wait(until: due))
    }

    private mutating func endReconnect(_ effects: inout [Effect]) {
        reconnect = nil
        effects.append(.notify(.reconnecting(false)))
    }

    private mutating func timePassed(_ now: BootInstant, _ effects: inout [Effect]) {
        if let due = reconnect?.due {
            if now >= due { connectAgain(&effects) } else { effects.append(.wait(until: due)) }
        }
        guard step == .end, let due = ending.due else { return }
        guard now >= due else { return effects.append(.wait(until: due)) }
        ending.due = nil
        effects.append(.endRoom(endedRoomID))
    }

    // MARK: The room

    private mutating func follow(_ change: LiveMessage.RoomChange, _ effects: inout [Effect]) {
        guard change.roomID == room?.id, phase != .closed, phase != .terminated else { return }
        room?.state = change.state
        if let state = change.keyState { keyState = state }
        if startCall == .failed { startCall = .none }
        if change.state.isFinal { return terminate(&effects) }
        publishBroadcast(change.state, &effects)
    }

    private mutating func terminate(_ effects: inout [Effect]) {
        if step == .leave || step == .end || step == .endCheck { return }
        if reconnect != nil { endReconnect(&effects) }
        if phase == .started || step == .connect { effects.append(.disconnectFeed) }
        if isActive == true { publishBroadcast(.ended, &effects) }
        queue = []
        effects += [.closeEvents, .closeSource]
        enter(.terminated, &effects)
    }

    private mutating func publishBroadcast(_ state: VideoRoomState, _ effects: inout [Effect]) {
        // Before it was live there is nothing that could be interrupted.
        if state == .scheduled || isActive == (state == .live) { return }
        isActive = state == .live
        effects.append(.notify(.broadcast(isActive: state == .live)))
    }

    private mutating func startRoomIfDue(_ effects: inout [Effect]) {
        guard phase == .started, step != .disconnect, startsRoom, startCall == .none, keyState == .active, let room,
            room.state == .scheduled
        else { return }
        startCall = .running
        effects.append(.startRoom(room.id))
    }
}
