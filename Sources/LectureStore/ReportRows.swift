import LectureFormats
import LectureModel
import LectureSQLite

/// Reads reports with their session queues, targets and requests, on the writer's connection or a reader's.
struct ReportRows {
    /// What ``report(_:)`` reads.
    static let columns = """
        report.id, report.uuid, report.content, report.course, lms_lane.client_user_id, lms_lane.session, \
        report.sequence, report.wall_ms, report.boot_ns, report.boot_id, report.corrected_ms, report.state, \
        report.attempts, report.dead_reason, report.note, report."values", report.changed_ms, \
        report.answer_ms, report.answer_status, report.answer_text, \
        lms_target.url, lms_target.method, lms_target.format, lms_target.parameters, \
        lms_flight.trouble_ms, lms_flight.trouble_status, lms_flight.trouble_reason, lms_flight.trouble_text
        """

    /// The joins after `report`, or after `lms_lane` and `report`.
    static let targetAndInFlightBatch = """
        LEFT JOIN lms_target ON lms_target.id = lms_lane.target_id \
        LEFT JOIN lms_flight ON lms_flight.id = report.flight_id
        """

    /// From the reports to their queues; CROSS JOIN keeps SQLite from starting with the session queues.
    static let fromReports = "CROSS JOIN lms_lane ON lms_lane.id = report.lane_id \(targetAndInFlightBatch)"

    /// A report by its row.
    static let byID = "SELECT \(columns) FROM report \(fromReports) WHERE report.id = ?"

    /// Stored values may nest this deep; programs accept less.
    static let limits = JSONScanner.Limits(depth: 64, items: .max)

    let connection: Connection

    // MARK: One

    /// A report by its row.
    func report(_ id: OutboxID) throws -> StoredReport? {
        try connection.first(Self.byID, id) { try Self.report($0) }
    }

    /// What ``record(_:_:)`` reads: no answer, and the number of the target instead of its texts.
    static let recordByID = """
        SELECT report.id, report.uuid, report.content, report.course, lms_lane.client_user_id, lms_lane.session,
            report.sequence, report.wall_ms, report.boot_ns, report.boot_id, report.corrected_ms, report.state,
            report.attempts, report.dead_reason, report.note, report."values", lms_lane.target_id
        FROM report CROSS JOIN lms_lane ON lms_lane.id = report.lane_id WHERE report.id = ?
        """

    /// A report by its row, without what became of it.
    ///
    /// - Parameters:
    ///   - id: its row.
    ///   - targets: those that were read already; the reports of a request have the same one.
    /// - Returns: nil when there is none.
    /// - Throws: ``LectureError``.
    func record(_ id: OutboxID, _ targets: inout [TargetID: ReportRecord.Target]) throws -> ReportRecord? {
        let found = try connection.first(Self.recordByID, id) { row in
            (record: try Self.record(row), target: row.optionalInt64(16).map { TargetID($0) })
        }
        guard let found else { return nil }
        var record = found.record
        if let target = found.target {
            let address =
                try targets[target]
                ?? connection.first("SELECT url, method, format, parameters FROM lms_target WHERE id = ?", target) {
                    try Self.target($0, from: 0)
                }
            (record.target, targets[target]) = (address, address)
        }
        return record
    }

    /// Reads a row of ``columns``.
    static func report(_ row: borrowing Row) throws -> StoredReport {
        var record = try record(row)
        record.target = row.isNull(20) ? nil : try target(row, from: 20)
        var answer: SendAnswer?
        if let at = row.optionalTimestamp(24) {
            answer = try self.answer(row, from: 24, at: at)
        } else if let at = row.optionalTimestamp(17) {
            answer = SendAnswer(at: at, status: row.optionalInt(18), text: row.text(19))
        }
        return StoredReport(id: row.id(0), record: record, answer: answer, changed: row.timestamp(16))
    }

    /// Reads the first columns of a row.
    private static func record(_ row: borrowing Row) throws -> ReportRecord {
        let state = try row.enumeration(11, ReportState.self)
        var record = ReportRecord(
            id: row.text(1), content: row.text(2), user: row.text(4), session: row.text(5), sequence: row.int64(6),
            wall: row.timestamp(7), values: try values(row.text(15)), state: state, attempts: row.int64(12))
        record.course = row.optionalText(3)
        record.boot = row.optionalInt64(8).map { BootInstant(nanoseconds: $0) }
        record.bootID = row.optionalText(9)
        record.corrected = row.optionalTimestamp(10)
        record.reason = row.isNull(13) ? nil : try row.enumeration(13, DeadReason.self).name
        record.note = row.optionalText(14)
        return record
    }

    /// Reads url, method, format and parameters.
    static func target(_ row: borrowing Row, from column: Int32) throws -> ReportRecord.Target {
        let formats = ReportFormat.allCases
        let format = row.int(column + 2)
        guard formats.indices.contains(format) else {
            throw LectureError(.storeDamaged, cause: "\(format) is not a report format")
        }
        let text = row.text(column + 3)
        return ReportRecord.Target(
            url: row.text(column), method: row.text(column + 1), format: formats[format],
            parameters: text == "{}" ? [] : try parameters(text))
    }

    /// Reads status, reason and text of an answer after its time.
    static func answer(_ row: borrowing Row, from column: Int32, at: Timestamp) throws -> SendAnswer {
        SendAnswer(
            at: at, status: row.optionalInt(column + 1),
            reason: row.isNull(column + 2) ? nil : try row.enumeration(column + 2, KeepReason.self),
            text: row.text(column + 3))
    }

    /// Reads the columns of a wait.
    static func wait(_ row: borrowing Row, due: Int32, set: Int32) -> RetryWait? {
        guard let due = row.optionalTimestamp(due), let set = row.optionalTimestamp(set) else { return nil }
        return RetryWait(setAt: set, due: due)
    }

    private static func values(_ text: String) throws -> JSONValue {
        if text == "{}" { return .object([]) }
        do { return try JSONScanner.value(of: text, limits: limits) } catch {
            throw LectureError(.storeDamaged, cause: "the values of a report cannot be read")
        }
    }

    private static func parameters(_ text: String) throws -> [ReportRecord.Target.Parameter] {
        do {
            return try ReportRecord.Target.parameters(try JSONScanner.value(of: text, limits: limits).members ?? [])
        } catch {
            throw LectureError(.storeDamaged, cause: "the parameters of a target cannot be read")
        }
    }

    // MARK: Targets

    /// All targets, by their numbers.
    func targets() throws -> [TargetEntry] {
        try connection.query(
            """
            SELECT id, url, method, format, parameters, failures, next_attempt_ms, wait_set_ms, suspension, bytes_limit,
                trouble_ms, trouble_status, trouble_reason, trouble_text, open FROM lms_target ORDER BY id
            """
        ) { row in
            var condition = TargetCondition()
            condition.failures = row.int(5)
            condition.wait = Self.wait(row, due: 6, set: 7)
            condition.suspension = row.isNull(8) ? nil : try row.enumeration(8, SuspendReason.self)
            condition.bytesLimit = row.optionalInt(9)
            condition.lastFailure = try row.optionalTimestamp(10).map { try Self.answer(row, from: 10, at: $0) }
            return TargetEntry(
                id: row.id(0), address: try Self.target(row, from: 1), condition: condition, open: row.int(14))
        }
    }

    // MARK: Many

    /// Reports of a selection in the order of their rows, after one.
    func reports(_ selection: ReportSelection, after id: OutboxID?, limit: Int) throws -> [StoredReport] {
        guard limit > 0 else { return [] }
        let searches = ReportSearch.searches(selection, after: id)
        let found = try searches.flatMap { search in
            try connection.query(search.sql(Self.columns, limit: true), values: search.values + [limit.sqliteValue]) {
                try Self.report($0)
            }
        }
        return searches.count == 1 ? found : Array(found.sorted { $0.id < $1.id }.prefix(limit))
    }
}

/// A query about reports with an index, and the conditions that are checked row by row.
struct ReportSearch {
    /// The source of the rows, in the order of ``values``.
    let source: String
    /// The conditions.
    var conditions: [String]
    /// For the source, then for the conditions.
    var values: [SQLiteValue]

    /// The statement.
    ///
    /// - Parameters:
    ///   - columns: what to read.
    ///   - limit: whether the last parameter is the maximum number of rows.
    /// - Returns: a query in the order of the rows.
    func sql(_ columns: String, limit: Bool) -> String {
        let condition = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        return "SELECT \(columns) FROM \(source)\(condition) ORDER BY report.id\(limit ? " LIMIT ?" : "")"
    }

    /// The queries that together find a selection; no row is found by two.
    ///
    /// By ids, by learner, or by states; else all rows are scanned.
    static func searches(_ selection: ReportSelection, after id: OutboxID?) -> [ReportSearch] {
        var rest = ReportSearch(source: "", conditions: [], values: [])
        if let id { rest.add("report.id > ?", id) }
        if let reason = selection.reason { rest.add("report.dead_reason = ?", reason.rawValue) }
        if let course = selection.course { rest.add("report.course = ?", course) }
        if let target = selection.target { rest.add("lms_lane.target_id = ?", target) }
        if let since = selection.since { rest.add("coalesce(report.corrected_ms, report.wall_ms) >= ?", since) }
        if let until = selection.until { rest.add("coalesce(report.corrected_ms, report.wall_ms) < ?", until) }
        // Only dead letters have a reason.
        let asked = selection.reason == nil ? selection.states : selection.states.intersection([.dead])
        let states = selection.reason != nil && selection.states.isEmpty ? [.dead] : asked
        if states.isEmpty, !selection.states.isEmpty { return [] }
        let byReport = "report \(ReportRows.fromReports)"
        if !selection.ids.isEmpty {
            if let user = selection.user { rest.add("lms_lane.client_user_id = ?", user) }
            let unique = Set(selection.ids.map { Array($0.utf8) })
            return unique.map { uuid in
                rest.behind(byReport, "report.uuid = ?", .text(String(decoding: uuid, as: UTF8.self))).among(states)
            }
        }
        if let user = selection.user {
            let source = """
                lms_lane CROSS JOIN report INDEXED BY report_session ON report.lane_id = lms_lane.id \
                \(ReportRows.targetAndInFlightBatch)
                """
            return [rest.behind(source, "lms_lane.client_user_id = ?", user.sqliteValue).among(states)]
        }
        if states.isEmpty || states.count == ReportState.allCases.count {
            return [ReportSearch(source: byReport, conditions: rest.conditions, values: rest.values)]
        }
        let byState = "report INDEXED BY report_state \(ReportRows.fromReports)"
        return states.map { rest.behind(byState, "report.state = ?", $0.rawValue.sqliteValue) }
    }

    private mutating func add(_ condition: String, _ value: some SQLiteBindable) {
        conditions.append(condition)
        values.append(value.sqliteValue)
    }

    private func behind(_ source: String, _ condition: String, _ value: SQLiteValue) -> ReportSearch {
        ReportSearch(source: source, conditions: [condition] + conditions, values: [value] + values)
    }

    private func among(_ states: Set<ReportState>) -> ReportSearch {
        guard !states.isEmpty, states.count < ReportState.allCases.count else { return self }
        let among = "report.state IN \(sql: states.sorted { $0.rawValue < $1.rawValue })"
        return ReportSearch(source: source, conditions: conditions + [among], values: values)
    }
}
