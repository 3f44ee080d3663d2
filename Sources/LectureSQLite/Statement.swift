import CSQLite

/// A prepared statement. Lent by its ``Connection`` to one user at a time.
///
/// `@safe`: the handle is finalized only in `deinit` and never leaves this module.
@safe @usableFromInline final class Statement {
    /// The text it was prepared from.
    let sql: String
    /// When it was last given back to the cache, as a serial number.
    var lastUse: UInt64 = 0
    /// Whether the cache has lent it.
    var isLent = false
    /// Whether the cache keeps it.
    var isKept = false
    private let handle: OpaquePointer

    /// Owns a prepared statement.
    init(takingOwnership handle: OpaquePointer, sql: String) {
        unsafe self.handle = unsafe handle
        self.sql = sql
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// How many values must be bound.
    var parameterCount: Int32 { unsafe sqlite3_bind_parameter_count(handle) }

    /// Binds one value.
    ///
    /// - Parameters:
    ///   - value: copied by SQLite.
    ///   - index: from 1.
    /// - Returns: SQLite's result code.
    func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
        case .real(let number): return unsafe sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // A null pointer would bind NULL instead of the empty text.
                guard let base = bytes.baseAddress else {
                    return unsafe sqlite3_bind_text(handle, index, "", 0, csqlite_transient())
                }
                return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    unsafe sqlite3_bind_text64(
                        handle, index, $0, UInt64(bytes.count), csqlite_transient(), UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            if bytes.isEmpty { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
            return unsafe bytes.withUnsafeBytes {
                unsafe sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), csqlite_transient())
            }
        }
    }

    /// Steps to the next row.
    ///
    /// - Returns: SQLite's result code: SQLITE_ROW, SQLITE_DONE or an error.
    func step() -> Int32 { unsafe sqlite3_step(handle) }

    /// Makes it ready for reuse; also releases the read transaction and the bound values.
    func reset() {
        // The result repeats the error of the last step, which has been reported already.
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// The current row.
    @usableFromInline var row: Row { unsafe Row(borrowing: handle) }
}
