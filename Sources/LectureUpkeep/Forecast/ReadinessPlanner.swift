import LectureFormats
public import LectureKit
public import LectureModel

/// Asks a store whether lectures will be there in time, through the library's public interface.
///
/// ```swift
/// let planner = ReadinessPlanner(manager)
/// let lectures = try await planner.lectures(of: keys)
/// let answer = try await planner.readiness(of: lectures, by: monday, now: now)
/// print(answer.isReady, answer.end, answer.obstacles)
/// ```
public struct ReadinessPlanner: Sendable {
    private let manager: LectureManager
    /// How far a forecast looks.
    private static let horizon = Duration.seconds(366 * 86_400)

    /// Creates it for an open store.
    ///
    /// - Parameter manager: the store's manager, with the limits of the downloads.
    public init(_ manager: LectureManager) { self.manager = manager }

    /// The lectures of a course, in the order in which they are downloaded.
    ///
    /// - Parameter course: its name.
    /// - Returns: all of them.
    /// - Throws: `LectureError` when the store cannot be read.
    public func lectures(ofCourse course: String) async throws -> [PlannedLecture] {
        var filter = ContentFilter()
        filter.course = course
        return try await lectures(of: try await manager.contents.list(filter, sort: .priority))
    }

    /// Lectures of the store.
    ///
    /// - Parameter keys: which ones.
    /// - Returns: the lectures, in this order.
    /// - Throws: `LectureError`: `unknownContent`, a store's code.
    public func lectures(of keys: [ContentKey]) async throws -> [PlannedLecture] {
        var contents: [Content] = []
        for key in keys {
            guard let content = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            contents.append(content)
        }
        return try await lectures(of: contents)
    }

    /// Lectures that a list asks for.
    ///
    /// - Parameter planned: what the requests would do.
    /// - Returns: the lectures, in this order. One that would be downloaded again counts with all of its bytes.
    /// - Throws: `LectureError` when the store cannot be read.
    public func lectures(of planned: [PlannedDownload]) async throws -> [PlannedLecture] {
        var lectures: [PlannedLecture] = []
        for plan in planned {
            if let key = plan.key, let content = try await manager.contents.find(key) {
                var lecture = try await self.lectures(of: [content])[0]
                switch plan.kind {
                case .changed, .damaged:
                    (lecture.isComplete, lecture.bytesLeft) = (false, plan.bytes)
                case .new, .unfinished, .unchecked, .complete: break
                }
                lectures.append(lecture)
            } else {
                var lecture = PlannedLecture(key: plan.request.key, title: plan.title ?? plan.request.url)
                (lecture.bytesLeft, lecture.total) = (plan.bytes, plan.bytes)
                lecture.origin = (try? Origin(url: plan.request.url))?.text ?? ""
                lectures.append(lecture)
            }
        }
        return lectures
    }

    private func lectures(of contents: [Content]) async throws -> [PlannedLecture] {
        let licences = try await manager.licences.statuses(of: contents)
        var lectures: [PlannedLecture] = []
        for content in contents {
            var lecture = PlannedLecture(key: content.key, title: content.title)
            lecture.isComplete = content.state == .completed
            lecture.total = content.totalBytes
            if !lecture.isComplete {
                if lecture.total == nil { lecture.total = try await announced(content.key) }
                lecture.bytesLeft = lecture.total.map { max(0, $0 - content.committedBytes) }
                lecture.hindrance = try await hindrance(content)
                lecture.notBefore = content.nextAttempt
            }
            lecture.origin = try await origin(content)
            if let status = licences[content.key] {
                lecture.licence = status.policy
                lecture.standing = try await standing(status, of: content)
            }
            lectures.append(lecture)
        }
        return lectures
    }

    /// Bytes as its source or its list has announced them.
    private func announced(_ key: ContentKey) async throws -> Int64? {
        if let bytes = try await manager.contents.details(of: key)?.announcedBytes { return bytes }
        return try await manager.contents.request(for: key)?.size
    }

    /// The server that has sent most of it lately, else that of its URL: a gateway sends no media.
    private func origin(_ content: Content) async throws -> String {
        let own = (try? Origin(url: content.sourceURL))?.text ?? ""
        guard content.state != .completed, content.committedBytes > 0 else { return own }
        let attempts = try await manager.contents.why(content.key).attempts
        return attempts.max { $0.bytes < $1.bytes }.map { $0.bytes > 0 ? $0.origin : own } ?? own
    }

    private func standing(_ status: LicenceStatus, of content: Content) async throws -> LicenceStanding {
        // Before the download there is nothing to judge: it is granted with it.
        if content.state != .completed, status.form == nil { return .unneeded }
        return try await LicenceStanding(status, in: manager)
    }

    private func hindrance(_ content: Content) async throws -> PlannedLecture.Hindrance? {
        switch content.state {
        case .stopped:
            switch content.stopReason {
            case .user, .licenceRefused: break
            case .network, .space, .schedule, .serverWait, .dependency, .quota, nil: return nil
            }
        case .failed, .removing: break
        case .queued, .loading, .downloading, .verifying, .completed: return nil
        }
        let diagnosis = try await manager.contents.why(content.key)
        let message = [diagnosis.what, diagnosis.why].filter { !$0.isEmpty }.joined(separator: " ")
        let kind: ReadinessObstacle.Kind = content.stopReason == .user ? .paused : .failed
        return PlannedLecture.Hindrance(kind, message, remedy: diagnosis.remedy)
    }

    /// Decides whether lectures will be there in time.
    ///
    /// - Parameters:
    ///   - lectures: from one of the functions above.
    ///   - time: by when; nil when only the end is asked for.
    ///   - speed: bytes a second of every server; nil takes what was measured.
    ///   - jobs: lectures at once.
    ///   - prunable: bytes that accepted rules of retention would free.
    ///   - now: the wall clock.
    /// - Returns: the answer, and what was measured.
    /// - Throws: `LectureError` when the store cannot be read.
    public func readiness(
        of lectures: [PlannedLecture], by time: Timestamp?, speed: Double? = nil, jobs: Int = 4, prunable: Int64 = 0,
        now: Timestamp
    ) async throws -> (answer: Readiness, measured: [MeasuredSpeed]) {
        let measured = try await manager.downloadSpeeds()
        let end = max(time ?? now, now) + Self.horizon
        var limits = ReadinessLimits(windows: try await manager.paceWindows(from: now, to: end))
        (limits.jobs, limits.prunable) = (jobs, prunable)
        let space = try await manager.overview().space
        limits.space = space.free.map { max(0, $0 - space.reserve) }
        limits.quota = space.quota.map { max(0, $0 - space.used) }
        let speeds = speed.map { ForecastSpeeds(others: $0) } ?? ForecastSpeeds(measured)
        return (Readiness(lectures, speeds: speeds, limits: limits, by: time, now: now), measured)
    }
}
