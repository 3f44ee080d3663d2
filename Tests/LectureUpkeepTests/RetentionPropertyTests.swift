import LectureModel
import LectureTestSupport
import LectureUpkeep
import Testing

/// A store and rules by chance; the same seed makes the same.
struct RandomStore {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let keeps = [
        "keep 30d after play", "keep 10d after play", "keep 5d after play for course M", "keep 60d after download",
        "keep 20d after download for course P", "keep 90d after download for course M",
        "keep 1w after play for course P",
    ]
    private static let drops = ["drop what has expired", "drop what has expired for course P"]

    var random: SeededGenerator
    var lectures: [RetainedLecture] = []
    var rules: [RetentionRule] = []
    let free: Int64

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed &* 6271 &+ 5)
        free = Int64.random(in: 0...500, using: &random)
        for text in Self.keeps + Self.drops where Int.random(in: 0..<3, using: &random) == 0 {
            rules.append(try RetentionRule(text))
        }
        for number in 0..<Int.random(in: 0...40, using: &random) {
            let standings: [LicenceStanding] = [
                .unneeded, .unneeded, .valid, .renewable, .doubtful, .ended(.expired), .ended(.deleted),
                .ended(.countUsedUp), .ended(.playTimeUsedUp), .ended(.forceExpired),
            ]
            var use = LectureUse()
            if chance(2) { use.lastPlayed = Self.now + .seconds(-Int.random(in: -60...70 * 86_400, using: &random)) }
            if chance(8) { use.pinned = Self.now }
            (use.isPlaying, use.hasOpenPlay, use.isSettled) = (chance(10), chance(10), !chance(10))
            var lecture = RetainedLecture(
                key: try ContentKey("k\(number)"), bytes: Int64.random(in: 0...50, using: &random),
                completed: Self.now + .seconds(-86_400 * Int.random(in: -2...120, using: &random)), use: use)
            lecture.course = ["", "M", "P"][Int.random(in: 0...2, using: &random)]
            lecture.licence = standings[Int.random(in: standings.indices, using: &random)]
            lectures.append(lecture)
        }
    }

    mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }

    func plan(_ added: String..., free: Int64? = nil, now: Timestamp = now) throws -> RetentionPlan {
        RetentionPlan(
            rules: rules + (try RetentionRule.rules(added)), lectures: lectures, free: free ?? self.free, now: now)
    }

    /// Whether the rules say by themselves that a lecture has to go: said again in another way.
    func isOver(_ lecture: RetainedLecture) -> Bool {
        let ours = rules.filter { $0.course == nil || $0.course == lecture.course }
        if case .ended = lecture.licence, ours.contains(where: { $0.kind == .dropExpired }) { return true }
        var ends: [Timestamp] = []
        for isPlay in [true, false] {
            let times = ours.compactMap { rule -> (isOwn: Bool, time: Duration)? in
                switch rule.kind {
                case .keepAfterPlay(let time) where isPlay: (rule.course != nil, time)
                case .keepAfterDownload(let time) where !isPlay: (rule.course != nil, time)
                default: nil
                }
            }
            let hasOwn = times.contains { $0.isOwn }
            guard let start = isPlay ? lecture.use.lastPlayed : lecture.completed else { continue }
            ends += times.filter { $0.isOwn == hasOwn }.map { start + $0.time }
        }
        return !ends.isEmpty && ends.allSatisfy { $0 <= Self.now }
    }
}

@Suite struct RetentionPropertyTests {
    private static let seeds = (1...200).map { UInt64($0) }

    private static func keys(_ plan: RetentionPlan) -> Set<String> { Set(plan.removals.map(\.lecture.key.text)) }

    @Test func `the lectures that rules take are those that they say, in the order of the store`() throws {
        var (gone, kept) = (0, 0)
        for seed in Self.seeds {
            let store = try RandomStore(seed: seed)
            let plan = try store.plan()
            let over = store.lectures.filter(store.isOver)
            let free = over.filter { $0.use.obstacle(at: RandomStore.now) == nil }
            #expect(plan.removals.map(\.lecture) == free, "seed \(seed)")
            let held = over.filter { $0.use.obstacle(at: RandomStore.now) != nil }
            #expect(plan.kept.map(\.lecture) == held, "seed \(seed)")
            #expect(plan.kept.allSatisfy { $0.obstacle == $0.lecture.use.obstacle(at: RandomStore.now) })
            #expect(plan.missing == 0 && plan.freeAfter == store.free + free.reduce(0) { $0 + $1.bytes })
            (gone, kept) = (gone + free.count, kept + held.count)
        }
        #expect(gone > 500 && kept > 200, "The stores show little: \(gone), \(kept)")
    }

    @Test func `what is pinned, played or worked on is never taken, whatever the disk needs`() throws {
        for seed in Self.seeds {
            let store = try RandomStore(seed: seed)
            let plan = try store.plan("never below 1G")
            let (gone, kept) = (plan.removals.map(\.lecture), plan.kept.map(\.lecture))
            let mayGo = gone.allSatisfy { lecture in
                let use = lecture.use
                return use.pinned == nil && !use.isPlaying && !use.hasOpenPlay && use.isSettled
                    && use.lastPlayed.map { RandomStore.now - $0 >= LectureUse.playGap } ?? true
            }
            #expect(mayGo && Set(gone).isDisjoint(with: kept), "seed \(seed)")
            #expect(Set(gone).count == gone.count && Set(kept).count == kept.count, "seed \(seed)")
            // Everything that has bytes and may go went, and what is missing is exactly the rest.
            let all = store.lectures.filter { $0.bytes > 0 && $0.use.obstacle(at: RandomStore.now) == nil }
            #expect(Set(all).isSubset(of: gone) && plan.missing == 1 << 30 - (plan.freeAfter ?? 0), "seed \(seed)")
        }
    }

    @Test func `space is made from the least recently played on, and no byte more`() throws {
        var cut = 0
        for seed in Self.seeds {
            var store = try RandomStore(seed: seed)
            let before = try store.plan()
            let limit = store.free + before.bytes + Int64.random(in: 1...300, using: &store.random)
            let plan = try store.plan("never below \(limit)")
            #expect(Array(plan.removals.prefix(before.removals.count)) == before.removals, "seed \(seed)")
            let made = plan.removals.dropFirst(before.removals.count)
            #expect(made.allSatisfy { $0.rule.kind == .neverBelow(limit) && $0.lecture.bytes > 0 }, "seed \(seed)")
            let rest = Int64(limit) - store.free - before.bytes - made.reduce(0) { $0 + $1.lecture.bytes }
            #expect(plan.missing == max(0, rest), "seed \(seed)")
            if plan.missing == 0, let last = made.last {
                cut += 1
                #expect(rest + last.lecture.bytes > 0, "seed \(seed): the last one was not needed")
            }
            // Within what no rule holds, and within what one holds: played ones first, each by its time.
            let open = RetentionRuleHolds(store)
            for (left, right) in zip(made, made.dropFirst()) where open.holds(left.lecture) == open.holds(right.lecture)
            {
                let (played, other) = (left.lecture.use.lastPlayed, right.lecture.use.lastPlayed)
                if let played, let other { #expect(played <= other, "seed \(seed)") }
                if played == nil {
                    #expect(other == nil && left.lecture.completed <= right.lecture.completed, "seed \(seed)")
                }
            }
            let held = made.map { open.holds($0.lecture) }
            #expect(held.firstIndex(of: true).map { held[$0...].allSatisfy(\.self) } ?? true, "seed \(seed)")
        }
        #expect(cut > 80, "The stores show little: \(cut)")
    }

    /// Whether a keep rule counts for a lecture that no rule takes.
    private struct RetentionRuleHolds {
        let rules: [RetentionRule]
        init(_ store: RandomStore) { rules = store.rules }
        func holds(_ lecture: RetainedLecture) -> Bool {
            rules.contains { rule in
                guard rule.course == nil || rule.course == lecture.course else { return false }
                switch rule.kind {
                case .keepAfterPlay: return lecture.use.lastPlayed != nil
                case .keepAfterDownload: return true
                case .neverBelow, .dropExpired: return false
                }
            }
        }
    }

    @Test func `a plan is the same for the same store, in any order of its lectures and rules`() throws {
        for seed in Self.seeds {
            var store = try RandomStore(seed: seed)
            let plan = try store.plan("never below 400")
            #expect(try store.plan("never below 400") == plan)
            for _ in 0..<4 {
                store.lectures.shuffle(using: &store.random)
                store.rules.shuffle(using: &store.random)
                let other = try store.plan("never below 400")
                #expect(Set(other.removals.map(\.lecture)) == Set(plan.removals.map(\.lecture)), "seed \(seed)")
                #expect(Set(other.kept.map(\.lecture)) == Set(plan.kept.map(\.lecture)), "seed \(seed)")
                #expect(other.missing == plan.missing && other.bytes == plan.bytes, "seed \(seed)")
            }
        }
    }

    @Test func `less free space takes the same ones and more, and later takes what went before`() throws {
        for seed in Self.seeds {
            let store = try RandomStore(seed: seed)
            var last: [RetentionPlan.Removal] = []
            for free in stride(from: Int64(700), through: 0, by: -50) {
                let plan = try store.plan("never below 600", free: free)
                #expect(plan.removals.starts(with: last), "seed \(seed), \(free)")
                if free >= 600 { #expect(try plan.removals == store.plan().removals) }
                last = plan.removals
            }
            var gone: Set<String> = []
            for days in [0, 1, 5, 30, 100] {
                let later = Self.keys(try store.plan(now: RandomStore.now + .seconds(days * 86_400)))
                #expect(gone.isSubset(of: later), "seed \(seed), \(days)")
                gone = later
            }
        }
    }

    @Test func `several rules: the largest limit counts, the longest time keeps, and licences are for themselves`()
        throws
    {
        for seed in Self.seeds {
            var store = try RandomStore(seed: seed)
            #expect(
                try store.plan("never below 300", "never below 5", "never below 299").removals.map(\.lecture)
                    == store.plan("never below 300").removals.map(\.lecture))
            let all = store.rules
            store.rules = all.filter { $0.kind == .dropExpired }
            let dropped = Self.keys(try store.plan())
            store.rules = all.filter { $0.kind != .dropExpired }
            let expired = Self.keys(try store.plan())
            store.rules = all
            #expect(try Self.keys(store.plan()) == dropped.union(expired), "seed \(seed)")
            store.rules = []
            let long = try store.plan("keep 30d after play")
            #expect(try store.plan("keep 30d after play", "keep 9d after play").removals == long.removals)
            #expect(try Self.keys(store.plan("keep 9d after play")).isSuperset(of: Self.keys(long)), "seed \(seed)")
            let isEnded = try store.plan("drop what has expired").removals.allSatisfy {
                if case .ended = $0.lecture.licence { true } else { false }
            }
            #expect(isEnded, "seed \(seed)")
        }
    }

    @Test func `each reason is that of its rule`() throws {
        for seed in Self.seeds {
            for removal in try RandomStore(seed: seed).plan("never below 350").removals {
                let played = removal.lecture.use.lastPlayed != nil
                let start =
                    switch removal.rule.kind {
                    case .keepAfterPlay: "last played "
                    case .keepAfterDownload: "downloaded "
                    case .neverBelow: played ? "least recently played, " : "never played, downloaded "
                    case .dropExpired: removal.reason.hasPrefix("its ") ? "its " : "all "
                    }
                #expect(removal.reason.hasPrefix(start) && !removal.reason.hasSuffix("."), "\(removal.reason)")
                #expect(removal.rule.kind == .dropExpired || removal.reason.hasSuffix(" ago"), "\(removal.reason)")
                let kept = removal.kept(because: .gone)
                #expect(kept.lecture == removal.lecture && kept.rule == removal.rule && kept.obstacle == .gone)
            }
        }
    }

    @Test(arguments: [
        (1, "less than a minute"), (59, "less than a minute"), (60, "1 minute"), (119, "1 minute"), (120, "2 minutes"),
        (3599, "59 minutes"), (3600, "1 hour"), (7199, "1 hour"), (7200, "2 hours"), (86_399, "23 hours"),
        (86_400, "1 day"), (172_799, "1 day"), (172_800, "2 days"), (34_560_000, "400 days"),
    ])
    func `an age is said in its largest unit`(seconds: Int, text: String) throws {
        let lecture = RetainedLecture(
            key: try ContentKey("a"), bytes: 1, completed: RandomStore.now + .seconds(-seconds), use: LectureUse())
        for (rule, reason) in [("keep 1s after download", "downloaded"), ("never below 2", "never played, downloaded")]
        {
            let plan = RetentionPlan(
                rules: [try RetentionRule(rule)], lectures: [lecture], free: 1, now: RandomStore.now)
            #expect(plan.removals.map(\.reason) == ["\(reason) \(text) ago"])
        }
    }

    @Test(arguments: [
        (LicenceReason.deleted, "its server has ordered its removal"), (.expired, "its licence has ended"),
        (.forceExpired, "its server has ended the licence"), (.countUsedUp, "all plays of its licence are used"),
        (.playTimeUsedUp, "all play time of its licence is used"),
    ])
    func `an end of a licence is said in its own words`(why: LicenceReason, text: String) throws {
        var lecture = RetainedLecture(
            key: try ContentKey("a"), bytes: 1, completed: RandomStore.now, use: LectureUse())
        (lecture.licence, lecture.course) = (.ended(why), "M")
        let rules = [
            "drop what has expired for course P", "drop what has expired for course M", "drop what has expired",
        ]
        let plan = RetentionPlan(
            rules: try RetentionRule.rules(rules + ["keep 9w after download"]), lectures: [lecture], free: nil,
            now: RandomStore.now)
        #expect(plan.removals.map(\.reason) == [text] && plan.removals.map(\.rule.text) == [rules[1]])
        #expect(plan.free == nil && plan.freeAfter == nil && plan.bytes == 1)
    }
}
