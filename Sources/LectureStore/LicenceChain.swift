package import LectureModel
import LectureSQLite

// Table time_ledger: the chain, how it is checked, and how an untrusted ledger is handled.

extension LedgerCodes {
    /// The sum of the licences in a row of the chain.
    func sum(in row: StoredTime) -> CodeSum {
        var sum = CodeSum(row.coveredSum)
        sum -= cover(of: row)
        return sum
    }
}

extension SQLiteLicenceLedger {
    /// How many rows of the chain are kept.
    package static let timesKept: Int64 = 10_000

    /// Appends a row to the chain, with the sum of the licences as it is now; prunes occasionally.
    package func append(
        _ row: TimeRow, source: TimeRow.Source, after first: LedgerAnchor?
    ) throws -> LedgerAnchor {
        try connection.atomically {
            let newest = try connection.newestTime()
            let sum = try currentSum()
            let revision = max(newest?.revision ?? 0, memory.floor) + 1
            // Rows of other devices are no part of this device's chain.
            let isOwn = newest.map { $0.device == codes.device } ?? true
            let previous = isOwn ? newest : try newestOwnTime() ?? newest
            var time = StoredTime(
                row, source: source, device: codes.device, revision: revision,
                after: previous?.code ?? first?.code ?? StoredTime.noCode)
            var covered = sum
            covered += codes.cover(of: time)
            time.coveredSum = covered.bytes
            time.code = codes.code(time)
            let places = [String](repeating: "?", count: time.values.count + 1).joined(separator: ", ")
            try connection.execute(
                "INSERT INTO time_ledger(\(StoredTime.columns)) VALUES (\(places))",
                values: time.values + [time.code.sqliteValue])
            forgetPending()
            if revision % 1024 == 0 {
                try connection.execute("DELETE FROM time_ledger WHERE id <= ?", revision - Self.timesKept)
            }
            return LedgerAnchor(revision: revision, code: time.code, proven: row.proven, estimate: row.estimate)
        }
    }

    /// Whether the row of an existing lecture's licence is granted and trusted.
    package func hasBelievedLicences() throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM licence
            WHERE content_id IS NOT NULL AND form IS NOT NULL AND suspicion = \(LicenceSuspicion.noneStored) LIMIT 1
            """
        ) { _ in true } ?? false
    }

    /// Whether this device has ever written a row of the chain that is still kept.
    package func hasOwnRows() throws -> Bool {
        try connection.first("SELECT 1 FROM time_ledger WHERE device = ? LIMIT 1", codes.device) { _ in true } ?? false
    }

    private func newestOwnTime() throws -> StoredTime? {
        try connection.first(
            "SELECT \(StoredTime.columns) FROM time_ledger WHERE device = ? ORDER BY id DESC LIMIT 1", codes.device
        ) { StoredTime($0) }
    }

    /// The newest row; nil when there is none.
    package func newestTime() throws -> TimeRow? { try connection.newestTime()?.row }

    /// The newest finding of this device, as long as its row is kept.
    package func newestFinding() throws -> TimeRow? {
        try connection.first(
            "SELECT \(StoredTime.columns) FROM time_ledger WHERE source = ? AND device = ? ORDER BY id DESC LIMIT 1",
            TimeRow.Source.finding.rawValue, codes.device
        ) { StoredTime($0).row }
    }

    /// Checks the whole ledger against its codes and the anchor.
    ///
    /// | found | what was done to the store |
    /// | --- | --- |
    /// | `storeCopied` | last written by another device |
    /// | `ledgerForged` | a licence edited, deleted, or restored; a row of the chain edited, removed or inserted |
    /// | `storeRolledBack` | all of it restored from an older copy; the newest times cut off; no anchor |
    ///
    /// Rows before the newest finding were checked when that was created. A chain that continues past the anchor is
    /// intact: the anchor is stored after the commit, and a kill may come between.
    ///
    /// - Parameter anchor: the one kept beside the device's key.
    /// - Returns: the finding.
    /// - Throws: ``LectureError``.
    package func inspect(against anchor: LedgerAnchor?) throws -> LedgerFinding {
        memory.floor = max(memory.floor, anchor?.revision ?? 0)
        if connection.isInTransaction { return try finding(against: anchor) }
        return try connection.transaction(.read) { try finding(against: anchor) }
    }

    private func finding(against anchor: LedgerAnchor?) throws -> LedgerFinding {
        guard let newest = try connection.newestTime() else {
            if try connection.first("SELECT 1 FROM licence LIMIT 1", read: { _ in true }) == true {
                return .suspect(.ledgerForged, nil)
            }
            return anchor.map { $0.revision > 0 } ?? false ? .suspect(.storeRolledBack, nil) : .new
        }
        guard newest.device == codes.device else {
            return try marked(anchor).map { .marked($0) } ?? .suspect(.storeCopied, newest.row)
        }
        let chain = try believedChain()
        guard chain.isWhole, try licencesFit(codes.sum(in: newest)) else {
            return .suspect(.ledgerForged, chain.newest?.row ?? newest.row)
        }
        return isNewest(chain, anchor) ? .intact(newest.row) : .suspect(.storeRolledBack, newest.row)
    }

    /// This device's newest row, if it is the anchored state and another device has only marked the licences since: an
    /// earlier version did that for any command that was run with another device's directory. Every licence must be
    /// marked, and without the marks their codes must give the sum of that row.
    private func marked(_ anchor: LedgerAnchor?) throws -> TimeRow? {
        let chain = try believedChain()
        guard let own = chain.newest, let anchor, chain.isWhole,
            let anchored = chain.codes[anchor.revision], LedgerCodes.equal(anchored, anchor.code)
        else { return nil }
        var form = codes.licenceForm()
        let start = form.bytes.count
        var sum = CodeSum()
        var areMarked = true
        _ = try connection.query("SELECT \(LicenceColumns.list) FROM licence") { row in
            areMarked = areMarked && row.int(LicenceColumns.suspicion) == LicenceSuspicion.copied.rawValue
            form.cut(to: start)
            LicenceColumns.encode(row, into: &form, suspicion: LicenceSuspicion.noneStored)
            sum += codes.term(codes.code(form))
        }
        return areMarked && sum == codes.sum(in: own) ? own.row : nil
    }

    /// The chain of this device's rows from its newest row back to the newest finding, or to the oldest row.
    struct Chain {
        /// Whether every row matches its code and the row before it.
        var isWhole = true
        /// The newest row that matches its code.
        var newest: StoredTime?
        /// The codes by revision.
        var codes: [Int64: [UInt8]] = [:]
        /// What its oldest row follows.
        var beginning: [UInt8] = []
    }

    private func believedChain() throws -> Chain {
        var chain = Chain()
        var successor: StoredTime?
        var isOver = false
        let columns = StoredTime.columns
        _ = try connection.query("SELECT \(columns) FROM time_ledger ORDER BY id DESC") { stored in
            guard !isOver else { return }
            let row = StoredTime(stored)
            // Own rows follow each other whatever others have written between them; one whose device was edited breaks
            // the link of its successor.
            guard row.device == codes.device else { return }
            let fits = LedgerCodes.equal(codes.code(row), row.code)
            let isLinked = successor.map { LedgerCodes.equal($0.previous, row.code) } ?? true
            chain.isWhole = chain.isWhole && fits && isLinked
            if fits, chain.newest == nil { chain.newest = row }
            chain.codes[row.revision] = row.code
            chain.beginning = row.previous
            isOver = fits && row.source == .finding
            successor = row
        }
        return chain
    }

    /// Whether no newer state of the store was anchored.
    private func isNewest(_ chain: Chain, _ anchor: LedgerAnchor?) -> Bool {
        // The first anchor is older than the first row.
        guard let anchor else { return false }
        // Killed before the anchor of the first row was stored. Its code is random: when the anchor was deleted and
        // made again, no earlier copy follows it.
        if anchor.revision == 0 { return LedgerCodes.equal(chain.beginning, anchor.code) }
        // Also after a finding. One beyond the anchor may be of a copy from before the anchor was deleted; if it is our
        // own, and its anchor was not stored in time, another finding costs nothing.
        return chain.codes[anchor.revision].map { LedgerCodes.equal($0, anchor.code) } ?? false
    }

    /// Whether every licence matches its code and all of them the sum.
    private func licencesFit(_ expected: CodeSum) throws -> Bool {
        var form = codes.licenceForm()
        let start = form.bytes.count
        var sum = CodeSum()
        var allFit = true
        _ = try connection.query("SELECT \(LicenceColumns.list) FROM licence") { row in
            form.cut(to: start)
            LicenceColumns.encode(row, into: &form)
            let code = row.blob(LicenceColumns.mac)
            allFit = allFit && LedgerCodes.equal(codes.code(form), code)
            sum += codes.term(code)
        }
        return allFit && sum == expected
    }

    /// Marks every licence as untrusted and recomputes all codes and their sum.
    package func suspectAll(_ suspicion: LicenceSuspicion) throws { try mark(suspicion.rawValue) }

    /// Marks every licence as trusted and recomputes all codes and their sum.
    package func believeAll() throws { try mark(LicenceSuspicion.noneStored) }

    private func mark(_ suspicion: Int) throws {
        try connection.atomically {
            try forgetAllRead()
            var form = codes.licenceForm()
            let start = form.bytes.count
            var sum = CodeSum()
            var last: Int64 = 0
            var page: [(row: Int64, code: [UInt8])] = []
            repeat {
                // In pages: a table is not changed while it is scanned, and 100,000 rows need not be in memory.
                page = try connection.query(
                    """
                    SELECT \(LicenceColumns.list), licence.id FROM licence
                    WHERE licence.id > ? ORDER BY licence.id LIMIT 1000
                    """, last
                ) { row in
                    form.cut(to: start)
                    LicenceColumns.encode(row, into: &form, suspicion: suspicion)
                    return (row.int64(LicenceColumns.count), codes.code(form))
                }
                for (row, code) in page {
                    try connection.execute(
                        "UPDATE licence SET suspicion = ?, mac = ? WHERE id = ?", suspicion, code, row)
                    sum += codes.term(code)
                    last = row
                }
            } while !page.isEmpty
            try keep(sum)
        }
    }
}
