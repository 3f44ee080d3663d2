public import Foundation
import LectureModel

/// Changes a broadcast while it runs. What is set before there is a feed has no effect.
public final class FFLLiveManager: Sendable {
    private struct State {
        var feed: (any FeedSource)?
        var camera = FFStreamerConfig.CameraPosition.front
        var isMirrored = false
        var zoom = 1.0
        var isAudioMuted = false
        var isVideoMuted = false
        var bitrate = 0
        var isPipMode = false
    }

    private let state = Guarded(State())
    private let inbox: AsyncStream<StreamerRun.Input>.Continuation
    private let courier: Courier

    init(_ inbox: AsyncStream<StreamerRun.Input>.Continuation, _ courier: Courier) {
        (self.inbox, self.courier) = (inbox, courier)
    }

    /// The feed.
    var feed: (any FeedSource)? {
        get { state.withLock { $0.feed } }
        set { state.withLock { $0.feed = newValue } }
    }

    /// What a feed begins with.
    func setFirst(_ bitrate: Int, _ camera: FFStreamerConfig.CameraPosition) {
        state.withLock { ($0.bitrate, $0.camera) = (bitrate, camera) }
    }

    /// The bitrate follows the link.
    func bitrateChanged(_ bitrate: Int) { state.withLock { $0.bitrate = bitrate } }

    /// Changes something and the feed with it.
    private func change(_ body: (inout State, any FeedSource) -> Void) {
        state.withLock { state in
            if let feed = state.feed { body(&state, feed) }
        }
    }

    /// Who gets a failure: the application's closure, or the delegate. Feeds may call it at once, so not with the lock.
    private func failing(_ onFailure: (@Sendable (Int, String) -> Void)?) -> @Sendable (FFError) -> Void {
        { [courier] error in
            if let onFailure { return onFailure(error.code, error.message) }
            courier.post { (owner: FFLStreamer, delegate) in delegate.fflStreamer(owner, didFail: error) }
        }
    }

    /// Opens the source again, or gives its device back.
    func setCameraOpen(_ isOpen: Bool) { feed?.setCameraOpen(isOpen, failed: failing(nil)) }

    /// Sends the other of the two sources. When that cannot be opened, the delegate gets the error, 80103, and the one
    /// before is sent on.
    public func switchCamera() {
        let failed = failing(nil)
        let (feed, camera) = state.withLock { state in
            if state.feed != nil { state.camera = state.camera.other }
            return (state.feed, state.camera)
        }
        feed?.switchCamera(to: camera) { [state] error in
            state.withLock { $0.camera = camera.other }
            failed(error)
        }
    }

    /// Mirrors the picture, or no longer.
    public func videoMirror() {
        change { state, feed in
            state.isMirrored.toggle()
            feed.setMirrored(state.isMirrored)
        }
    }

    /// Enlarges the picture; `didChangeZoom` follows.
    ///
    /// - Parameter factor: 1 is all of it, 8 the most.
    public func zoom(factor: CGFloat) {
        let bounded = min(max(factor.isFinite ? factor : 1, 1), 8)
        change { state, feed in
            state.zoom = Double(bounded)
            feed.setZoom(Double(bounded))
            courier.post { (owner: FFLStreamer, delegate) in delegate.fflStreamer(owner, didChangeZoom: bounded) }
        }
    }

    /// How much the picture is enlarged, and can be.
    ///
    /// - Returns: the smallest, the largest and the current factor.
    public func getCameraZoomInfo() -> (min: CGFloat, max: CGFloat, current: CGFloat) {
        (1, 8, CGFloat(state.withLock { $0.zoom }))
    }

    /// Sends silence.
    ///
    /// - Parameter on: whether it does.
    public func muteAudio(on: Bool) {
        change { state, feed in
            state.isAudioMuted = on
            feed.muteAudio(on)
        }
    }

    /// Sends black.
    ///
    /// - Parameter on: whether it does.
    public func muteVideo(on: Bool) {
        change { state, feed in
            state.isVideoMuted = on
            feed.muteVideo(on)
        }
    }

    /// Whether silence is sent.
    ///
    /// - Returns: whether it is.
    public func isAudioMuted() -> Bool { state.withLock { $0.isAudioMuted } }

    /// Whether black is sent.
    ///
    /// - Returns: whether it is.
    public func isVideoMuted() -> Bool { state.withLock { $0.isVideoMuted } }

    /// Sends a still image in place of the picture; the sound stays.
    ///
    /// - Parameters:
    ///   - path: of a file.
    ///   - onFailure: gets the number and a sentence, on any thread; without it the delegate gets the error.
    public func showImage(path: String, onFailure: (@Sendable (Int, String) -> Void)? = nil) {
        feed?.showImage(path, failed: failing(onFailure))
    }

    /// Sends the picture again.
    public func hideImage() { feed?.showImage(nil, failed: failing(nil)) }

    /// Shows the other of the two sources small beside the one that is sent.
    ///
    /// - Parameters:
    ///   - on: whether it does.
    ///   - onFailure: gets the number and a sentence, on any thread; without it the delegate gets the error.
    public func setPipMode(on: Bool, onFailure: (@Sendable (Int, String) -> Void)? = nil) {
        let failed = failing(onFailure)
        change { state, _ in state.isPipMode = on }
        feed?.setPictureInPicture(on) { [state] error in
            state.withLock { $0.isPipMode = false }
            failed(error)
        }
    }

    /// Whether both sources are asked for.
    ///
    /// - Returns: whether they are.
    public func isPipMode() -> Bool { state.withLock { $0.isPipMode } }

    /// Changes the bitrate of the video; `didChangeVideoBitrate` follows.
    ///
    /// - Parameter bitrate: in bits a second; between a tenth of the configured one and that.
    public func setVideoBitrateOnFly(bitrate: Int) { inbox.yield(.bitrate(bitrate)) }

    /// The bitrate of the video now.
    ///
    /// - Returns: in bits a second.
    public func getCurrentBitrate() -> Int { state.withLock { $0.bitrate } }

    /// Lets the bitrate follow the link.
    public func enableAdaptiveBitrate() { inbox.yield(.adaptive(true)) }

    /// Leaves the bitrate as it is.
    public func disableAdaptiveBitrate() { inbox.yield(.adaptive(false)) }
}

extension FFStreamerConfig.CameraPosition {
    fileprivate var other: Self { self == .front ? .back : .front }
}
