import LectureModel

/// A value to bind to a statement: one of SQLite's five storage classes.
package enum SQLiteValue: Sendable, Hashable {
    /// SQL NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A double.
    case real(Double)
    /// UTF-8 text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

/// A Swift type that can be bound to a statement.
package protocol SQLiteBindable {
    /// The value as SQLite stores it.
    var sqliteValue: SQLiteValue { get }
}

extension SQLiteValue: SQLiteBindable {
    /// Itself.
    package var sqliteValue: SQLiteValue { self }
}

extension Int64: SQLiteBindable {
    /// An INTEGER.
    package var sqliteValue: SQLiteValue { .integer(self) }
}

extension Int32: SQLiteBindable {
    /// An INTEGER.
    package var sqliteValue: SQLiteValue { .integer(Int64(self)) }
}

extension Int: SQLiteBindable {
    /// An INTEGER.
    package var sqliteValue: SQLiteValue { .integer(Int64(self)) }
}

extension UInt64: SQLiteBindable {
    /// An INTEGER. Lengths beyond 8 EiB cannot occur; they are clamped to the range.
    package var sqliteValue: SQLiteValue { .integer(Int64(clamping: self)) }
}

extension Bool: SQLiteBindable {
    /// An INTEGER, 0 or 1.
    package var sqliteValue: SQLiteValue { .integer(self ? 1 : 0) }
}

extension Double: SQLiteBindable {
    /// A REAL.
    package var sqliteValue: SQLiteValue { .real(self) }
}

extension String: SQLiteBindable {
    /// A TEXT.
    package var sqliteValue: SQLiteValue { .text(self) }
}

extension [UInt8]: SQLiteBindable {
    /// A BLOB.
    package var sqliteValue: SQLiteValue { .blob(self) }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
    /// NULL for nil.
    package var sqliteValue: SQLiteValue {
        switch self {
        case .none: .null
        case .some(let value): value.sqliteValue
        }
    }
}
