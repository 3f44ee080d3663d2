// Names of the last release that ``LectureManager/streams`` has replaced.

extension LectureManager {
    /// The former name of ``Streams/open(_:)``.
    @available(*, deprecated, renamed: "streams.open(_:)")
    public func openStream(_ url: String) async throws -> LectureStream { try await streams.open(url) }

    /// The former name of ``Streams/setCacheLimit(_:)``.
    @available(*, deprecated, renamed: "streams.setCacheLimit(_:)")
    public func setStreamCacheLimit(_ bytes: Int64) async throws { try await streams.setCacheLimit(bytes) }

    /// The former name of ``Streams/cacheLimit()``.
    @available(*, deprecated, renamed: "streams.cacheLimit()")
    public func streamCacheLimit() throws(LectureError) -> Int64 {
        try LectureError.only { try streams.assumeIsolated { try $0.cacheLimit() } }
    }

    /// The former name of ``Streams/cacheBytes()``.
    @available(*, deprecated, renamed: "streams.cacheBytes()")
    public func streamCacheBytes() throws(LectureError) -> Int64 {
        try LectureError.only { try streams.assumeIsolated { try $0.cacheBytes() } }
    }

    /// The former name of ``Streams/clearCache()``.
    @available(*, deprecated, renamed: "streams.clearCache()")
    public func clearStreamCache() async throws { try await streams.clearCache() }
}
