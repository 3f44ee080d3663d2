import CSQLite

/// The current row of a query. It cannot be copied and is only lent, so it cannot outlive its step.
///
/// Columns are counted from 0. The accessors without `optional` are for columns that the schema keeps from being NULL
/// (`STRICT` tables with `NOT NULL`); on NULL they return SQLite's conversion: 0, an empty text, an empty blob.
@safe @usableFromInline package struct Row: ~Copyable {
    private let handle: OpaquePointer

    init(borrowing handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    /// How many columns the row has.
    package var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

    /// Whether a column is NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: true for NULL.
    package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// An integer.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored number.
    package func int64(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// An integer; 64 bits wide on every platform this builds for.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored number.
    package func int(_ column: Int32) -> Int { Int(int64(column)) }

    /// A length; negative numbers, which the schema refuses, are clamped to 0.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored number.
    package func uint64(_ column: Int32) -> UInt64 { UInt64(clamping: int64(column)) }

    /// A truth value, stored as 0 or 1.
    ///
    /// - Parameter column: from 0.
    /// - Returns: whether the number is not 0.
    package func bool(_ column: Int32) -> Bool { int64(column) != 0 }

    /// A real number.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored number.
    package func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

    /// A text, copied.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored text; bytes that are not UTF-8 are replaced.
    package func text(_ column: Int32) -> String {
        // The pointer first, then the length: in the other order a conversion may change the length.
        guard let base = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
    }

    /// Appends a text without making a `String` of it.
    ///
    /// - Parameters:
    ///   - column: from 0.
    ///   - bytes: what it is appended to; bytes that are not UTF-8 are not replaced.
    package func appendText(_ column: Int32, to bytes: inout [UInt8]) {
        guard let base = unsafe sqlite3_column_text(handle, column) else { return }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: base, count: count))
    }

    /// Bytes, copied.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored bytes.
    package func blob(_ column: Int32) -> [UInt8] { unsafe withBlob(column) { unsafe [UInt8]($0) } }

    /// Lends bytes without a copy.
    ///
    /// - Parameters:
    ///   - column: from 0.
    ///   - body: gets the bytes, which are valid until it returns.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func withBlob<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let base = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe base == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
        return try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// A value of any kind, as it can be bound again.
    ///
    /// - Parameter column: from 0.
    /// - Returns: the stored value.
    package func value(_ column: Int32) -> SQLiteValue {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .real(double(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    /// An integer or NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: nil for NULL.
    package func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    /// An integer or NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: nil for NULL.
    package func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

    /// A length or NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: nil for NULL.
    package func optionalUInt64(_ column: Int32) -> UInt64? { isNull(column) ? nil : uint64(column) }

    /// A text or NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: nil for NULL.
    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Bytes or NULL.
    ///
    /// - Parameter column: from 0.
    /// - Returns: nil for NULL.
    package func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}
