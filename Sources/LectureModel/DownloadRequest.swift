/// A request to download a lecture and keep it.
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
    /// What is kept of its streams, if it is adaptive (HLS, DASH); nil keeps what an earlier request selected.
    public var selection: StreamSelection? {
        get { boxedSelection?.value }
        set { boxedSelection = newValue.map { .box($0) } }
    }
    /// A path where the finished file is also to be placed; nil for the store alone.
    public var outputPath: String?
    /// Whether the finished file may replace any file at ``outputPath``. If not, it only replaces a file that
    /// LectureKit has written for the same lecture and that has not changed since.
    public var replacesOutput: Bool
    /// Few requests have a selection, which would take a third of the space of each: 88 of 264 bytes.
    private var boxedSelection: Boxed?

    private indirect enum Boxed: Sendable, Hashable {
        case box(StreamSelection)

        var value: StreamSelection {
            switch self {
            case .box(let value): value
            }
        }
    }

    /// Creates a request.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    public init(url: String) {
        self.url = url
        priority = 0
        headers = [:]
        mirrors = []
        replacesOutput = false
    }
}

/// The outcome of a request.
public enum EnqueueOutcome: Sendable, Hashable {
    /// It is new in the queue.
    case added
    /// It was known and continues.
    case resumed
    /// It was known and is waiting or being downloaded already.
    case alreadyQueued
    /// It is complete and is what is requested; nothing is downloaded.
    case alreadyComplete
    /// It is complete, but something else is requested (another digest, size or source): a new version is downloaded
    /// beside the old one, which stays playable until the new one is complete.
    case outdated
    /// It was complete, but its file is missing or damaged: what is missing is downloaded again.
    case damaged
    /// It is complete. Whether it is what is requested is being checked: ``LectureEvent/unchanged(_:)``,
    /// ``LectureEvent/outdated(_:)`` or ``LectureEvent/checkFailed(key:error:)`` follows.
    case checking
}
