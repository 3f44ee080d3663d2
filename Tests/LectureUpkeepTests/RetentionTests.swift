import LectureKit
import LectureModel
import LectureUpkeep
import Testing

@Suite struct RetentionRuleTests {
    private static let readable: [(text: String, kind: RetentionRule.Kind, course: String?)] = [
        ("keep 30d after play", RetentionRule.Kind.keepAfterPlay(.seconds(30 * 86_400)), String?.none),
        ("KEEP 1d12h after Download", .keepAfterDownload(.seconds(36 * 3600)), nil),
        ("  never   below 20 GiB ", .neverBelow(20 << 30), nil),
        ("never below 1.5GiB", .neverBelow(3 << 29), nil), ("never below 500 MB", .neverBelow(500 << 20), nil),
        ("never below 1048576", .neverBelow(1 << 20), nil), ("drop what has expired", .dropExpired, nil),
        ("drop what has expired for course Linear algebra", .dropExpired, "Linear algebra"),
        ("keep 2w after play for course '선형 대수'", .keepAfterPlay(.seconds(14 * 86_400)), "선형 대수"),
        ("keep 2w after play for course \" a\"", .keepAfterPlay(.seconds(14 * 86_400)), " a"),
        ("keep 2w after play for course for", .keepAfterPlay(.seconds(14 * 86_400)), "for"),
    ]

    @Test(arguments: readable) func `a rule is read`(
        text: String, kind: RetentionRule.Kind, course: String?
    ) throws {
        let rule = try RetentionRule(text)
        #expect(rule.kind == kind && rule.course == course && rule.text == text)
    }

    private static let unreadable: [(text: String, place: Int, cause: String)] = [
        ("", 1, "'keep' or 'never' or 'drop' is missing"), ("kep 30d after play", 1, "(did you mean 'keep'?)"),
        ("keep 30d after pley", 16, "'pley' is not 'play' or 'download' (did you mean 'play'?)"),
        ("keep 30 d after play", 9, "'d' is not 'after'"), ("keep 30x after play", 6, "no length of time"),
        ("keep 0d after play", 6, "no length of time"), ("keep", 5, "no length of time"),
        ("keep 99999999999999999999d after play", 6, "no length of time"),
        ("keep 3d after", 14, "'play' or 'download'"),
        ("never below", 12, "no size"), ("never below 20 GiX", 16, "'GiX' is too much"),
        ("never below 0", 13, "no size"), ("never below -1G", 13, "no size"), ("never above 1G", 7, "'below'"),
        ("never below 1 G for course x", 17, "the disk is the same for all courses"),
        ("drop what has expire", 15, "(did you mean 'expired'?)"), ("drop what", 10, "'has' is missing"),
        ("drop what has expired for course", 33, "the name of the course is missing"),
        ("drop what has expired for course ''", 34, "the name of the course is missing"),
        ("drop what has expired in course a", 23, "'in' is not 'for'"),
    ]

    @Test(arguments: unreadable)
    func `what cannot be read is refused with its place and the nearest word`(
        text: String, place: Int, cause: String
    ) {
        let error = #expect(throws: LectureError.self) { try RetentionRule.rules(["keep 1d after play", text]) }
        #expect(error?.code == .parameter && error?.cause.contains(cause) == true, "\(error?.cause ?? "")")
        #expect(error?.detail == "rule 2: '\(text)', character \(place)", "\(error?.detail ?? "")")
    }
}

@Suite struct RetentionPlanTests {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    static let day = Duration.seconds(86_400)

    /// A lecture: bytes, days since its download and its last play, its course.
    static func lecture(
        _ key: String, _ bytes: Int64 = 10, done: Int = 100, played: Int? = nil, course: String = "",
        _ change: (inout RetainedLecture) -> Void = { _ in }
    ) throws -> RetainedLecture {
        var use = LectureUse()
        use.lastPlayed = played.map { now + day * -$0 }
        var lecture = RetainedLecture(
            key: try ContentKey(key), bytes: bytes, completed: now + day * -done, use: use)
        lecture.course = course
        change(&lecture)
        return lecture
    }

    static func plan(_ rules: [String], _ lectures: [RetainedLecture], free: Int64? = 1000) throws -> RetentionPlan {
        RetentionPlan(rules: try RetentionRule.rules(rules), lectures: lectures, free: free, now: now)
    }

    static func keys(_ plan: RetentionPlan) -> [String] { plan.removals.map(\.lecture.key.text) }

    @Test func `a lecture goes when no rule keeps it any more`() throws {
        let lectures = try [
            Self.lecture("never"), Self.lecture("long ago", played: 31), Self.lecture("today", played: 0),
            Self.lecture("at the end", played: 30), Self.lecture("new", done: 1),
            Self.lecture("future", done: -3, played: -2), Self.lecture("maths long ago", played: 31, course: "M"),
            Self.lecture("maths", played: 8, course: "M"), Self.lecture("other case", played: 8, course: "m"),
        ]
        let cases: [(rules: [String], gone: [String])] = [
            ([], []), (["keep 30d after play"], ["long ago", "at the end", "maths long ago"]),
            // Of two kinds the one that keeps longer counts, and a play that never was counts for nothing.
            (
                ["keep 30d after play", "keep 50d after download"],
                ["never", "long ago", "at the end", "maths long ago"]
            ),
            (["keep 30d after play", "keep 200d after download"], []),
            (["keep 30d after play", "keep 9w after play"], []),
            // A rule of the course takes the place of the general one of its kind, whether shorter or longer.
            (
                ["keep 30d after play", "keep 7d after play for course M"],
                ["long ago", "at the end", "maths long ago", "maths"]
            ),
            (["keep 90d after play for course M", "keep 30d after play"], ["long ago", "at the end"]),
            (["keep 7d after play for course M"], ["maths long ago", "maths"]), (["drop what has expired"], []),
        ]
        for (rules, gone) in cases { #expect(Set(Self.keys(try Self.plan(rules, lectures))) == Set(gone), "\(rules)") }
        let plan = try Self.plan(["keep 30d after play", "keep 1d after download"], [lectures[1]])
        #expect(plan.removals.first?.reason == "last played 31 days ago" && plan.removals[0].rule.text.contains("play"))
    }

    @Test func `what is pinned, played or worked on stays, and is named with the rule`() throws {
        typealias Change = (inout LectureUse) -> Void
        let changes: [(String, Change)] = [
            ("pinned", { $0.pinned = Self.now }), ("playing", { $0.isPlaying = true }),
            ("playing", { $0.lastPlayed = Self.now + .seconds(-899) }),
            ("playing", { $0.lastPlayed = Self.now + .seconds(1) }),
            ("unreported", { $0.hasOpenPlay = true }), ("incomplete", { $0.isSettled = false }),
            ("pinned", { ($0.pinned, $0.isPlaying, $0.hasOpenPlay, $0.isSettled) = (Self.now, true, true, false) }),
        ]
        for (name, change) in changes {
            let lecture = try Self.lecture("a") { change(&$0.use) }
            let plan = try Self.plan(["keep 1d after download"], [lecture])
            let isKept = plan.kept.map(\.obstacle.rawValue) == [name] && plan.removals.isEmpty
            // What was played just now is kept by no rule about downloads, but by the play.
            #expect(isKept, "\(name)")
            let space = try Self.plan(["never below 1001"], [lecture, try Self.lecture("b")])
            #expect(Self.keys(space) == ["b"] && space.missing == 0, "\(name)")
        }
    }

    @Test func `space is made in a fixed order and never more than needed`() throws {
        let lectures = try [
            Self.lecture("never new", done: 2), Self.lecture("played", played: 10), Self.lecture("never old", done: 90),
            Self.lecture("held", played: 3, course: "M"), Self.lecture("played before", played: 20),
            Self.lecture("empty", 0, played: 50), Self.lecture("same b", played: 15),
            Self.lecture("same a", played: 15),
        ]
        let order = ["played before", "same a", "same b", "played", "never old", "never new", "held"]
        let rules = ["keep 5d after play for course M"]
        for count in 0...order.count {
            for slack in [0, 9] where count > 0 || slack == 0 {
                let limit = 1000 + Int64(count * 10 - slack)
                let plan = try Self.plan(rules + ["never below \(limit)", "never below 5"], lectures)
                #expect(Self.keys(plan) == Array(order.prefix(count)) && plan.missing == 0, "\(limit)")
                #expect(plan.freeAfter == 1000 + Int64(count * 10))
            }
        }
        let short = try Self.plan(["never below 2000"], lectures)
        #expect(short.missing == 930 && short.removals.count == 7)
        #expect(try Self.plan(["never below 2000"], lectures, free: nil).removals.isEmpty)
        // What other rules take counts first.
        let both = try Self.plan(["keep 9d after play", "never below 1040"], lectures)
        #expect(Self.keys(both) == ["played", "played before", "empty", "same b", "same a"])
        #expect(short.removals[5].reason == "never played, downloaded 90 days ago", "\(short.removals[5].reason)")
    }

    @Test func `the order of the lectures does not matter for space`() throws {
        let lectures = try (0..<40).map { number in
            try Self.lecture("k\(number)", 7, done: number % 5, played: number % 3 == 0 ? nil : number % 7)
        }
        let plan = try Self.plan(["never below 1100"], lectures)
        for seed in 1...20 {
            let other = lectures.indices.sorted { ($0 * seed * 31) % 41 < ($1 * seed * 31) % 41 }.map { lectures[$0] }
            #expect(try Self.plan(["never below 1100"], other).removals == plan.removals)
        }
    }

    @Test func `only a licence that has ended for good is dropped`() throws {
        let standings: [(LicenceStanding, Bool)] = [
            (.unneeded, false), (.valid, false), (.renewable, false), (.doubtful, false), (.ended(.expired), true),
            (.ended(.deleted), true), (.ended(.countUsedUp), true),
        ]
        for (standing, goes) in standings {
            let lecture = try Self.lecture("a", course: "M") { $0.licence = standing }
            #expect(try Self.plan(["drop what has expired"], [lecture]).removals.count == (goes ? 1 : 0), "\(standing)")
            #expect(try Self.plan(["drop what has expired for course X"], [lecture]).removals.isEmpty)
            #expect(try Self.plan(["keep 900d after download"], [lecture]).removals.isEmpty)
        }
    }
}

@Suite struct LicenceStandingTests {
    static let end = Timestamp(milliseconds: 1_000_000)

    static func status(_ reasons: [LicenceReason], isFile: Bool = false) throws -> LicenceStatus {
        var policy = LicencePolicy()
        policy.expiresAt = end
        let record = LicenceRecord(form: isFile ? .file : .callback, policy: policy, isVerified: true)
        var entry = LicenceEntry(key: try ContentKey("a"), source: LicenceSource())
        entry.record = record
        entry.granted = Timestamp(milliseconds: 500)
        return LicenceStatus(entry, reasons: reasons)
    }

    @Test func `an end is for good when no server can renew it, or its server has refused since`() throws {
        let doubts: [LicenceReason] = [
            .clockUntrusted, .storeCopied, .ledgerForged, .storeRolledBack, .unverified, .otherDevice, .otherKey,
            .missing,
        ]
        for doubt in doubts {
            #expect(LicenceStanding(try Self.status([doubt, .expired], isFile: true), asked: []) == .doubtful)
        }
        #expect(LicenceStanding(nil, asked: []) == .unneeded)
        for fine in [[], [.checkDue], [.notYetValid], [.anchorUnwritable, .mediaIncomplete]] as [[LicenceReason]] {
            #expect(LicenceStanding(try Self.status(fine), asked: []) == .valid)
        }
        for reason in [.expired, .countUsedUp, .playTimeUsedUp, .forceExpired] as [LicenceReason] {
            #expect(LicenceStanding(try Self.status([reason], isFile: true), asked: []) == .ended(reason))
            #expect(LicenceStanding(try Self.status([reason]), asked: []) == .renewable)
        }
        #expect(LicenceStanding(try Self.status([.deleted]), asked: []) == .ended(.deleted))
        // Latest first.
        let cases: [(asked: [(Int64, String)], isEnded: Bool)] = [
            ([(1_000_000, "refused")], true), ([(999_999, "refused")], false), ([(1_000_001, "ended")], true),
            ([(1_000_001, "failed")], false), ([(1_000_005, "failed"), (1_000_001, "refused")], true),
            ([(1_000_005, "permitted"), (1_000_001, "refused")], false), ([(1_000_001, "missing")], false),
        ]
        for (asked, isEnded) in cases {
            let questions = asked.map { time, outcome in
                LicenceQuestion(at: Timestamp(milliseconds: time), question: "check", outcome: outcome)
            }
            let standing = LicenceStanding(try Self.status([.expired]), asked: questions)
            #expect(standing == (isEnded ? .ended(.expired) : .renewable), "\(asked)")
        }
    }
}
