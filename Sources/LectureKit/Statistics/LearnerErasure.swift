import LectureFiles
public import LectureModel
import LectureStatistics
import LectureStore

/// What was done to erase a learner, and what was found afterwards.
public struct ErasureReceipt: Sendable, Hashable {
    /// A copy of the store that `store backup` made.
    public struct Copy: Sendable, Hashable {
        /// Where it is.
        public let path: String
        /// How many reports were erased in it.
        public let reports: Int
        /// Why nobody knows what is in it; nil when the learner is erased there.
        public let problem: LectureError?

        /// A copy.
        public init(path: String, reports: Int, problem: LectureError?) {
            (self.path, self.reports, self.problem) = (path, reports, problem)
        }
    }

    /// A place that still names the learner.
    public struct Trace: Sendable, Hashable {
        /// For instance `licence of algebra-01`, or a file.
        public let place: String
        /// How often; 1 where that is not counted.
        public let count: Int

        /// A place.
        public init(place: String, count: Int) { (self.place, self.count) = (place, count) }
    }

    /// Whether nothing was erased: it says what would be.
    public let isDryRun: Bool
    /// Reports by the state they were in.
    public var reports: [ReportState: Int] = [:]
    /// Sessions.
    public var sessions = 0
    /// Requests whose end was not known and that were dissolved; the other reports in them go out again.
    public var requests = 0
    /// Copies of the store, in the order of their paths.
    public var copies: [Copy] = []
    /// What is left.
    public var traces: [Trace] = []
    /// Whether the raw bytes of the store and its copies were searched for the id. One below four bytes is found
    /// everywhere by chance, and is not looked for.
    public var isSearched = false

    /// Nothing was done and nothing found.
    ///
    /// - Parameter isDryRun: whether it says what would be.
    public init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// What stands in the way of saying that the learner is gone; empty when nothing does.
    public var problems: [LectureError] {
        let left = isDryRun ? [] : traces.map { LectureError(.learnerLeft, detail: $0.place) }
        return copies.compactMap(\.problem) + left
    }
}

extension LectureManager {
    /// Erases everything about a learner in the tables of reports, in the log, and in the copies of the store that are
    /// known; then searches the raw bytes of all of them. Requests that were compressed before they were sealed are
    /// deleted as a whole, whatever is in them.
    ///
    /// - Parameters:
    ///   - user: the learner's id, compared byte by byte.
    ///   - isForced: also when it is in a request of which nobody knows whether it arrived. That is dissolved then, and
    ///     the other reports in it go out once more.
    ///   - isDryRun: only says what would be erased.
    /// - Returns: what was done and what is left.
    /// - Throws: ``LectureError``: `parameter` for an empty id, `reportsUnderWay`, a store's code; nothing is erased
    ///   then.
    public func eraseLearner(_ user: String, isForced: Bool = false, isDryRun: Bool = false) throws -> ErasureReceipt {
        if isClosed { throw LectureError(.closing) }
        if user.isEmpty { throw LectureError(.parameter, detail: "user", cause: "it is empty") }
        let outbox = try outbox()
        let queries = try SQLiteContentQueries(opening: location)
        var receipt = ErasureReceipt(isDryRun: isDryRun)
        if isDryRun {
            try count(user, queries, &receipt)
            receipt.copies = try outbox.backups().map { ErasureReceipt.Copy(path: $0.path, reports: 0, problem: nil) }
            receipt.traces = try queries.otherTraces(of: user).map { ErasureReceipt.Trace(place: $0, count: 1) }
            return receipt
        }
        let erased = try outbox.erase(user: user, isForced: isForced)
        (receipt.reports, receipt.sessions, receipt.requests) = (erased.reports, erased.sessions, erased.flights)
        // A reader may hold the log up; the search below tells then what is left in it.
        _ = try outbox.scrub()
        for copy in try outbox.backups() { erase(user, inCopy: copy.path, &receipt) }
        receipt.traces += try queries.otherTraces(of: user).map { ErasureReceipt.Trace(place: $0, count: 1) }
        guard user.utf8.count >= LearnerSpelling.wordLength else { return receipt }
        receipt.isSearched = true
        let texts = LearnerSpelling.all(of: user)
        let database = try StoreDatabase.existingPath(location)
        let found = try search(database, for: texts)
        receipt.traces += found
        // Another learner's id or note may hold this one: then the bytes are those of reports that are to stay.
        if !found.isEmpty, case let count = try mentions(of: texts, queries), count > 0 {
            receipt.traces.append(ErasureReceipt.Trace(place: "reports of other learners", count: count))
        }
        for copy in receipt.copies where copy.problem == nil {
            receipt.traces += try search(copy.path, for: texts)
        }
        return receipt
    }

    /// Strikes a copy of the store from the list of those that an erasure has to reach.
    ///
    /// - Parameter path: as the receipt names it, or relative to the working directory.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func forgetCopy(_ path: String) throws {
        if isClosed { throw LectureError(.closing) }
        try outbox().forgetBackup(try StoreTools.place(path))
    }

    /// What of a learner is there.
    private func count(
        _ user: String, _ queries: SQLiteContentQueries, _ receipt: inout ErasureReceipt
    ) throws {
        var selection = ReportSelection()
        selection.user = user
        var sessions: Set<String> = []
        try forEachReport(selection, queries) { record in
            receipt.reports[record.state, default: 0] += 1
            sessions.insert(record.session)
        }
        receipt.sessions = sessions.count
    }

    private func erase(_ user: String, inCopy path: String, _ receipt: inout ErasureReceipt) {
        do {
            let (erased, traces) = try SQLiteOutbox.erase(inBackup: path, user: user)
            let reports = erased.reports.values.reduce(0, +)
            receipt.copies.append(ErasureReceipt.Copy(path: path, reports: reports, problem: nil))
            receipt.traces += traces.map { ErasureReceipt.Trace(place: "\(path): \($0)", count: 1) }
        } catch {
            let error = error as? LectureError ?? LectureError(.bug, cause: "\(error)")
            let problem = LectureError(error.code, detail: path, cause: error.cause)
            receipt.copies.append(ErasureReceipt.Copy(path: path, reports: 0, problem: problem))
        }
    }

    /// Searches a database and what SQLite keeps beside it.
    private func search(_ path: String, for texts: [[UInt8]]) throws -> [ErasureReceipt.Trace] {
        try ["", "-wal", "-journal"].compactMap { suffix in
            let count = try ByteSearch.count(of: texts, in: path + suffix) ?? 0
            return count == 0 ? nil : ErasureReceipt.Trace(place: path + suffix, count: count)
        }
    }

    /// How many reports hold one of the texts.
    private func mentions(of texts: [[UInt8]], _ queries: SQLiteContentQueries) throws -> Int {
        var (count, writer) = (0, JSONWriter(reserving: 1024))
        try forEachReport(ReportSelection(), queries) { record in
            writer.removeAll()
            record.write(to: &writer)
            if ByteSearch.count(of: texts, in: writer.bytes) > 0 { count += 1 }
        }
        return count
    }

    private func forEachReport(
        _ selection: ReportSelection, _ queries: SQLiteContentQueries, _ body: (ReportRecord) -> Void
    ) throws {
        var place: OutboxID?
        while true {
            let page = try queries.reports(selection, after: place, limit: 100)
            if page.isEmpty { return }
            for report in page { body(report.record) }
            place = page.last?.id
        }
    }
}
