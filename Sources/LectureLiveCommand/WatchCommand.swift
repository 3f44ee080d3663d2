import Dispatch
import FlipFlopLiteSDK
import LectureCommand
import LectureLive
import LectureLiveClient
import LectureModel

/// `lecture-live watch`.
enum WatchCommand {
    static func run(_ session: LiveSession) async throws -> ExitStatus {
        let hasVideo = !session.command.flag("no-video")
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap { session.context.environment[$0] }
        if hasVideo, displays.allSatisfy(\.isEmpty) {
            throw LiveProblem(
                .streamingInvalidView,
                "There is no display: DISPLAY and WAYLAND_DISPLAY are not set. '--no-video' plays the sound only.")
        }
        let token = try session.token()
        return try await session.withClient { client in
            let room = try await client.room(session.room)
            if room.state.isFinal { throw isOver(room) }
            var run = WatchRun(session, client)
            return try await run.work(token, room, hasVideo: hasVideo)
        }
    }

    static func isOver(_ room: VideoRoom) -> LiveProblem {
        LiveProblem(
            .invalidVideoRoomID,
            room.state == .cancelled
                ? "Room \(room.id) was cancelled." : "Room \(room.id) has ended: 'lecture-live archive \(room.id)'.")
    }
}

/// One viewer, from the first wait to the end of the room.
struct WatchRun {
    /// What happens.
    enum Event: Sendable {
        case state(PlayerState)
        case broadcast(BroadcastState)
        case opened
        case message(FFLMessage)
        case failed(LiveFailure)
        /// While it waits for the room to begin.
        case feed(ChannelFeed.Event)
        /// The time is over, or a signal came.
        case over
    }

    private let session: LiveSession
    private let client: MemberClient
    private let inbox = LiveInbox<Event>()
    private var viewers: UInt64?
    private var isEnding = false
    private var wasReady = false
    /// What ends the command although the viewer has left.
    private var failure: LiveFailure?
    private var store: WatchStore?
    private var isOver = false

    init(_ session: LiveSession, _ client: MemberClient) { (self.session, self.client) = (session, client) }

    mutating func work(_ token: String, _ room: VideoRoom, hasVideo: Bool) async throws -> ExitStatus {
        let signals = inbox.watchSignals(session.context, .over)
        let timer = inbox.put(after: session.command.duration("duration"), session.effects.time, .over)
        defer {
            signals.cancel()
            timer.cancel()
        }
        var events = inbox.events.makeAsyncIterator()
        try session.write(LiveLine.room(room))
        guard let url = try await address(of: room, &events) else { return .done }
        try await openStore(room)
        var config = session.config
        let media = session.effects.media
        var choice = PictureChoice(hasVideo: hasVideo, title: room.title.isEmpty ? "Room \(room.id)" : room.title)
        choice.isMuted = session.command.flag("mute")
        config.livePicture = { [choice] in media.picture(choice) }
        let player = FlipFlopLite.livePlayer(config, accessToken: token, room)
        let relay = WatchRelay(inbox)
        player.delegateQueue = DispatchQueue(label: "lecture-live.watch")
        player.delegate = relay
        player.mute(on: session.command.flag("mute"))
        player.prepare(uri: url, options: isLowLatency ? .lowLatency : [])
        player.enter()
        player.start()
        do {
            while let event = await events.next(isolation: #isolation) {
                guard let status = try await handle(event, player, room) else { continue }
                return try await store?.close(isOver: isOver, session) ?? status
            }
        } catch {
            _ = try? await store?.close(isOver: false, session)
            throw error
        }
        return withExtendedLifetime(relay) { .software }
    }

    /// Opens the store of `--keep` and `--report`; what the room is now has the newest links.
    private mutating func openStore(_ room: VideoRoom) async throws {
        guard session.command.flag("keep") || session.command.text("report") != nil else { return }
        store = try await WatchStore.open(session, try await client.room(room.id))
    }

    private var isLowLatency: Bool { session.command.flag("low-latency") }

    /// Where a room can be watched now, in the way that is wanted: HLS where there is no RTMP.
    private func address(in room: VideoRoom) -> String? {
        guard isLowLatency, let url = room.playURL else { return room.playURL }
        if room.rtmpPlayURL == nil { session.say("The server has no RTMP for room \(room.id): it is played over HLS.") }
        return room.rtmpPlayURL ?? url
    }

    /// Where the room can be watched; waits until it begins.
    ///
    /// - Returns: nil when the command is to end before.
    private func address(
        of room: VideoRoom, _ events: inout AsyncStream<Event>.Iterator
    ) async throws -> String? {
        if let url = address(in: room) { return url }
        let wasJoined = try await client.join(room.id)
        let feed = ChannelFeed(
            room.channelID, client, patience: LiveSession.patience, time: session.effects.time)
        let reading = Task { [inbox] in
            for await event in feed.events { inbox.put(.feed(event)) }
        }
        defer {
            feed.close()
            reading.cancel()
        }
        try session.report(.broadcast, BroadcastState.inactive.rawValue, room: room.id)
        session.say("Waiting until room \(room.id) can be watched.")
        while let event = await events.next(isolation: #isolation) {
            switch event {
            case .feed(.opened):
                // What has changed before the stream was open is only in the room.
                let now = try await client.room(room.id)
                if now.state.isFinal { throw WatchCommand.isOver(now) }
                if let url = address(in: now) { return url }
            case .feed(.messages(let messages)):
                for change in messages.compactMap(\.change) where change.roomID == room.id {
                    if change.state.isFinal { throw WatchCommand.isOver(try await client.room(room.id)) }
                    guard change.state == .live else { continue }
                    if !isLowLatency, let url = change.playURL { return url }
                    // The address for RTMP is only in the room.
                    if isLowLatency, let url = address(in: try await client.room(room.id)) { return url }
                }
            case .feed(.failed(let failure)): throw failure
            case .over:
                if !wasJoined { try await client.leave(room.id) }
                return nil
            default: break
            }
        }
        return nil
    }

    /// Handles one event; a status ends the command.
    private mutating func handle(
        _ event: Event, _ player: FFLLivePlayer, _ room: VideoRoom
    ) async throws -> ExitStatus? {
        switch event {
        case .state(let state):
            try session.report(.viewer, state.rawValue, room: room.id)
            switch state {
            case .closed:
                if let failure { throw failure }
                return .done
            case .completed:
                isOver = true
                end(player)
            case .prepared: wasReady = true
            case .started: await store?.plays()
            case .paused, .stopped: await store?.waits()
            }
        case .broadcast(let state): try session.report(.broadcast, state.rawValue, room: room.id)
        case .message(let message):
            if session.command.flag("chat") { try session.print(ChatLine(message), room: room.id) }
            guard let count = message.participantCount, count != viewers else { break }
            viewers = count
            try session.report(.channel, "open", room: room.id, viewers: count)
        case .failed(let failure): try failed(failure, player)
        case .over: end(player)
        case .opened: try session.report(.channel, "open", room: room.id)
        case .feed: break
        }
        return nil
    }

    private mutating func failed(_ failure: LiveFailure, _ player: FFLLivePlayer) throws {
        guard !isEnding else { return }
        switch failure.code {
        case .tooManyRetries, .unauthorized, .roomJoin, .channelUnexpected, .streamingInvalidView:
            // A picture that never came is no failure of the network alone.
            self.failure = failure
            end(player)
        default: try session.warn(failure)
        }
    }

    private mutating func end(_ player: FFLLivePlayer) {
        guard !isEnding else { return }
        isEnding = true
        player.exit()
    }
}

/// Puts what a viewer reports into the stream of the command.
private final class WatchRelay: FFLLivePlayerDelegate, Sendable {
    private let inbox: LiveInbox<WatchRun.Event>

    init(_ inbox: LiveInbox<WatchRun.Event>) { self.inbox = inbox }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: PlayerState) {
        inbox.put(.state(playerState))
    }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate broadcastState: BroadcastState) {
        inbox.put(.broadcast(broadcastState))
    }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didOpenChannel channelId: UInt64) { inbox.put(.opened) }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage) { inbox.put(.message(message)) }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError) { inbox.put(.failed(LiveFailure(error))) }
}
