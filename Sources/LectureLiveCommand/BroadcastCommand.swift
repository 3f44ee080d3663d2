import Dispatch
import FlipFlopLiteSDK
import LectureCommand
import LectureLive
import LectureLiveClient
import LectureModel

/// `lecture-live broadcast`.
enum BroadcastCommand {
    static func run(_ session: LiveSession) async throws -> ExitStatus {
        let plan = try BroadcastPlan(session.command)
        let token = try session.token()
        return try await session.withClient { client in
            // Says what is wrong with the token or the server before a device is opened.
            let key = try await client.streamKey()
            let open = key.room.flatMap { $0.state.isFinal ? nil : $0 }
            if let open, plan.room == nil, !plan.resumes { throw roomIsOpen(open) }
            var run = BroadcastRun(session, plan, client)
            return try await run.work(token, resuming: plan.room == nil ? open : nil)
        }
    }

    static func roomIsOpen(_ room: VideoRoom) -> LiveProblem {
        let title = room.title.isEmpty ? "" : " ('\(room.title)')"
        let remedy = RoomCommands.remedy(room.id, isScheduled: room.state == .scheduled)
        return LiveProblem(
            .roomCreate,
            "Room \(room.id)\(title) was left open in the state \(room.state.rawValue): go on with "
                + "'lecture-live broadcast --resume'; \(remedy).")
    }
}

/// What the command line of a broadcast says.
struct BroadcastPlan {
    let source: LiveSource
    let microphone: String?
    let settings: FFStreamerConfig
    let title: String
    let room: UInt64?
    let resumes: Bool
    let hasPreview: Bool
    let duration: Duration?

    init(_ command: ParsedCommand) throws(UsageError) {
        let text = command.text("source") ?? "test"
        guard let source = LiveSource(text) else {
            throw UsageError(
                "Option '--source': \(UsageError.quoted(text)) must be test, screen[:DISPLAY], camera:DEVICE or "
                    + "file:PATH[,loop].", path: command.path)
        }
        microphone = command.text("microphone")
        switch source {
        case .test, .file:
            guard microphone == nil else {
                throw UsageError(
                    "Option '--microphone' is for the sources screen and camera: the others have a sound of their own.",
                    path: command.path)
            }
        case .screen, .camera: break
        }
        self.source = source
        (title, resumes) = (command.text("title") ?? "", command.flag("resume"))
        room = command.text("room").flatMap { UInt64($0) }
        hasPreview = command.flag("preview")
        duration = command.duration("duration")
        settings = FFStreamerConfig()
        settings.preset = FFStreamerConfig.Preset(rawValue: "hd\(command.text("size") ?? "1280x720")") ?? .hd1280x720
        settings.fps = command.integer("fps") ?? 30
        settings.videoBitrate = command.text("bitrate").flatMap { BitRate.bits($0) } ?? 2_000_000
        settings.adaptiveBitrate = command.flag("adaptive")
    }
}

/// One broadcast, from its preparation to the end of its room.
struct BroadcastRun {
    /// What happens.
    enum Event: Sendable {
        case state(StreamerState)
        case broadcast(BroadcastState)
        case exists(FFLVideoRoom)
        case alarm(AlarmState)
        case bitrate(Int)
        case opened
        case message(FFLMessage)
        case failed(LiveFailure)
        /// The microphone can no longer be read.
        case silent
        /// The time is over, the file has ended, or a signal came.
        case over(String)
    }

    private let session: LiveSession
    private let plan: BroadcastPlan
    private let client: MemberClient
    private let inbox = LiveInbox<Event>()
    private var room: UInt64?
    private var viewers: UInt64?
    private var bitrate: Int?
    private var isOpen = false
    /// Whether the room was never on the air.
    private var isScheduled = false
    private var wasStarted = false
    private var isEnding = false
    /// What ends the command although the room was ended.
    private var failure: LiveFailure?
    private var timer: Task<Void, Never>?

    init(_ session: LiveSession, _ plan: BroadcastPlan, _ client: MemberClient) {
        (self.session, self.plan, self.client) = (session, plan, client)
    }

    mutating func work(_ token: String, resuming open: VideoRoom?) async throws -> ExitStatus {
        var config = session.config
        let (media, source, microphone) = (session.effects.media, plan.source, plan.microphone)
        let relay = BroadcastRelay(inbox)
        config.feedSource = {
            media.feed(
                FeedChoice(
                    source: source, microphone: microphone, sourceEnded: { relay.sourceEnded() },
                    microphoneFailed: { relay.microphoneFailed() }))
        }
        let streamer = FlipFlopLite.streamer(config, accessToken: token)
        streamer.delegateQueue = DispatchQueue(label: "lecture-live.broadcast")
        streamer.delegate = relay
        relay.streamer = streamer
        let signals = inbox.watchSignals(session.context, .over("a signal"))
        defer {
            signals.cancel()
            timer?.cancel()
        }
        streamer.setVideoInfo(title: plan.title)
        let preview = plan.hasPreview ? media.preview(plan.title) : nil
        streamer.prepare(preview: preview, config: plan.settings)
        if let open {
            session.say("Going on with room \(open.id).")
            streamer.restart(videoRoomId: open.id)
        } else {
            streamer.enter(videoRoomId: plan.room, requestVideoRoomStart: true)
            streamer.start()
        }
        for await event in inbox.events {
            if let status = try await handle(event, streamer) { return status }
        }
        return .software
    }

    /// Handles one event; a status ends the command.
    private mutating func handle(_ event: Event, _ streamer: FFLStreamer) async throws -> ExitStatus? {
        switch event {
        case .state(let state): return try await entered(state, streamer)
        case .broadcast(let state):
            if state == .active { isScheduled = false }
            try session.report(.broadcast, state.rawValue, room: room)
        case .exists(let room):
            // Made by another program since the command has begun.
            guard plan.resumes else {
                let state = VideoRoomState(rawValue: room.videoRoomState) ?? .scheduled
                throw BroadcastCommand.roomIsOpen(
                    VideoRoom(id: room.id, state: state, title: room.title, channelID: 0))
            }
            streamer.restart(videoRoomId: room.id)
        case .alarm(let alarm):
            try session.write(LiveLine.alarm(alarm.rawValue, room: room, bitrate: bitrate))
            session.say(Self.sentence(alarm), alarm == .normal ? .information : .warning)
        case .bitrate(let bitrate):
            self.bitrate = bitrate
            session.say("bitrate: \(bitrate / 1000) kbit/s")
        case .opened:
            isOpen = true
            try await opened()
        case .message(let message): try received(message)
        case .failed(let failure): try failed(failure, streamer)
        case .silent: try session.warn(Self.silence)
        case .over(let why): try over(why, streamer)
        }
        return nil
    }

    private mutating func entered(_ state: StreamerState, _ streamer: FFLStreamer) async throws -> ExitStatus? {
        try session.report(.broadcaster, state.rawValue, room: room)
        switch state {
        case .prepared, .stopped: return nil
        case .started:
            wasStarted = true
            if timer == nil {
                timer = inbox.put(after: plan.duration, session.effects.time, .over("the time"))
            }
            return nil
        case .closed, .terminated:
            if let room {
                let ended = try await client.room(room)
                try session.write(LiveLine.room(ended))
                session.say(
                    "Room \(room) has ended. Its recording: 'lecture-live archive \(room)'.")
            }
            if let failure { throw failure }
            guard state == .terminated, !isEnding else { return .done }
            session.say("The room was ended by another program.", .warning)
            return .someFailed
        }
    }

    /// The channel is open: now there is a room.
    private mutating func opened() async throws {
        let known: VideoRoom?
        if let id = plan.room { known = try await client.room(id) } else { known = try await client.streamKey().room }
        guard let known else { return }
        (room, isScheduled) = (known.id, known.state == .scheduled)
        try session.write(LiveLine.room(known))
        session.say("Room \(known.id): 'lecture-live watch \(known.id)' shows it.")
    }

    private mutating func received(_ message: FFLMessage) throws {
        try session.print(ChatLine(message), room: room)
        guard let count = message.participantCount, count != viewers else { return }
        viewers = count
        try session.report(.channel, "open", room: room, viewers: count)
    }

    private mutating func failed(_ failure: LiveFailure, _ streamer: FFLStreamer) throws {
        // While it ends, only the end of the room matters.
        if isEnding {
            guard failure.code == .roomEnd || failure.code == .roomLeave else { return }
            throw notEnded(failure)
        }
        guard wasStarted else { throw notStarted(failure) }
        guard failure.code == .tooManyRetries || failure.code == .unauthorized || failure.code == .channelUnexpected
        else { return try session.warn(failure) }
        self.failure = failure
        end(streamer)
    }

    private mutating func over(_ why: String, _ streamer: FFLStreamer) throws {
        guard isOpen else { throw LiveProblem(.streamingStopped, "Ended by \(why) before there was a room.") }
        guard !isEnding else { return }
        session.say("Ending, because of \(why).")
        end(streamer)
    }

    private mutating func end(_ streamer: FFLStreamer) {
        isEnding = true
        streamer.exit()
    }

    private func notStarted(_ failure: LiveFailure) -> any Error {
        guard isOpen else {
            guard let advice = plan.source.advice(for: failure) else { return failure }
            return LiveProblem(failure.code, "\(LiveEnding.sentence(failure)) \(advice)")
        }
        let sentence = LiveEnding.sentence(failure)
        return LiveProblem(failure.code, "\(sentence) The room stays: 'lecture-live broadcast --resume'.")
    }

    private func notEnded(_ failure: LiveFailure) -> LiveProblem {
        let id = room.map { " \($0)" } ?? ""
        let remedy = room.map { "; \(RoomCommands.remedy($0, isScheduled: isScheduled))" } ?? ""
        // What has ended the broadcast is the reason: the server was lost, and is still not there.
        let status = self.failure.map { LiveEnding.status(for: $0) } ?? .tryAgain
        let reason = self.failure ?? failure
        return LiveProblem(
            reason.code,
            "\(LiveEnding.sentence(reason)) Room\(id) stays open: 'lecture-live broadcast --resume' goes on with it"
                + "\(remedy).", status: status)
    }

    /// The microphone went away, or its sound server did.
    private static let silence = LiveFailure(
        .streamingInvalidView, "The microphone can no longer be read. The broadcast goes on without sound.")

    private static func sentence(_ alarm: AlarmState) -> String {
        switch alarm {
        case .normal: "link: good"
        case .alert_1: "link: unsteady"
        case .alert_2: "link: slow"
        case .alert_3: "link: lost, or far too slow"
        }
    }
}

/// Puts what a broadcaster reports into the stream of the command.
private final class BroadcastRelay: FFLStreamerDelegate, Sendable {
    private let inbox: LiveInbox<BroadcastRun.Event>
    private let weak = Guarded(Weak())

    private struct Weak: Sendable {
        weak var streamer: FFLStreamer?
    }

    init(_ inbox: LiveInbox<BroadcastRun.Event>) { self.inbox = inbox }

    var streamer: FFLStreamer? {
        get { weak.withLock { $0.streamer } }
        set { weak.withLock { $0.streamer = newValue } }
    }

    /// The file is over. At once, so that it is not opened again to bring the link back.
    func sourceEnded() {
        streamer?.exit()
        inbox.put(.over("the end of the file"))
    }

    func microphoneFailed() { inbox.put(.silent) }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState) {
        inbox.put(.state(streamerState))
    }
    func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState) {
        inbox.put(.broadcast(broadcastState))
    }
    func fflStreamer(_ streamer: FFLStreamer, didExist videoRoom: FFLVideoRoom) { inbox.put(.exists(videoRoom)) }
    func fflStreamer(_ streamer: FFLStreamer, didPublish alarmState: AlarmState) { inbox.put(.alarm(alarmState)) }
    func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int) { inbox.put(.bitrate(bitrate)) }
    func fflStreamer(_ streamer: FFLStreamer, didOpenChannel channelId: UInt64) { inbox.put(.opened) }
    func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage) { inbox.put(.message(message)) }
    func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError) { inbox.put(.failed(LiveFailure(error))) }
}
