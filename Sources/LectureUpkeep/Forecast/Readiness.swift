import LectureFormats
public import LectureKit
public import LectureModel

/// What a forecast goes by of one lecture.
public struct PlannedLecture: Sendable, Hashable {
    /// Its key; nil for one that is not in the store and whose key only its gateway knows.
    public var key: ContentKey?
    /// Its title, or its URL.
    public var title: String
    /// Whether it is complete.
    public var isComplete = false
    /// Bytes that are left; nil when its size is unknown.
    public var bytesLeft: Int64?
    /// Its size; nil when unknown.
    public var total: Int64?
    /// Its server.
    public var origin = ""
    /// No attempt before this time.
    public var notBefore: Timestamp?
    /// Why it is not downloaded; nil when it is.
    public var hindrance: Hindrance?
    /// What its licence permits; nil where it needs none, or has none yet.
    public var licence: LicencePolicy?
    /// Whether its licence can permit a play again.
    public var standing = LicenceStanding.unneeded

    /// A lecture that nothing downloads by itself.
    public struct Hindrance: Sendable, Hashable {
        /// What is in the way.
        public var kind: ReadinessObstacle.Kind
        /// What happened, a sentence.
        public var message: String
        /// What to do, a sentence.
        public var remedy: String

        /// Creates a hindrance.
        public init(_ kind: ReadinessObstacle.Kind, _ message: String, remedy: String) {
            (self.kind, self.message, self.remedy) = (kind, message, remedy)
        }
    }

    /// Creates a lecture of unknown size.
    public init(key: ContentKey?, title: String) { (self.key, self.title) = (key, title) }
}

/// What is in the way of lectures that should be there in time.
public struct ReadinessObstacle: Sendable, Hashable {
    /// Its kind.
    public enum Kind: String, Sendable, CaseIterable {
        /// No speed is known.
        case speed
        /// At the known speed it takes longer.
        case time
        /// The timetable leaves too little time.
        case timetable
        /// The disk has too little space.
        case space
        /// The quota leaves too little.
        case quota
        /// A person has paused or cancelled it.
        case paused
        /// It has failed, or stopped for a reason that stays.
        case failed
        /// Its licence does not permit a play then.
        case licence
    }

    /// Its kind.
    public let kind: Kind
    /// The lecture; nil for all together.
    public let key: ContentKey?
    /// What is in the way, a sentence.
    public let message: String
    /// What to do about it, a sentence.
    public let remedy: String

    init(_ kind: Kind, _ key: ContentKey? = nil, _ message: String, remedy: String) {
        (self.kind, self.key, self.message, self.remedy) = (kind, key, message, remedy)
    }
}

/// What downloads may use.
public struct ReadinessLimits: Sendable, Hashable {
    /// Lectures at once.
    public var jobs = 4
    /// What may be used when, from now on.
    public var windows: [PaceWindow]
    /// Bytes that the disk has without its reserve; nil when unknown.
    public var space: Int64?
    /// Bytes that the quota leaves; nil for no quota.
    public var quota: Int64?
    /// Bytes that accepted rules of retention would free.
    public var prunable: Int64 = 0

    /// Creates limits without a bound of space.
    ///
    /// - Parameter windows: what may be used when, from now on.
    public init(windows: [PaceWindow]) { self.windows = windows }
}

/// Whether lectures will be there in time, what is in the way, and when they will be: a value.
public struct Readiness: Sendable, Hashable {
    /// The lectures, in the order in which they are downloaded.
    public let lectures: [PlannedLecture]
    /// By when; nil when only the end is asked for.
    public let time: Timestamp?
    /// The forecast: one element for each lecture that is downloaded.
    public let forecast: Forecast
    /// What is in the way.
    public private(set) var obstacles: [ReadinessObstacle] = []
    /// Bytes that are left, with estimates for lectures of unknown size.
    public let bytesLeft: Int64
    /// Lectures whose size is an estimate: the median of the others.
    public let estimated: Int
    /// When it was asked.
    public let now: Timestamp

    /// Which lectures the forecast is about; the others have something in the way.
    private let places: [Int]

    /// Decides.
    ///
    /// - Parameters:
    ///   - lectures: all of them, in the order in which they are downloaded.
    ///   - speeds: how fast the servers are.
    ///   - limits: what downloads may use.
    ///   - time: by when; nil when only the end is asked for.
    ///   - now: the wall clock.
    public init(
        _ lectures: [PlannedLecture], speeds: ForecastSpeeds, limits: ReadinessLimits, by time: Timestamp?,
        now: Timestamp
    ) {
        (self.lectures, self.time, self.now) = (lectures, time, now)
        let sizes = lectures.compactMap(\.total).sorted()
        let median = sizes.isEmpty ? nil : sizes[sizes.count / 2]
        let places = lectures.indices.filter { lectures[$0].isComplete || lectures[$0].hindrance == nil }
        let open = places.filter { !lectures[$0].isComplete }
        estimated = open.count { lectures[$0].bytesLeft == nil }
        let items = places.map { place in
            let lecture = lectures[place]
            // Of a lecture without any clue at least its beginning has to come.
            let bytes = lecture.isComplete ? 0 : max(1, lecture.bytesLeft ?? median ?? 1)
            return ForecastItem(bytes: bytes, origin: lecture.origin, notBefore: lecture.notBefore)
        }
        bytesLeft = items.reduce(0) { Self.sum($0, $1.bytes > 1 ? $1.bytes : 0) }
        self.places = places
        forecast = Forecast(items: items, speeds: speeds, windows: limits.windows, jobs: limits.jobs, now: now)
        let isSized = median != nil || estimated == 0
        if !open.isEmpty, !isSized || open.contains(where: { speeds.speed(of: lectures[$0].origin) == nil }) {
            obstacles.append(Self.unknown(isSized: isSized))
        } else {
            findTime(items, speeds, limits)
        }
        findSpace(limits)
        for lecture in lectures { find(lecture) }
    }

    /// Whether all will be there in time; without a time, whether all will be at all. Nil when no speed is known.
    public var isReady: Bool? {
        if obstacles.contains(where: { $0.kind == .speed }) { return nil }
        return obstacles.isEmpty
    }

    /// When the last lecture with nothing in its way is complete; nil: never.
    public var end: Timestamp? { isReady == nil ? nil : forecast.end }

    /// Complete lectures now.
    public var complete: Int { lectures.count(where: \.isComplete) }

    /// Lectures that are complete, and permitted, at the time; without one, at the end.
    public var ready: Int {
        guard isReady != nil else { return complete }
        let refused = Set(obstacles.filter { $0.kind == .licence }.compactMap(\.key))
        return zip(places, forecast.completions).count { place, done in
            guard let done, time.map({ done <= $0 }) ?? true else { return false }
            return lectures[place].key.map { !refused.contains($0) } ?? true
        }
    }

    // MARK: Obstacles

    private static func unknown(isSized: Bool) -> ReadinessObstacle {
        guard isSized else {
            return ReadinessObstacle(
                .speed, nil, "The size of no lecture is known.",
                remedy: "With --items, --check head asks the servers; 'lecturectl precache' does when it begins.")
        }
        return ReadinessObstacle(
            .speed, nil, "No speed is known yet: too little was downloaded within the last 30 days.",
            remedy: "Name one with --speed, or download something first: 'lecturectl precache'.")
    }

    private mutating func findTime(_ items: [ForecastItem], _ speeds: ForecastSpeeds, _ limits: ReadinessLimits) {
        let limit = time ?? .init(milliseconds: .max)
        if let end = forecast.end, end <= limit { return }
        guard let time else {
            obstacles.append(
                ReadinessObstacle(
                    .timetable, nil, "The timetable leaves too little time within a year.",
                    remedy: "Allow more hours or a higher rate with --timetable or 'network.timetable'."))
            return
        }
        // What the same downloads take when nothing bounds them shows whether the windows are in the way.
        let open = [PaceWindow(start: now, end: time, bytesPerSecond: nil)]
        let free = Forecast(items: items, speeds: speeds, windows: open, jobs: limits.jobs, now: now)
        if free.end != nil {
            obstacles.append(
                ReadinessObstacle(
                    .timetable, nil,
                    "The timetable and the rate limit leave too little time: without them it would do.",
                    remedy: "Allow more hours or a higher rate with --timetable or --limit-rate."))
            return
        }
        let length = QuantityText.text(seconds: max(1, (time - now).milliseconds / 1000))
        obstacles.append(
            ReadinessObstacle(
                .time, nil, "The servers are too slow: \(Self.bytes(bytesLeft)) in \(length).",
                remedy: time <= now
                    ? "The time has passed: name a later one."
                    : "Take a later time or fewer lectures, or put what is needed first with 'lecturectl reorder'."))
    }

    private mutating func findSpace(_ limits: ReadinessLimits) {
        if let space = limits.space.map({ Self.sum($0, limits.prunable) }), bytesLeft > space {
            obstacles.append(
                ReadinessObstacle(
                    .space, nil, "The disk has space for \(Self.bytes(space)) of \(Self.bytes(bytesLeft)).",
                    remedy: "Free space ('lecturectl prune', 'lecturectl remove'), or allow a smaller --reserve."))
        }
        if let quota = limits.quota.map({ Self.sum($0, limits.prunable) }), bytesLeft > quota {
            obstacles.append(
                ReadinessObstacle(
                    .quota, nil, "The quota leaves \(Self.bytes(quota)) of \(Self.bytes(bytesLeft)).",
                    remedy: "Raise --quota or 'storage.quota_bytes', or remove lectures with 'lecturectl remove'."))
        }
    }

    private static func bytes(_ count: Int64) -> String { QuantityText.text(byteCount: count) }

    /// A sum of bytes, at most the largest number: a server or a list may announce any size.
    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    private mutating func find(_ lecture: PlannedLecture) {
        if !lecture.isComplete, let hindrance = lecture.hindrance {
            obstacles.append(
                ReadinessObstacle(hindrance.kind, lecture.key, hindrance.message, remedy: hindrance.remedy))
        }
        guard let key = lecture.key else { return }
        func add(_ message: String, _ remedy: String) {
            obstacles.append(ReadinessObstacle(.licence, key, message, remedy: remedy))
        }
        let renewal = "Run 'lecturectl licence renew \(key.text)'."
        switch lecture.standing {
        case .ended: return add("Its licence has ended for good.", "Ask the provider for a new one.")
        case .renewable: return add("Its licence has ended.", renewal)
        case .doubtful: return add("Its licence is in doubt.", "'lecturectl licence show \(key.text)' says why.")
        case .valid, .unneeded: break
        }
        guard let policy = lecture.licence, let time = time ?? forecast.end else { return }
        if let start = policy.startsAt, start > time {
            add("Its licence begins later.", "Take a later time, or ask the provider for an earlier beginning.")
        }
        if let end = policy.expiresAt, end <= time { add("Its licence ends before.", renewal) }
    }
}
