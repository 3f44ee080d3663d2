public import Foundation
import LectureModel

/// What a broadcaster reports. Each method may be left out. They are called on ``FFLStreamer/delegateQueue``, the main
/// queue unless another one is chosen: on iOS it may be any thread.
public protocol FFLStreamerDelegate: AnyObject {
    /// Its state has changed.
    func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState)
    /// Viewers can see the broadcast, or no longer.
    func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState)
    /// The member has a room that has not ended: it can be restarted, or ended by `exit(videoRoomId:)`.
    func fflStreamer(_ streamer: FFLStreamer, didExist videoRoom: FFLVideoRoom)
    /// The link has become better or worse.
    func fflStreamer(_ streamer: FFLStreamer, didPublish alarmState: AlarmState)
    /// The bitrate of the video has changed.
    func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int)
    /// The picture is enlarged.
    func fflStreamer(_ streamer: FFLStreamer, didChangeZoom zoomFactor: CGFloat)
    /// Messages can be sent from now on.
    func fflStreamer(_ streamer: FFLStreamer, didOpenChannel channelId: UInt64)
    /// A message has come.
    func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage)
    /// Something went wrong.
    func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError)
}

extension FFLStreamerDelegate {
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didExist videoRoom: FFLVideoRoom) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didPublish alarmState: AlarmState) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didChangeZoom zoomFactor: CGFloat) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didOpenChannel channelId: UInt64) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage) {}
    /// Nothing.
    public func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError) {}
}

/// What a viewer reports. Each method may be left out. They are called on ``FFLLivePlayer/delegateQueue``, the main
/// queue unless another one is chosen.
public protocol FFLLivePlayerDelegate: AnyObject {
    /// Its state has changed.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: PlayerState)
    /// The broadcast can be seen, or no longer.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate broadcastState: BroadcastState)
    /// The broadcast goes on at another address, which is opened by itself.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate liveUrl: String)
    /// Messages can be sent from now on.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didOpenChannel channelId: UInt64)
    /// A message has come.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage)
    /// Something went wrong.
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError)
}

extension FFLLivePlayerDelegate {
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: PlayerState) {}
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate broadcastState: BroadcastState) {}
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate liveUrl: String) {}
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didOpenChannel channelId: UInt64) {}
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage) {}
    /// Nothing.
    public func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError) {}
}

/// Calls a delegate: in order, each call once, on the queue that the application chose. What happens before the first
/// delegate is set waits for it; after the delegate was released nothing is called.
///
/// `@unchecked Sendable`: all state is behind the lock; the delegate is fetched and called on its queue only.
final class Courier: @unchecked Sendable {
    typealias Call = @Sendable (_ owner: AnyObject, _ delegate: AnyObject) -> Void

    private struct State {
        weak var owner: AnyObject?
        weak var delegate: AnyObject?
        var hadDelegate = false
        var queue = DispatchQueue.main
        var waiting: [Call] = []
    }

    /// More calls than this do not wait for the first delegate; the oldest are dropped.
    static let waitingLimit = 1000

    private let state = Guarded(State())

    /// Sets the object that is passed to the delegate.
    func serve(_ owner: AnyObject) { state.withLock { $0.owner = owner } }

    var delegate: AnyObject? {
        get { state.withLock { $0.delegate } }
        set {
            state.withLock { state in
                state.delegate = newValue
                guard newValue != nil else { return }
                state.hadDelegate = true
                // Within the lock, so that no later call overtakes them.
                for call in state.waiting { deliver(call, state.queue) }
                state.waiting = []
            }
        }
    }

    var queue: DispatchQueue {
        get { state.withLock { $0.queue } }
        set { state.withLock { $0.queue = newValue } }
    }

    private func post(_ call: @escaping Call) {
        state.withLock { state in
            if state.hadDelegate { return deliver(call, state.queue) }
            if state.waiting.count == Self.waitingLimit { state.waiting.removeFirst() }
            state.waiting.append(call)
        }
    }

    /// Calls the delegate of a broadcaster.
    func post(_ call: @escaping @Sendable (FFLStreamer, any FFLStreamerDelegate) -> Void) {
        post { (owner: AnyObject, delegate: AnyObject) in
            guard let owner = owner as? FFLStreamer, let delegate = delegate as? any FFLStreamerDelegate else { return }
            call(owner, delegate)
        }
    }

    /// Calls the delegate of a viewer.
    func post(_ call: @escaping @Sendable (FFLLivePlayer, any FFLLivePlayerDelegate) -> Void) {
        post { (owner: AnyObject, delegate: AnyObject) in
            guard let owner = owner as? FFLLivePlayer, let delegate = delegate as? any FFLLivePlayerDelegate else {
                return
            }
            call(owner, delegate)
        }
    }

    private func deliver(_ call: @escaping Call, _ queue: DispatchQueue) {
        queue.async { [self] in
            // Both are retained until the call returns.
            let (owner, delegate) = state.withLock { ($0.owner, $0.delegate) }
            if let owner, let delegate { call(owner, delegate) }
        }
    }
}
