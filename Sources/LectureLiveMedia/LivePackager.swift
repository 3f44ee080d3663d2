internal import CLectureMedia
import Dispatch

/// Writes HLS from an RTMP stream or a file, without decoding.
///
/// The directory then has `index.m3u8`, an event playlist with program times (RFC 8216, section 4.3.2.6), `init.mp4`
/// and segments of about two seconds in fragmented MP4. Segments and playlist appear by a rename. When reading has
/// ended, for whatever reason, the playlist gets its end mark (section 4.3.3.4), so it is a recording from then on.
@safe public final class LivePackager: Sendable {
    /// Why a packager has ended.
    public enum Ending: Sendable, Hashable {
        /// The stream or file is at its end.
        case completed
        /// ``LivePackager/stop()`` was called.
        case stopped
        /// Reading or writing has failed. What was written before is complete, unless it could not be written.
        case failed(LiveMediaError)
    }

    /// What it has done so far.
    public struct Statistics: Sendable, Hashable {
        /// Pictures that were written.
        public let frames: Int
        /// Media that was written, in bytes.
        public let bytes: Int
        /// Its length.
        public let duration: Duration
    }

    /// Yields the ending, and ends with it.
    public let endings: AsyncStream<Ending>
    /// `nonisolated(unsafe)`: every function of the handle takes its lock, and it is freed with the last reference.
    private nonisolated(unsafe) let handle: OpaquePointer
    private let reports: EndReports
    private let queue = DispatchQueue(label: "LectureLiveMedia.LivePackager")

    /// Starts to read, on a thread of its own.
    ///
    /// - Parameters:
    ///   - input: an RTMP address, or the path of a file.
    ///   - directory: it exists and has no other HLS session.
    ///   - patience: how long the stream may give nothing, also at its beginning.
    /// - Throws: ``LiveMediaError/noResources``; everything else is reported as the ending.
    public init(
        reading input: String, into directory: String, patience: Duration = .seconds(10)
    ) throws(LiveMediaError) {
        let (endings, continuation) = AsyncStream.makeStream(of: Ending.self)
        self.endings = endings
        reports = EndReports(
            onEnd: { code in
                continuation.yield(Ending(code))
                continuation.finish()
            }, onClose: { continuation.finish() })
        let context = unsafe Unmanaged.passUnretained(reports).toOpaque()
        var code = clm_code.CLM_OK
        let handle = unsafe clm_packager_create(input, directory, patience.shortMilliseconds, reportEnd, context, &code)
        guard let handle = unsafe handle else { throw LiveMediaError(code) }
        unsafe self.handle = handle
    }

    deinit {
        unsafe clm_packager_free(handle)
        reports.close()
    }

    /// Ends reading, and blocks until the playlist has its end mark.
    public func stop() { unsafe clm_packager_stop(handle) }

    /// Ends reading, and waits until the playlist has its end mark.
    public func stop() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.stop()
                continuation.resume()
            }
        }
    }

    /// What it has done so far.
    public var statistics: Statistics {
        let values = unsafe clm_packager_read(handle)
        return Statistics(
            frames: Int(values.frames), bytes: Int(values.bytes), duration: .milliseconds(values.duration_ms))
    }
}

extension LivePackager.Ending {
    fileprivate init(_ code: clm_code) {
        self =
            if code == .CLM_SOURCE_ENDED {
                .completed
            } else if code == .CLM_STOPPED {
                .stopped
            } else {
                .failed(LiveMediaError(code))
            }
    }
}
