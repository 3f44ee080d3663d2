/// Something that became true. Published after the commit that makes it true, in the order of the commits, so that
/// events are never ahead of the disk. Later versions add cases: keep a `default`.
public enum LectureEvent: Sendable, Hashable {
    /// A lecture is queued: it is new, continues, or an attempt failed and another is due (``Content/nextAttempt``).
    case queued(Content)
    /// A lecture has advanced to the next state: loading, downloading or verifying.
    case advanced(Content)
    /// Bytes were received. At most a few times a second for one lecture.
    case progress(DownloadProgress)
    /// A lecture is complete: every resource is verified and has its final name.
    case completed(Content)
    /// A lecture that was complete before was compared with its source, or with a newly requested digest, and is still
    /// what is requested.
    case unchanged(Content)
    /// A lecture that was complete before is not what is requested, or its source has a newer version, which is queued.
    /// The old version stays playable until the new one is complete.
    case outdated(Content)
    /// Whether a complete lecture is still what is requested could not be determined. It stays as it is.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - error: why not.
    case checkFailed(key: ContentKey, error: LectureError)
    /// A lecture has failed; ``Content/error`` says why.
    case failed(Content)
    /// A lecture is stopped for now; ``Content/stopReason`` says why.
    case stopped(Content)
    /// A lecture and its files were removed.
    case removed(ContentKey)
    /// The finished file is also at a path outside the store.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - path: the path of the file.
    case published(key: ContentKey, path: String)
    /// The finished file could not be published; the lecture itself is complete.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - path: the intended path.
    ///   - error: why not.
    case publishingFailed(key: ContentKey, path: String, error: LectureError)
    /// The licence server permits downloading and keeping a lecture.
    case licenceGranted(ContentKey)
    /// A batch renewal has started.
    ///
    /// - Parameters:
    ///   - total: how many licences it includes, with those renewed before an interruption.
    ///   - done: how many of them are done.
    case renewalBegan(total: Int, done: Int)
    /// One licence of a batch was renewed, or failed and is unchanged.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - current: the number of this licence, 1…count, each once.
    ///   - count: how many licences the batch includes.
    ///   - error: why it failed; nil when it is renewed.
    case renewed(key: ContentKey, current: Int, count: Int, error: LectureError?)
    /// A batch renewal has ended, or was stopped.
    case renewalEnded(RenewalReport)
    /// A licence server was asked, and answered or not; once for each request. If it ordered removals, this event
    /// follows when the files are gone; where one cannot be removed, soon after, with ``trouble(_:)``, code
    /// `removalWaits`.
    case licenceExchange(LicenceExchange)
    /// The licence server has ended a lecture's licence.
    case licenceEnded(ContentKey)
    /// The licence server has ordered a lecture's removal; its file is gone.
    case licenceDeleted(ContentKey)
    /// Reports were settled or requests were sent. At most a few times a second; the numbers count from the start of
    /// the call that sends them.
    case reportsProgress(ReportSendResult)
    /// Reports were delivered to their LMS, and that is durably recorded. Not repeated when a program ends between the
    /// two.
    case reportsDelivered([String])
    /// A request with reports was sent to an LMS, and answered or not; once for each request, before its effects.
    /// Nothing is kept for it without listeners.
    case reportExchange(ReportExchange)
    /// An LMS refused a report for good; it is kept as a dead letter.
    ///
    /// - Parameters:
    ///   - id: the report.
    ///   - reason: why it is dead.
    ///   - error: `reportRefused` with the answer.
    case reportRefused(id: String, reason: DeadReason, error: LectureError)
    /// A target returned an unsuccessful answer, or could not be reached.
    case reportObstacle(ReportObstacle)
    /// Everything due was sent, or could not be; also when the call was ended.
    case reportsSent(ReportSendResult)
    /// The store could not be written, or one of its files could not be deleted. Work resumes automatically; committed
    /// data stays.
    case trouble(LectureError)
}

extension LectureEvent {
    /// What is published of a lecture whose row was written with another state.
    ///
    /// - Parameter content: the row as it was written.
    package init(_ content: Content) {
        self =
            switch content.state {
            case .queued: .queued(content)
            case .loading, .downloading, .verifying, .removing: .advanced(content)
            case .completed: .completed(content)
            case .stopped: .stopped(content)
            case .failed: .failed(content)
            }
    }
}
