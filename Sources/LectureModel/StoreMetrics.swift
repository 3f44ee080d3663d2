/// The figures of a store at one moment, for monitoring: numbers, sizes and times, no titles, URLs, keys or learners.
public struct StoreMetrics: Sendable, Hashable {
    /// The lectures of one course in one state.
    public struct Group: Sendable, Hashable {
        /// The course; empty for lectures without one; nil for all that have no group of their own, together.
        public var course: String?
        /// Their state.
        public var state: ItemState
        /// How many.
        public var contents: Int
        /// Their verified bytes that are durable.
        public var committedBytes: Int64

        /// Creates a group.
        package init(course: String?, state: ItemState, contents: Int, committedBytes: Int64) {
            (self.course, self.state, self.contents) = (course, state, contents)
            self.committedBytes = committedBytes
        }
    }

    /// The licences of the store's lectures.
    public struct Licences: Sendable, Hashable {
        /// How many are granted.
        public var granted = 0
        /// How many of them have ended.
        public var ended = 0
        /// How many of them have not ended but must be checked by their server before the next play.
        public var checkOverdue = 0
        /// How many of them will have ended in so many days, by days: 1, 7 and 30. Each includes those before it.
        public var ending: [Int: Int] = [:]

        /// No licences.
        package init() {}

        /// The times that ``ending`` is about, in days.
        package static let days = [1, 7, 30]
    }

    /// What waits for one target of learning reports.
    public struct Target: Sendable, Hashable {
        /// Its number in this store; nil for reports that have no target yet.
        public var number: Int64?
        /// Its format; nil without a target.
        public var format: ReportFormat?
        /// Its host, with the port where it is not the scheme's own; empty without a target.
        public var host: String
        /// Reports that wait or are being sent.
        public var waiting = 0
        /// Reports that were refused for good.
        public var dead = 0
        /// When the oldest waiting one was made; nil when none waits.
        public var oldestWaiting: Timestamp?

        /// Creates a target for which nothing waits.
        package init(number: Int64?, format: ReportFormat?, host: String) {
            (self.number, self.format, self.host) = (number, format, host)
        }
    }

    /// What waits for one endpoint of a webhook.
    public struct Webhook: Sendable, Hashable {
        /// Its number in this store.
        public var number: Int64
        /// Its host, with the port where it is not the scheme's own.
        public var host: String
        /// Events that wait or are being sent.
        public var waiting = 0
        /// Events that were refused for good.
        public var dead = 0
        /// Events that arrived.
        public var delivered = 0
        /// Events that were given up because of their age or number.
        public var expired = 0
        /// When the event happened that waits longest; nil when none waits.
        public var oldestWaiting: Timestamp?
        /// Whether its receiver has switched it off.
        public var isGone = false

        /// Creates an endpoint for which nothing waits.
        package init(number: Int64, host: String) { (self.number, self.host) = (number, host) }
    }

    /// Space on the disk, in bytes.
    public struct Space: Sendable, Hashable {
        /// Free for unprivileged users on the store's file system; nil when unknown.
        public var free: Int64?
        /// The size of that file system; nil when unknown.
        public var size: Int64?
        /// What downloads leave free.
        public var reserve: Int64 = 0
        /// What lectures may take together; nil for no limit.
        public var quota: Int64?
        /// What lectures take: their verified bytes.
        public var used: Int64 = 0
        /// What the sealed cache of streams takes.
        public var streamCache: Int64 = 0
        /// The size of the database without its log.
        public var database: Int64 = 0

        /// Nothing is known.
        package init() {}
    }

    /// A task whose successes the store remembers.
    public enum Task: String, Sendable, CaseIterable {
        /// A lecture was completed.
        case precache
        /// A licence server has permitted a licence.
        case licenceRenewal = "licence_renewal"
        /// A learning report was delivered. The store forgets it after its time (`lms.keep_days`).
        case reportDelivery = "report_delivery"
        /// A copy was made with `store backup` and is still recorded.
        case backup
        /// A course list was read as a whole.
        case courseList = "course_list"
    }

    /// The wall clock when the figures were read.
    public var read: Timestamp
    /// The lectures, by course and state. Only groups that have lectures.
    public var groups: [Group] = []
    /// Stopped lectures by reason.
    public var stops: [StopReason: Int] = [:]
    /// How many courses there are.
    public var courses = 0
    /// Lectures by the number of their last error.
    public var errors: [Int: Int] = [:]
    /// Licences; nil where they cannot be evaluated.
    public var licences: Licences?
    /// All targets of learning reports.
    public var targets: [Target] = []
    /// All endpoints of webhooks.
    public var webhooks: [Webhook] = []
    /// Space.
    public var space = Space()
    /// When each task last succeeded; a task that never did is missing.
    public var lastSuccesses: [Task: Timestamp] = [:]

    /// The figures of an empty store.
    package init(read: Timestamp) { self.read = read }
}
