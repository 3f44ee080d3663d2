import LectureSQLite

/// A statement about a list of rows, made for a few lengths of the list: so it stays prepared, and SQLite does once for
/// many rows what it does for every statement. Above all, an index whose condition is `state IN (2, 4, 5)` makes that
/// list anew in each statement: for reports that took as long as the change of the row.
struct ListedStatement: Sendable {
    /// The lengths; a list is divided into as few parts as these permit.
    static let sizes = [64, 16, 4, 1]

    private let texts: [String]

    /// Makes the texts.
    ///
    /// - Parameter text: the statement with this list of parameters, the last ones in it: `(?, ?)`.
    init(_ text: (String) -> String) {
        texts = Self.sizes.map { size in
            text("(\([String](repeating: "?", count: size).joined(separator: ", ")))")
        }
    }

    /// Runs it for all rows, in their order.
    ///
    /// - Parameters:
    ///   - rows: any number.
    ///   - connection: within a transaction.
    ///   - values: of the parameters before the list.
    /// - Returns: how many rows were changed.
    /// - Throws: ``LectureError``.
    @discardableResult
    func execute(_ rows: [some SQLiteBindable], on connection: Connection, _ values: [SQLiteValue]) throws -> Int {
        var changed = 0
        try divide(rows.map(\.sqliteValue)) { text, part in
            changed += try connection.execute(text, values: values + part)
        }
        return changed
    }

    /// Adds up what a query counts.
    ///
    /// - Parameters:
    ///   - rows: any number.
    ///   - connection: where they are.
    ///   - values: of the parameters before the list.
    /// - Returns: the sum of the first columns.
    /// - Throws: ``LectureError``.
    func count(_ rows: [some SQLiteBindable], on connection: Connection, _ values: [SQLiteValue]) throws -> Int {
        var sum = 0
        try divide(rows.map(\.sqliteValue)) { text, part in
            sum += try connection.first(text, values: values + part) { $0.int(0) } ?? 0
        }
        return sum
    }

    private func divide(_ rows: [SQLiteValue], _ body: (String, ArraySlice<SQLiteValue>) throws -> Void) throws {
        var begin = 0
        for (size, text) in zip(Self.sizes, texts) {
            while rows.count - begin >= size {
                try body(text, rows[begin..<begin + size])
                begin += size
            }
        }
    }
}
