/// Something that became true. Told after the commit that makes it true, in the order of the commits, so that what an
/// application is told is never ahead of the disk. Later versions add cases: keep a `default`.
public enum LectureEvent: Sendable {
    /// A content is waiting for its turn: it is new, goes on, or an attempt failed and another is due
    /// (``Content/nextAttempt``).
    case queued(Content)
    /// Work on a content goes on to the next state: loading, downloading or verifying.
    case advanced(Content)
    /// Bytes came. At most a few times a second for one content.
    case progress(DownloadProgress)
    /// A content is complete: every resource is proven and stands under its final name.
    case completed(Content)
    /// A content cannot be had; ``Content/error`` says why.
    case failed(Content)
    /// A content does not move for now; ``Content/stopReason`` says why.
    case stopped(Content)
    /// A content and its files are gone.
    case removed(ContentKey)
    /// The finished bytes also stand at a path outside the store.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - path: where the bytes stand.
    case published(key: ContentKey, path: String)
    /// The finished bytes could not be given out; the content itself is complete.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - path: where the bytes should have gone.
    ///   - error: why not.
    case publishingFailed(key: ContentKey, path: String, error: LectureError)
    /// The store could not be written, or a file of it not be deleted. Work is taken up again by itself; what was
    /// proven stays.
    case trouble(LectureError)
}
