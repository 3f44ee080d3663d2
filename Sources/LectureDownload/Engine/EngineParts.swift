import LectureModel

/// Work that is done at most so often.
struct Pace: Sendable, Equatable {
    private var last: BootInstant?

    /// Whether it is due; then it counts as done.
    mutating func isDue(every interval: Duration, at boot: BootInstant) -> Bool {
        if let last, boot - last < interval { return false }
        last = boot
        return true
    }
}

/// Work that every step may do, each at its own pace.
struct Paces: Sendable, Equatable {
    var chores = Pace()
    var progress = Pace()
    var flushes = Pace()
    var pieces = Pace()
    /// When there was something to do; nil before the first step.
    var lastWork: BootInstant?
    /// How long there is nothing to do before the machine sleeps until something happens.
    static let untilAsleep = Duration.seconds(5)
}

/// What the timetable and the settings allow.
struct RateInForce: Sendable, Equatable {
    /// A limit for all transfers together.
    struct Limit: Sendable, Equatable {
        /// Nil for none.
        var bytesPerSecond: Int?
    }

    /// The limit that the transport has; nil before it got one.
    private var limit: Limit?
    /// When the timetable allows downloads again; nil while it allows them.
    private(set) var closedUntil: Timestamp?

    /// The settings have changed, so that the transport gets it again.
    mutating func forget() { limit = nil }

    /// Follows the timetable.
    ///
    /// - Parameters:
    ///   - settings: the timetable and the limit.
    ///   - minute: of the week.
    ///   - now: the wall clock.
    /// - Returns: a new limit for the transport; nil when it stays.
    mutating func follow(_ settings: DownloadSettings, atMinuteOfWeek minute: Int, now: Timestamp) -> Limit? {
        let rate = settings.timetable?.rate(atMinuteOfWeek: minute) ?? .full
        var bound = settings.rateLimit
        closedUntil = nil
        switch rate {
        case .full: break
        case .limited(let bytes): bound = min(bound ?? .max, Int(clamping: bytes))
        case .off:
            let minutes = settings.timetable?.nextChange(after: minute) ?? Timetable.minutesOfWeek
            closedUntil = Timestamp(milliseconds: now.milliseconds / 60_000 * 60_000) + .seconds(minutes * 60)
        }
        let new = Limit(bytesPerSecond: bound)
        if limit == new { return nil }
        limit = new
        return new
    }
}

/// Lectures that are being removed.
struct Removals: Sendable {
    /// One whose files are being deleted.
    private struct Removal {
        var lease: ContentLease
        var key: ContentKey
    }

    /// The delay used after any disk error; an immediate retry would keep the engine from becoming idle.
    private static let pause = Duration.seconds(30)
    private var running: [ContentID: Removal] = [:]
    /// Items whose files could not be deleted, and when that is tried again.
    private var undeletable: [ContentID: BootInstant] = [:]

    /// How many are running.
    var count: Int { running.count }

    /// How many have to wait. Items whose time has come are forgotten.
    mutating func waiting(at boot: BootInstant) -> Int {
        undeletable = undeletable.filter { $0.value > boot }
        return undeletable.count
    }

    /// Whether the removal of a lecture may begin.
    func mayBegin(_ id: ContentID) -> Bool { running[id] == nil && undeletable[id] == nil }

    /// Its files are being deleted.
    mutating func began(_ id: ContentID, _ lease: ContentLease, _ key: ContentKey) {
        running[id] = Removal(lease: lease, key: key)
    }

    /// The deletion is over; returns the right to change the lecture. Nil after a failed commit.
    mutating func ended(_ id: ContentID) -> (lease: ContentLease, key: ContentKey)? {
        running.removeValue(forKey: id).map { ($0.lease, $0.key) }
    }

    /// The files could not be deleted.
    mutating func failed(_ id: ContentID, at boot: BootInstant) { undeletable[id] = boot + Self.pause }

    /// A commit failed: what was begun is read from the store again.
    mutating func collapse() { running = [:] }
}

/// Files of the media directory that no row refers to. They are looked for once in an engine's life, and again after a
/// failed commit: a crash between the last row and the last file of a removal leaves one.
struct Orphans: Sendable, Equatable {
    /// What a step looks up, so that a large store does not delay a commit.
    private static let sliceCount = 500
    private static let suffix = ".part"
    private var hasListed = false
    /// Files that were not yet compared with the rows.
    private var unchecked: [String] = []
    /// The directory is being listed, or orphans deleted.
    private var isBusy = false

    /// For the count of what is in work.
    var activeCount: Int { unchecked.count + (isBusy ? 1 : 0) }

    /// Whether the next step has files to look up.
    var hasUnchecked: Bool { !unchecked.isEmpty }

    /// Whether the directory is to be listed, which happens once.
    mutating func needsList() -> Bool {
        guard !hasListed else { return false }
        (hasListed, isBusy) = (true, true)
        return true
    }

    /// The files of the directory.
    mutating func listed(_ paths: [String]) { (unchecked, isBusy) = (paths, false) }

    /// Takes the final names of some files, to be compared with the rows.
    mutating func takeSlice() -> [String] {
        let slice = unchecked.suffix(Self.sliceCount)
        unchecked.removeLast(slice.count)
        return slice.map { $0.hasSuffix(Self.suffix) ? String($0.dropLast(Self.suffix.count)) : $0 }
    }

    /// Orphans are being deleted.
    mutating func deletes() { isBusy = true }

    /// They are deleted.
    mutating func deleted() { isBusy = false }
}
