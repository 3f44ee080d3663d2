import LectureModel
import LectureSQLite

/// Licences as they were read last, so that a renewal reads each one once: when it is claimed, and not again for its
/// request and for its answer. It also knows what is in a row, so that only what has changed is written.
///
/// What is kept counts only as long as no other connection has committed (`PRAGMA data_version`), which is asked once
/// in each transaction, and only within transactions. What this connection writes is forgotten, and what a transaction
/// reads of its own writes is not kept: it may be rolled back.
struct ReadLicences {
    /// A row as it was read.
    struct Known {
        /// Its number.
        let row: Int64
        /// Its code.
        let code: [UInt8]
        /// The coded form of its columns; nil when the code does not match it.
        let form: CodedBytes?
        /// The licence.
        let entry: LicenceEntry
    }

    /// A renewal claims at most a thousand licences ahead of its requests.
    static let limit = 2048

    private var known: [ContentKey: Known] = [:]
    /// The numbers of rows; also of those that this transaction has changed.
    private var rows: [ContentKey: Int64] = [:]
    /// What this transaction has written.
    private var written: Set<ContentKey> = []
    private var hasWrittenAll = false
    private var (transaction, version) = (UInt64(0), Int64(0))

    /// Forgets what another connection may have changed. Before every use.
    ///
    /// - Parameter connection: within a transaction.
    /// - Returns: whether a transaction is open; nothing counts without.
    /// - Throws: ``LectureError``.
    mutating func begin(_ connection: Connection) throws -> Bool {
        guard connection.isInTransaction else {
            removeAll()
            return false
        }
        guard connection.transactionSerial != transaction else { return true }
        let version = try connection.dataVersion()
        if version != self.version || known.count > Self.limit { removeAll() }
        if rows.count > Self.limit { rows = known.mapValues(\.row) }
        (self.version, transaction, written, hasWrittenAll) = (version, connection.transactionSerial, [], false)
        return true
    }

    /// What is known of a licence.
    subscript(key: ContentKey) -> Known? { known[key] }

    /// The number of a licence's row; nil when it is not known.
    func row(_ key: ContentKey) -> Int64? { rows[key] }

    /// A row was read.
    mutating func read(_ licence: Known) {
        let key = licence.entry.key
        guard !hasWrittenAll, !written.contains(key) else { return }
        (known[key], rows[key]) = (licence, licence.row)
    }

    /// A row was changed, but not its number.
    mutating func changed(_ key: ContentKey) {
        known[key] = nil
        written.insert(key)
    }

    /// A row was added or deleted.
    mutating func replaced(_ key: ContentKey) {
        changed(key)
        rows[key] = nil
    }

    /// Any row may have been changed.
    mutating func changedAll() {
        removeAll()
        hasWrittenAll = true
    }

    private mutating func removeAll() { (known, rows) = ([:], [:]) }
}

extension SQLiteLicenceLedger {
    /// A licence as it is in the open transaction, read if it is not known.
    func known(_ key: ContentKey) throws -> ReadLicences.Known? {
        guard try memory.read.begin(connection) else { return try rows.known(key) }
        if let known = memory.read[key] { return known }
        let found = try rows.known(key)
        if let found { memory.read.read(found) }
        return found
    }

    /// A row is about to be changed.
    func forgetRead(_ key: ContentKey) throws {
        _ = try memory.read.begin(connection)
        memory.read.changed(key)
    }

    /// Every row is about to be changed.
    func forgetAllRead() throws {
        _ = try memory.read.begin(connection)
        memory.read.changedAll()
    }

    /// The number of a licence's row.
    func rowNumber(_ key: ContentKey) throws -> Int64? {
        if try memory.read.begin(connection), let row = memory.read.row(key) { return row }
        return try connection.first("SELECT id FROM licence WHERE content_key = ?", key) { $0.int64(0) }
    }
}

extension LicenceRows {
    /// A licence with what is in its row.
    func known(_ key: ContentKey) throws -> ReadLicences.Known? {
        try connection.first(Self.knownByKey, key) { try LicenceColumns.known($0, codes) }
    }

    /// A licence of this row with what is in it.
    func known(row: Int64) throws -> ReadLicences.Known? {
        try connection.first(Self.knownByRow, row) { try LicenceColumns.known($0, codes) }
    }

    private static let knownByKey = "SELECT \(LicenceColumns.list), licence.id FROM licence WHERE content_key = ?"
    private static let knownByRow = "SELECT \(LicenceColumns.list), licence.id FROM licence WHERE id = ?"
}

extension LicenceColumns {
    /// Reads a row of ``list`` that is followed by its number.
    static func known(_ row: borrowing Row, _ codes: LedgerCodes?) throws -> ReadLicences.Known {
        let code = row.blob(mac)
        guard let codes else {
            return ReadLicences.Known(row: row.int64(count), code: code, form: nil, entry: try entry(row, nil))
        }
        var form = codes.licenceForm()
        encode(row, into: &form)
        let fits = LedgerCodes.equal(codes.code(form), code)
        return ReadLicences.Known(
            row: row.int64(count), code: code, form: fits ? form : nil, entry: try entry(row, isForged: !fits))
    }

    /// Which columns of a row must be written, as bits in the order of ``coded``.
    ///
    /// - Parameters:
    ///   - old: what is in the row; nil for all.
    ///   - new: what is to be in it.
    ///   - domain: how many bytes come before the first column in both.
    /// - Returns: the bits; the key never changes.
    static func changes(_ old: CodedBytes?, _ new: CodedBytes, after domain: Int) -> UInt64 {
        let all = UInt64(1) << coded.count - 2
        guard let old else { return all }
        var (place, here, there) = (0, domain, domain)
        var bits: UInt64 = 0
        while place < coded.count {
            let (left, right) = (old.value(at: here), new.value(at: there))
            if left != right { bits |= 1 << place }
            (here, there, place) = (here + left.count, there + right.count, place + 1)
        }
        return bits & all
    }

    /// The statement that writes these columns, the code, and where asked the last attempt; then comes the row.
    static func update(_ bits: UInt64, withAttempt: Bool) -> String {
        let names = coded.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element.name)
        let changed = names + ["mac"] + (withAttempt ? attempt : [])
        return "UPDATE licence SET \(changed.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
    }
}
