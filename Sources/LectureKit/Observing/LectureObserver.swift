public import LectureModel

/// Receives log records and metrics of a ``LectureManager``, for instance to hand them to swift-log and swift-metrics.
///
/// It is set in ``LectureConfiguration/observer``. Its methods are called one after the other, in the order in which
/// things happened, on a queue of their own: a slow one delays no download. When too many records wait, log records are
/// dropped and counted (`lecturekit_log_records_dropped_total`); counters stay exact. When ``LectureManager/close()``
/// returns, everything has been delivered.
///
/// No record and no metric holds a secret: URLs come without user, query and fragment, errors without their details.
/// They never contain header fields, keys, titles or learners.
public protocol LectureObserver: Sendable {
    /// Receives a log record.
    ///
    /// - Parameter record: what happened.
    func log(_ record: LectureLogRecord)
    /// Receives a change of a metric.
    ///
    /// - Parameter metric: by how much a counter rises, or what a gauge shows.
    func record(_ metric: LectureMetric)
}

/// Something that happened, for a log.
public struct LectureLogRecord: Sendable, Hashable {
    /// How much it matters. The names are those of swift-log.
    public enum Level: String, Sendable, CaseIterable {
        /// A single request.
        case debug
        /// Normal operation.
        case info
        /// What an operator may want to know.
        case notice
        /// A failure that is retried, or is decided elsewhere.
        case warning
        /// A failure that stays until someone acts.
        case error
    }

    /// What it is about.
    public enum Category: String, Sendable, CaseIterable {
        /// The database: migrations, and anything that prevents writing.
        case store
        /// HTTP requests of any kind.
        case request
        /// Downloads, and checks of complete lectures against their sources.
        case download
        /// Licences and their renewal.
        case licence
        /// Learning reports.
        case report
        /// What ``LectureManager/Contents/verify(_:options:)`` found.
        case verification
    }

    /// How much it matters.
    public var level: Level
    /// When it happened, by the wall clock.
    public var time: Timestamp
    /// What it is about.
    public var category: Category
    /// A constant sentence; what varies is in ``fields``.
    public var message: String
    /// What varies, by names in `snake_case`: `key`, `url`, `status`, `error` …
    public var fields: [String: String]

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - level: how much it matters.
    ///   - time: when it happened.
    ///   - category: what it is about.
    ///   - message: a constant sentence.
    ///   - fields: what varies.
    public init(
        level: Level, time: Timestamp, category: Category, message: String, fields: [String: String] = [:]
    ) {
        (self.level, self.time, self.category) = (level, time, category)
        (self.message, self.fields) = (message, fields)
    }
}

/// A change of a metric.
public struct LectureMetric: Sendable, Hashable {
    /// How values of one metric are combined.
    public enum Kind: String, Sendable, CaseIterable {
        /// They are added; none is negative.
        case counter
        /// The last one counts.
        case gauge
    }

    /// How values are combined.
    public var kind: Kind
    /// The name, for instance `lecturekit_downloads_total`; all of them are in docs/use-in-your-package.md.
    public var name: String
    /// By how much a counter rises, or what a gauge shows.
    public var value: Int64
    /// What is counted separately. A metric always has the same labels, and few values of each.
    public var labels: [String: String]

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - kind: how values are combined.
    ///   - name: the metric's name.
    ///   - value: by how much a counter rises, or what a gauge shows.
    ///   - labels: what is counted separately.
    public init(kind: Kind, name: String, value: Int64, labels: [String: String] = [:]) {
        (self.kind, self.name, self.value, self.labels) = (kind, name, value, labels)
    }
}
