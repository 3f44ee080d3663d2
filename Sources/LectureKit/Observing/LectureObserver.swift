public import LectureModel

/// Takes log records and metrics of a ``LectureManager``, for instance to hand them to swift-log and swift-metrics.
///
/// It is set in ``LectureConfiguration/observer``. Its methods are called one after the other, in the order in which
/// things happened, on a queue of their own: one that is slow holds no download up. When too many records wait, log
/// records are dropped and counted (`lecturekit_log_records_dropped_total`); counters stay exact. When
/// ``LectureManager/close()`` returns, everything has been handed over.
///
/// No record and no metric holds a secret: URLs come without user, query and fragment, errors without what they were
/// about. Header fields, keys, titles and learners are in none of them.
public protocol LectureObserver: Sendable {
    /// Takes a log record.
    ///
    /// - Parameter record: what happened.
    func log(_ record: LectureLogRecord)
    /// Takes a change of a metric.
    ///
    /// - Parameter metric: by how much a counter rises, or what a gauge shows.
    func record(_ metric: LectureMetric)
}

/// Something that happened, for a log.
public struct LectureLogRecord: Sendable, Hashable {
    /// How much it matters. The names are those of swift-log.
    public enum Level: String, Sendable, CaseIterable {
        /// Each request.
        case debug
        /// What goes as it should.
        case info
        /// What an operator may want to know.
        case notice
        /// What went wrong and is tried again, or is decided elsewhere.
        case warning
        /// What went wrong and stays so until somebody acts.
        case error
    }

    /// What it is about.
    public enum Category: String, Sendable, CaseIterable {
        /// The database: migrations, and whatever keeps it from being written.
        case store
        /// HTTP requests, of whatever kind.
        case request
        /// Downloads, and whether complete lectures are still what their sources have.
        case download
        /// Licences and their renewal.
        case licence
        /// Learning reports.
        case report
        /// What ``LectureManager/verify(_:_:)`` found.
        case verification
    }

    /// How much it matters.
    public var level: Level
    /// When it happened, by the wall clock.
    public var time: Timestamp
    /// What it is about.
    public var category: Category
    /// A sentence that is the same for every occurrence; what differs is in ``fields``.
    public var message: String
    /// What differs, by names in `snake_case`: `key`, `url`, `status`, `error` …
    public var fields: [String: String]

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - level: how much it matters.
    ///   - time: when it happened.
    ///   - category: what it is about.
    ///   - message: a constant sentence.
    ///   - fields: what differs.
    public init(
        level: Level, time: Timestamp, category: Category, message: String, fields: [String: String] = [:]
    ) {
        (self.level, self.time, self.category) = (level, time, category)
        (self.message, self.fields) = (message, fields)
    }
}

/// A change of a metric.
public struct LectureMetric: Sendable, Hashable {
    /// How values of one metric are put together.
    public enum Kind: String, Sendable, CaseIterable {
        /// They are added up; none is negative.
        case counter
        /// The last one counts.
        case gauge
    }

    /// How values are put together.
    public var kind: Kind
    /// The name, for instance `lecturekit_downloads_total`; all of them are in docs/use-in-your-package.md.
    public var name: String
    /// By how much a counter rises, or what a gauge shows.
    public var value: Int64
    /// What is counted apart. A metric always has the same labels, and few values of each.
    public var labels: [String: String]

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - kind: how values are put together.
    ///   - name: the metric's name.
    ///   - value: by how much a counter rises, or what a gauge shows.
    ///   - labels: what is counted apart.
    public init(kind: Kind, name: String, value: Int64, labels: [String: String] = [:]) {
        (self.kind, self.name, self.value, self.labels) = (kind, name, value, labels)
    }
}
