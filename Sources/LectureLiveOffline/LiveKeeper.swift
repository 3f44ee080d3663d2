public import LectureKit
public import LectureLive
public import LectureModel

/// Keeps a live lecture while it goes on, and makes it whole afterwards.
///
/// While the room is live, everything since its beginning is captured as an adaptive lecture, also what a viewer who
/// came late has missed. After the end it is complete, unless something was lost; then its recording is fetched under
/// the same key, in place of what was captured.
///
/// ```
/// live ──keep──▶ capturing ──room ended──▶ whole
///                    │ stalled, gaps, link lost          ▲
///                    ▼                                   │ the recording was fetched
///                incomplete ──keep──▶ capturing          │
///                    └──────────complete(from:)──▶ fetching
/// ```
///
/// Downloads run in the manager, as all others do; this type only asks for them.
public struct LiveKeeper: Sendable {
    /// What there is of a lecture.
    public enum Progress: Sendable, Hashable {
        /// Nothing was asked for.
        case nothing
        /// It is being captured or fetched.
        case underWay
        /// All of it is kept.
        case whole
        /// Something is missing, and nothing is being fetched; ``LiveKeeper/keep(_:)`` goes on while the room is open,
        /// ``LiveKeeper/complete(from:)`` after its end.
        case incomplete(LectureError)
    }

    /// The lecture.
    public let lecture: LiveLecture
    private let manager: LectureManager

    /// Creates a keeper; nothing is kept yet.
    ///
    /// - Parameters:
    ///   - lecture: the lecture.
    ///   - manager: the store.
    public init(_ lecture: LiveLecture, in manager: LectureManager) {
        (self.lecture, self.manager) = (lecture, manager)
    }

    /// Begins to keep a room that is open, or goes on with it.
    ///
    /// - Parameter room: as the server describes it now; its links are valid for a time.
    /// - Throws: ``LectureError``: `parameter` for a room without a link, `nameTaken` and others of a request, a
    ///   store's code.
    public func keep(_ room: VideoRoom) async throws(LectureError) {
        guard let url = room.eventURL else {
            throw LectureError(.parameter, detail: "room \(room.id)", cause: "nothing can be kept of it now")
        }
        var request = DownloadRequest(url: url)
        (request.key, request.title) = (lecture.key, room.title.isEmpty ? nil : room.title)
        var selection = StreamSelection()
        selection.capture = .untilEnd
        request.selection = selection
        try await manager.downloads.enqueue(request)
    }

    /// Fetches the recording of a room that has ended, unless all of it is kept already. What was captured of an
    /// incomplete lecture is deleted before: a lecture is one version, and this one never becomes whole.
    ///
    /// - Parameter archiveURL: ``VideoRoom/archiveURL``.
    /// - Returns: whether something is fetched; false as well while it is captured: ask again when that has ended.
    /// - Throws: as ``keep(_:)``.
    @discardableResult
    public func complete(from archiveURL: String) async throws(LectureError) -> Bool {
        switch try await progress() {
        case .whole, .underWay: return false
        case .incomplete: try await remove()
        case .nothing: break
        }
        var request = DownloadRequest(url: archiveURL)
        request.key = lecture.key
        try await manager.downloads.enqueue(request)
        return true
    }

    /// Deletes what there is, and waits until it is gone: a lecture that is being removed cannot be requested.
    private func remove() async throws(LectureError) {
        let events = manager.events
        guard case .some(.some) = try await manager.downloads.remove([lecture.key]).first else { return }
        for await event in events where event == .removed(lecture.key) { return }
    }

    /// What there is of the lecture.
    ///
    /// - Returns: the progress, as the store has it.
    /// - Throws: ``LectureError``: a store's code.
    public func progress() async throws(LectureError) -> Progress {
        guard let content = try await manager.contents.find(lecture.key) else { return .nothing }
        switch content.state {
        case .completed: return .whole
        case .failed: return .incomplete(content.error ?? LectureError(.notComplete))
        // Paused or cancelled; what waits for its next attempt is under way.
        case .stopped where content.nextAttempt == nil && content.stopReason != nil:
            return .incomplete(content.error ?? LectureError(.notComplete))
        case .queued, .loading, .downloading, .verifying, .stopped: return .underWay
        case .removing: return .nothing
        }
    }
}
