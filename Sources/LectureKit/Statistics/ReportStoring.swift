import LectureFiles
import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore

/// A report with everything needed to store it.
struct ReportPlan {
    let record: ReportRecord
    let takesNextSequence: Bool
    let targets: [ReportRecord.Target]
}

/// Stores reports: finds out where they go, and makes a row for each target. On the core queue.
struct ReportStoring: CorePart {
    /// What the store knows of a lecture.
    private struct Facts {
        var course = ""
        var channels = ReportChannels()
    }

    let core: StoreCore
    /// Both clocks when it began; all reports that it stores have the same time.
    private let reading: ClockReading
    private var known: [String: Facts] = [:]

    /// Constant for the life of the process.
    private static let bootID = Machine.bootID()

    /// Begins to store reports.
    init(_ core: StoreCore) {
        self.core = core
        reading = ClockReading(wall: core.clock.now(), boot: core.clock.boot(), bootID: Self.bootID)
    }

    /// Keeps what the store knows of a lecture, for further reports about it.
    mutating func remember(_ content: String) throws {
        if known[content] == nil { known[content] = try facts(content) }
    }

    /// Finds out where a report goes.
    ///
    /// - Parameters:
    ///   - report: what a learner did.
    ///   - given: where it goes; nil for the channels of its lecture.
    /// - Returns: what ``store(_:_:)`` needs.
    /// - Throws: ``LectureError`` with `reportInvalid`, or the store's.
    func plan(_ report: LearningReport, to given: [ReportRecord.Target]? = nil) throws -> ReportPlan {
        let id = report.id ?? UUIDv7.text(at: reading.wall, random: SystemRandom())
        var record = try ReportForm.record(report, id: id, reading: reading)
        let facts = try known[report.content] ?? self.facts(report.content)
        if record.course == nil, !facts.course.isEmpty { record.course = facts.course }
        var targets = try given ?? facts.channels.targets.map { try $0.address() }
        if let target = report.target { targets = [try target.address()] }
        if targets.isEmpty, let target = configuration.statistics.target { targets = [try target.address()] }
        return ReportPlan(record: record, takesNextSequence: report.sequence == nil, targets: targets)
    }

    private func facts(_ content: String) throws -> Facts {
        guard !content.isEmpty, let found = try writer.contents.reportFacts(content) else { return Facts() }
        let channels = found.descriptor.map { ReportChannels(descriptor: $0) } ?? ReportChannels()
        return Facts(course: found.course, channels: channels)
    }

    /// Stores a report, within the transaction of the caller.
    ///
    /// - Parameters:
    ///   - plan: the report, and where it goes.
    ///   - outbox: the transaction's.
    ///   - isCumulative: whether it includes what older ones of its session say; nil for what is configured for its
    ///     target.
    /// - Returns: a row for each target, or one that waits for a target.
    /// - Throws: ``LectureError`` with `reportConflict`, or the store's.
    func store(
        _ plan: ReportPlan, _ outbox: SQLiteOutbox, isCumulative: Bool? = nil
    ) throws -> [StoredReportID] {
        let now = clock.now()
        var report = NewReport(plan.record)
        report.takesNextSequence = plan.takesNextSequence
        if plan.targets.isEmpty { return [try store(report, nil, outbox, isCumulative, now)] }
        var rows: [StoredReportID] = []
        for (index, target) in plan.targets.enumerated() {
            if index > 0 { report.record.id = "\(plan.record.id).\(index + 1)" }
            rows.append(try store(report, target, outbox, isCumulative, now))
            // The same event has the same number for every target.
            (report.takesNextSequence, report.record.sequence) = (false, rows[0].sequence)
        }
        return rows
    }

    private func store(
        _ report: NewReport, _ target: ReportRecord.Target?, _ outbox: SQLiteOutbox, _ isCumulative: Bool?,
        _ now: Timestamp
    ) throws -> StoredReportID {
        var report = report
        report.record.target = target
        // Reports without a session are unrelated, so a newer one cannot stand in for older ones.
        let isConfigured = target.map { configuration.statistics.isCumulative($0.url) } ?? false
        report.isCumulative = !report.record.session.isEmpty && (isCumulative ?? isConfigured)
        let addition = try outbox.add(report, now: now)
        core.reportsChanged()
        return StoredReportID(
            id: report.record.id, isNew: addition.isNew, sequence: addition.sequence,
            target: target.map(ReportTarget.init))
    }
}
