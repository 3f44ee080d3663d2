import LectureModel
import LectureSQLite

/// How one page of a list is read: the index that is scanned, the conditions, the order.
///
/// A page must not sort 100,000 rows to show 50. There are two ways to avoid that, and the plan names its index, so
/// that SQLite uses the intended one:
/// - scan an index that has the wanted order and stop when the page is full;
/// - where a condition leaves few rows (at most ``few``), find those by the condition's index and sort them.
struct ContentList {
    /// How many rows may be sorted for a page: about two milliseconds.
    static let few = 2000

    /// The sort key of lectures without a deadline: the latest possible moment. Written as in the index.
    private static let deadline = "coalesce(content.deadline_ms, 9223372036854775807)"

    /// The name of the index; nil scans the table in the order of registration.
    let index: String?
    let conditions: [String]
    let values: [SQLiteValue]
    /// The columns of the order; the last one, the row's id, makes it total.
    private(set) var columns: [OrderColumn]

    private var order: String { Self.order(of: columns[...]) }

    /// Plans a list.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: their order.
    ///   - connection: to count the rows that match a condition.
    /// - Throws: ``LectureError``.
    init(_ filter: ContentFilter, sort: ContentSort, on connection: Connection) throws {
        var conditions: [String] = []
        var values: [SQLiteValue] = []
        // Literals, since a partial index is only used for a state that SQLite sees when it plans.
        let states = filter.states.map { String($0.rawValue) }.sorted()
        if !filter.conditions.isEmpty {
            conditions.append("(\(Self.alternatives(filter).joined(separator: " OR ")))")
        } else if states.count == 1 {
            conditions.append("content.state = \(states[0])")
        } else if states.count > 1 {
            conditions.append("content.state IN (\(states.joined(separator: ", ")))")
        }
        for (column, value) in Self.equalities(filter) {
            conditions.append("content.\(column) = ?")
            values.append(value)
        }
        if let since = filter.completedSince {
            conditions.append("content.completed_ms >= ?")
            values.append(since.sqliteValue)
        }
        if let before = filter.completedBefore {
            conditions.append("content.completed_ms < ?")
            values.append(before.sqliteValue)
        }
        if let before = filter.expiresBefore {
            conditions.append("\(Self.deadline) < ?")
            values.append(before.sqliteValue)
        }
        if let search = filter.search {
            // The index by title has the text, so that SQLite reads no row that does not match.
            conditions.append("content.title LIKE ? ESCAPE '\\'")
            values.append("%\(Self.escaped(search))%".sqliteValue)
        }
        // No index by state covers rows that match for another reason, nor does one of that reason those by state.
        var filter = filter
        if !filter.conditions.isEmpty, !filter.states.isEmpty { (filter.states, filter.conditions) = ([], []) }
        // Where nothing is complete, all have the same time, and equal ones are in the order of registration.
        let nothingIsComplete = !filter.states.isEmpty && !filter.states.contains(.completed)
        var sort = sort == .downloaded && nothingIsComplete ? .added : sort
        // Within one folder only the titles differ.
        if sort == .folder, filter.folder != nil { sort = .title }
        index = try Self.index(filter, sort: sort, on: connection)
        if index == "content_completed", !conditions.contains(where: { $0.hasPrefix("content.completed_ms") }),
            filter.states == [.completed]
        {
            conditions.append("content.completed_ms IS NOT NULL")
        }
        self.conditions = conditions
        self.values = values
        columns = Self.order(sort)
    }

    /// The statement for the columns of a page.
    ///
    /// - Parameters:
    ///   - columns: what is read.
    ///   - join: further tables, joined so that every lecture stays exactly one row.
    ///   - page: the page, when it is known: rows before a page are skipped before they are joined, and the few of the
    ///     page are sorted again.
    /// - Returns: SQL that takes ``values``, the limit and the offset.
    func sql(columns: String, join: String = "", page: ContentPage = ContentPage()) -> String {
        let ending = "\(condition) ORDER BY \(order) LIMIT ? OFFSET ?"
        guard page.offset > 0, page.limit <= Self.few else {
            return "SELECT \(columns) FROM content\(source)\(join)\(ending)"
        }
        return """
            SELECT \(columns) FROM (SELECT content.id AS id FROM content\(source)\(ending)) AS page
            CROSS JOIN content ON content.id = page.id\(join) ORDER BY \(order)
            """
    }

    /// The conditions of what follows a place in this list, one after the other: first the rows that differ from it
    /// only in the last column of the order, then those that also differ in the one before, and so on. Each is one
    /// range of an index, which no single condition would be where the columns have different directions.
    ///
    /// - Parameter place: of a list with the same filter and order; nil for the beginning.
    /// - Returns: at least one.
    func parts(after place: ContentPlace?) -> [ContentListPart] {
        guard let place else { return [ContentListPart([], order: order)] }
        let known = Array(zip(columns, place.values))
        return known.indices.reversed().flatMap { depth in
            let same = known[..<depth].map { $0.equals($1) }
            let (column, value) = known[depth]
            // Columns with one value are left out: SQLite does not see that an expression has one, and would sort.
            return column.follows(value).map { ContentListPart(same + [$0], order: Self.order(of: columns[depth...])) }
        }
    }

    /// The statement for a part of the list.
    ///
    /// - Parameters:
    ///   - part: of ``parts(after:)``.
    ///   - columns: what is read; with ``ContentColumns/versionJoin``.
    /// - Returns: SQL that takes ``values``, those of the part, the limit and the offset.
    func sql(_ part: ContentListPart, columns: String) -> String {
        let all = conditions + part.conditions
        let condition = all.isEmpty ? "" : " WHERE \(all.joined(separator: " AND "))"
        let from = "content\(source)\(ContentColumns.versionJoin)"
        return "SELECT \(columns) FROM \(from)\(condition) ORDER BY \(part.order) LIMIT ? OFFSET ?"
    }

    /// The place of a row in this list.
    func place(of content: ContentID, on connection: Connection) throws -> ContentPlace? {
        let list = columns.map(\.expression).joined(separator: ", ")
        return try connection.first("SELECT \(list) FROM content WHERE content.id = ?", content) { row in
            ContentPlace(values: (0..<row.columnCount).map { row.value($0) })
        }
    }

    /// The statement that counts the whole list. Its index is left to SQLite, since no order is needed.
    var countSQL: String { "SELECT count(*) FROM content\(condition)" }

    /// The same list from its end.
    var reversed: Self {
        var list = self
        list.columns = columns.map {
            OrderColumn($0.expression, isDescending: !$0.isDescending, mayBeNull: $0.mayBeNull)
        }
        return list
    }

    /// A text without the wildcards of LIKE.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if ["%", "_", "\\"].contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
    }

    /// How the table is scanned.
    private var source: String { index.map { " INDEXED BY \($0)" } ?? " NOT INDEXED" }

    private var condition: String {
        conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    }

    /// States and conditions, one of which must be true.
    private static func alternatives(_ filter: ContentFilter) -> [String] {
        let states = filter.states.map { "content.state = \(sql: $0)" }
        let conditions = filter.conditions.map { condition in
            switch condition {
            case .outdated:
                """
                content.id IN (SELECT version.content_id FROM version INDEXED BY version_outdated \
                WHERE version.state = \(sql: VersionState.current) AND version.is_outdated = 1)
                """
            case .damaged: "content.state <> \(sql: ItemState.completed) AND \(hasDamage)"
            }
        }
        return (states + conditions).sorted()
    }

    /// The errors of a damaged lecture.
    private static let hasDamage =
        "content.error_code IN (\(LectureError.Code.damaged.number), \(LectureError.Code.mediaMissing.number))"

    private static func equalities(_ filter: ContentFilter) -> [(column: String, value: SQLiteValue)] {
        var list: [(column: String, value: SQLiteValue)] = []
        if let type = filter.type { list.append(("content_type", type.sqliteValue)) }
        if let course = filter.course { list.append(("course", course.sqliteValue)) }
        if let folder = filter.folder { list.append(("folder", folder.sqliteValue)) }
        return list
    }

    private static func order(of columns: ArraySlice<OrderColumn>) -> String {
        columns.map(\.ordering).joined(separator: ", ")
    }

    private static func order(_ sort: ContentSort) -> [OrderColumn] {
        let id = OrderColumn("content.id")
        return switch sort {
        case .added: [id]
        case .title: [OrderColumn("content.title COLLATE NOCASE"), id]
        case .downloaded: [OrderColumn("content.completed_ms", isDescending: true, mayBeNull: true), id]
        case .size: [OrderColumn("content.bytes_total", isDescending: true, mayBeNull: true), id]
        case .priority:
            [OrderColumn("content.priority", isDescending: true), OrderColumn("content.position"), id]
        case .expiry: [OrderColumn(deadline), id]
        // Written as in the index.
        case .folder:
            [
                OrderColumn("content.folder = ''"), OrderColumn("content.folder"),
                OrderColumn("content.title COLLATE NOCASE"), id,
            ]
        }
    }

    private static func index(_ filter: ContentFilter, sort: ContentSort, on connection: Connection) throws -> String? {
        if let narrow = try narrowIndex(filter, sort: sort, on: connection) { return narrow }
        if filter.states.count == 1, let state = filter.states.first, state.isSettled {
            switch sort {
            case .added: return "content_state"
            case .title: return "content_state_title"
            case .size: return "content_state_size"
            case .priority: return "content_state_priority"
            case .downloaded: return "content_completed"
            case .expiry: return "content_deadline"
            case .folder: return "content_folders_first"
            }
        }
        switch sort {
        case .added: return nil
        case .title:
            if filter.course != nil { return "content_course" }
            return filter.folder == nil ? "content_title" : "content_folder"
        case .downloaded: return "content_completed"
        case .size: return "content_size"
        case .priority: return "content_priority"
        case .expiry: return "content_deadline"
        case .folder: return "content_folders_first"
        }
    }

    /// The index of the condition that matches few rows; nil when none does. Counting stops at the limit.
    private static func narrowIndex(
        _ filter: ContentFilter, sort: ContentSort, on connection: Connection
    ) throws -> String? {
        for (column, value) in equalities(filter) {
            let index = column == "content_type" ? column : "content_\(column)"
            if try isFew("INDEXED BY \(index) WHERE \(column) = ?", [value], on: connection) { return index }
        }
        if let since = filter.completedSince?.sqliteValue,
            try isFew("INDEXED BY content_completed WHERE completed_ms >= ?", [since], on: connection)
        {
            return "content_completed"
        }
        if let before = filter.expiresBefore?.sqliteValue,
            try isFew("INDEXED BY content_deadline WHERE \(deadline) < ?", [before], on: connection)
        {
            return "content_deadline"
        }
        if filter.states.isEmpty, filter.conditions == [.damaged],
            try isFew("INDEXED BY content_error WHERE \(hasDamage)", [], on: connection)
        {
            return "content_error"
        }
        // A resting state has an index for nearly every order, which needs no counting.
        let isOrderedByState = sort != .expiry && sort != .folder
        let hasOwnOrder = isOrderedByState && filter.states.count == 1 && filter.states.allSatisfy(\.isSettled)
        if filter.states.isEmpty || hasOwnOrder { return nil }
        let states = filter.states.map { String($0.rawValue) }.joined(separator: ", ")
        let count =
            try connection.first("SELECT sum(contents) FROM tally WHERE state IN (\(states))") { $0.int(0) } ?? 0
        return count <= few ? "content_state" : nil
    }

    private static func isFew(_ condition: String, _ values: [SQLiteValue], on connection: Connection) throws -> Bool {
        let count = try connection.first(
            "SELECT count(*) FROM (SELECT 1 FROM content \(condition) LIMIT \(few + 1))", values: values
        ) { $0.int(0) }
        return (count ?? 0) <= few
    }
}

/// Where a page of a list ended: the values of its last row in the columns of the order. The next page begins behind
/// it, however many rows have come or gone in front of it.
package struct ContentPlace: Sendable, Hashable {
    let values: [SQLiteValue]
}

/// A part of a list: further conditions, the values of their parameters, and its order.
struct ContentListPart {
    let conditions: [String]
    let values: [SQLiteValue]
    let order: String

    init(_ comparisons: [OrderComparison], order: String) {
        self.order = order
        conditions = comparisons.map(\.condition)
        values = comparisons.flatMap(\.values)
    }
}

/// A condition about a column of an order.
struct OrderComparison {
    let condition: String
    let values: [SQLiteValue]
}

/// A column of an order.
struct OrderColumn {
    /// The column, written as in its index.
    let expression: String
    let isDescending: Bool
    let mayBeNull: Bool

    init(_ expression: String, isDescending: Bool = false, mayBeNull: Bool = false) {
        (self.expression, self.isDescending, self.mayBeNull) = (expression, isDescending, mayBeNull)
    }

    /// As a term of ORDER BY.
    var ordering: String { isDescending ? "\(expression) DESC" : expression }

    /// The rows with the same value, which may be NULL. With `=` SQLite would also put the value of one column into the
    /// expression of another, which then no longer is that of the index.
    func equals(_ value: SQLiteValue) -> OrderComparison {
        OrderComparison(condition: "(\(expression)) IS ?", values: [value])
    }

    /// The rows behind those with a value. NULL is the smallest value of SQLite, and no comparison is true for it.
    func follows(_ value: SQLiteValue) -> [OrderComparison] {
        let nulls = OrderComparison(condition: "(\(expression)) IS NULL", values: [])
        switch (isDescending, value == .null) {
        case (true, true): return []
        case (false, true): return [OrderComparison(condition: "(\(expression)) IS NOT NULL", values: [])]
        case (true, false):
            let smaller = OrderComparison(condition: "(\(expression)) < ?", values: [value])
            return mayBeNull ? [smaller, nulls] : [smaller]
        case (false, false): return [OrderComparison(condition: "(\(expression)) > ?", values: [value])]
        }
    }
}

extension ItemState {
    /// Whether lectures stay in this state; only a few at a time are in the states between.
    var isSettled: Bool {
        switch self {
        case .queued, .completed, .stopped, .failed: true
        case .loading, .downloading, .verifying, .removing: false
        }
    }
}
