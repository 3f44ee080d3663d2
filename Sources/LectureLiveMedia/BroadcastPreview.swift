internal import CLectureMedia

/// What a broadcast sends, before it is encoded: the newest picture, for a player that shows it to the broadcaster.
///
/// ```swift
/// let preview = try BroadcastPreview(width: 1280, height: 720)
/// broadcast.show(in: preview)
/// while preview.read(into: buffer) > 0 { … }      // on a thread of its own
/// ```
///
/// A reader that is too slow misses pictures; the broadcast never waits for it. One preview can show several
/// broadcasts, one after the other.
@safe public final class BroadcastPreview: Sendable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// `nonisolated(unsafe)`: every function of the handle takes its lock, but for what belongs to the one reader, and
    /// it is freed with the last reference.
    nonisolated(unsafe) let handle: OpaquePointer

    /// Creates a preview.
    ///
    /// - Parameters:
    ///   - width: that of the broadcast, in pixels.
    ///   - height: that of the broadcast, in pixels.
    /// - Throws: ``BroadcastError/invalidValue``.
    public init(width: Int, height: Int) throws(BroadcastError) {
        guard let handle = unsafe clm_preview_create(Int32(clamping: width), Int32(clamping: height)) else {
            throw .invalidValue
        }
        unsafe self.handle = handle
        (self.width, self.height) = (width, height)
    }

    deinit { unsafe clm_preview_free(handle) }

    /// Reads pictures one after the other, as the planes of YUV 4:2:0 without gaps. Blocks until there is one. For one
    /// reader.
    ///
    /// - Parameter buffer: where the bytes go.
    /// - Returns: how many; 0 after ``close()``.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        let count = unsafe clm_preview_read(handle, start, Int64(buffer.count))
        return Int(count)
    }

    /// Ends reading, now and from now on.
    public func close() { unsafe clm_preview_close(handle) }
}
