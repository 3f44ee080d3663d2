/// A wish: fetch this and keep it.
public struct DownloadRequest: Sendable, Hashable {
    /// A media file or a gateway link, http or https.
    public var url: String
    /// The identity; nil derives one from the URL or takes the gateway's.
    public var key: ContentKey?
    /// The title; nil takes the gateway's or the last part of the URL.
    public var title: String?
    /// The course; nil when unknown.
    public var course: String?
    /// The teacher; nil when unknown.
    public var teacher: String?
    /// The virtual folder, `a/b/c`; nil for top level.
    public var folder: String?
    /// The SHA-256 the bytes must have, 32 bytes; nil when unknown.
    public var sha256: [UInt8]?
    /// The size the file must have; nil when unknown.
    public var size: Int64?
    /// −100 (last) … 100 (first).
    public var priority: Int
    /// Request headers for the source's own origin, for example `Authorization`.
    public var headers: [String: String]
    /// Other URLs of the same bytes.
    public var mirrors: [String]
    /// Where the finished bytes shall also stand; nil for the store alone.
    public var outputPath: String?

    /// Makes a wish.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    public init(url: String) {
        self.url = url
        priority = 0
        headers = [:]
        mirrors = []
    }
}

/// What became of a wish.
public enum EnqueueOutcome: Sendable, Hashable {
    /// It is new in the queue.
    case added
    /// It was known and goes on.
    case resumed
    /// It was known and is waiting or moving already.
    case alreadyQueued
    /// It is complete; nothing is fetched.
    case alreadyComplete
}
