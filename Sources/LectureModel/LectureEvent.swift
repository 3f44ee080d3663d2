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
    /// A lecture that was complete before was compared with its source, or with a newly requested digest, and is still
    /// what is requested.
    case unchanged(Content)
    /// A lecture that was complete before is not what is requested, or its source has a newer version, which is queued.
    /// The old version stays playable until the new one is complete.
    case outdated(Content)
    /// Whether a complete lecture is still what is requested could not be found out. It stays as it is.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - error: why not.
    case checkFailed(key: ContentKey, error: LectureError)
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
    /// The licence server permits that a content is fetched and kept.
    case licenceGranted(ContentKey)
    /// A batch renewal asks for so many licences.
    ///
    /// - Parameters:
    ///   - total: how many licences it wants, with those that were renewed before it was interrupted.
    ///   - done: how many of them are done.
    case renewalBegan(total: Int, done: Int)
    /// One licence of a batch is renewed, or has failed and is as it was.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - current: the number of this licence, 1…count, each once.
    ///   - count: how many licences the batch wants.
    ///   - error: why it failed; nil when it is renewed.
    case renewed(key: ContentKey, current: Int, count: Int, error: LectureError?)
    /// A batch renewal is over, or was ended.
    case renewalEnded(RenewalReport)
    /// A licence server was asked, and answered or not; once for each request. One that has ordered lectures away is
    /// told when they are gone; where one cannot be removed, soon after with ``trouble(_:)``, code `removalWaits`.
    case licenceExchange(LicenceExchange)
    /// The licence server has ended a content's licence.
    case licenceEnded(ContentKey)
    /// The licence server has ordered a content away; its file is gone.
    case licenceDeleted(ContentKey)
    /// Reports were settled or requests went out. At most a few times a second; the numbers count from the beginning of
    /// the call that sends them.
    case reportsProgress(ReportSendResult)
    /// Reports are with their LMS, durably known. Not told again when a program ends between the two.
    case reportsDelivered([String])
    /// A request with reports went to an LMS, and was answered or not; once for each request, before what it changed.
    /// Nothing is kept for it while nobody listens.
    case reportExchange(ReportExchange)
    /// An LMS refused a report for good; it is kept as a dead letter.
    ///
    /// - Parameters:
    ///   - id: the report.
    ///   - reason: why it is dead.
    ///   - error: `reportRefused` with what was answered.
    case reportRefused(id: String, reason: DeadReason, error: LectureError)
    /// A target answered something that is no success, or could not be reached.
    case reportObstacle(ReportObstacle)
    /// Everything that was due was sent, or could not be; also when the call was ended.
    case reportsSent(ReportSendResult)
    /// The store could not be written, or a file of it not be deleted. Work is taken up again by itself; what was
    /// proven stays.
    case trouble(LectureError)
}
