import LectureKit
import LectureModel

/// The details of lectures that are being downloaded, as read last: no row is read to report that bytes were received.
///
/// They are read once for each change. Changes by the loop are events (``take(_:)``). Other processes and calls write
/// without an event (`WritesWithoutEvents`), and what a licence allows depends on the time.
struct KnownDetails {
    private struct Known {
        let details: ContentDetails
        /// What had been written before they were read.
        let writes: WritesWithoutEvents
        let read: Timestamp
        /// When a bound of the licence passes; nil for never.
        let bound: Timestamp?
    }

    private var lectures: [ContentKey: Known] = [:]

    /// The details of a lecture at a moment of its download.
    ///
    /// - Parameters:
    ///   - progress: how far the download is.
    ///   - writes: what was written without an event up to now.
    ///   - now: the wall clock.
    /// - Returns: nil when they have to be read.
    func details(
        _ progress: DownloadProgress, after writes: WritesWithoutEvents, at now: Timestamp
    ) -> ContentDetails? {
        guard let known = lectures[progress.key], known.writes == writes, now >= known.read else { return nil }
        if let bound = known.bound, now >= bound { return nil }
        var details = known.details
        details.content.take(progress)
        return details
    }

    /// Keeps details for the progress that follows. Those of a lecture that is not in work are not needed: its next
    /// event is a change, and thousands may be queued.
    ///
    /// - Parameters:
    ///   - details: as read.
    ///   - writes: what had been written without an event before.
    ///   - now: the wall clock.
    mutating func keep(_ details: ContentDetails, after writes: WritesWithoutEvents, at now: Timestamp) {
        switch details.content.state {
        case .loading, .downloading, .verifying: break
        case .queued, .stopped, .failed, .completed, .removing: return
        }
        let licence = details.licence
        // Which moment ends this is not known.
        if licence?.reasons.contains(.clockUntrusted) == true { return }
        let bounds = [licence?.policy?.startsAt, licence?.policy?.expiresAt, licence?.policy?.checkAt]
        lectures[details.content.key] = Known(
            details: details, writes: writes, read: now, bound: bounds.compactMap(\.self).filter { $0 > now }.min())
    }

    /// Forgets what an event says to have changed.
    mutating func take(_ event: LectureEvent) {
        switch event {
        case .queued(let content), .advanced(let content), .completed(let content), .unchanged(let content),
            .outdated(let content), .failed(let content), .stopped(let content):
            lectures[content.key] = nil
        case .removed(let key), .licenceGranted(let key), .renewed(let key, _, _, _), .licenceEnded(let key),
            .licenceDeleted(let key):
            lectures[key] = nil
        // An answer may concern several lectures, and the ledger of licences all.
        case .licenceExchange, .renewalEnded, .trouble(_): lectures = [:]
        case .progress, .checkFailed, .published, .publishingFailed, .renewalBegan, .reportsProgress, .reportsDelivered,
            .reportExchange, .reportRefused, .reportObstacle, .reportsSent:
            break
        }
    }
}

extension Content {
    /// Updates it to the progress of its download. Where work is being ended, the row still has the state of before.
    fileprivate mutating func take(_ progress: DownloadProgress) {
        switch progress.state {
        case .loading, .downloading, .verifying: state = progress.state
        case .queued, .stopped, .failed, .completed, .removing: break
        }
        totalBytes = progress.total ?? totalBytes
        (committedChunks, totalChunks) = (progress.committedChunks, max(totalChunks, progress.totalChunks))
        // After a restart there are fewer than before.
        committedBytes = min(committedBytes, progress.bytes)
    }
}
