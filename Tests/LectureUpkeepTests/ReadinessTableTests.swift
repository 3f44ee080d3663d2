import LectureKit
import LectureModel
import LectureTestSupport
import LectureUpkeep
import Testing

@Suite struct ReadinessTableTests {
    private static func lecture(_ key: String, left: Int64? = 100) throws -> PlannedLecture {
        var lecture = PlannedLecture(key: try ContentKey(key), title: key)
        (lecture.bytesLeft, lecture.total, lecture.isComplete) = (left, left, left == 0)
        return lecture
    }

    private static func limits(_ windows: [(seconds: Double, bound: Int64?)] = [(100_000, nil)]) -> ReadinessLimits {
        var start = monday(0)
        var limits = ReadinessLimits(
            windows: windows.map { seconds, bound in
                defer { start = start + .seconds(seconds) }
                return PaceWindow(start: start, end: start + .seconds(seconds), bytesPerSecond: bound)
            })
        limits.jobs = 1
        return limits
    }

    private static func ask(
        _ lectures: [PlannedLecture], by seconds: Double? = 100, speed: Double? = 10,
        limits: ReadinessLimits = limits()
    ) -> Readiness {
        Readiness(
            lectures, speeds: ForecastSpeeds(others: speed), limits: limits, by: seconds.map(monday), now: monday(0))
    }

    /// What is in the way, as it is shown.
    private static func sentences(_ answer: Readiness) -> [String] {
        answer.obstacles.map { "\($0.kind.rawValue): \($0.message) -> \($0.remedy)" }
    }

    @Test func `what is in the way of all is said with what to do`() throws {
        let one = try [Self.lecture("a")]
        var (full, quota) = (Self.limits(), Self.limits())
        (full.space, full.prunable, quota.quota) = (40, 20, 0)
        let renewedHours = "Allow more hours or a higher rate with --timetable or"
        let cases: [(answer: Readiness, sentence: String)] = [
            (
                Self.ask(one, speed: nil),
                "speed: No speed is known yet: too little was downloaded within the last 30 days. -> "
                    + "Name one with --speed, or download something first: 'lecturectl precache'."
            ),
            (
                Self.ask(try [Self.lecture("a", left: nil)]),
                "speed: The size of no lecture is known. -> With --items, --check head asks the servers; "
                    + "'lecturectl precache' does when it begins."
            ),
            (
                Self.ask(one, by: 9),
                "time: The servers are too slow: 100 B in 9 seconds. -> Take a later time or fewer lectures, or "
                    + "put what is needed first with 'lecturectl reorder'."
            ),
            (
                Self.ask(one, by: -9),
                "time: The servers are too slow: 100 B in 1 second. -> The time has passed: name a later one."
            ),
            (
                Self.ask(one, limits: Self.limits([(5, nil), (500, 0)])),
                "timetable: The timetable and the rate limit leave too little time: without them it would do. -> "
                    + "\(renewedHours) --limit-rate."
            ),
            (
                Self.ask(one, by: nil, limits: Self.limits([(5, nil), (500, 0)])),
                "timetable: The timetable leaves too little time within a year. -> \(renewedHours) 'network.timetable'."
            ),
            (
                Self.ask(one, limits: full),
                "space: The disk has space for 60 B of 100 B. -> Free space ('lecturectl prune', "
                    + "'lecturectl remove'), or allow a smaller --reserve."
            ),
            (
                Self.ask(one, limits: quota),
                "quota: The quota leaves 0 B of 100 B. -> Raise --quota or 'storage.quota_bytes', or remove "
                    + "lectures with 'lecturectl remove'."
            ),
        ]
        for (answer, sentence) in cases {
            #expect(Self.sentences(answer) == [sentence])
            #expect(answer.obstacles.allSatisfy { $0.key == nil } && answer.isReady != true)
            #expect((answer.isReady == nil) == sentence.hasPrefix("speed"))
        }
    }

    @Test func `what is in the way of one lecture names it, in the order of the lectures`() throws {
        typealias Change = (inout PlannedLecture) -> Void
        let cases: [(change: Change, sentence: String)] = [
            (
                { $0.hindrance = .init(.paused, "It is paused.", remedy: "Resume it.") },
                "paused: It is paused. -> Resume it."
            ),
            ({ $0.hindrance = .init(.failed, "It failed.", remedy: "Retry.") }, "failed: It failed. -> Retry."),
            (
                { $0.standing = .ended(.expired) },
                "licence: Its licence has ended for good. -> Ask the provider for a new one."
            ),
            ({ $0.standing = .renewable }, "licence: Its licence has ended. -> Run 'lecturectl licence renew b'."),
            (
                { $0.standing = .doubtful },
                "licence: Its licence is in doubt. -> 'lecturectl licence show b' says why."
            ),
            (
                {
                    $0.licence = LicencePolicy()
                    $0.licence?.startsAt = monday(101)
                },
                "licence: Its licence begins later. -> Take a later time, or ask the provider for an earlier beginning."
            ),
            (
                {
                    $0.licence = LicencePolicy()
                    $0.licence?.expiresAt = monday(100)
                }, "licence: Its licence ends before. -> Run 'lecturectl licence renew b'."
            ),
        ]
        for (change, sentence) in cases {
            var lectures = try [Self.lecture("a"), Self.lecture("b"), Self.lecture("c", left: 0)]
            change(&lectures[1])
            let answer = Self.ask(lectures)
            #expect(Self.sentences(answer) == [sentence] && answer.obstacles.first?.key == lectures[1].key)
            #expect(answer.isReady == false && answer.ready == 2 && answer.complete == 1)
            // Nothing is in the way of the other two.
            #expect(answer.end == monday(lectures[1].hindrance == nil ? 20 : 10))
            lectures[1].key = nil
            // Only a lecture whose key is known has a licence.
            #expect(Self.ask(lectures).obstacles.count == (lectures[1].hindrance == nil ? 0 : 1))
        }
        var all = try ["a", "b", "c"].map { try Self.lecture($0) }
        for place in all.indices { cases[place + 1].change(&all[place]) }
        #expect(Self.ask(all).obstacles.map { $0.key?.text } == ["a", "b", "c"])
        #expect(Self.ask(all).ready == 0)
    }

    @Test func `for any lectures the answer agrees with its forecast and its obstacles`() throws {
        var seen: Set<ReadinessObstacle.Kind> = []
        for seed in 1...400 {
            var random = SeededGenerator(seed: UInt64(seed))
            var lectures: [PlannedLecture] = []
            for number in 0..<Int.random(in: 0...8, using: &random) {
                let left: Int64? =
                    Int.random(in: 0...9, using: &random) == 0 ? nil : .random(in: 0...300, using: &random)
                var lecture = try Self.lecture("k\(number)", left: left)
                switch Int.random(in: 0...12, using: &random) {
                case 0: lecture.hindrance = .init(.paused, "Paused.", remedy: "Resume.")
                case 1: lecture.hindrance = .init(.failed, "Failed.", remedy: "Retry.")
                case 2: lecture.standing = .renewable
                default: break
                }
                lectures.append(lecture)
            }
            var limits = Self.limits([(50, 5), (50, 0), (100_000, nil)])
            limits.jobs = Int.random(in: 1...3, using: &random)
            limits.space = Int64.random(in: 0...3000, using: &random)
            let by: Double? = seed % 5 == 0 ? nil : Double.random(in: 0...300, using: &random)
            let answer = Self.ask(lectures, by: by, limits: limits)
            seen.formUnion(answer.obstacles.map(\.kind))
            #expect(answer.isReady == nil || answer.isReady == answer.obstacles.isEmpty, "seed \(seed)")
            #expect(answer.isReady != true || answer.ready == lectures.count, "seed \(seed)")
            #expect(answer.ready <= lectures.count && answer.complete == lectures.count(where: \.isComplete))
            let isLate = answer.end.map { end in by.map { end > monday($0) } ?? false } ?? (answer.isReady != nil)
            let kinds = Set(answer.obstacles.map(\.kind))
            #expect(isLate != kinds.isDisjoint(with: [.time, .timetable]), "seed \(seed)")
            #expect(kinds.contains(.space) == (answer.bytesLeft > limits.space ?? 0), "seed \(seed)")
            #expect(answer.obstacles.allSatisfy { !$0.message.isEmpty && $0.remedy.hasSuffix(".") }, "seed \(seed)")
            // More time makes none of them worse.
            let later = Self.ask(lectures, by: by.map { $0 + 50 }, limits: limits)
            #expect(later.ready >= answer.ready && (answer.isReady != true || later.isReady == true), "seed \(seed)")
        }
        #expect(seen == [.speed, .time, .timetable, .space, .paused, .failed, .licence])
    }

    @Test func `sizes beyond measure are too large for the disk, and nothing else`() throws {
        let lectures = try ["a", "b", "c"].map { try Self.lecture($0, left: .max) }
        var limits = Self.limits()
        (limits.space, limits.quota, limits.prunable) = (.max - 1, .max - 1, 0)
        let answer = Self.ask(lectures, limits: limits)
        #expect(answer.bytesLeft == .max && answer.obstacles.map(\.kind) == [.time, .space, .quota])
        limits.prunable = .max
        #expect(Self.ask(lectures, limits: limits).obstacles.map(\.kind) == [.time])
    }
}

@Suite struct ReadinessWatchPropertyTests {
    @Test func `a watch speaks once for each change, and its state is the last that it said`() {
        var (changes, steps) = (0, 0)
        for seed in 1...200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var watch = ReadinessWatch(by: monday(50_000))
            var said: [ReadinessWatch.State] = []
            var early = Double.random(in: -3000...3000, using: &random)
            for step in 0..<150 {
                early += Double.random(in: -800...800, using: &random)
                let isNever = Int.random(in: 0..<40, using: &random) == 0
                let before = watch.state
                let news = watch.take(isNever ? nil : monday(50_000 - early), now: monday(Double(step) * 300))
                steps += 1
                if let news {
                    said.append(news)
                    #expect(news == watch.state && news != before, "seed \(seed)")
                    // Within the margin nothing changes once the state is known.
                    let rest = 50_000 - early - Double(step) * 300
                    #expect(before == .unknown || isNever || abs(early) >= max(60, rest / 50) - 0.01, "seed \(seed)")
                } else {
                    #expect(watch.state == before || before == .unknown && watch.state == .inTime, "seed \(seed)")
                }
            }
            changes += said.count
            #expect(zip(said, said.dropFirst()).allSatisfy { $0 != $1 } && said.first != .inTime, "seed \(seed)")
            #expect(said.last.map { $0 == watch.state } ?? (watch.state == .inTime), "seed \(seed)")
        }
        #expect(changes > 200 && changes * 10 < steps, "\(changes)")
    }

    @Test(arguments: [(600.0, 60.0), (3000, 60), (3100, 62), (30_000, 600), (90_000, 1800)])
    func `the margin is a minute, or a fiftieth of what is left`(rest: Double, margin: Double) {
        for (distance, isSure) in [(margin - 1, false), (margin, true), (margin + 1, true)] {
            for sign in [1.0, -1] {
                let end = 100_000 + sign * distance
                var watch = ReadinessWatch(by: monday(100_000))
                for _ in 0..<2 { _ = watch.take(monday(100_000 - sign * 9000), now: monday(0)) }
                #expect(watch.state == (sign > 0 ? .inTime : .late))
                var news: [ReadinessWatch.State?] = []
                for _ in 0..<3 { news.append(watch.take(monday(end), now: monday(end - rest))) }
                let changed: ReadinessWatch.State = sign > 0 ? .late : .inTime
                #expect(news == (isSure ? [nil, changed, nil] : [nil, nil, nil]), "\(rest), \(distance), \(sign)")
            }
        }
    }
}

@Suite struct LicenceStandingTableTests {
    private static func status(
        _ reasons: [LicenceReason], form: LicenceRecord.Form?, checked: Timestamp?, expires: Timestamp?
    ) throws -> LicenceStatus {
        var policy = LicencePolicy()
        policy.expiresAt = expires
        var entry = LicenceEntry(key: try ContentKey("a"), source: LicenceSource())
        entry.record = form.map { LicenceRecord(form: $0, policy: policy, isVerified: true) }
        (entry.granted, entry.checked) = (monday(100), checked)
        return LicenceStatus(entry, reasons: reasons)
    }

    /// What each reason alone means for a licence of a file, and for one of a server that was not asked.
    private static let verdicts: [LicenceReason: (file: LicenceStanding, server: LicenceStanding)] = [
        .deleted: (.ended(.deleted), .ended(.deleted)), .forceExpired: (.ended(.forceExpired), .renewable),
        .mediaIncomplete: (.valid, .valid), .missing: (.doubtful, .doubtful), .unverified: (.doubtful, .doubtful),
        .otherDevice: (.doubtful, .doubtful), .storeCopied: (.doubtful, .doubtful),
        .ledgerForged: (.doubtful, .doubtful), .storeRolledBack: (.doubtful, .doubtful),
        .otherKey: (.doubtful, .doubtful), .clockUntrusted: (.doubtful, .doubtful), .checkDue: (.valid, .valid),
        .notYetValid: (.valid, .valid), .expired: (.ended(.expired), .renewable),
        .countUsedUp: (.ended(.countUsedUp), .renewable), .playTimeUsedUp: (.ended(.playTimeUsedUp), .renewable),
        .anchorUnwritable: (.valid, .valid),
    ]

    @Test(arguments: LicenceReason.allCases) func `each reason has a verdict, and a doubt outweighs every other`(
        reason: LicenceReason
    ) throws {
        let verdict = try #require(Self.verdicts[reason])
        func standing(_ reasons: [LicenceReason], _ form: LicenceRecord.Form) throws -> LicenceStanding {
            LicenceStanding(
                try Self.status(reasons.sorted(), form: form, checked: nil, expires: monday(200)), asked: [])
        }
        #expect(try standing([reason], .file) == verdict.file && standing([reason], .callback) == verdict.server)
        for other in LicenceReason.allCases where other != reason {
            let second = try #require(Self.verdicts[other])
            let both = try standing([reason, other], .file)
            if verdict.file == .doubtful || second.file == .doubtful {
                #expect(both == .doubtful, "\(other)")
            } else {
                // The first reason that ends it counts.
                let ends = [reason, other].sorted().compactMap { Self.verdicts[$0]?.file }.filter { $0 != .valid }
                #expect(both == ends.first ?? .valid, "\(other)")
            }
        }
    }

    @Test func `a refusal counts from the end of the licence on, by what has ended it`() throws {
        let outcomes = ["permitted", "reset", "refused", "ended", "deleted", "missing", "failed"]
        for reason in [LicenceReason.expired, .countUsedUp, .playTimeUsedUp, .forceExpired] {
            for checked in [nil, monday(300)] {
                let end = reason == .expired ? 200.0 : checked == nil ? 100 : 300
                let status = try Self.status([reason], form: .callback, checked: checked, expires: monday(200))
                for outcome in outcomes {
                    for offset in [-1.0, 0, 1] {
                        let asked = LicenceQuestion(at: monday(end + offset), question: "check", outcome: outcome)
                        let isFinal = (outcome == "refused" || outcome == "ended") && offset >= 0
                        let wanted = isFinal ? LicenceStanding.ended(reason) : .renewable
                        #expect(LicenceStanding(status, asked: [asked]) == wanted, "\(reason), \(outcome), \(offset)")
                        // What was no answer is passed over; an earlier answer does not count.
                        let failed = LicenceQuestion(at: monday(999), question: "check", outcome: "failed")
                        let old = LicenceQuestion(at: monday(end), question: "check", outcome: "refused")
                        let isAnswer = !["failed", "missing"].contains(outcome)
                        let row = LicenceStanding(status, asked: [failed, asked, old])
                        #expect(row == (isAnswer ? wanted : .ended(reason)), "\(reason), \(outcome), \(offset)")
                    }
                }
            }
        }
        // A licence without an end that a server has ended: any refusal is later.
        let open = try Self.status([.expired], form: .callback, checked: nil, expires: nil)
        let refused = LicenceQuestion(at: monday(0), question: "grant", outcome: "refused")
        #expect(LicenceStanding(open, asked: [refused]) == .ended(.expired))
        #expect(LicenceStanding(open, asked: []) == .renewable)
    }
}
