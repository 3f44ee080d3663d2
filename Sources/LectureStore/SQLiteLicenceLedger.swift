package import LectureModel
import LectureSQLite

/// The ledger of licences, on the connection of the store's writer and confined to its owner.
///
/// What protects what:
///
/// ```
/// licence row ── mac ──┐
/// licence row ── mac ──┼── sum ── newest row of the chain ── anchor beside the device's key
/// licence row ── mac ──┘              └─ row before ─ …
/// ```
///
/// An edited row does not match its own code. A row that was removed, or restored with its code from an older copy,
/// matches its code but not the sum. A chain that was truncated or restored matches itself but not the anchor.
///
/// The sum is read from the newest row inside each transaction, since another process may have appended meanwhile, and
/// kept in memory until ``append(_:source:)`` writes it. It belongs to one transaction: after a rollback it is invalid,
/// and a transaction that changed licences does not commit without an append.
package final class SQLiteLicenceLedger: LicenceLedger {
    /// How many requests about a licence are kept.
    package static let attemptsKept = 20

    /// The sum as changed by a transaction.
    struct Pending {
        let transaction: UInt64
        var sum: CodeSum
        var isAppended = false
    }

    /// What the ledger knows beyond its rows, whatever the transaction.
    final class Memory {
        /// The newest revision named by an anchor: no row reuses a number.
        var floor: Int64 = 0
        var pending: Pending?
        /// Licences as they were read last.
        var read = ReadLicences()
        /// The statements that write parts of a licence, by what they write.
        private var updates: [UInt64: String] = [:]
        /// The owners for which this process claims renewals: their claims are not elsewhere.
        var claimants: Set<OwnerID> = []

        /// The statement that writes these columns; few sets of columns ever change together.
        func update(_ bits: UInt64, withAttempt: Bool) -> String {
            let name = bits << 1 | (withAttempt ? 1 : 0)
            if let text = updates[name] { return text }
            let text = LicenceColumns.update(bits, withAttempt: withAttempt)
            if updates.count < 64 { updates[name] = text }
            return text
        }
    }

    let connection: Connection
    let codes: LedgerCodes
    let rows: LicenceRows
    /// Batch renewals.
    package let renewals: RenewalRows
    let memory: Memory

    /// Shares the connection of the store's writer, whose transactions have the rows of this ledger from now on.
    ///
    /// - Parameters:
    ///   - index: the writer; one ledger each.
    ///   - authenticator: computes codes with the device's key.
    /// - Throws: ``LectureError``.
    package init(index: SQLiteDownloadIndex, authenticator: any RowAuthenticator) throws {
        (connection, memory) = (index.connection, Memory())
        codes = LedgerCodes(authenticator, store: try index.identity().uuid)
        rows = LicenceRows(connection: connection, codes: codes)
        renewals = RenewalRows(rows, memory)
        index.ledger = self
    }

    /// The same ledger on a view of the connection.
    init(_ ledger: SQLiteLicenceLedger, on connection: Connection) {
        (self.connection, memory, codes) = (connection, ledger.memory, ledger.codes)
        rows = LicenceRows(connection: connection, codes: codes)
        renewals = RenewalRows(rows, memory)
    }

    // MARK: Other subjects

    /// Callbacks still to be sent to servers.
    package var callbacks: PendingCallbackRows { PendingCallbackRows(connection: connection) }

    /// The keys of sealed files.
    package var contentKeys: ContentKeyRows { ContentKeyRows(connection: connection) }

    // MARK: The sum

    /// The sum as changed by this transaction; else that of the newest row.
    func currentSum() throws -> CodeSum {
        if let pending = memory.pending, pending.transaction == connection.transactionSerial { return pending.sum }
        guard let newest = try connection.newestTime() else { return CodeSum() }
        return codes.sum(in: newest)
    }

    /// Keeps a sum until it is appended.
    func keep(_ sum: CodeSum) throws {
        guard connection.isInTransaction else {
            throw LectureError(.bug, detail: "a licence is changed outside a transaction")
        }
        memory.pending = Pending(transaction: connection.transactionSerial, sum: sum)
    }

    /// The kept sum is in the chain.
    func forgetPending() { memory.pending = nil }

    /// Requires that the sum which this transaction has changed is in the chain; the last call before a commit.
    ///
    /// - Throws: ``LectureError`` with the code `bug`, which rolls the transaction back.
    func requireAppended() throws {
        guard memory.pending?.transaction == connection.transactionSerial else { return }
        throw LectureError(.bug, detail: "licences were changed and nothing was appended")
    }

    // MARK: Licences

    /// A licence; forged when its code does not match.
    package func entry(_ key: ContentKey) throws -> LicenceEntry? { try known(key)?.entry }

    /// Licences whose end was seen to have passed, but is later than a moment.
    package func entriesSeenExpired(endingAfter time: Timestamp) throws -> [LicenceEntry] {
        try rows.entriesSeenExpired(endingAfter: time)
    }

    /// Whether an existing lecture has a licence that was granted by another key for answers.
    package func hasLicence(grantedByOtherThan signer: String) throws -> Bool {
        // The thumbprints for answers stand before the slash, separated by spaces.
        try connection.first(Self.isGrantedByOther("substr(keys, 1, instr(keys, '/') - 1)"), signer) { _ in true }
            ?? false
    }

    /// Whether an existing lecture has a licence for which files of a key do not count.
    package func hasLicence(forFilesOfOthersThan signer: String, orUnknown unknown: Bool) throws -> Bool {
        if unknown, try connection.first(Self.isGrantedByUnknown, read: { _ in true }) ?? false { return true }
        return try connection.first(Self.isGrantedByOther("substr(keys, instr(keys, '/') + 1)"), signer) { _ in true }
            ?? false
    }

    private static let granted = """
        FROM licence INDEXED BY licence_granting WHERE content_id IS NOT NULL AND form IS NOT NULL AND granting_keys
        """
    static let isGrantedByUnknown = "SELECT 1 \(granted) IS NULL LIMIT 1"

    /// Whether the thumbprints of a kind lack one, in any licence. Each different value is looked up in the index once,
    /// however many licences have it.
    static func isGrantedByOther(_ thumbprints: String) -> String {
        func next(_ value: String) -> String {
            "(SELECT granting_keys \(granted) > \(value) ORDER BY granting_keys LIMIT 1)"
        }
        return """
            WITH RECURSIVE grant(keys) AS (
                SELECT \(next("''")) UNION ALL SELECT \(next("keys")) FROM grant WHERE keys IS NOT NULL
            )
            SELECT 1 FROM grant WHERE keys IS NOT NULL AND instr(' ' || \(thumbprints) || ' ', ' ' || ? || ' ') = 0
            LIMIT 1
            """
    }

    /// Stores a licence with its code.
    ///
    /// - Parameter entry: the licence.
    /// - Throws: ``LectureError``: `bug` outside a transaction, `storeFailed` for values the schema refuses.
    package func store(_ entry: LicenceEntry) throws {
        let values = try LicenceColumns.values(entry)
        var form = codes.licenceForm()
        let domain = form.bytes.count
        for value in LicenceColumns.covered(values) { form.append(value) }
        let code = codes.code(form)
        var sum = try currentSum()
        if let old = try known(entry.key) {
            sum -= codes.term(old.code)
            try keep(sum)
            memory.read.changed(entry.key)
            let attempt = LicenceColumns.attemptValues(entry)
            let withAttempt = LicenceColumns.attemptValues(old.entry) != attempt
            // Only what changes: each index of a column that is written is written, too.
            let bits = LicenceColumns.changes(old.form, form, after: domain)
            let changed = values.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
            try connection.execute(
                memory.update(bits, withAttempt: withAttempt),
                values: changed + [code.sqliteValue] + (withAttempt ? attempt : []) + [old.row.sqliteValue])
        } else {
            try keep(sum)
            memory.read.replaced(entry.key)
            try connection.execute(
                LicenceColumns.insert, values: values + [code.sqliteValue] + LicenceColumns.attemptValues(entry))
        }
        sum += codes.term(code)
        try keep(sum)
    }

    /// Stores only the result of the last attempt.
    package func storeAttempt(_ entry: LicenceEntry) throws {
        try forgetRead(entry.key)
        let columns = LicenceColumns.attempt.map { "\($0) = ?" }.joined(separator: ", ")
        try connection.execute(
            "UPDATE licence SET \(columns) WHERE content_key = ?",
            values: LicenceColumns.attemptValues(entry) + [entry.key.sqliteValue])
    }

    /// Deletes a licence.
    package func forget(_ key: ContentKey) throws {
        guard let old = try known(key) else { return }
        var sum = try currentSum()
        sum -= codes.term(old.code)
        try keep(sum)
        memory.read.replaced(key)
        try connection.execute("DELETE FROM licence WHERE id = ?", old.row)
    }

    /// Stores a request to a server; one about a missing licence is not stored.
    package func record(_ attempt: LicenceAttempt, of key: ContentKey) throws {
        try connection.atomically {
            guard let row = try rowNumber(key) else { return }
            try connection.execute(
                """
                INSERT INTO licence_attempt(licence_id, at_ms, duration_ms, kind, status, outcome, error_code, detail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, row, attempt.at, max(0, attempt.duration.milliseconds), attempt.kind, attempt.status,
                attempt.outcome, attempt.error?.code.number, attempt.error?.detail ?? "")
            try connection.execute(
                """
                DELETE FROM licence_attempt WHERE licence_id = ?1 AND id <= (
                    SELECT id FROM licence_attempt WHERE licence_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                """, row, Self.attemptsKept)
        }
    }
}
