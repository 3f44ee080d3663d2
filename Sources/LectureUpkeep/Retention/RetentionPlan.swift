public import LectureModel

/// What rules go by of one lecture.
public struct RetainedLecture: Sendable, Hashable {
    /// Its key.
    public var key: ContentKey
    /// Its title.
    public var title: String
    /// Its course; empty when unknown.
    public var course: String
    /// The URL that was requested.
    public var url: String
    /// Its bytes on the disk.
    public var bytes: Int64
    /// When it became complete.
    public var completed: Timestamp
    /// How it is used.
    public var use: LectureUse
    /// Whether its licence can permit a play again.
    public var licence: LicenceStanding

    /// Creates a lecture that needs no licence.
    public init(key: ContentKey, bytes: Int64, completed: Timestamp, use: LectureUse) {
        (self.key, self.bytes, self.completed, self.use) = (key, bytes, completed, use)
        (title, course, url, licence) = (key.text, "", "", .unneeded)
    }
}

/// What rules remove, and why: a value, the same for the same input.
///
/// 1. `drop what has expired` takes every lecture whose licence has ended for good.
/// 2. Of the `keep` rules, those that name a lecture's course take the place of general ones of the same kind. A
///    lecture goes when at least one of its rules counts from something that has happened, and none keeps it any more.
/// 3. `never below` takes more while fewer bytes are free: first what no `keep` rule holds, then what one holds; in
///    both first what was played, the longest ago first, then what never was, the oldest download first.
///
/// Pinned lectures, those that are played, and those that something still works on are never taken.
public struct RetentionPlan: Sendable, Hashable {
    /// A lecture that goes.
    public struct Removal: Sendable, Hashable {
        /// The lecture.
        public let lecture: RetainedLecture
        /// The rule.
        public let rule: RetentionRule
        /// Why the rule takes it, without a full stop: `last played 40 days ago`.
        public let reason: String

        /// The same as one that stays after all.
        ///
        /// - Parameter obstacle: why.
        /// - Returns: what stays.
        public func kept(because obstacle: LectureUse.Obstacle) -> Kept {
            Kept(lecture: lecture, rule: rule, obstacle: obstacle)
        }
    }

    /// A lecture that a rule takes, and that stays.
    public struct Kept: Sendable, Hashable {
        /// The lecture.
        public let lecture: RetainedLecture
        /// The rule.
        public let rule: RetentionRule
        /// Why it stays.
        public let obstacle: LectureUse.Obstacle
    }

    /// What goes, in the order in which it goes.
    public private(set) var removals: [Removal] = []
    /// What stays although a rule takes it.
    public private(set) var kept: [Kept] = []
    /// Bytes that are free now; nil when unknown.
    public let free: Int64?
    /// Bytes that stay missing for the largest `never below`, when everything that may go has gone.
    public private(set) var missing: Int64 = 0

    /// Bytes that go.
    public var bytes: Int64 { removals.reduce(0) { $0 + $1.lecture.bytes } }
    /// Bytes that will be free.
    public var freeAfter: Int64? { free.map { $0 + bytes } }

    /// Decides.
    ///
    /// - Parameters:
    ///   - rules: the rules.
    ///   - lectures: the complete lectures of the store, in the order of registration.
    ///   - free: bytes that are free; nil when unknown, then `never below` takes nothing.
    ///   - now: the time that licences are judged by.
    public init(rules: [RetentionRule], lectures: [RetainedLecture], free: Int64?, now: Timestamp) {
        self.free = free
        var rest: [(lecture: RetainedLecture, isHeld: Bool)] = []
        for lecture in lectures {
            if let (rule, reason) = Self.expiry(of: lecture, rules) {
                take(lecture, rule, reason, now)
                continue
            }
            switch Self.keeping(of: lecture, rules, now) {
            case .over(let rule, let reason): take(lecture, rule, reason, now)
            case .holds: rest.append((lecture, true))
            case .none: rest.append((lecture, false))
            }
        }
        makeSpace(rules, rest, now)
    }

    private mutating func take(_ lecture: RetainedLecture, _ rule: RetentionRule, _ reason: String, _ now: Timestamp) {
        if let obstacle = lecture.use.obstacle(at: now) {
            kept.append(Kept(lecture: lecture, rule: rule, obstacle: obstacle))
        } else {
            removals.append(Removal(lecture: lecture, rule: rule, reason: reason))
        }
    }

    // MARK: The rules

    private static func expiry(
        of lecture: RetainedLecture, _ rules: [RetentionRule]
    ) -> (rule: RetentionRule, reason: String)? {
        guard case .ended(let why) = lecture.licence else { return nil }
        let rule = rules.first { $0.kind == .dropExpired && ($0.course == nil || $0.course == lecture.course) }
        return rule.map { ($0, Self.sentence(why)) }
    }

    private static func sentence(_ reason: LicenceReason) -> String {
        switch reason {
        case .deleted: "its server has ordered its removal"
        case .forceExpired: "its server has ended the licence"
        case .countUsedUp: "all plays of its licence are used"
        case .playTimeUsedUp: "all play time of its licence is used"
        default: "its licence has ended"
        }
    }

    private enum Keeping {
        /// No rule counts yet.
        case none
        /// A rule still keeps it.
        case holds
        /// None does any more; the one that kept it last.
        case over(RetentionRule, String)
    }

    private static func keeping(of lecture: RetainedLecture, _ rules: [RetentionRule], _ now: Timestamp) -> Keeping {
        var last: (end: Timestamp, rule: RetentionRule, reason: String)?
        func count(_ read: (RetentionRule.Kind) -> Duration?, from start: Timestamp?, _ what: String) {
            guard let start else { return }
            let ofKind = rules.filter { read($0.kind) != nil }
            let own = ofKind.filter { $0.course == lecture.course }
            for rule in own.isEmpty ? ofKind.filter({ $0.course == nil }) : own {
                guard let time = read(rule.kind) else { continue }
                let end = start + time
                if last.map({ end > $0.end }) ?? true {
                    last = (end, rule, "\(what) \(AgeText.text(now - start)) ago")
                }
            }
        }
        count(
            { if case .keepAfterPlay(let time) = $0 { time } else { nil } }, from: lecture.use.lastPlayed,
            "last played")
        count(
            { if case .keepAfterDownload(let time) = $0 { time } else { nil } }, from: lecture.completed,
            "downloaded")
        guard let last else { return .none }
        return now < last.end ? .holds : .over(last.rule, last.reason)
    }

    private mutating func makeSpace(
        _ rules: [RetentionRule], _ rest: [(lecture: RetainedLecture, isHeld: Bool)], _ now: Timestamp
    ) {
        let limits = rules.compactMap { rule -> (rule: RetentionRule, bytes: Int64)? in
            if case .neverBelow(let bytes) = rule.kind { (rule, bytes) } else { nil }
        }
        guard let free, let (rule, limit) = limits.max(by: { $0.bytes < $1.bytes }) else { return }
        var wanted = limit - free - bytes
        guard wanted > 0 else { return }
        let order = rest.sorted { left, right in
            if left.isHeld != right.isHeld { return !left.isHeld }
            let (played, other) = (left.lecture.use.lastPlayed, right.lecture.use.lastPlayed)
            if (played == nil) != (other == nil) { return played != nil }
            let (time, otherTime) = (played ?? left.lecture.completed, other ?? right.lecture.completed)
            return time == otherTime ? left.lecture.key.text < right.lecture.key.text : time < otherTime
        }
        for (lecture, _) in order where wanted > 0 && lecture.bytes > 0 {
            let before = removals.count
            let reason =
                lecture.use.lastPlayed.map { "least recently played, \(AgeText.text(now - $0)) ago" }
                ?? "never played, downloaded \(AgeText.text(now - lecture.completed)) ago"
            take(lecture, rule, reason, now)
            if removals.count > before { wanted -= lecture.bytes }
        }
        missing = max(0, wanted)
    }
}

/// How long ago something was, for people.
enum AgeText {
    /// A length of time in its largest unit: `40 days`, `1 hour`, `less than a minute`.
    static func text(_ time: Duration) -> String {
        let seconds = time.milliseconds / 1000
        let units: [(length: Int64, name: String)] = [(86_400, "day"), (3600, "hour"), (60, "minute")]
        for unit in units where seconds >= unit.length {
            let count = seconds / unit.length
            return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        }
        return "less than a minute"
    }
}
