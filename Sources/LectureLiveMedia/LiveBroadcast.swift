internal import CLectureMedia
import Dispatch
import LectureModel

/// Publishes live media over RTMP: H.264 and AAC, from a source with effects.
///
/// Source and encoders run from the start to ``close()``, whether there is a connection or not, so that a broadcast can
/// reconnect at once. Two threads of its own do the work, one that makes and encodes, one that sends; no call waits for
/// them, except those that connect and disconnect. In a task these have asynchronous variants, which wait on another
/// thread.
@safe public final class LiveBroadcast: Sendable {
    /// What happens by itself, in order. It ends after ``close()``.
    public let events: AsyncStream<BroadcastEvent>
    /// `nonisolated(unsafe)`: every function of the handle takes its locks, and it is freed with the last reference.
    private nonisolated(unsafe) let handle: OpaquePointer
    private let reports: EndReports
    /// Lives as long as C may put pictures into it.
    private let preview = Guarded<BroadcastPreview?>(nil)
    private let queue = DispatchQueue(label: "LectureLiveMedia.LiveBroadcast", attributes: .concurrent)

    /// Opens the source and the encoders, and starts both.
    ///
    /// - Parameter configuration: how it is encoded and sent.
    /// - Throws: ``BroadcastError`` when a value is outside its bounds, or the source or an encoder cannot be opened.
    public init(_ configuration: BroadcastConfiguration) throws(BroadcastError) {
        let (events, continuation) = AsyncStream.makeStream(of: BroadcastEvent.self)
        self.events = events
        reports = EndReports(onEnd: { continuation.yield(BroadcastEvent($0)) }, onClose: { continuation.finish() })
        let context = unsafe Unmanaged.passUnretained(reports).toOpaque()
        var code = clm_code.CLM_OK
        let handle = unsafe configuration.withValues { values in
            unsafe clm_broadcast_create(values, reportEnd, context, &code)
        }
        guard let handle = unsafe handle else { throw BroadcastError(code) }
        unsafe self.handle = handle
    }

    deinit {
        // The reports live until here, so no callback comes to one that is gone.
        unsafe clm_broadcast_free(handle)
        reports.close()
    }

    // MARK: - Connection

    /// Publishes, and blocks until the server has accepted it. The first frame that is sent is a key frame.
    ///
    /// - Parameter url: `rtmp://host/application/key`.
    /// - Throws: ``BroadcastError``: which one says whether another attempt makes sense.
    public func connect(to url: String) throws(BroadcastError) {
        let code = unsafe clm_broadcast_connect(handle, url)
        if code == .CLM_BAD_STATE, reports.isClosed { throw .closed }
        if code != .CLM_OK { throw BroadcastError(code) }
    }

    /// Publishes, and waits until the server has accepted it. The first frame that is sent is a key frame.
    ///
    /// - Parameter url: `rtmp://host/application/key`.
    /// - Throws: ``BroadcastError``: which one says whether another attempt makes sense.
    public func connect(to url: String) async throws(BroadcastError) {
        let result = await onQueue { () -> Result<Void, BroadcastError> in
            do throws(BroadcastError) { return .success(try self.connect(to: url)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Sends what is queued and ends the connection; blocks until that has happened. Source and encoders stay ready. A
    /// call that is connecting meanwhile throws ``BroadcastError/closed`` at once.
    ///
    /// - Parameter patience: how long sending the queue may take.
    public func disconnect(within patience: Duration = .seconds(2)) {
        unsafe clm_broadcast_disconnect(handle, patience.shortMilliseconds)
    }

    /// Sends what is queued and ends the connection. Source and encoders stay ready. A call that is connecting
    /// meanwhile throws ``BroadcastError/closed`` at once.
    ///
    /// - Parameter patience: how long sending the queue may take.
    public func disconnect(within patience: Duration = .seconds(2)) async {
        await onQueue { self.disconnect(within: patience) }
    }

    /// Ends the broadcast for good: the connection, the encoders and the source. What is queued is not sent. Blocks for
    /// the moment that this takes.
    public func close() {
        reports.markClosed()
        unsafe clm_broadcast_close(handle)
        reports.close()
    }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    // MARK: - Changes

    /// Changes the target of the video encoder from the next frame on.
    ///
    /// - Parameter bitsPerSecond: from 10,000 to 200,000,000.
    /// - Throws: ``BroadcastError/invalidValue``.
    public func setVideoBitrate(_ bitsPerSecond: Int) throws(BroadcastError) {
        try check(unsafe clm_broadcast_set_bitrate(handle, Int32(clamping: bitsPerSecond)))
    }

    /// Makes the next frame a key frame.
    public func requestKeyFrame() { unsafe clm_broadcast_request_key(handle) }

    /// Drops what waits to be sent, up to the newest key frame; without one all of it, and the next frame becomes one.
    public func dropToKeyFrame() { unsafe clm_broadcast_drop(handle) }

    /// Takes pictures and sound from another source, which is opened first; blocks for that. The connection, the
    /// counters and the effects stay, and the first picture of the new source is a key frame.
    ///
    /// - Parameter source: a file begins at its start. A device that is in use, also by the source before, is refused.
    /// - Throws: ``BroadcastError/sourceUnavailable`` where it cannot be opened, or the source before was at its end:
    ///   nothing changes; ``BroadcastError/closed``.
    public func setSource(_ source: BroadcastSource) throws(BroadcastError) {
        let code = unsafe source.withChoice { choice in unsafe clm_broadcast_set_source(handle, choice) }
        try check(code)
    }

    /// The same in a task, without blocking a thread of Swift's pool.
    ///
    /// - Parameter source: the other source.
    /// - Throws: ``BroadcastError``.
    public func setSource(_ source: BroadcastSource) async throws(BroadcastError) {
        let result = await onQueue { () -> Result<Void, BroadcastError> in
            do throws(BroadcastError) { return .success(try self.setSource(source)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Enlarges the middle of the picture.
    ///
    /// - Parameter factor: from 1, the whole picture, to 16.
    /// - Throws: ``BroadcastError/invalidValue``.
    public func setZoom(_ factor: Double) throws(BroadcastError) {
        guard (1...16).contains(factor) else { throw .invalidValue }
        try check(unsafe clm_broadcast_set_zoom(handle, Int32((factor * 1000).rounded())))
    }

    /// Mirrors the picture, its left on the right.
    ///
    /// - Parameter isMirrored: whether from the next frame on.
    public func setMirrored(_ isMirrored: Bool) { unsafe clm_broadcast_set_mirrored(handle, isMirrored) }

    /// Sends black in place of the picture.
    ///
    /// - Parameter isMuted: whether from the next frame on.
    public func muteVideo(_ isMuted: Bool) { unsafe clm_broadcast_mute_video(handle, isMuted) }

    /// Sends silence in place of the sound.
    ///
    /// - Parameter isMuted: whether from the next sound on.
    public func muteAudio(_ isMuted: Bool) { unsafe clm_broadcast_mute_audio(handle, isMuted) }

    /// Sends a still image in place of the source's picture, without zoom and mirror. The sound stays.
    ///
    /// - Parameter path: of an image in any format that FFmpeg decodes; it is scaled, with black edges where needed.
    /// - Throws: ``BroadcastError/unreadableImage``.
    public func showImage(_ path: String) throws(BroadcastError) {
        try check(unsafe clm_broadcast_show_image(handle, path))
    }

    /// Sends the source's picture again.
    public func hideImage() { _ = unsafe clm_broadcast_show_image(handle, nil) }

    /// Shows a second source small in the lower right corner, without its sound.
    ///
    /// - Parameter source: it starts now, in place of an earlier one.
    /// - Throws: ``BroadcastError/sourceUnavailable``.
    public func showInset(_ source: BroadcastSource) throws(BroadcastError) {
        let code = unsafe source.withChoice { choice in unsafe clm_broadcast_show_inset(handle, choice) }
        try check(code)
    }

    /// Shows the first source alone.
    public func hideInset() { _ = unsafe clm_broadcast_show_inset(handle, nil) }

    /// Shows each picture as it goes to the encoder, whether there is a connection or not. Showing delays no picture.
    ///
    /// - Parameter preview: where it is shown, of the size of the broadcast; nil for nowhere.
    public func show(in preview: BroadcastPreview?) {
        self.preview.withLock { present in
            unsafe clm_broadcast_set_preview(handle, preview?.handle)
            present = preview
        }
    }

    private func check(_ code: clm_code) throws(BroadcastError) {
        if code != .CLM_OK { throw BroadcastError(code) }
    }

    /// What it has done so far.
    public var statistics: BroadcastStatistics { unsafe BroadcastStatistics(clm_broadcast_statistics(handle)) }
}

extension BroadcastEvent {
    fileprivate init(_ code: clm_code) {
        self =
            if code == .CLM_SOURCE_ENDED {
                .sourceEnded
            } else if code == .CLM_NO_SOURCE {
                .sourceFailed
            } else if code == .CLM_NO_MICROPHONE {
                .microphoneFailed
            } else {
                .connectionEnded(BroadcastError(code))
            }
    }
}

extension BroadcastSource {
    /// Calls with the source as C sees it; its texts live for the call.
    fileprivate func withChoice<Result>(_ body: (UnsafePointer<clm_source_choice>) -> Result) -> Result {
        let (kind, name, microphone, loops): (clm_source_kind, String?, String?, Bool) =
            switch self {
            case .testPicture: (.CLM_SOURCE_PATTERN, nil, nil, false)
            case .file(let path, let loops): (.CLM_SOURCE_FILE, path, nil, loops)
            case .screen(let display, let microphone): (.CLM_SOURCE_SCREEN, display, microphone, false)
            case .camera(let device, let microphone): (.CLM_SOURCE_CAMERA, device, microphone, false)
            case .black: (.CLM_SOURCE_BLACK, nil, nil, false)
            }
        return unsafe withText(name) { name in
            unsafe withText(microphone) { microphone in
                var choice = unsafe clm_source_choice(kind: kind, name: name, microphone: microphone, loops: loops)
                return unsafe body(&choice)
            }
        }
    }
}

extension BroadcastConfiguration {
    /// Calls with the configuration as C sees it; its texts live for the call.
    fileprivate func withValues<Result>(_ body: (UnsafePointer<clm_configuration>) -> Result) -> Result {
        // What is no number, or too large, becomes one that the check refuses.
        let interval = (keyFrameInterval * Double(framesPerSecond)).rounded()
        return unsafe source.withChoice { choice in
            unsafe speed.rawValue.withCString { preset in
                var values = unsafe clm_configuration(
                    width: Int32(clamping: width), height: Int32(clamping: height),
                    frames_per_second: Int32(clamping: framesPerSecond), video_bitrate: Int32(clamping: videoBitrate),
                    audio_bitrate: Int32(clamping: audioBitrate), key_interval: Int32(exactly: interval) ?? 0,
                    sample_rate: Int32(clamping: sampleRate), write_deadline: writeDeadline.shortMilliseconds,
                    queue_limit: queueLimit.shortMilliseconds, preset: preset, source: choice.pointee)
                return unsafe body(&values)
            }
        }
    }
}

private func withText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}
