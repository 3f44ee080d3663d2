import Dispatch
public import FlipFlopLiteSDK
public import LectureLive
public import LectureLiveMedia
import LectureModel

/// The media of a broadcaster: a `LiveBroadcast` with two sources.
///
/// What may take a while (opening a device, decoding an image) is done on a queue of its own, in the order of the
/// calls. `audioOnly` sends the sound with black pictures, so that every server and player can take it.
public final class BroadcastFeed: FeedSource {
    /// The two sources, and how they are encoded.
    public struct Sources: Sendable {
        /// What `.front` is.
        public var front: BroadcastSource
        /// What `.back` is.
        public var back: BroadcastSource
        /// How much work the encoder does.
        public var speed = EncodingSpeed.veryfast
        /// Is called when a source is over or has failed, before the link is ended and brought back.
        public var sourceEnded: (@Sendable () -> Void)?
        /// Is called when the microphone beside a source can no longer be read. Silence is sent in its place.
        public var microphoneFailed: (@Sendable () -> Void)?
        /// How the preview is shown: its title, and where its display is looked for. It has no sound.
        public var preview = PlayerPicture.Options()
        /// How long a media server may accept nothing.
        public var writeDeadline = Duration.seconds(5)

        /// Creates sources.
        ///
        /// - Parameters:
        ///   - front: what `.front` is.
        ///   - back: what `.back` is; nil for the same.
        public init(front: BroadcastSource, back: BroadcastSource? = nil) {
            (self.front, self.back) = (front, back ?? front)
        }
    }

    private let sources: Sources
    private let state = Guarded(FeedState())
    private let queue = DispatchQueue(label: "FlipFlopLiteMedia.BroadcastFeed")

    /// Creates a feed, which opens nothing yet.
    ///
    /// - Parameter sources: the two sources.
    public init(_ sources: Sources) { self.sources = sources }

    deinit { state.withLock { $0.broadcast }?.close() }

    // MARK: The source

    /// Opens the source; see the port.
    public func open(_ settings: FeedSettings, preview: LiveSurface) async throws {
        try await onQueue {
            self.state.withLock { state in
                (state.settings, state.camera) = (settings, settings.camera)
                state.bitrate = settings.videoBitrate
            }
            try self.start()
            let shown = try FeedPreview(preview.object, settings, self.sources.preview)
            self.state.withLock { state in
                state.preview = shown
                if let broadcast = state.broadcast { shown?.show(broadcast) }
            }
        }
    }

    /// Starts a broadcast in place of one whose source is over. On the queue.
    private func start() throws {
        let wanted = state.withLock { $0 }
        guard let settings = wanted.settings else { throw FFError(.STREAMING_INVALID_VIEW, "the source is not open") }
        wanted.broadcast?.close()
        var configuration = BroadcastConfiguration(source: source(wanted))
        (configuration.width, configuration.height) = (settings.width, settings.height)
        (configuration.framesPerSecond, configuration.sampleRate) = (settings.framesPerSecond, settings.sampleRate)
        (configuration.videoBitrate, configuration.audioBitrate) = (settings.videoBitrate, settings.audioBitrate)
        configuration.keyFrameInterval = Double(settings.keyFrameInterval)
        (configuration.speed, configuration.writeDeadline) = (sources.speed, sources.writeDeadline)
        let broadcast: LiveBroadcast
        do throws(BroadcastError) { broadcast = try LiveBroadcast(configuration) } catch {
            state.withLock { $0.broadcast = nil }
            throw FFError(.STREAMING_INVALID_VIEW, "\(error)")
        }
        state.withLock { state in
            (state.broadcast, state.isSourceOver) = (broadcast, false)
            state.base = 0
            state.preview?.show(broadcast)
        }
        apply(wanted, to: broadcast)
        Task { [weak self] in
            for await event in broadcast.events { self?.take(event, of: broadcast) }
        }
    }

    /// The source that is sent.
    private func source(_ state: FeedState) -> BroadcastSource {
        guard state.isCameraOpen else { return .black }
        return state.camera == .front ? sources.front : sources.back
    }

    /// The source that is shown small.
    private func inset(_ state: FeedState) -> BroadcastSource? {
        guard state.hasInset, state.isCameraOpen else { return nil }
        return state.camera == .front ? sources.back : sources.front
    }

    /// Sets what takes effect at once: values within the bounds, so that none is refused.
    private func adjust(_ broadcast: LiveBroadcast, to state: FeedState) {
        try? broadcast.setVideoBitrate(max(state.bitrate, 10_000))
        try? broadcast.setZoom(state.zoom)
        broadcast.setMirrored(state.isMirrored)
        broadcast.muteVideo(state.isBlack)
        broadcast.muteAudio(state.isSilent)
    }

    /// What was set before there was this broadcast.
    private func apply(_ state: FeedState, to broadcast: LiveBroadcast) {
        adjust(broadcast, to: state)
        if let image = state.image { try? broadcast.showImage(image) }
        if let inset = inset(state) { try? broadcast.showInset(inset) }
    }

    /// Closes the source.
    public func close() async {
        let (broadcast, preview) = state.withLock { state in
            defer { (state.broadcast, state.settings, state.ended, state.preview) = (nil, nil, nil, nil) }
            return (state.broadcast, state.preview)
        }
        await withCheckedContinuation { continuation in
            queue.async {
                preview?.close()
                broadcast?.close()
                continuation.resume()
            }
        }
    }

    private func onQueue(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    // MARK: The link

    /// Connects; see the port. Where the source is over, it is opened again first: a file from its start.
    public func connect(to address: FeedAddress, ended: @escaping @Sendable () -> Void) async throws {
        if state.withLock({ $0.isSourceOver }) { try await onQueue { try self.start() } }
        guard let broadcast = state.withLock({ $0.broadcast }) else {
            throw FFError(.STREAMING_INVALID_VIEW, "the source is not open")
        }
        state.withLock { $0.base = broadcast.statistics.bytesSent }
        do throws(BroadcastError) { try await broadcast.connect(to: address.url) } catch { throw Self.failure(error) }
        state.withLock { $0.ended = ended }
        // A link that was lost before that is not reported any more.
        if !broadcast.statistics.isConnected, state.withLock({ $0.takeEnded() }) != nil {
            throw Self.failure(broadcast.statistics.lastError ?? .connectionLost)
        }
    }

    /// The number that an application gets.
    private static func failure(_ error: BroadcastError) -> FFError {
        switch error {
        case .refused, .busy, .invalidValue: FFError(.STREAMING_FAILED, "\(error)")
        default: FFError(.CONNECTION_FAILED, "\(error)")
        }
    }

    /// Sends what is left and ends the link.
    public func disconnect() async {
        let broadcast = state.withLock { state in
            state.ended = nil
            return state.broadcast
        }
        await broadcast?.disconnect()
    }

    private func take(_ event: BroadcastEvent, of broadcast: LiveBroadcast) {
        switch event {
        case .connectionEnded:
            // Late for a link that was replaced meanwhile.
            if broadcast.statistics.isConnected { return }
            state.withLock { $0.broadcast === broadcast ? $0.takeEnded() : nil }?()
        case .microphoneFailed: sources.microphoneFailed?()
        case .sourceEnded, .sourceFailed:
            sources.sourceEnded?()
            let ended = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.broadcast === broadcast else { return nil }
                state.isSourceOver = true
                return state.takeEnded()
            }
            // Nothing more comes: the link ends here rather than by a time limit of the server.
            Task {
                await broadcast.disconnect()
                ended?()
            }
        }
    }

    /// What waits, and what was sent since it was connected.
    public var statistics: FeedStatistics {
        let (broadcast, base) = state.withLock { ($0.broadcast, $0.base) }
        guard let statistics = broadcast?.statistics else { return FeedStatistics(queue: .zero, sentBytes: 0) }
        let queue = statistics.isConnected ? statistics.queue : .zero
        return FeedStatistics(queue: queue, sentBytes: Int64(max(0, statistics.bytesSent - base)))
    }

    // MARK: Changes

    /// Changes something that takes effect at once.
    private func change(_ body: (inout FeedState) -> Void) {
        let (state, broadcast) = state.withLock { state in
            body(&state)
            return (state, state.broadcast)
        }
        if let broadcast { adjust(broadcast, to: state) }
    }

    /// Changes the bitrate of the video.
    public func setVideoBitrate(_ bitsPerSecond: Int) { change { $0.bitrate = bitsPerSecond } }
    /// Drops what waits, up to the next key frame.
    public func dropToKeyFrame() { state.withLock { $0.broadcast }?.dropToKeyFrame() }
    /// Enlarges the picture: 1 to 16.
    public func setZoom(_ factor: Double) { change { $0.zoom = min(max(factor.isFinite ? factor : 1, 1), 16) } }
    /// Mirrors the picture.
    public func setMirrored(_ isMirrored: Bool) { change { $0.isMirrored = isMirrored } }
    /// Sends black.
    public func muteVideo(_ isMuted: Bool) { change { $0.isMuted = isMuted } }
    /// Sends silence.
    public func muteAudio(_ isMuted: Bool) { change { $0.isSilent = isMuted } }

    /// Chooses the source; the link stays. When it cannot be opened, the one before is sent on.
    public func switchCamera(to camera: FFStreamerConfig.CameraPosition) {
        switchCamera(to: camera, failed: { _ in })
    }

    /// Chooses the source; the link stays. When it cannot be opened, the one before is sent on.
    public func switchCamera(
        to camera: FFStreamerConfig.CameraPosition, failed: @escaping @Sendable (FFError) -> Void
    ) { exchange({ $0.camera = camera }, failed: failed) }

    /// Shows the other source small, in the lower right corner.
    public func setPictureInPicture(_ isOn: Bool, failed: @escaping @Sendable (FFError) -> Void) {
        exchange({ $0.hasInset = isOn }, failed: failed)
    }

    /// Opens the source, or gives its device back.
    public func setCameraOpen(_ isOpen: Bool, failed: @escaping @Sendable (FFError) -> Void) {
        exchange({ $0.isCameraOpen = isOpen }, failed: failed)
    }

    /// Sends a still image in place of the picture.
    public func showImage(_ path: String?, failed: @escaping @Sendable (FFError) -> Void) {
        queue.async { [self] in
            do throws(BroadcastError) {
                let broadcast = state.withLock { $0.broadcast }
                if let path { try broadcast?.showImage(path) } else { broadcast?.hideImage() }
                state.withLock { $0.image = path }
            } catch { failed(FFError(.MEDIA_ERROR, "\(error)")) }
        }
    }

    /// Changes the sources. A device has one user, so the small picture goes first and comes last.
    private func exchange(_ change: @escaping @Sendable (inout FeedState) -> Void, failed: @escaping Failed) {
        queue.async { [self] in
            let before = state.withLock { $0 }
            var wanted = before
            change(&wanted)
            guard let broadcast = before.broadcast, !before.isSourceOver else { return state.withLock(change) }
            let (old, new) = (inset(before), inset(wanted))
            do throws(BroadcastError) {
                let isOther = source(before) != source(wanted)
                if old != nil, isOther || new == nil { broadcast.hideInset() }
                if isOther { try broadcast.setSource(source(wanted)) }
                state.withLock(change)
                guard let new, isOther || old == nil else { return }
                do throws(BroadcastError) { try broadcast.showInset(new) } catch {
                    state.withLock { $0.hasInset = false }
                    throw error
                }
            } catch {
                // As it was before.
                if let old, state.withLock({ $0.hasInset }) { try? broadcast.showInset(old) }
                failed(FFError(.STREAMING_INVALID_VIEW, "\(error)"))
            }
        }
    }

    private typealias Failed = @Sendable (FFError) -> Void
}

/// What is wanted of a feed, and what it is doing.
private struct FeedState {
    var broadcast: LiveBroadcast?
    var preview: FeedPreview?
    var settings: FeedSettings?
    /// Is taken by the first that reports the end of the link.
    var ended: (@Sendable () -> Void)?
    /// What was sent before the link.
    var base = 0
    var isSourceOver = false
    var bitrate = 0
    var zoom = 1.0
    var camera = FFStreamerConfig.CameraPosition.front
    var isCameraOpen = true
    var hasInset = false
    var isMirrored = false
    var isMuted = false
    var isSilent = false
    var image: String?

    var isBlack: Bool { isMuted || settings?.isAudioOnly == true }

    mutating func takeEnded() -> (@Sendable () -> Void)? {
        defer { ended = nil }
        return ended
    }
}
