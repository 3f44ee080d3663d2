public import LectureModel

/// Media that is read without being kept: what was read lies, sealed, in the store's streaming cache, and is not fetched
/// again while it is there.
public actor LectureStream {
    /// The content.
    public nonisolated let key: ContentKey
    /// The length of the media in bytes.
    public nonisolated let byteCount: Int64

    init(key: ContentKey, byteCount: Int64) { (self.key, self.byteCount) = (key, byteCount) }

    /// Reads media, from the cache where it lies there.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; nil for all. What lies beyond the end is left out.
    ///   - receive: takes the bytes in order; what it throws ends the reading.
    /// - Throws: ``LectureError``: a transfer's or the server's code, `closing` after the end; and what `receive` throws.
    public func read(range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        throw LectureError(.bug)
    }

    /// Ends the stream; what it has read may leave the cache from now on.
    public func end() async {}
}

extension LectureManager {
    /// Opens a stream. Nothing is registered among the contents.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the stream; ``LectureStream/end()`` gives its place in the cache free.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a transfer's or the server's code, `notMedia`.
    public func openStream(_ url: String) async throws -> LectureStream { throw LectureError(.bug) }

    /// Bounds the streaming cache; what is beyond goes at once, the longest unused first. What is being streamed stays.
    ///
    /// - Parameter bytes: 0 keeps a stream's bytes only until it ends.
    /// - Throws: ``LectureError`` of the store or the disk.
    public func setStreamCacheLimit(_ bytes: Int64) async throws { throw LectureError(.bug) }

    /// Bytes on the disk that the streaming cache takes.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func streamCacheBytes() throws -> Int64 { throw LectureError(.bug) }

    /// Empties the streaming cache, except of what is being streamed, by whichever process.
    ///
    /// - Throws: ``LectureError`` of the store or the disk.
    public func clearStreamCache() async throws { throw LectureError(.bug) }
}
