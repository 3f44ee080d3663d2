import CSQLite
import Glibc
package import LectureModel

/// One connection to one SQLite database.
///
/// Confined to its owner: it is opened with `SQLITE_OPEN_NOMUTEX` and is not `Sendable`, so the compiler keeps it on
/// the actor or thread that holds it. Only its ``interrupter`` may be used from elsewhere.
///
/// `@safe`: the handle is closed only in `deinit`, after all statements, which are lent only inside methods of this
/// object.
@safe package final class Connection {
    /// What a connection may do.
    package enum Access: Sendable {
        /// Reads; another connection may write.
        case readOnly
        /// Reads a file that does not change meanwhile, without locks and without creating files beside it.
        case immutable
        /// Reads and writes an existing file.
        case readWrite
        /// Reads and writes, and creates the file when it is missing.
        case create
    }

    /// The path it was opened with.
    package let path: String
    /// Interrupts a running statement from another thread.
    package let interrupter: Interrupter
    /// How many transactions ``transaction(_:_:)`` has started; identifies each one. In a view, its transaction.
    package internal(set) var transactionSerial: UInt64 = 0
    /// The transaction that ``transaction(_:_:)`` is running; nil for none.
    var openTransaction: UInt64?
    /// Called at every ``FaultPoint``, so that a test can let the connection fail: what it throws is the connection's
    /// error there. Nil in the product, where it costs a comparison for each statement. It may not use the connection,
    /// except for scripts.
    package var faultPoint: ((FaultPoint) throws -> Void)?
    /// Why the file is open for reading only, where it should have been open for writing; what a write then throws.
    package var whyReadOnly: LectureError?
    private let handle: OpaquePointer
    /// The connection that this one is a view of; nil for a connection of its own.
    private let base: Connection?
    private var cache = StatementCache(capacity: 96)

    /// The statement journal stays in memory, however long it is. With SQLite's default it went to `/var/tmp` from
    /// 64 KiB on, so that every download wrote there, and none was possible while that was full.
    ///
    /// A limit is no better: SQLite 3.40 takes it as the size of each piece of memory, so that every statement with a
    /// journal allocates as much. Without one a piece has a kibibyte.
    ///
    /// Takes effect before the first connection of the process; in a program that uses SQLite already it changes
    /// nothing.
    static let keepsUndoInMemory: Bool = csqlite_spill_statements_at(-1) == SQLITE_OK

    /// A page cache allocates its pages one by one. By default it begins with twenty, 87 KB, also for the table in
    /// memory that a condition such as `state IN (2, 4, 5)` becomes each time it is evaluated: the memory was requested
    /// from the system and given back twice for every report that was sent, a fifth of all processor time.
    ///
    /// Takes effect as ``keepsUndoInMemory`` does.
    static let allocatesPagesSingly: Bool = csqlite_allocate_pages(0) == SQLITE_OK

    /// Memory is allocated without counting it: the counters are behind one lock for all connections of the process
    /// (SQLITE_CONFIG_MEMSTATUS), and nothing here reads them.
    ///
    /// Takes effect as ``keepsUndoInMemory`` does.
    static let countsNoMemory: Bool = csqlite_count_memory(0) == SQLITE_OK

    /// Opens a database.
    ///
    /// Symbolic links are refused in every part of the path (`SQLITE_OPEN_NOFOLLOW`); resolve the directory first.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - access: what the connection may do.
    ///   - busyTimeout: how long a statement waits for another process before it fails with `storeBusy`.
    /// - Throws: ``LectureError``; a file that is not a database is detected by the first statement.
    package init(path: String, access: Access, busyTimeout: Duration = .seconds(10)) throws {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        var name = path
        switch access {
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:\(Self.percentEncoded(path))?immutable=1"
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        _ = (Self.keepsUndoInMemory, Self.allocatesPagesSingly, Self.countsNoMemory)
        var opened: OpaquePointer?
        OpenDatabases.opened(path)
        let result: Int32
        if let system = AllocatedIndex.name {
            result = unsafe sqlite3_open_v2(name, &opened, flags, system)
        } else {
            result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        }
        guard let handle = unsafe opened else {
            OpenDatabases.closed(path)
            throw SQLiteError(code: SQLITE_NOMEM, message: "out of memory").lectureError(detail: path)
        }
        guard result == SQLITE_OK else {
            let message = unsafe String(cString: sqlite3_errmsg(handle))
            let system = unsafe Self.systemError(behind: result, handle, path: path)
            unsafe sqlite3_close_v2(handle)
            OpenDatabases.closed(path)
            throw SQLiteError(code: result, message: message, systemError: system).lectureError(detail: path)
        }
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
        self.path = path
        base = nil
        unsafe self.handle = unsafe handle
        interrupter = unsafe Interrupter(borrowing: handle)
    }

    /// Makes a view of a connection that works only within its open transaction.
    private init(within base: Connection) {
        (self.base, path, interrupter, whyReadOnly) = (base, base.path, base.interrupter, base.whyReadOnly)
        unsafe handle = unsafe base.handle
        transactionSerial = base.transactionSerial
    }

    deinit {
        guard base == nil else { return }
        interrupter.forget()
        cache.removeAll()
        unsafe sqlite3_close_v2(handle)
        OpenDatabases.closed(path)
    }

    // MARK: Statements

    /// Runs one statement that returns no rows.
    ///
    /// - Parameters:
    ///   - sql: one statement; kept prepared.
    ///   - values: for its parameters, in order.
    /// - Returns: how many rows an INSERT, UPDATE or DELETE changed.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func execute<each Value: SQLiteBindable>(_ sql: String, _ values: repeat each Value) throws -> Int {
        try execute(sql, values: Self.list(repeat each values))
    }

    /// Runs one statement that returns no rows, with values whose number is known only at run time.
    ///
    /// - Parameters:
    ///   - sql: one statement; kept prepared.
    ///   - values: for its parameters, in order.
    /// - Returns: how many rows an INSERT, UPDATE or DELETE changed.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func execute(_ sql: String, values: [SQLiteValue]) throws -> Int {
        let statement = try lend(sql, values)
        defer { giveBack(statement) }
        while try advance(statement) {}
        return unsafe Int(sqlite3_changes64(handle))
    }

    /// Reads all rows of a query.
    ///
    /// - Parameters:
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: makes a value from a row.
    /// - Returns: the values, in the query's order.
    /// - Throws: ``LectureError``, and what `read` throws.
    @inlinable package func query<each Value: SQLiteBindable, Result>(
        _ sql: String, _ values: repeat each Value, read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        try query(sql, values: Self.list(repeat each values), read: read)
    }

    /// Reads all rows of a query with values whose number is known only at run time.
    ///
    /// - Parameters:
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: makes a value from a row.
    /// - Returns: the values, in the query's order.
    /// - Throws: ``LectureError``, and what `read` throws.
    @inlinable package func query<Result>(
        _ sql: String, values: [SQLiteValue], read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        let statement = try lend(sql, values)
        defer { giveBack(statement) }
        var results: [Result] = []
        while try advance(statement) { results.append(try read(statement.row)) }
        return results
    }

    /// Reads all rows of a query with values whose number is known only at run time, and collects nothing.
    ///
    /// - Parameters:
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: gets each row.
    /// - Throws: ``LectureError``, and what `read` throws.
    @inlinable package func forEachRow(
        _ sql: String, values: [SQLiteValue], read: (borrowing Row) throws -> Void
    ) throws {
        let statement = try lend(sql, values)
        defer { giveBack(statement) }
        while try advance(statement) { try read(statement.row) }
    }

    /// Reads a query until enough of its rows were of use.
    ///
    /// - Parameters:
    ///   - count: how many are enough; the rest of the query is not run.
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: makes a value from a row, nil for one that is of no use.
    /// - Returns: at most `count` values, in the query's order, and how many rows were read for them.
    /// - Throws: ``LectureError``, and what `read` throws.
    package func search<each Value: SQLiteBindable, Result>(
        for count: Int, _ sql: String, _ values: repeat each Value, read: (borrowing Row) throws -> Result?
    ) throws -> (found: [Result], rows: Int) {
        let statement = try lend(sql, Self.list(repeat each values))
        defer { giveBack(statement) }
        var (found, rows): ([Result], Int) = ([], 0)
        while found.count < count, try advance(statement) {
            rows += 1
            if let value = try read(statement.row) { found.append(value) }
        }
        return (found, rows)
    }

    /// Reads the first row of a query.
    ///
    /// - Parameters:
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: makes a value from a row.
    /// - Returns: nil when the query returns no row.
    /// - Throws: ``LectureError``, and what `read` throws.
    @inlinable package func first<each Value: SQLiteBindable, Result>(
        _ sql: String, _ values: repeat each Value, read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try first(sql, values: Self.list(repeat each values), read: read)
    }

    /// Reads the first row of a query with values whose number is known only at run time.
    ///
    /// - Parameters:
    ///   - sql: one query; kept prepared.
    ///   - values: for its parameters, in order.
    ///   - read: makes a value from a row.
    /// - Returns: nil when the query returns no row.
    /// - Throws: ``LectureError``, and what `read` throws.
    @inlinable package func first<Result>(
        _ sql: String, values: [SQLiteValue], read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let statement = try lend(sql, values)
        defer { giveBack(statement) }
        return try advance(statement) ? try read(statement.row) : nil
    }

    /// Runs several statements separated by semicolons; nothing is bound or kept prepared.
    ///
    /// - Parameter sql: statements without parameters.
    /// - Throws: ``LectureError`` of the first one that fails.
    package func run(script sql: String) throws {
        try requireTransaction()
        guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// The rowid of the last INSERT.
    package var lastInsertedID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// How many rows this connection has inserted, changed or deleted, also in transactions that were rolled back.
    package var changeCount: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// Whether a transaction is open; in a view, whether its own is.
    package var isInTransaction: Bool { isOpen && !isAutocommitting }

    /// Whether SQLite could open the file only for reading.
    package var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

    /// How many prepared statements are idle.
    package var idleStatementCount: Int { cache.count }

    /// The version of the SQLite library, for example `3.40.1`.
    package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    // MARK: Views

    /// A view of this connection for what may not outlive the open transaction: once that has ended, every statement of
    /// the view throws the code `bug`, also within a later transaction.
    ///
    /// - Returns: the view. It shares the prepared statements and the fault points.
    /// - Throws: ``LectureError`` with the code `bug` when no transaction is open.
    package func withinTransaction() throws -> Connection {
        guard isInTransaction else { throw LectureError(.bug, detail: "no transaction is open") }
        return Connection(within: base ?? self)
    }

    /// Refuses a view whose transaction has ended.
    func requireTransaction() throws {
        guard base != nil else { return }
        guard isOpen else { throw LectureError(.bug, detail: "a row is used after its transaction") }
        // SQLite does that after some errors: what follows must not be committed by itself.
        guard !isAutocommitting else { throw LectureError(.storeFailed, cause: "the transaction was rolled back") }
    }

    /// Whether the transaction of a view is being run.
    private var isOpen: Bool { base.map { $0.openTransaction == transactionSerial } ?? true }

    private var isAutocommitting: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    // MARK: Internal

    /// Runs a statement that controls a transaction; no ``FaultPoint/statement(_:)``.
    func control(_ sql: String) throws {
        let statement = try prepared(sql, [])
        defer { cache.put(statement) }
        while try advance(statement) {}
    }

    /// Lends the handle to a function of this module.
    ///
    /// - Parameter body: must not store the handle.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    func withHandle<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result { try unsafe body(handle) }

    /// The kernel's error number; 0 when it is unknown. Where a file cannot be created SQLite still tries to open it,
    /// and the reason is lost: if no inode is free, that is the likely one.
    private static func systemError(behind code: Int32, _ handle: OpaquePointer, path: String) -> Int32 {
        var disk = statvfs()
        if code & 0xFF == SQLITE_CANTOPEN, unsafe statvfs(path, &disk) == 0, disk.f_files > 0, disk.f_favail == 0 {
            return ENOSPC
        }
        return unsafe sqlite3_system_errno(handle)
    }

    /// The connection's current error.
    func failure() -> LectureError {
        let code = unsafe sqlite3_extended_errcode(handle)
        if let whyReadOnly, code & 0xFF == SQLITE_READONLY { return whyReadOnly }
        let message = unsafe String(cString: sqlite3_errmsg(handle))
        let system = unsafe Self.systemError(behind: code, handle, path: path)
        return SQLiteError(code: code, message: message, systemError: system).lectureError()
    }

    /// Lends a statement with its values bound. What reads it is compiled where it is used (`@inlinable`): code for any
    /// kind of result has to look its type up for every statement.
    @usableFromInline func lend(_ sql: String, _ values: [SQLiteValue]) throws -> Statement {
        if let base {
            try requireTransaction()
            return try base.lend(sql, values)
        }
        try faultPoint?(.statement(sql))
        return try prepared(sql, values)
    }

    /// Takes a lent statement back, reset.
    @usableFromInline func giveBack(_ statement: Statement) {
        if let base { return base.giveBack(statement) }
        cache.put(statement)
    }

    private func prepared(_ sql: String, _ values: [SQLiteValue]) throws -> Statement {
        let statement = try cache.take(sql) ?? prepare(sql)
        do {
            guard statement.parameterCount == Int32(values.count) else {
                throw LectureError(.bug, detail: "\(values.count) values for \(statement.parameterCount) parameters")
            }
            for (place, value) in values.enumerated() {
                guard statement.bind(value, at: Int32(place + 1)) == SQLITE_OK else { throw failure() }
            }
        } catch {
            cache.put(statement)
            throw error
        }
        return statement
    }

    /// Steps to the next row; false at the end.
    @usableFromInline func advance(_ statement: Statement) throws -> Bool {
        switch statement.step() {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure()
        }
    }

    private func prepare(_ sql: String) throws -> Statement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK else { throw failure() }
        guard let prepared = unsafe statement else { throw LectureError(.bug, detail: "an empty statement") }
        return unsafe Statement(takingOwnership: prepared, sql: sql)
    }

    /// The values of a statement as SQLite stores them.
    @usableFromInline static func list<each Value: SQLiteBindable>(_ values: repeat each Value) -> [SQLiteValue] {
        var list: [SQLiteValue] = []
        // Enough for all statements but a few: growing step by step would be several allocations for each.
        list.reserveCapacity(16)
        for value in repeat each values { list.append(value.sqliteValue) }
        return list
    }

    /// Escapes characters with a meaning in a URI file name (https://www.sqlite.org/uri.html).
    private static func percentEncoded(_ path: String) -> String {
        path.reduce(into: "") { text, character in
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.append(character)
            }
        }
    }
}
