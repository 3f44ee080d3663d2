public import LectureKit
public import LectureModel

/// Applies rules of retention to a store, through the library's public interface.
///
/// ```swift
/// let retention = Retention(manager)
/// let plan = try await retention.plan(try RetentionRule.rules(["keep 30d after play", "never below 20 GiB"]))
/// for removal in plan.removals { print(removal.lecture.title, removal.reason) }
/// try await retention.request(plan)
/// ```
public struct Retention: Sendable {
    private let manager: LectureManager
    private static let pageSize = 1000

    /// Creates it for an open store.
    ///
    /// - Parameter manager: the store's manager.
    public init(_ manager: LectureManager) { self.manager = manager }

    /// What rules would remove now. Nothing is changed.
    ///
    /// - Parameter rules: the rules.
    /// - Returns: what goes and why, and what stays although a rule takes it.
    /// - Throws: `LectureError` when the store cannot be read.
    public func plan(_ rules: [RetentionRule]) async throws -> RetentionPlan {
        let wantsLicences = rules.contains { $0.kind == .dropExpired }
        var filter = ContentFilter()
        filter.states = [.completed]
        var lectures: [RetainedLecture] = []
        while true {
            let page = try await manager.contents.list(
                filter, page: ContentPage(offset: lectures.count, limit: Self.pageSize))
            let uses = try await manager.contents.uses(of: page.map(\.key))
            let licences = wantsLicences ? try await manager.licences.statuses(of: page) : [:]
            for content in page {
                // One that was removed since is a row for the count of the next page.
                let use = uses[content.key] ?? LectureUse.unknown
                var lecture = RetainedLecture(
                    key: content.key, bytes: content.committedBytes, completed: content.completed ?? content.added,
                    use: use)
                (lecture.title, lecture.course) = (content.title, content.course)
                lecture.url = content.sourceURL
                if let status = licences[content.key] {
                    lecture.licence = try await LicenceStanding(status, in: manager)
                }
                lectures.append(lecture)
            }
            if page.count < Self.pageSize { break }
        }
        let free = try await manager.overview().space.free
        // Ages count by the time that licences are judged by: no earlier than was proven, and no guess beyond it.
        return RetentionPlan(rules: rules, lectures: lectures, free: free, now: try await manager.licences.time())
    }

    /// Requests the removal of what a plan takes. What is used by now stays. ``LectureEvent/removed(_:)`` reports each
    /// lecture whose files are gone.
    ///
    /// - Parameter plan: from ``plan(_:)``.
    /// - Returns: the lectures that go, and those that stay after all.
    /// - Throws: `LectureError` when the store cannot be written.
    @discardableResult
    public func request(
        _ plan: RetentionPlan
    ) async throws -> (removing: [ContentKey], kept: [ContentKey: LectureUse.Obstacle]) {
        let outcomes = try await manager.downloads.removeUnused(plan.removals.map(\.lecture.key))
        var kept: [ContentKey: LectureUse.Obstacle] = [:]
        for (key, obstacle) in outcomes { kept[key] = obstacle }
        return (outcomes.filter { $0.obstacle == nil }.map(\.key), kept)
    }
}

extension LectureUse {
    /// The use of a lecture that was removed while a list was read.
    fileprivate static var unknown: LectureUse {
        var use = LectureUse()
        use.isSettled = false
        return use
    }
}
