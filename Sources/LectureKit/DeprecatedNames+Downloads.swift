public import LectureModel

// Names of the last release that ``LectureManager/downloads`` has replaced.

extension LectureManager {
    /// The former name of ``Downloads/enqueue(_:)``.
    @available(*, deprecated, renamed: "downloads.enqueue(_:)")
    @discardableResult
    public func download(_ request: DownloadRequest) throws(LectureError) -> ContentKey {
        try LectureError.only { try downloads.assumeIsolated { try $0.enqueue(request) } }
    }

    /// The former name of ``Downloads/enqueue(_:check:origin:)``.
    @available(*, deprecated, renamed: "downloads.enqueue(_:check:origin:)")
    public func enqueue(
        _ requests: [DownloadRequest], check: SourceCheck = .list, origin: RequestOrigin? = nil
    ) throws(LectureError) -> [Result<Enqueued, LectureError>] {
        try LectureError.only {
            try downloads.assumeIsolated { try $0.enqueue(requests, check: check, origin: origin) }
        }
    }

    /// The former name of ``Downloads/continueUnfinished()``.
    @available(*, deprecated, renamed: "downloads.continueUnfinished()")
    @discardableResult
    public func downloadUnfinished() async throws(LectureError) -> Int { try await downloads.continueUnfinished() }

    /// The former name of ``Downloads/waitUntilIdle(longestWait:deadline:)``.
    @available(*, deprecated, renamed: "downloads.waitUntilIdle(longestWait:deadline:)")
    @discardableResult
    public func waitUntilIdle(longestWait: Duration = .seconds(600), deadline: Duration? = nil) async throws -> Bool {
        try await downloads.waitUntilIdle(longestWait: longestWait, deadline: deadline)
    }

    /// The former name of ``Downloads/active``.
    @available(*, deprecated, renamed: "downloads.active")
    public var active: [DownloadProgress] { downloads.assumeIsolated { $0.active } }

    /// The former name of ``Downloads/fetched(in:limit:)``.
    @available(*, deprecated, renamed: "downloads.fetched(in:limit:)")
    public func fetched(in state: ItemState, limit: Int = .max) throws(LectureError) -> [Content] {
        try LectureError.only { try downloads.assumeIsolated { try $0.fetched(in: state, limit: limit) } }
    }

    /// The former name of ``Downloads/removalsLeft()``.
    @available(*, deprecated, renamed: "downloads.removalsLeft()")
    public func removalsLeft() throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.removalsLeft() } }
    }

    /// The former name of ``Downloads/load(_:)``.
    @available(*, deprecated, renamed: "downloads.load(_:)")
    public func load(_ url: String) async throws -> Content {
        try await downloads.load(url)
    }

    /// The former name of ``Downloads/plan(_:check:)``.
    @available(*, deprecated, renamed: "downloads.plan(_:check:)")
    public func plan(
        _ requests: [DownloadRequest], check: SourceCheck = .list
    ) async throws -> [Result<PlannedDownload, LectureError>] {
        try await downloads.plan(requests, check: check)
    }

    /// The former name of ``Downloads/finishEstimate(bytes:)``.
    @available(*, deprecated, renamed: "downloads.finishEstimate(bytes:)")
    public func finishEstimate(bytes: Int64) throws(LectureError) -> FinishEstimate? {
        try LectureError.only { try downloads.assumeIsolated { try $0.finishEstimate(bytes: bytes) } }
    }

    /// The former name of ``Downloads/refresh(_:)``.
    @available(*, deprecated, renamed: "downloads.refresh(_:)")
    public func refresh(_ keys: [ContentKey]) async throws -> [ContentKey: Result<RefreshOutcome, LectureError>] {
        try await downloads.refresh(keys)
    }

    /// The former name of ``Downloads/start(_:)``.
    @available(*, deprecated, renamed: "downloads.start(_:)")
    public func download(_ key: ContentKey) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.start(key) } }
    }

    /// The former name of ``Downloads/pause(_:)``.
    @available(*, deprecated, renamed: "downloads.pause(_:)")
    public func pause(_ key: ContentKey) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.pause(key) } }
    }

    /// The former name of ``Downloads/resume(_:)``.
    @available(*, deprecated, renamed: "downloads.resume(_:)")
    public func resume(_ key: ContentKey) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.resume(key) } }
    }

    /// The former name of ``Downloads/cancel(_:)``.
    @available(*, deprecated, renamed: "downloads.cancel(_:)")
    public func cancel(_ key: ContentKey) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.cancel(key) } }
    }

    /// The former name of ``Downloads/remove(_:)-(ContentKey)``.
    @available(*, deprecated, renamed: "downloads.remove(_:)")
    public func remove(_ key: ContentKey) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.remove(key) } }
    }

    /// The former name of ``Downloads/remove(_:)-([ContentKey])``.
    @available(*, deprecated, renamed: "downloads.remove(_:)")
    @discardableResult
    public func remove(_ keys: [ContentKey]) throws(LectureError) -> [ContentKey?] {
        try LectureError.only { try downloads.assumeIsolated { try $0.remove(keys) } }
    }

    /// The former name of ``Downloads/pauseAll()``.
    @available(*, deprecated, renamed: "downloads.pauseAll()")
    @discardableResult
    public func pauseAll() throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.pauseAll() } }
    }

    /// The former name of ``Downloads/resumeAll()``.
    @available(*, deprecated, renamed: "downloads.resumeAll()")
    @discardableResult
    public func resumeAll() throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.resumeAll() } }
    }

    /// The former name of ``Downloads/cancelAll()``.
    @available(*, deprecated, renamed: "downloads.cancelAll()")
    @discardableResult
    public func cancelAll() throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.cancelAll() } }
    }

    /// The former name of ``Downloads/removeAll(includingSamples:)``.
    @available(*, deprecated, renamed: "downloads.removeAll(includingSamples:)")
    @discardableResult
    public func removeAll(includingSamples: Bool = false) throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.removeAll(includingSamples: includingSamples) } }
    }

    /// The former name of ``Downloads/setPriority(_:of:)``.
    @available(*, deprecated, message: "use downloads.setPriority(_:of:)")
    public func setPriority(_ key: ContentKey, _ priority: Int) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.setPriority(priority, of: key) } }
    }

    /// The former name of ``Downloads/move(_:to:)``.
    @available(*, deprecated, renamed: "downloads.move(_:to:)")
    public func move(_ key: ContentKey, to place: QueuePlace) throws(LectureError) {
        try LectureError.only { try downloads.assumeIsolated { try $0.move(key, to: place) } }
    }

    /// The former name of ``Downloads/finishCourseList(_:)``.
    @available(*, deprecated, renamed: "downloads.finishCourseList(_:)")
    @discardableResult
    public func finishCourseList(_ name: String) throws(LectureError) -> Int {
        try LectureError.only { try downloads.assumeIsolated { try $0.finishCourseList(name) } }
    }

    /// The former name of ``Downloads/lecturesGone(from:for:assuming:)``.
    @available(*, deprecated, renamed: "downloads.lecturesGone(from:for:assuming:)")
    public func lecturesGone(
        from lists: [String], for time: Duration = .zero, assuming reading: PlannedReading? = nil
    ) throws(LectureError) -> (lectures: [Content], named: Int) {
        try LectureError.only {
            try downloads.assumeIsolated { try $0.lecturesGone(from: lists, for: time, assuming: reading) }
        }
    }
}
