import LectureFiles
import LectureFormats
public import LectureModel
import LectureStatistics
import LectureStore

/// What was erased of a learner, and what was found afterwards.
public struct ErasureReceipt: Sendable, Hashable {
    /// A copy of the store that `store backup` made.
    public struct Copy: Sendable, Hashable {
        /// Where it is.
        public let path: String
        /// How many reports were erased in it.
        public let reports: Int
        /// Why its state is unknown; nil when the learner is erased there.
        public let problem: LectureError?

        /// Creates a copy.
        public init(path: String, reports: Int, problem: LectureError?) {
            (self.path, self.reports, self.problem) = (path, reports, problem)
        }
    }

    /// A location that still names the learner.
    public struct Trace: Sendable, Hashable {
        /// For example `licence of algebra-01`, or a file.
        public let place: String
        /// How often; 1 where that is not counted.
        public let count: Int

        /// Creates a trace.
        public init(place: String, count: Int) { (self.place, self.count) = (place, count) }
    }

    /// Whether this is a dry run: nothing was erased.
    public let isDryRun: Bool
    /// Reports by the state they were in.
    public var reports: [ReportState: Int] = [:]
    /// Sessions.
    public var sessions = 0
    /// Dissolved requests with an unknown result; their other reports are sent again.
    public var requests = 0
    /// Copies of the store, ordered by path.
    public var copies: [Copy] = []
    /// Remaining traces.
    public var traces: [Trace] = []
    /// Whether the raw bytes of the store and its copies were searched for the id. One below four bytes occurs
    /// everywhere by chance, and is not searched for.
    public var isSearched = false

    /// Creates an empty receipt.
    ///
    /// - Parameter isDryRun: whether nothing is to be erased.
    public init(isDryRun: Bool) { self.isDryRun = isDryRun }

    /// Why the learner may not be gone completely; empty when the erasure is complete.
    public var problems: [LectureError] {
        let left = isDryRun ? [] : traces.map { LectureError(.learnerLeft, detail: $0.place) }
        return copies.compactMap(\.problem) + left
    }
}

extension LectureManager.Reports {
    /// Erases everything about a learner in the tables of reports, in the log, and in the copies of the store that are
    /// known; then searches the raw bytes of all of them. Requests that were compressed before they were sealed are
    /// deleted as a whole, whatever is in them.
    ///
    /// - Parameters:
    ///   - user: the learner's id, compared byte by byte.
    ///   - isForced: also when it is in a request whose delivery is unknown. That request is dissolved, and its other
    ///     reports are sent again.
    ///   - isDryRun: only reports what would be erased.
    /// - Returns: what was erased and what is left.
    /// - Throws: ``LectureError``: `parameter` for an empty id, `reportsUnderWay`, a store's code; nothing is erased
    ///   then.
    public func eraseLearner(
        _ user: String, isForced: Bool = false, isDryRun: Bool = false
    ) throws(LectureError) -> ErasureReceipt {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            if user.isEmpty { throw LectureError(.parameter, detail: "user", cause: "it is empty") }
            let erasure = LearnerErasure(
                user: user, outbox: try outbox(), queries: try SQLiteContentQueries(opening: location),
                location: location)
            return isDryRun ? try erasure.foresee() : try erasure.run(isForced: isForced)
        }
    }

    /// Removes a copy of the store from the list of those that an erasure must cover.
    ///
    /// - Parameter path: as the receipt names it, or relative to the working directory.
    /// - Throws: ``LectureError`` when the store cannot be written.
    public func forgetCopy(at path: String) throws(LectureError) {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            try outbox().backups.forget(try StoreTools.place(path))
        }
    }
}

/// The erasure of one learner. On the core queue.
private struct LearnerErasure {
    let user: String
    let outbox: SQLiteOutbox
    let queries: SQLiteContentQueries
    let location: StoreLocation

    /// Determines what would be erased.
    func foresee() throws -> ErasureReceipt {
        var receipt = ErasureReceipt(isDryRun: true)
        try count(&receipt)
        receipt.copies = try outbox.backups.all().map { ErasureReceipt.Copy(path: $0.path, reports: 0, problem: nil) }
        receipt.traces = try queries.otherTraces(of: user).map { ErasureReceipt.Trace(place: $0, count: 1) }
        return receipt
    }

    /// Erases the learner, and searches what is left.
    func run(isForced: Bool) throws -> ErasureReceipt {
        var receipt = ErasureReceipt(isDryRun: false)
        let erased = try outbox.erasure.erase(user: user, isForced: isForced)
        (receipt.reports, receipt.sessions, receipt.requests) = (
            erased.reports, erased.sessions, erased.inFlightBatches
        )
        // A reader may block the log; the search below then reports what is left in it.
        _ = try outbox.erasure.scrub()
        for copy in try outbox.backups.all() { erase(inCopy: copy.path, &receipt) }
        receipt.traces += try queries.otherTraces(of: user).map { ErasureReceipt.Trace(place: $0, count: 1) }
        guard user.utf8.count >= LearnerSpelling.wordLength else { return receipt }
        receipt.isSearched = true
        let texts = LearnerSpelling.all(of: user)
        let database = try StoreDatabase.existingPath(location)
        let found = try search(database, for: texts)
        receipt.traces += found
        // Another learner's id or note may contain this one: then the bytes belong to reports that must stay.
        if !found.isEmpty, case let count = try mentions(of: texts), count > 0 {
            receipt.traces.append(ErasureReceipt.Trace(place: "reports of other learners", count: count))
        }
        for copy in receipt.copies where copy.problem == nil {
            receipt.traces += try search(copy.path, for: texts)
        }
        return receipt
    }

    /// Counts what the store has of a learner.
    private func count(_ receipt: inout ErasureReceipt) throws {
        var selection = ReportSelection()
        selection.user = user
        var sessions: Set<String> = []
        try forEachReport(selection) { record in
            receipt.reports[record.state, default: 0] += 1
            sessions.insert(record.session)
        }
        receipt.sessions = sessions.count
    }

    private func erase(inCopy path: String, _ receipt: inout ErasureReceipt) {
        do {
            let (erased, traces) = try ReportErasure.erase(inBackup: path, user: user)
            let reports = erased.reports.values.reduce(0, +)
            receipt.copies.append(ErasureReceipt.Copy(path: path, reports: reports, problem: nil))
            receipt.traces += traces.map { ErasureReceipt.Trace(place: "\(path): \($0)", count: 1) }
        } catch {
            let error = error as? LectureError ?? LectureError(.bug, cause: "\(error)")
            let problem = LectureError(error.code, detail: path, cause: error.cause)
            receipt.copies.append(ErasureReceipt.Copy(path: path, reports: 0, problem: problem))
        }
    }

    /// Searches a database and the files SQLite keeps beside it.
    private func search(_ path: String, for texts: [[UInt8]]) throws -> [ErasureReceipt.Trace] {
        try ["", "-wal", "-journal"].compactMap { suffix in
            let count = try ByteSearch.count(of: texts, in: path + suffix) ?? 0
            return count == 0 ? nil : ErasureReceipt.Trace(place: path + suffix, count: count)
        }
    }

    /// How many reports contain one of the texts.
    private func mentions(of texts: [[UInt8]]) throws -> Int {
        var (count, writer) = (0, JSONWriter(reserving: 1024))
        try forEachReport(ReportSelection()) { record in
            writer.removeAll()
            record.write(to: &writer)
            if ByteSearch.count(of: texts, in: writer.bytes) > 0 { count += 1 }
        }
        return count
    }

    private func forEachReport(_ selection: ReportSelection, _ body: (ReportRecord) -> Void) throws {
        var place: OutboxID?
        while true {
            let page = try queries.reports(selection, after: place, limit: 100)
            if page.isEmpty { return }
            for report in page { body(report.record) }
            place = page.last?.id
        }
    }
}
