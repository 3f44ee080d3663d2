import LectureModel
import LectureSQLite

/// A row of `time_ledger`.
struct StoredTime {
    /// The columns, in the order of ``values``; the code comes after them.
    static let columns = """
        id, source, device, proven_ms, estimate_ms, offset_ms, is_anchored, has_leapt, doubt, wall_ms, boot_ns, \
        boot_id, licence_sum, previous, code
        """

    /// The value of `previous` in the first row of a store.
    static let noCode = [UInt8](repeating: 0, count: 32)

    var revision: Int64
    var source: TimeRow.Source
    var device: [UInt8]
    var row: TimeRow
    /// The sum of the licences, masked (``LedgerCodes/cover(of:)``).
    var coveredSum: [UInt8] = []
    /// The code of the row before.
    var previous: [UInt8]
    /// The code over all of the above.
    var code: [UInt8] = []

    /// Creates the successor of a row.
    init(_ row: TimeRow, source: TimeRow.Source, device: [UInt8], revision: Int64, after previous: [UInt8]) {
        (self.row, self.source, self.device) = (row, source, device)
        (self.revision, self.previous) = (revision, previous)
    }

    /// Reads a row of ``columns``.
    ///
    /// Meaningless numbers are read as other values: such a row must still be readable, and its code does not match.
    init(_ stored: borrowing Row) {
        row = TimeRow(
            reading: ClockReading(
                wall: stored.timestamp(9), boot: BootInstant(nanoseconds: stored.int64(10)), bootID: stored.text(11)))
        row.proven = stored.optionalTimestamp(3)
        row.estimate = stored.optionalTimestamp(4)
        row.offset = .milliseconds(stored.int64(5))
        row.isAnchored = stored.bool(6)
        row.hasLeapt = stored.bool(7)
        row.doubt = stored.optionalInt(8).map { ClockDoubt(rawValue: $0) ?? .ledgerForged }
        revision = stored.int64(0)
        source = TimeRow.Source(rawValue: stored.int(1)) ?? .clocks
        device = stored.blob(2)
        coveredSum = stored.blob(12)
        previous = stored.blob(13)
        code = stored.blob(14)
    }

    /// The values covered by the code, in the order of the columns.
    var values: [SQLiteValue] {
        [
            revision.sqliteValue, source.rawValue.sqliteValue, device.sqliteValue, row.proven.sqliteValue,
            row.estimate.sqliteValue, row.offset.milliseconds.sqliteValue, row.isAnchored.sqliteValue,
            row.hasLeapt.sqliteValue, (row.doubt?.rawValue).sqliteValue, row.reading.wall.sqliteValue,
            row.reading.boot.nanoseconds.sqliteValue, row.reading.bootID.sqliteValue, coveredSum.sqliteValue,
            previous.sqliteValue,
        ]
    }
}

extension Connection {
    /// The newest row of the time ledger; nil when there is none.
    func newestTime() throws -> StoredTime? {
        try first("SELECT \(StoredTime.columns) FROM time_ledger ORDER BY id DESC LIMIT 1") { StoredTime($0) }
    }
}
