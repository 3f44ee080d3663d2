package import LectureModel
package import LectureSQLite

extension Row {
    /// An enumeration stored by its raw value.
    ///
    /// - Parameters:
    ///   - column: from 0.
    ///   - type: the enumeration.
    /// - Returns: the case.
    /// - Throws: ``LectureError`` with the code `storeDamaged`: the schema's CHECK permits no other value.
    func enumeration<Value: RawRepresentable<Int>>(_ column: Int32, _ type: Value.Type) throws -> Value {
        guard let value = Value(rawValue: int(column)) else {
            throw LectureError(.storeDamaged, cause: "\(int(column)) is not a \(type)")
        }
        return value
    }

    /// A point of time.
    func timestamp(_ column: Int32) -> Timestamp { Timestamp(milliseconds: int64(column)) }

    /// A point of time or NULL.
    func optionalTimestamp(_ column: Int32) -> Timestamp? { isNull(column) ? nil : timestamp(column) }

    /// A row number.
    func id<Table>(_ column: Int32, _ type: Table.Type = Table.self) -> RowID<Table> { RowID(int64(column)) }
}

extension RowID: SQLiteBindable {
    /// An INTEGER.
    package var sqliteValue: SQLiteValue { .integer(value) }
}

extension Timestamp: SQLiteBindable {
    /// An INTEGER: milliseconds UTC.
    package var sqliteValue: SQLiteValue { .integer(milliseconds) }
}

extension ItemState: SQLiteBindable {
    /// An INTEGER: the raw value.
    package var sqliteValue: SQLiteValue { .integer(Int64(rawValue)) }
}

extension StopReason: SQLiteBindable {
    /// An INTEGER: the raw value.
    package var sqliteValue: SQLiteValue { .integer(Int64(rawValue)) }
}

extension TargetState: SQLiteBindable {
    /// An INTEGER: the raw value.
    package var sqliteValue: SQLiteValue { .integer(Int64(rawValue)) }
}

extension ContentType: SQLiteBindable {
    /// An INTEGER: the raw value.
    package var sqliteValue: SQLiteValue { .integer(Int64(rawValue)) }
}

extension ContentKey: SQLiteBindable {
    /// A TEXT.
    package var sqliteValue: SQLiteValue { .text(text) }
}
