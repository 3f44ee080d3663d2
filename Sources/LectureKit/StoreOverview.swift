import LectureFiles
public import LectureModel
import LectureStore

/// A summary of the store and what needs attention.
public struct StoreOverview: Sendable, Hashable {
    /// How much space a store has.
    public struct Space: Sendable, Hashable {
        /// Free bytes on its file system; nil when unknown.
        public var free: Int64?
        /// Bytes that downloads leave free.
        public var reserve: Int64
        /// Bytes that its lectures may take together; nil for no limit.
        public var quota: Int64?
        /// Bytes that its lectures take.
        public var used: Int64

        /// Creates the numbers.
        package init(free: Int64?, reserve: Int64, quota: Int64?, used: Int64) {
            (self.free, self.reserve, self.quota, self.used) = (free, reserve, quota, used)
        }

        /// Whether downloads stop for lack of space, or are about to.
        public var isShort: Bool {
            (free.map { $0 <= reserve } ?? false) || (quota.map { used >= $0 } ?? false)
        }
    }

    /// Lectures and bytes by state.
    public var status: StoreStatus
    /// Lectures that play an older version than requested.
    public var outdated = 0
    /// Lectures whose file is missing or damaged.
    public var damaged = 0
    /// Space on the disk.
    public var space: Space
    /// Lectures whose licence ends, or has to be checked, within the requested time; nil where licences cannot be
    /// evaluated.
    public var licencesDue: Int?
    /// Learning reports that have not reached their LMS yet.
    public var openReports = 0
    /// Learning reports that an LMS has refused for good.
    public var deadReports = 0
    /// Running processes.
    public var processes: [StoreProcess] = []

    /// Creates the overview for a missing store.
    ///
    /// - Parameters:
    ///   - reserve: bytes that downloads leave free.
    ///   - quota: bytes that lectures may take together; nil for no limit.
    public init(reserve: Int64, quota: Int64?) {
        self.init(status: StoreStatus(), space: Space(free: nil, reserve: reserve, quota: quota, used: 0))
    }

    /// Starts with what is always known.
    package init(status: StoreStatus, space: Space) { (self.status, self.space) = (status, space) }
}

extension LectureManager {
    /// A summary of the store.
    ///
    /// - Parameter time: licences that end or have to be checked within this time count as due.
    /// - Returns: the overview.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func overview(licencesWithin time: Duration = .seconds(7 * 86_400)) throws(LectureError) -> StoreOverview {
        try LectureError.only {
            let status = try queries.status()
            let free = (try? files.freeBytes()).map { Int64(clamping: $0) }
            var overview = StoreOverview(
                status: status,
                space: StoreOverview.Space(
                    free: free, reserve: configuration.reserveBytes, quota: configuration.quotaBytes,
                    used: status.committedBytes))
            var filter = ContentFilter()
            filter.conditions = [.outdated]
            overview.outdated = try queries.count(filter)
            filter.conditions = [.damaged]
            overview.damaged = try queries.count(filter)
            // Every command about licences reports an unsettled device; the overview shows the rest.
            if let judged = try? self.licences.assumeIsolated({ try $0.time() }) {
                var due = ContentFilter()
                due.states = [.completed]
                due.expiresBefore = judged + time
                overview.licencesDue = try queries.count(due)
                // In a store that is not what this device last wrote every licence needs its server.
                if try licensing.judge().suspicion != nil {
                    overview.licencesDue = try licensing.queriesOfLicences().licenceCount(deadlineBefore: nil)
                }
            }
            let reports = try self.reports.assumeIsolated { try $0.summary() }.counts
            overview.openReports = (reports[.pending] ?? 0) + (reports[.leased] ?? 0)
            overview.deadReports = reports[.dead] ?? 0
            overview.processes = try processes()
            return overview
        }
    }
}
