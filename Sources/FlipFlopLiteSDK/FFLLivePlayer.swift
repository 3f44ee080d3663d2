public import Foundation
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel

/// How a viewer plays.
public struct FFLLivePlayerOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates options.
    ///
    /// - Parameter rawValue: the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// As little as possible is buffered.
    public static let lowLatency = Self(rawValue: 1)
}

/// A viewer of live lectures.
///
/// All calls return at once; what comes of them is reported to the ``delegate``. They may be made from any thread, and
/// back to back. The rules are `LivePlayerMachine`.
public final class FFLLivePlayer: Sendable {
    private let run: LivePlayerRun
    private let inbox: AsyncStream<LivePlayerRun.Input>.Continuation
    private let courier = Courier()
    private let channel = LiveChannel()

    init(_ access: LiveAccess, _ roomID: UInt64, _ channelID: UInt64) {
        let (inputs, inbox) = AsyncStream.makeStream(of: LivePlayerRun.Input.self)
        self.inbox = inbox
        run = LivePlayerRun(access, LivePlayerMachine(roomID: roomID, channelID: channelID), courier, channel, inbox)
        courier.serve(self)
        Task { [run] in await run.work(inputs) }
    }

    deinit { inbox.finish() }

    /// Who is notified; kept weakly.
    public var delegate: (any FFLLivePlayerDelegate)? {
        get { courier.delegate as? any FFLLivePlayerDelegate }
        set { courier.delegate = newValue }
    }

    /// Where the delegate is called; the main queue unless another one is chosen. A serial one.
    public var delegateQueue: DispatchQueue {
        get { courier.queue }
        set { courier.queue = newValue }
    }

    /// Opens the media, paused. `prepared` follows, or an error: 80103 when nothing can show it.
    ///
    /// - Parameters:
    ///   - view: what it is shown in; a `UIView` on iOS, any object here.
    ///   - uri: where it is: http, https, rtmp or rtmps.
    ///   - options: how it plays; RTMP always has a low latency.
    public func prepare(view: AnyObject? = nil, uri: String, options: FFLLivePlayerOptions = []) {
        inbox.yield(.prepare(uri, LiveSurface(object: view), options))
    }

    /// Joins the channel. `didOpenChannel` follows.
    public func enter() { send(.enter) }

    /// Plays. `started` follows when there is a picture.
    public func start() { send(.start) }

    /// Closes the media; it can be started again.
    public func stop() { send(.stop) }

    /// Leaves the channel. `closed` follows.
    public func exit() { send(.exit) }

    /// Plays without sound.
    ///
    /// - Parameter on: whether it does.
    public func mute(on: Bool) { inbox.yield(.mute(on)) }

    /// Sends messages; nil until `didOpenChannel`.
    ///
    /// - Returns: the chat.
    public func liveChat() -> FFLLiveChat? { channel.chat }

    private func send(_ command: LivePlayerMachine.Command) { inbox.yield(.event(.command(command))) }
}

/// Carries out what the rules of a viewer decide. One task takes its inputs, one after the other.
actor LivePlayerRun {
    /// What it takes.
    enum Input: Sendable {
        case event(LivePlayerMachine.Event)
        case prepare(String, LiveSurface, FFLLivePlayerOptions)
        case mute(Bool)
    }

    private let access: LiveAccess
    private let courier: Courier
    private let channel: LiveChannel
    private let inbox: AsyncStream<Input>.Continuation
    private var machine: LivePlayerMachine
    private var picture: (any LivePicture)?
    private var surface = LiveSurface(object: nil)
    private var options: FFLLivePlayerOptions = []
    private var isMuted = false

    init(
        _ access: LiveAccess, _ machine: LivePlayerMachine, _ courier: Courier, _ channel: LiveChannel,
        _ inbox: AsyncStream<Input>.Continuation
    ) {
        (self.access, self.machine, self.courier) = (access, machine, courier)
        (self.channel, self.inbox) = (channel, inbox)
    }

    /// Works until the viewer is released.
    func work(_ inputs: AsyncStream<Input>) async {
        for await input in inputs {
            switch input {
            case .event(let event): handle(event)
            case .prepare(let url, let surface, let options): prepare(url, surface, options)
            case .mute(let isMuted):
                self.isMuted = isMuted
                picture?.mute(isMuted)
            }
        }
        channel.close()
        picture?.close()
    }

    private func prepare(_ url: String, _ surface: LiveSurface, _ options: FFLLivePlayerOptions) {
        let scheme = (try? URLParts(parsing: url))?.scheme ?? ""
        if case .failure(let failure) = access.client {
            return report(failure)
        }
        guard ["http", "https", "rtmp", "rtmps"].contains(scheme) else {
            return report(LiveFailure(.playFailed, "the address of the media is no http, https, rtmp or rtmps URL"))
        }
        if picture == nil {
            guard let made = access.config?.livePicture?() else {
                let text = "nothing can show a picture: 'FFLConfig.livePicture' is not set"
                return report(LiveFailure(.streamingInvalidView, text))
            }
            picture = made
            made.mute(isMuted)
            // Of its events alone: they end with the picture, so what waits for them must not keep it.
            let events = made.events
            Task { [inbox] in
                for await event in events { inbox.yield(.event(Self.machineEvent(event))) }
            }
        }
        if machine.phase == .idle {
            (self.surface, self.options) = (surface, scheme.hasPrefix("rtmp") ? [.lowLatency] : options)
        }
        handle(.command(.prepare(url: url)))
    }

    private static func machineEvent(_ event: LivePictureEvent) -> LivePlayerMachine.Event {
        switch event {
        case .ready: .pictureReady
        case .plays: .picturePlays
        case .stalled: .pictureStalled
        case .failed(let error):
            .pictureFailed(LiveFailure(error, otherwise: .playFailed, "the media cannot be played"))
        }
    }

    private func handle(_ event: LivePlayerMachine.Event) {
        for effect in machine.handle(event, now: access.time.clock.boot()) { carryOut(effect) }
    }

    private func carryOut(_ effect: LivePlayerMachine.Effect) {
        let access = access
        switch effect {
        case .openPicture(let url):
            picture?.open(url: url, view: surface, isLowLatency: options.contains(.lowLatency) || url.hasPrefix("rtmp"))
        case .playPicture: picture?.play()
        case .closePicture: picture?.close()
        case .join(let id):
            call(.join) { () throws(LiveFailure) in
                try await access.client.get().join(id)
                return .joined
            }
        case .getRoom(let id):
            call(.fetch) { () throws(LiveFailure) in .room(try await access.client.get().room(id)) }
        case .leave(let id):
            call(.leave) { () throws(LiveFailure) in
                try await access.client.get().leave(id)
                return .left
            }
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
        _ step: LivePlayerMachine.Step,
        _ body: @escaping @Sendable () async throws(LiveFailure) -> LivePlayerMachine.Event
    ) {
        Task { [inbox] in
            do throws(LiveFailure) {
                inbox.yield(.event(try await body()))
            } catch { inbox.yield(.event(.failed(step, error))) }
        }
    }

    private func openEvents(_ id: UInt64) {
        channel.open(
            id, access,
            received: { [courier] message in
                courier.post { (owner: FFLLivePlayer, delegate) in delegate.fflLivePlayer(owner, didReceive: message) }
            },
            chatFailed: { [courier] failure in
                courier.post { (owner: FFLLivePlayer, delegate) in
                    delegate.fflLivePlayer(owner, didFail: FFError(failure))
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

    private func notify(_ notice: LivePlayerMachine.Notice) {
        switch notice {
        case .phase(let phase):
            guard let state = PlayerState(rawValue: phase.rawValue) else { return }
            post { $1.fflLivePlayer($0, didUpdate: state) }
        case .broadcast(let isActive):
            post { $1.fflLivePlayer($0, didUpdate: isActive ? BroadcastState.active : .inactive) }
        case .url(let url): post { $1.fflLivePlayer($0, didUpdate: url) }
        case .opened(let id): post { $1.fflLivePlayer($0, didOpenChannel: id) }
        case .failed(let failure): report(failure)
        }
    }

    private func report(_ failure: LiveFailure) { post { $1.fflLivePlayer($0, didFail: FFError(failure)) } }

    private func post(_ call: @escaping @Sendable (FFLLivePlayer, any FFLLivePlayerDelegate) -> Void) {
        courier.post(call)
    }
}
