package import LectureModel
import LectureSQLite

/// The outbox of reports, on the connection of the store's writer and confined to its owner.
///
/// A report belongs to a *queue*, the reports of one session of one learner for one target, which keeps their order. An
/// *in-flight batch* is a request whose result is unknown; it holds the queues of its reports. Triggers of the schema
/// maintain derived values: how many reports of a queue and of a target are open, which in-flight batch holds a queue,
/// the state of reports of an in-flight batch whose owner is gone, and how many reports were ever stored.
///
/// | | `state` | `flight_id` | `is_sealed` |
/// |---|---|---|---|
/// | pending | pending | | 0 |
/// | leased, in no bytes yet | leased | its in-flight batch | 0 |
/// | in the bytes of an in-flight batch that has an owner | leased | its in-flight batch | 1 |
/// | in the bytes of an unclaimed in-flight batch | pending | its in-flight batch | 1 |
/// | settled | another | | 0 |
package final class SQLiteOutbox: StatisticsOutbox {
    let connection: Connection
    let rows: ReportRows
    let queues: SessionQueues
    /// The last target looked up, for the duration of the transaction: after a rollback its number may be another's.
    private var lastTarget: (transaction: UInt64, address: ReportRecord.Target, id: TargetID)?

    /// Shares the connection of the store's writer.
    ///
    /// - Parameter index: the writer.
    package init(index: SQLiteDownloadIndex) {
        connection = index.connection
        rows = ReportRows(connection: connection)
        queues = SessionQueues(connection: connection)
    }

    // MARK: Storing

    /// Stores a report.
    ///
    /// A known id is ignored when the payload is the same: content key, course, learner, session, values (the order of
    /// members does not count), note, and the number unless it takes the next one. The clocks do not count, since a
    /// retry comes later. Nor does it count where the report has been sent since: a repetition matches when it names no
    /// target, the first one, or the current one. A report that waits for a target gets the one named by its
    /// repetition.
    package func add(_ report: NewReport, now: Timestamp) throws -> ReportAddition {
        var record = report.record
        (record.state, record.attempts, record.reason) = (.pending, 0, nil)
        return try store(
            record, takesNext: report.takesNextSequence, isCumulative: report.isCumulative, now: now)
    }

    /// Stores a row of an export, with its state, attempts and sequence number; false for a known id, same payload.
    package func add(imported report: ReportRecord, now: Timestamp) throws -> Bool {
        var record = report
        if record.state == .leased { record.state = .pending }
        return try store(record, takesNext: false, isCumulative: false, now: now).isNew
    }

    private func store(
        _ record: ReportRecord, takesNext: Bool, isCumulative: Bool, now: Timestamp
    ) throws -> ReportAddition {
        let values = try ReportCheck.values(of: record)
        return try connection.atomically {
            if let known = try KnownReport.find(record.id, on: connection) {
                guard known.matches(record, values: values, anySequence: takesNext) else {
                    throw LectureError(.reportConflict, detail: record.id)
                }
                try accept(record.target, for: known)
                return ReportAddition(isNew: false, sequence: known.sequence)
            }
            let queue = try queues.queue(record.user, record.session, try record.target.map { try remembered($0) })
            let sequence = takesNext ? try queues.nextSequence(record.user, record.session) : record.sequence
            try insert(record, queue: queue, sequence: sequence, values: values, isCumulative: isCumulative, now: now)
            return ReportAddition(isNew: true, sequence: sequence)
        }
    }

    private func insert(
        _ record: ReportRecord, queue: Int64, sequence: Int64, values: String, isCumulative: Bool, now: Timestamp
    ) throws {
        let reason = record.state == .dead ? record.reason.flatMap { DeadReason(name: $0) } ?? .refused : nil
        try connection.execute(
            """
            INSERT INTO report(lane_id, sequence, state, is_cumulative, attempts, dead_reason, changed_ms, wall_ms,
                boot_ns, corrected_ms, bytes, uuid, boot_id, content, course, note, "values")
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, queue, sequence, record.state.rawValue, isCumulative, max(0, record.attempts), reason?.rawValue, now,
            record.wall, record.boot?.nanoseconds, record.corrected, ReportCheck.bytes(of: record, values: values),
            record.id, record.bootID, record.content, record.course, record.note, values)
    }

    /// Whether a repetition may name this target; gives it to a report that has none.
    private func accept(_ address: ReportRecord.Target?, for known: KnownReport) throws {
        guard let address else { return }
        if known.target == nil, known.isFree {
            let queue = try queues.queue(known.user, known.session, try target(address))
            try connection.execute("UPDATE report SET lane_id = ? WHERE id = ?", queue, known.id)
            return try queues.deleteEmpty([known.queue])
        }
        let named = try existing(address)
        guard let named, named == known.target || named == known.firstTarget || known.target == nil else {
            throw LectureError(.reportConflict, detail: known.uuid)
        }
    }

    // MARK: Targets and queues

    /// The number of a target, which is created when it is new.
    package func target(_ address: ReportRecord.Target) throws -> TargetID {
        if let known = try existing(address) { return known }
        return try connection.atomically {
            try connection.execute(
                "INSERT OR IGNORE INTO lms_target(url, method, format, parameters) VALUES (?, ?, ?, ?)",
                values: Self.values(of: address))
            guard let made = try existing(address) else {
                throw LectureError(.reportInvalid, detail: "target")
            }
            return made
        }
    }

    private func remembered(_ address: ReportRecord.Target) throws -> TargetID {
        let transaction = connection.transactionSerial
        if let last = lastTarget, last.transaction == transaction,
            last.address.url.utf8.elementsEqual(address.url.utf8),
            last.address.parameters.isEmpty, address.parameters.isEmpty, last.address.format == address.format,
            last.address.method == address.method
        {
            return last.id
        }
        let id = try target(address)
        lastTarget = (transaction, address, id)
        return id
    }

    private func existing(_ address: ReportRecord.Target) throws -> TargetID? {
        try connection.first(
            "SELECT id FROM lms_target WHERE url = ? AND method = ? AND format = ? AND parameters = ?",
            values: Self.values(of: address)
        ) { $0.id(0) }
    }

    private static func values(of address: ReportRecord.Target) -> [SQLiteValue] {
        [
            address.url.sqliteValue, address.method.sqliteValue,
            (ReportFormat.allCases.firstIndex(of: address.format) ?? 0).sqliteValue,
            (address.parameters.isEmpty ? "{}" : address.parametersJSON.text).sqliteValue,
        ]
    }

    /// All targets, by their numbers.
    package func targets() throws -> [TargetEntry] { try rows.targets() }

    /// Stores the condition of a target.
    package func store(_ condition: TargetCondition, of target: TargetID) throws {
        let failure = condition.lastFailure
        try connection.execute(
            """
            UPDATE lms_target SET failures = ?, next_attempt_ms = ?, wait_set_ms = ?, suspension = ?, bytes_limit = ?,
                trouble_ms = ?, trouble_status = ?, trouble_reason = ?, trouble_text = ? WHERE id = ?
            """, condition.failures, condition.wait?.due, condition.wait?.setAt, condition.suspension?.rawValue,
            condition.bytesLimit, failure?.at, failure?.status, failure?.reason?.rawValue,
            failure.map { AnswerLimit.text($0.text) } ?? "", target)
    }

    // MARK: Time

    /// Corrects the time of reports created since one boot of the machine.
    package func correct(bootID: String, epoch: Timestamp) throws -> Int {
        try connection.atomically {
            try connection.execute(
                """
                UPDATE report INDEXED BY report_uncorrected SET corrected_ms = ? + boot_ns / 1000000
                WHERE boot_id = ? AND corrected_ms IS NULL AND boot_id IS NOT NULL AND boot_ns IS NOT NULL
                """, epoch, bootID)
        }
    }

    // MARK: Other subjects of the same rows

    /// Redirects everything open to another target.
    package func readdress(to target: TargetID) throws -> Int {
        try ReportRedirection(connection: connection).readdress(to: target)
    }

    /// Changes made by operators and by time.
    package var upkeep: ReportUpkeep { ReportUpkeep(connection: connection) }

    /// Erases learners.
    package var erasure: ReportErasure { ReportErasure(connection: connection) }

    /// Where copies of this store are.
    package var backups: BackupCopies { BackupCopies(connection: connection) }
}

/// How much of an answer is stored.
enum AnswerLimit {
    /// The first 1,024 bytes of a text, without splitting a character.
    static func text(_ text: String) -> String {
        guard text.utf8.count > 1_024 else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: 1_024)
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }
}
