import LectureFiles
import LectureFormats
public import LectureModel
import LectureStatistics
import LectureStore

extension LectureManager {
    /// Learning reports: they are kept until delivered to an LMS, unless an operator decides otherwise.
    ///
    /// Storing, sending, exporting and importing reports, recording what is watched, and erasing a learner belong here.
    ///
    /// ```swift
    /// try await manager.reports.add(LearningReport(values: values, user: "kim"))
    /// let result = try await manager.reports.send()
    /// ```
    ///
    /// It works as long as its manager is open.
    ///
    /// ## Topics
    /// ### Storing
    /// - ``add(_:)-(LearningReport)``
    /// - ``add(_:)-([LearningReport])``
    /// - ``recordPlay(of:user:duration:blocks:target:)``
    /// ### Sending
    /// - ``send(options:)``
    /// - ``stopSending()``
    /// - ``retry(matching:)``
    /// ### Queries
    /// - ``list(_:from:limit:)``
    /// - ``summary()``
    /// ### Files
    /// - ``export(to:format:filter:pseudonymKey:)``
    /// - ``import(from:format:onError:)``
    /// ### Erasing
    /// - ``eraseLearner(_:isForced:isDryRun:)``
    /// - ``forgetCopy(at:)``
    public actor Reports: CorePart {
        nonisolated let core: StoreCore
        /// Sends reports; created when first used.
        private var service: ReportService?
        /// Reports on the writer's connection; created when first needed.
        private var openedOutbox: SQLiteOutbox?
        /// The request rate limit per target, from the last call that sends reports.
        private let sendRate = Guarded<Int?>(nil)

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

        init(_ core: StoreCore) { self.core = core }
    }
}

extension LectureManager.Reports {
    // MARK: Storing

    /// Stores a report for each of its targets, in one transaction. Nothing is sent.
    ///
    /// - Parameter report: what a learner did.
    /// - Returns: one row for each target, or one that waits for a target; durable when this returns.
    /// - Throws: ``LectureError``: `reportInvalid` with the invalid member, `reportConflict` when its id is known with
    ///   another payload, a store's code.
    @discardableResult
    public func add(_ report: LearningReport) throws(LectureError) -> [StoredReportID] {
        try LectureError.only { try store(report) }
    }

    /// Stores many reports in one transaction. Nothing is sent.
    ///
    /// - Parameter reports: in the order in which they happened.
    /// - Returns: for each, in order, its rows, or why it was not stored; the others are.
    /// - Throws: ``LectureError`` of the store; then none is stored.
    public func add(
        _ reports: [LearningReport]
    ) throws(LectureError) -> [Result<[StoredReportID], LectureError>] {
        try LectureError.only { try store(reports) }
    }

    private func store(_ report: LearningReport) throws -> [StoredReportID] {
        let storing = ReportStoring(core)
        let plan = try storing.plan(report)
        return try writing { try storing.store(plan, $0) }
    }

    /// Stores a report about a play, with what belongs to it.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - targets: where it goes; nil for the channels of its lecture.
    ///   - isLast: whether the play is over: then it is recorded no more.
    /// - Returns: as ``add(_:)-(LearningReport)``.
    /// - Throws: ``LectureError``.
    func addPlay(
        _ report: LearningReport, to targets: [ReportRecord.Target]?, isLast: Bool
    ) throws -> [StoredReportID] {
        if isClosed { throw LectureError(.closing) }
        let storing = ReportStoring(core)
        let plan = try storing.plan(report, to: targets)
        return try index.transaction { transaction in
            if isLast { try transaction.index.plays.end(report.session) }
            return try storing.store(plan, transaction.outbox)
        }
    }

    /// Stores what happened in a play since the last call.
    ///
    /// - Parameters:
    ///   - record: the play.
    ///   - log: what happened in it.
    ///   - isNew: whether it has no row yet.
    /// - Returns: false when its learner was erased meanwhile.
    /// - Throws: ``LectureError``.
    func keepPlay(_ record: PlaySessionRecord, _ log: PlayLog, isNew: Bool) throws -> Bool {
        let (owner, now) = (try openSession().owner, clock.now())
        return try index.transaction { transaction in
            let plays = transaction.index.plays
            if isNew { try plays.begin(record, owner: owner, now: now) }
            let changed = log.intervals[log.firstChanged...].map(PlayIntervalRecord.init)
            return try plays.extend(record.session, from: log.firstChanged, changed, now: now)
        }
    }

    private func store(_ reports: [LearningReport]) throws -> [Result<[StoredReportID], LectureError>] {
        var storing = ReportStoring(core)
        var results: [Result<[StoredReportID], LectureError>] = []
        results.reserveCapacity(reports.count)
        try writing { outbox in
            for report in reports {
                do {
                    try storing.remember(report.content)
                    results.append(.success(try storing.store(try storing.plan(report), outbox)))
                } catch let error as LectureError
                    where error.code == .reportInvalid || error.code == .reportConflict
                {
                    results.append(.failure(error))
                }
            }
        }
        return results
    }

    // MARK: Sending

    /// Sends every report that is due, and returns when nothing more can be done now.
    ///
    /// Reports of one session are sent in order. What may already have arrived is sent again under the same id with the
    /// same bytes. At the end delivered reports past their retention time are deleted.
    ///
    /// A cancelled task stops waiting at once; what is due is still sent. ``stopSending()`` ends it.
    ///
    /// - Parameter options: the target, the rate and the attempts.
    /// - Returns: the results, and the obstacles for the remaining reports.
    /// - Throws: ``LectureError``: `reportInvalid` for a target, `configuration`, `secretReadable`, a store's code;
    ///   `closing` when the manager is. `CancellationError` when the task is cancelled.
    public func send(options: SendOptions = SendOptions()) async throws -> ReportSendResult {
        try Task.checkCancellation()
        let target = try options.target?.address()
        let number = try target.map { address in try writing { try $0.target(address) } }
        sendRate.withLock { $0 = options.requestsPerSecond }
        // What was stored or kept meanwhile, and what another program has left.
        defer { core.reportsChanged() }
        var result = try await run(SendOrder(options, attempts: core.state.attemptsOfBatches, target: number))
        let waiting = try self.summary().withoutTarget
        if waiting > 0 {
            result.left += waiting
            result.obstacles.append(
                ReportObstacle(
                    url: "", error: LectureError(.reportTargetMissing, detail: "\(waiting) reports"), again: nil))
        }
        try prune()
        hub.send(.reportsSent(result))
        return result
    }

    /// A run of the automatic delivery: sends what may be sent now, and leaves the rest to the next run. It reports
    /// nothing when there was nothing to send.
    ///
    /// - Parameter resumption: what it changes about targets that wait or are suspended.
    /// - Returns: whether a report was delivered, refused or superseded.
    /// - Throws: as ``send(options:)``.
    func deliver(_ resumption: SendResumption) async throws -> Bool {
        // A target that fails is left alone until its own wait is over, which the next run begins with.
        var options = SendOptions()
        options.longestWait = Self.longestWaitOfDelivery
        var order = SendOrder(options, attempts: 1, target: nil)
        order.resumption = resumption
        let result = try await run(order)
        let hasSettled = result.delivered + result.refused + result.superseded > 0
        if hasSettled { try prune() }
        if hasSettled || result.requests > 0 { hub.send(.reportsSent(result)) }
        return hasSettled
    }

    /// The pauses between the requests of a target with a limit of requests a second are shorter.
    private static let longestWaitOfDelivery = Duration.seconds(2)

    private func run(_ order: SendOrder) async throws -> ReportSendResult {
        let service = try openService()
        let days = configuration.statistics.expireDays
        if let days {
            _ = try outbox().upkeep.expire(before: clock.now() + .seconds(-days * 86_400), now: clock.now())
        }
        let waiter = Waiter<ReportSendResult>()
        service.send(order, waiter)
        defer { service.forget(waiter) }
        return try await waiter.value()
    }

    /// Stops sending; ``send(options:)`` returns with what was done. Reports not known to have arrived are kept. It
    /// completes even in a cancelled task.
    public func stopSending() async {
        guard let service else { return }
        self.service = nil
        await withCheckedContinuation { service.stop($0) }
    }

    /// How many rows one transaction deletes, so that no other writer waits for long.
    private static let rowsPrunedAtOnce = 5000

    private func prune() throws {
        let outbox = try outbox()
        let before = clock.now() + .seconds(-max(0, configuration.statistics.keepDays) * 86_400)
        while try outbox.upkeep.prune(before: before, limit: Self.rowsPrunedAtOnce) == Self.rowsPrunedAtOnce {}
    }

    /// Makes dead letters due again for the next call that sends.
    ///
    /// - Parameter query: which; reports in other states are left as they are.
    /// - Returns: how many.
    /// - Throws: ``LectureError`` of the store.
    @discardableResult
    public func retry(matching query: ReportQuery) throws(LectureError) -> Int {
        try LectureError.only {
            var count = 0
            let now = clock.now()
            try writing { outbox in
                for selection in try selections(query) { count += try outbox.upkeep.revive(selection, now: now) }
            }
            core.reportsChanged()
            return count
        }
    }

    // MARK: Queries

    /// A page of reports, in the order in which they were stored.
    ///
    /// - Parameters:
    ///   - query: which.
    ///   - place: the ``ReportPage/next`` of the page before; nil for the first page.
    ///   - limit: how many at the most; one to a thousand.
    /// - Returns: the reports.
    /// - Throws: ``LectureError`` of the store.
    public func list(
        _ query: ReportQuery = ReportQuery(), from place: ReportPage.Place? = nil, limit: Int = 1000
    ) throws(LectureError) -> ReportPage {
        try LectureError.only { try page(query, from: place, limit: limit) }
    }

    private func page(_ query: ReportQuery, from place: ReportPage.Place?, limit: Int) throws -> ReportPage {
        let limit = max(1, min(limit, 1000))
        var rows: [StoredReport] = []
        for selection in try selections(query) {
            rows += try queries.reports(selection, after: place?.last, limit: limit)
        }
        // Each of several targets with the same URL contributed its first rows.
        rows = Array(rows.sorted { $0.id < $1.id }.prefix(limit))
        let next = rows.count < limit ? nil : rows.last.map { ReportPage.Place(last: $0.id) }
        return ReportPage(rows: rows.map(ReportStatus.init), next: next)
    }

    /// The state of all reports ever stored, and what waits for which target.
    ///
    /// - Throws: ``LectureError`` of the store.
    public func summary() throws(LectureError) -> ReportSummary {
        try LectureError.only {
            ReportSummary(try queries.account(), try queries.targets())
        }
    }

    /// The store's selections; one for each target that the query matches.
    private func selections(_ query: ReportQuery) throws -> [ReportSelection] {
        guard let url = query.targetURL else { return [query.selection] }
        return try queries.targets().filter { $0.address.url.utf8.elementsEqual(url.utf8) }.map { entry in
            var selection = query.selection
            selection.target = entry.id
            return selection
        }
    }

    // MARK: Parts

    /// Sets the timeout from the next request on.
    func usePatience() { service?.usePatience(configuration) }

    private func openService() throws -> ReportService {
        if isClosed { throw LectureError(.closing) }
        if let service { return service }
        let made = try ReportService(
            configuration, outbox: try outbox(), rate: sendRate, digests: digests, host: try openHost())
        service = made
        return made
    }

    /// Reports on the writer's connection.
    func outbox() throws -> SQLiteOutbox {
        if isClosed { throw LectureError(.closing) }
        if let openedOutbox { return openedOutbox }
        let made = SQLiteOutbox(index: writer)
        openedOutbox = made
        return made
    }

    /// Runs a transaction of reports.
    func writing<Result>(_ body: (SQLiteOutbox) throws -> Result) throws -> Result {
        if isClosed { throw LectureError(.closing) }
        return try index.transaction { try body($0.outbox) }
    }
}
