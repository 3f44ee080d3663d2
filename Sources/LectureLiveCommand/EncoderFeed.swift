package import FlipFlopLiteSDK
package import LectureLive
import LectureLiveMedia
import LectureModel

/// The media of a broadcast: a `LiveBroadcast`, from the source that the command line names.
package final class EncoderFeed: FeedSource {
    fileprivate struct State {
        var broadcast: LiveBroadcast?
        /// Is taken by the first that reports the end of the link.
        var ended: (@Sendable () -> Void)?
        /// What was sent before the link.
        var base: Int64 = 0
    }

    private let source: BroadcastSource
    private let sourceEnded: @Sendable () -> Void
    private let state = Guarded(State())

    /// Creates a feed, which opens nothing yet.
    ///
    /// - Parameters:
    ///   - choice: the source, and who gets to know its end.
    ///   - display: the X11 display of a screen that is not named.
    package init(_ choice: FeedChoice, display: String) {
        sourceEnded = choice.sourceEnded
        source =
            switch choice.source {
            case .test: .testPicture
            case .screen(let name): .screen(name.isEmpty ? display : name, microphone: choice.microphone)
            case .camera(let device): .camera(device, microphone: choice.microphone)
            case .file(let path, let loops): .file(path, loops: loops)
            }
    }

    deinit { state.withLock { $0.broadcast }?.close() }

    /// Opens the source.
    package func open(_ settings: FeedSettings, preview: LiveSurface) async throws {
        var configuration = BroadcastConfiguration(source: source)
        (configuration.width, configuration.height) = (settings.width, settings.height)
        (configuration.framesPerSecond, configuration.sampleRate) = (settings.framesPerSecond, settings.sampleRate)
        (configuration.videoBitrate, configuration.audioBitrate) = (settings.videoBitrate, settings.audioBitrate)
        configuration.keyFrameInterval = Double(settings.keyFrameInterval)
        let broadcast: LiveBroadcast
        do throws(BroadcastError) { broadcast = try LiveBroadcast(configuration) } catch {
            throw FFError(.STREAMING_INVALID_VIEW, "\(error)")
        }
        state.withLock { $0.broadcast = broadcast }
        Task { [weak self] in
            for await event in broadcast.events { self?.take(event) }
        }
    }

    private func take(_ event: BroadcastEvent) {
        switch event {
        case .connectionEnded: break
        case .sourceEnded: sourceEnded()
        // Without a source there is nothing to send; the link would stay without an end.
        case .sourceFailed: sourceEnded()
        }
        state.withLock { $0.takeEnded() }?()
    }

    /// Connects, and sends from now on.
    package func connect(to address: FeedAddress, ended: @escaping @Sendable () -> Void) async throws {
        guard let broadcast = state.withLock({ $0.broadcast }) else {
            throw FFError(.STREAMING_INVALID_VIEW, "the source is not open")
        }
        state.withLock { $0.base = Int64(broadcast.statistics.bytesSent) }
        do throws(BroadcastError) { try await broadcast.connect(to: address.url) } catch {
            switch error {
            case .refused, .busy, .invalidValue: throw FFError(.STREAMING_FAILED, "\(error)")
            default: throw FFError(.CONNECTION_FAILED, "\(error)")
            }
        }
        state.withLock { $0.ended = ended }
        // One that was lost before that is not reported any more.
        if !broadcast.statistics.isConnected, state.withLock({ $0.takeEnded() }) != nil {
            throw FFError(.CONNECTION_FAILED, "the link was lost at once")
        }
    }

    /// Sends what is left, and ends the link.
    package func disconnect() async {
        let broadcast = state.withLock { state in
            state.ended = nil
            return state.broadcast
        }
        await broadcast?.disconnect()
    }

    /// Closes the source.
    package func close() async {
        let broadcast = state.withLock { state in
            defer { state = State() }
            return state.broadcast
        }
        broadcast?.close()
    }

    /// What waits, and what was sent since it was connected.
    package var statistics: FeedStatistics {
        let (broadcast, base) = state.withLock { ($0.broadcast, $0.base) }
        guard let statistics = broadcast?.statistics else { return FeedStatistics(queue: .zero, sentBytes: 0) }
        let queue = statistics.isConnected ? statistics.queue : .zero
        return FeedStatistics(queue: queue, sentBytes: max(0, Int64(statistics.bytesSent) - base))
    }

    private var broadcast: LiveBroadcast? { state.withLock { $0.broadcast } }

    /// Changes the bitrate of the video.
    package func setVideoBitrate(_ bitsPerSecond: Int) { try? broadcast?.setVideoBitrate(max(bitsPerSecond, 10_000)) }
    /// Drops what waits, up to the next key frame: the queue does so by itself, and the picture begins anew.
    package func dropToKeyFrame() { broadcast?.requestKeyFrame() }
    /// Enlarges the picture.
    package func setZoom(_ factor: Double) { try? broadcast?.setZoom(factor) }
    /// Mirrors the picture.
    package func setMirrored(_ isMirrored: Bool) { broadcast?.setMirrored(isMirrored) }
    /// Sends black.
    package func muteVideo(_ isMuted: Bool) { broadcast?.muteVideo(isMuted) }
    /// Sends silence.
    package func muteAudio(_ isMuted: Bool) { broadcast?.muteAudio(isMuted) }
    /// There is one source.
    package func switchCamera(to camera: FFStreamerConfig.CameraPosition) {}
}

extension EncoderFeed.State {
    fileprivate mutating func takeEnded() -> (@Sendable () -> Void)? {
        defer { ended = nil }
        return ended
    }
}
