package import LectureFormats

/// What a viewer decides: when media is opened, opened again, or given up. A value without input or output.
///
/// ```
/// idle ──prepare, media is there──▶ prepared ──start──▶ started ⇄ paused (no media)
///                                      ▲                   │         │ 10 s, LIVE: 90203, open again; 3 times, then
///                                      │                  stop       ▼ then 80106 and
///                                   (start)◀────────────────────── stopped
/// ENDED: completed      exit, in any state: closed
/// ```
///
/// `start` before the media is there is remembered: `prepare`, `enter` and `start` may be called back to back. The
/// channel (`enter`: join, event stream, state of the room) is independent of the picture. While the room is
/// interrupted a missing picture is no failure; when it resumes, its address is another one, which is published and
/// opened. A picture that stands still is a reason to read the room at once: what has become of it may not have been
/// reported, for instance because another program of the member has left the channel. It is joined again at 90203.
///
/// A viewer keeps the kind of address that it plays, RTMP or not. What reports that a room goes on has one address
/// only, so a viewer over RTMP reads the room for its own.
package struct LivePlayerMachine: Hashable, Sendable {
    /// The states.
    package enum Phase: String, Hashable, Sendable, CaseIterable {
        case idle, prepared, started, paused, stopped, completed, closed
    }

    /// What an application can call.
    package enum Command: Hashable, Sendable {
        case prepare(url: String)
        case enter, start, stop, exit
    }

    /// A call whose answer is awaited.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        case join, events, fetch, leave
    }

    /// What happens.
    package enum Event: Hashable, Sendable {
        case command(Command)
        case joined
        case channelOpened
        case room(VideoRoom)
        case left
        case failed(Step, LiveFailure)
        case changed(LiveMessage.RoomChange)
        /// The media can be played.
        case pictureReady
        /// It plays.
        case picturePlays
        /// There is no media to go on with, whatever the reason.
        case pictureStalled
        /// Nothing can play it here.
        case pictureFailed(LiveFailure)
        case time
    }

    /// What has to be done.
    package enum Effect: Hashable, Sendable {
        case openPicture(url: String)
        case playPicture
        case closePicture
        case join(UInt64)
        case openEvents(channelID: UInt64)
        case getRoom(UInt64)
        case closeEvents
        case leave(UInt64)
        case wait(until: BootInstant)
        case notify(Notice)
    }

    /// What an application is notified of.
    package enum Notice: Hashable, Sendable {
        case phase(Phase)
        case broadcast(isActive: Bool)
        case url(String)
        case opened(channelID: UInt64)
        case failed(LiveFailure)
    }

    /// What the channel is in.
    package enum Channel: String, Hashable, Sendable, CaseIterable {
        case none, joining, opening, open, leaving
    }

    /// The longest wait for media.
    package static let patience = Duration.seconds(10)
    /// So many times media is opened again.
    package static let reloadLimit = 3

    /// The room.
    package let roomID: UInt64
    /// Its channel.
    package let channelID: UInt64
    /// The state.
    package private(set) var phase = Phase.idle
    /// The state of the channel.
    package private(set) var channel = Channel.none
    /// Where the media is.
    package private(set) var url = ""
    private var state: VideoRoomState?
    private var isActive: Bool?
    private var wantsPlay = false
    private var isOpening = false
    private var due: BootInstant?
    private var reloads = 0

    /// Creates a viewer that has done nothing yet.
    ///
    /// - Parameters:
    ///   - roomID: the room.
    ///   - channelID: its channel.
    package init(roomID: UInt64, channelID: UInt64) { (self.roomID, self.channelID) = (roomID, channelID) }

    /// Takes an event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when.
    /// - Returns: what has to be done, in order.
    package mutating func handle(_ event: Event, now: BootInstant) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .command(let command): begin(command, now, &effects)
        case .joined where channel == .joining:
            channel = .opening
            effects.append(.openEvents(channelID: channelID))
        case .channelOpened where channel == .opening:
            channel = .open
            // What has changed before the event stream was there is only in the room.
            effects += [.notify(.opened(channelID: channelID)), .getRoom(roomID)]
        case .room(let room) where room.id == roomID && channel == .open:
            follow(room.state, address(room.playURL, room.rtmpPlayURL), now, &effects)
        case .changed(let change) where change.roomID == roomID && (channel == .opening || channel == .open):
            let address = address(change.playURL, nil)
            follow(change.state, address, now, &effects)
            // While the channel opens, the room is read anyway.
            if change.state == .live, address == nil, Self.isRTMP(url), hasPicture, channel == .open {
                effects.append(.getRoom(roomID))
            }
        case .left where channel == .leaving: closed(&effects)
        case .failed(let step, let failure): fail(step, failure, &effects)
        case .time: timePassed(now, &effects)
        default: picture(event, now, &effects)
        }
        return effects
    }

    // MARK: Commands

    private mutating func begin(_ command: Command, _ now: BootInstant, _ effects: inout [Effect]) {
        switch (command, phase) {
        case (.prepare(let url), .idle) where !isOpening:
            self.url = url
            open(now, &effects)
        case (.enter, _) where channel == .none && phase != .closed && (phase != .idle || isOpening):
            channel = .joining
            effects.append(.join(roomID))
        case (.start, .idle) where isOpening: wantsPlay = true
        case (.start, .prepared):
            wantsPlay = true
            effects.append(.playPicture)
            watch(now, &effects)
        case (.start, .stopped) where !isOpening:
            wantsPlay = true
            reloads = 0
            open(now, &effects)
        case (.stop, _) where hasPicture: stop(.stopped, &effects)
        case (.exit, _) where phase != .closed && channel != .leaving: exit(&effects)
        default: refuse(command, &effects)
        }
    }

    private func refuse(_ command: Command, _ effects: inout [Effect]) {
        var name = "\(command)"
        if let end = name.firstIndex(of: "(") { name = String(name[..<end]) }
        let isTooEarly = phase == .idle && !isOpening
        let text = isTooEarly ? "needs a player that is prepared" : "does not fit the state '\(phase.rawValue)'"
        effects.append(
            .notify(.failed(LiveFailure(isTooEarly ? .notPrepared : .serverUnexpected, "'\(name)' \(text)"))))
    }

    private mutating func exit(_ effects: inout [Effect]) {
        if hasPicture { effects.append(.closePicture) }
        (wantsPlay, isOpening, due) = (false, false, nil)
        switch channel {
        case .none: return closed(&effects)
        case .opening, .open: effects.append(.closeEvents)
        case .joining, .leaving: break
        }
        channel = .leaving
        effects.append(.leave(roomID))
    }

    private mutating func closed(_ effects: inout [Effect]) {
        channel = .none
        enter(.closed, &effects)
    }

    private mutating func fail(_ step: Step, _ failure: LiveFailure, _ effects: inout [Effect]) {
        switch (step, channel) {
        case (.join, .joining): channel = .none
        case (.events, .opening), (.events, .open): channel = .none
        case (.fetch, .open): break
        case (.leave, .leaving):
            // A viewer can always go: the server notices by itself that the event stream is gone.
            effects.append(.notify(.failed(failure)))
            return closed(&effects)
        default: return
        }
        effects.append(.notify(.failed(failure)))
    }

    // MARK: The room

    private mutating func follow(
        _ new: VideoRoomState, _ newURL: String?, _ now: BootInstant, _ effects: inout [Effect]
    ) {
        guard phase != .closed, phase != .completed, channel != .leaving else { return }
        state = new
        if new.isFinal {
            publish(isActive: false, &effects)
            stop(.completed, &effects)
            return
        }
        if new == .live {
            publish(isActive: true, &effects)
            if let newURL, !newURL.isEmpty, newURL != url {
                let isSameStream = Self.isRTMP(url) && Self.stream(url) == Self.stream(newURL)
                url = newURL
                // A connection lasts, whatever becomes of its signature: the new one is for the next opening.
                if isSameStream { return awaitMedia(now, &effects) }
                reloads = 0
                effects.append(.notify(.url(newURL)))
                if hasPicture { open(now, &effects) }
            } else {
                awaitMedia(now, &effects)
            }
        } else if new == .inactive {
            publish(isActive: false, &effects)
            due = nil
        }
    }

    /// In a room that is known to be live, media that is waited for has to come.
    private mutating func awaitMedia(_ now: BootInstant, _ effects: inout [Effect]) {
        if isWaiting, due == nil { watch(now, &effects) }
    }

    /// Which address of a room is for this viewer; nil for none.
    private func address(_ standard: String?, _ rtmp: String?) -> String? {
        guard Self.isRTMP(url) else { return standard }
        return standard.map(Self.isRTMP) == true ? standard : rtmp
    }

    private static func isRTMP(_ url: String) -> Bool { url.lowercased().hasPrefix("rtmp") }

    /// An address without its query, which has the signature.
    private static func stream(_ url: String) -> Substring { url.prefix { $0 != "?" } }

    private mutating func publish(isActive new: Bool, _ effects: inout [Effect]) {
        if isActive == new || isActive == nil && !new && state?.isFinal == true { return }
        isActive = new
        effects.append(.notify(.broadcast(isActive: new)))
    }

    // MARK: The picture

    private var hasPicture: Bool {
        channel != .leaving && (isOpening || phase == .prepared || phase == .started || phase == .paused)
    }

    private var isWaiting: Bool { isOpening || phase == .paused || phase == .prepared && wantsPlay }

    private mutating func picture(_ event: Event, _ now: BootInstant, _ effects: inout [Effect]) {
        switch event {
        case .pictureReady where isOpening:
            isOpening = false
            if phase == .idle { enter(.prepared, &effects) }
            if phase == .stopped { phase = .prepared }
            if wantsPlay { effects.append(.playPicture) } else { due = nil }
        case .picturePlays where wantsPlay && (phase == .prepared || phase == .paused || phase == .started):
            (due, reloads, isOpening) = (nil, 0, false)
            if phase != .started { enter(.started, &effects) }
        case .pictureStalled where hasPicture: stall(now, &effects)
        case .pictureFailed(let failure) where hasPicture:
            effects.append(.notify(.failed(failure)))
            stall(now, &effects)
        default: break
        }
    }

    private mutating func stall(_ now: BootInstant, _ effects: inout [Effect]) {
        if phase == .started {
            enter(.paused, &effects)
            if channel == .open { effects.append(.getRoom(roomID)) }
        }
        if phase == .prepared, !wantsPlay, !isOpening { isOpening = true }
        if due == nil { watch(now, &effects) }
    }

    private mutating func open(_ now: BootInstant, _ effects: inout [Effect]) {
        if phase == .started { enter(.paused, &effects) }
        isOpening = true
        effects.append(.openPicture(url: url))
        watch(now, &effects)
    }

    /// From now on media has to be there within ten seconds, unless the room is known to be interrupted.
    private mutating func watch(_ now: BootInstant, _ effects: inout [Effect]) {
        guard state != .inactive, state != .scheduled else {
            due = nil
            return
        }
        let end = now + Self.patience
        due = end
        effects.append(.wait(until: end))
    }

    private mutating func timePassed(_ now: BootInstant, _ effects: inout [Effect]) {
        guard let due else { return }
        guard now >= due else { return effects.append(.wait(until: due)) }
        reloads += 1
        if reloads > Self.reloadLimit {
            let text = "the media was opened \(Self.reloadLimit) times again and did not come"
            effects.append(.notify(.failed(LiveFailure(.tooManyRetries, text))))
            return stop(.stopped, &effects)
        }
        effects.append(.notify(.failed(LiveFailure(.tooLongBuffering, "no media for 10 s: it is opened again"))))
        if channel == .open { effects += [.join(roomID), .getRoom(roomID)] }
        open(now, &effects)
    }

    private mutating func stop(_ phase: Phase, _ effects: inout [Effect]) {
        if hasPicture { effects.append(.closePicture) }
        (wantsPlay, isOpening, due, reloads) = (false, false, nil, 0)
        enter(phase, &effects)
    }

    private mutating func enter(_ phase: Phase, _ effects: inout [Effect]) {
        self.phase = phase
        effects.append(.notify(.phase(phase)))
    }
}
