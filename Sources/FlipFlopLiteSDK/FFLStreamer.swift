public import Foundation
import LectureFormats
public import LectureLive
import LectureLiveClient
import LectureModel

/// A broadcaster of live lectures.
///
/// All calls return at once; what comes of them is reported to the ``delegate``. They may be made from any thread, and
/// back to back: `enter()` and `start()` wait for each other. The rules are `StreamerMachine`.
public final class FFLStreamer: Sendable {
    private let run: StreamerRun
    private let inbox: AsyncStream<StreamerRun.Input>.Continuation
    private let courier = Courier()
    private let channel = LiveChannel()
    private let manager: FFLLiveManager

    init(_ access: LiveAccess) {
        let (inputs, inbox) = AsyncStream.makeStream(of: StreamerRun.Input.self)
        self.inbox = inbox
        manager = FFLLiveManager(inbox, courier)
        run = StreamerRun(access, courier, channel, manager, inbox)
        courier.serve(self)
        Task { [run] in await run.work(inputs) }
    }

    deinit { inbox.finish() }

    // MARK: The application

    /// Who is notified; kept weakly.
    public var delegate: (any FFLStreamerDelegate)? {
        get { courier.delegate as? any FFLStreamerDelegate }
        set { courier.delegate = newValue }
    }

    /// Where the delegate is called; the main queue unless another one is chosen. A serial one.
    public var delegateQueue: DispatchQueue {
        get { courier.queue }
        set { courier.queue = newValue }
    }

    /// Reads the stream key and opens the source. `prepared` follows, or an error: 80103 when there is no media.
    ///
    /// - Parameters:
    ///   - preview: what the picture is shown in; a `UIView` on iOS, any object here.
    ///   - config: what is sent; it is read now, later changes have no effect.
    public func prepare(preview: AnyObject? = nil, config: FFStreamerConfig = FFStreamerConfig()) {
        inbox.yield(.prepare(FeedSettings(config), LiveSurface(object: preview)))
    }

    /// Sets the title of the room that `enter()` creates.
    ///
    /// - Parameter title: the title.
    public func setVideoInfo(title: String) { inbox.yield(.title(title)) }

    /// The name of ``setVideoInfo(title:)`` in the published interface.
    ///
    /// - Parameter title: the title.
    public func setVideoRoomInfo(title: String) { setVideoInfo(title: title) }

    /// Chooses what the service makes of the feed; before `prepare`.
    ///
    /// - Parameter mode: the mode.
    public func setRtmpOutputMode(_ mode: FeedAddress.OutputMode) { inbox.yield(.mode(mode)) }

    /// Creates a room, or takes one, and opens its channel. `didOpenChannel` follows; `didExist` when the member has a
    /// room that has not ended.
    ///
    /// - Parameters:
    ///   - videoRoomId: a room that the application's server has created; nil creates one.
    ///   - requestVideoRoomStart: whether such a room is started when its feed can be watched; one that is created here
    ///     always is.
    public func enter(videoRoomId: UInt64? = nil, requestVideoRoomStart: Bool = false) {
        send(.enter(roomID: videoRoomId, startsRoom: requestVideoRoomStart))
    }

    /// Sends media. `started` follows, and `active` when viewers can see it.
    public func start() { send(.start) }

    /// Sends no more media; it can be started again.
    public func stop() { send(.stop) }

    /// Ends the room. `closed` follows when the server has done so; after an error it can be called again.
    ///
    /// - Parameter videoRoomId: an earlier room that `didExist` has reported; nil for the one that was entered.
    public func exit(videoRoomId: UInt64? = nil) { send(.exit(roomID: videoRoomId)) }

    /// Goes on with a room that `didExist` has reported: enters and starts it.
    ///
    /// - Parameter videoRoomId: the room.
    public func restart(videoRoomId: UInt64) { send(.restart(roomID: videoRoomId)) }

    /// Tries at once to get a lost link back, or sends media again after it was given up.
    public func retry() { send(.retry) }

    /// Sends messages; nil until `didOpenChannel`.
    ///
    /// - Returns: the chat.
    public func liveChat() -> FFLLiveChat? { channel.chat }

    /// Takes the source again that ``releaseCamera()`` has given back.
    public func openCamera() { manager.setCameraOpen(true) }

    /// Gives the source back, for instance to another program; black and silence are sent meanwhile.
    public func releaseCamera() { manager.setCameraOpen(false) }

    /// Changes what is sent while it is sent.
    ///
    /// - Returns: the manager.
    public func liveManager() -> FFLLiveManager? { manager }

    private func send(_ command: StreamerMachine.Command) { inbox.yield(.event(.command(command))) }
}

/// Carries out what the rules of a broadcaster decide. One task takes its inputs, one after the other.
actor StreamerRun {
    /// What it takes.
    enum Input: Sendable {
        case event(StreamerMachine.Event)
        case prepare(FeedSettings, LiveSurface)
        case title(String)
        case mode(FeedAddress.OutputMode)
        case second
        case bitrate(Int)
        case adaptive(Bool)
    }

    /// The seconds of a feed.
    private struct Watch {
        var alarm = AlarmMachine()
        var lastBytes: Int64 = 0
    }

    private let access: LiveAccess
    private let courier: Courier
    private let channel: LiveChannel
    private let manager: FFLLiveManager
    private let inbox: AsyncStream<Input>.Continuation
    private var machine = StreamerMachine()
    private var mode = FeedAddress.OutputMode.cmaf
    private var feed: (any FeedSource)?
    private var request: (FeedSettings, LiveSurface)?
    private var bitrate: BitrateMachine?
    private var watch = Watch()
    private var ticking: Task<Void, Never>?

    init(
        _ access: LiveAccess, _ courier: Courier, _ channel: LiveChannel, _ manager: FFLLiveManager,
        _ inbox: AsyncStream<Input>.Continuation
    ) {
        (self.access, self.courier, self.channel) = (access, courier, channel)
        (self.manager, self.inbox) = (manager, inbox)
    }

    /// Works until the broadcaster is released.
    func work(_ inputs: AsyncStream<Input>) async {
        for await input in inputs {
            switch input {
            case .event(let event): handle(event)
            case .prepare(let settings, let surface):
                if machine.phase == .idle { request = (settings, surface) }
                handle(.command(.prepare))
            case .title(let title): machine.title = title
            case .mode(let mode): self.mode = mode
            case .second: second()
            case .bitrate(let value): follow(bitrate?.set(value) ?? [])
            case .adaptive(let isOn): bitrate?.isAdaptive = isOn
            }
        }
        ticking?.cancel()
        channel.close()
        manager.feed = nil
        await feed?.disconnect()
        await feed?.close()
    }

    private func handle(_ event: StreamerMachine.Event) {
        for effect in machine.handle(event, now: access.time.clock.boot()) { carryOut(effect) }
    }

    private func carryOut(_ effect: StreamerMachine.Effect) {
        let (access, mode, feed) = (access, mode, feed)
        switch effect {
        case .getStreamKey:
            call(machine.step == .key ? .key : .keyAgain) { () throws(LiveFailure) in
                let key = try await access.client.get().streamKey()
                return .key(FeedAddress(key, mode: mode), room: key.room, state: key.state)
            }
        case .openSource: openSource()
        case .createRoom(let title):
            call(.create) { () throws(LiveFailure) in
                .room(try await access.client.get().createRoom(title: title, scheduledAt: access.time.clock.now()))
            }
        case .getRoom(let id):
            call(machine.step ?? .fetch) { () throws(LiveFailure) in .room(try await access.client.get().room(id)) }
        case .join(let id):
            call(.join) { () throws(LiveFailure) in
                try await access.client.get().join(id)
                return .joined
            }
        case .startRoom(let id):
            call(.startRoom) { () throws(LiveFailure) in
                try await access.client.get().start(id)
                return .roomStarted
            }
        case .leave(let id):
            call(.leave) { () throws(LiveFailure) in
                try await access.client.get().leave(id)
                return .left
            }
        case .endRoom(let id):
            call(.end) { () throws(LiveFailure) in
                try await access.client.get().end(id)
                return .roomEnded
            }
        case .connectFeed(let address): connect(address)
        case .disconnectFeed:
            Task { [inbox] in
                await feed?.disconnect()
                inbox.yield(.event(.feedDisconnected))
            }
        case .closeSource: Task { await feed?.close() }
        case .openEvents(let id): openEvents(id)
        case .closeEvents: channel.close()
        case .wait(let until):
            Task { [inbox] in
                await access.time.pause(until - access.time.clock.boot())
                inbox.yield(.event(.time))
            }
        case .notify(let notice): notify(notice)
        }
    }

    private func call(
        _ step: StreamerMachine.Step, _ body: @escaping @Sendable () async throws(LiveFailure) -> StreamerMachine.Event
    ) {
        Task { [inbox] in
            do throws(LiveFailure) {
                inbox.yield(.event(try await body()))
            } catch { inbox.yield(.event(.failed(step, error))) }
        }
    }

    // MARK: The feed

    private func openSource() {
        guard let make = access.config?.feedSource, let (settings, surface) = request else {
            let text = "no media can be sent: 'FFLConfig.feedSource' is not set"
            return handle(.failed(.source, LiveFailure(.streamingInvalidView, text)))
        }
        let feed = make()
        self.feed = feed
        manager.feed = feed
        manager.setFirst(settings.videoBitrate, settings.camera)
        bitrate = BitrateMachine(
            highest: settings.videoBitrate, audio: settings.audioBitrate, isAdaptive: settings.isAdaptive)
        call(.source) { () throws(LiveFailure) in
            do { try await feed.open(settings, preview: surface) } catch {
                throw LiveFailure(error, otherwise: .streamingInvalidView, "the source cannot be opened")
            }
            return .sourceOpened
        }
    }

    private func connect(_ address: FeedAddress) {
        guard let feed else { return }
        watch.lastBytes = 0
        let link = LinkReport(inbox)
        Task {
            do {
                try await feed.connect(to: address) { link.lost() }
                link.connected()
            } catch {
                let failure = LiveFailure(error, otherwise: .connectionFailed, "the media server cannot be reached")
                inbox.yield(.event(.failed(.connect, failure)))
            }
        }
    }

    private func second() {
        guard machine.phase == .started, let feed else { return }
        let statistics = feed.statistics
        let sent = max(statistics.sentBytes - watch.lastBytes, 0)
        watch.lastBytes = statistics.sentBytes
        let sample = FeedSample(
            queue: statistics.queue, sentBits: Int(clamping: sent.multipliedReportingOverflow(by: 8).0))
        if let level = watch.alarm.take(sample, isReconnecting: machine.isReconnecting) { publish(level) }
        if !machine.isReconnecting { follow(bitrate?.take(sample) ?? []) }
    }

    private func publish(_ level: AlarmMachine.Level) {
        guard let state = AlarmState(rawValue: level.rawValue) else { return }
        post { $1.fflStreamer($0, didPublish: state) }
    }

    private func follow(_ effects: [BitrateMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .dropToKeyFrame: feed?.dropToKeyFrame()
            case .setBitrate(let value):
                feed?.setVideoBitrate(value)
                manager.bitrateChanged(value)
                post { $1.fflStreamer($0, didChangeVideoBitrate: value) }
            }
        }
    }

    // MARK: Reports

    private func openEvents(_ id: UInt64) {
        channel.open(
            id, access,
            received: { [courier] message in
                courier.post { (owner: FFLStreamer, delegate) in delegate.fflStreamer(owner, didReceive: message) }
            },
            chatFailed: { [courier] failure in
                courier.post { (owner: FFLStreamer, delegate) in delegate.fflStreamer(owner, didFail: FFError(failure))
                }
            },
            report: { [inbox] event in
                switch event {
                case .opened: inbox.yield(.event(.channelOpened))
                case .changed(let change): inbox.yield(.event(.changed(change)))
                case .failed(let failure): inbox.yield(.event(.failed(.events, failure)))
                }
            })
    }

    private func notify(_ notice: StreamerMachine.Notice) {
        switch notice {
        case .phase(let phase):
            tick(phase == .started)
            guard let state = StreamerState(rawValue: phase.rawValue) else { return }
            post { $1.fflStreamer($0, didUpdate: state) }
        case .broadcast(let isActive):
            post { $1.fflStreamer($0, didUpdate: isActive ? BroadcastState.active : .inactive) }
        case .exists(let room): post { $1.fflStreamer($0, didExist: FFLVideoRoom(room)) }
        case .opened(let id): post { $1.fflStreamer($0, didOpenChannel: id) }
        // Lost is the worst level at once; what it is after that the next seconds show.
        case .reconnecting(let isLost): if isLost { second() }
        case .failed(let failure): post { $1.fflStreamer($0, didFail: FFError(failure)) }
        }
    }

    private func tick(_ isOn: Bool) {
        ticking?.cancel()
        guard isOn else {
            ticking = nil
            return
        }
        watch = Watch()
        ticking = Task { [inbox, time = access.time] in
            while !Task.isCancelled {
                await time.pause(.seconds(1))
                if !Task.isCancelled { inbox.yield(.second) }
            }
        }
    }

    private func post(_ call: @escaping @Sendable (FFLStreamer, any FFLStreamerDelegate) -> Void) { courier.post(call) }
}

/// The reports of one link in their order: a feed may lose it before the call that makes it has returned.
private final class LinkReport: Sendable {
    private struct State {
        var isConnected = false
        var isLost = false
    }

    private let state = Guarded(State())
    private let inbox: AsyncStream<StreamerRun.Input>.Continuation

    init(_ inbox: AsyncStream<StreamerRun.Input>.Continuation) { self.inbox = inbox }

    func connected() {
        state.withLock { state in
            state.isConnected = true
            inbox.yield(.event(.feedConnected))
            if state.isLost { inbox.yield(.event(.feedLost)) }
        }
    }

    func lost() {
        state.withLock { state in
            state.isLost = true
            if state.isConnected { inbox.yield(.event(.feedLost)) }
        }
    }
}

extension LiveFailure {
    /// What media has thrown.
    init(_ error: any Error, otherwise code: Code, _ text: String) {
        if let error = error as? FFError, let known = Code(rawValue: error.code) {
            self.init(known, error.message)
        } else {
            self.init(code, text)
        }
    }
}
