import Foundation
import LectureDoctor
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureRecords
import LectureUpkeep
import Testing

@testable import LectureCommand

/// What `prune` says of its totals.
@Suite struct PruneTextTests {
    static let now = Timestamp(milliseconds: 100 * 86_400_000)

    /// Lectures of 1000 bytes that were complete 50 days ago.
    static func lecture(_ key: String, _ change: (inout LectureUse) -> Void = { _ in }) throws -> RetainedLecture {
        var use = LectureUse()
        change(&use)
        return RetainedLecture(
            key: try ContentKey(key), bytes: 1000, completed: now + .seconds(-50 * 86_400), use: use)
    }

    static func plan(
        _ lectures: [RetainedLecture], _ rules: String..., free: Int64? = 5000
    ) throws -> RetentionPlan {
        RetentionPlan(rules: try RetentionRule.rules(rules), lectures: lectures, free: free, now: now)
    }

    @Test func `what would go is counted, with what stays, what is free and what comes back`() throws {
        let rule = "keep 9d after download"
        let (a, b) = (try Self.lecture("a"), try Self.lecture("b") { $0.isListed = true })
        let (c, d) = (try Self.lecture("c") { $0.isListed = true }, try Self.lecture("d") { $0.pinned = Self.now })
        func sentences(_ lectures: [RetainedLecture], free: Int64? = 5000) throws -> [String] {
            let plan = try Self.plan(lectures, rule, free: free)
            return PruneTotals(
                plan: plan, lectures: plan.removals.count, bytes: plan.bytes, freeBefore: free, isDryRun: true
            ).sentences
        }
        #expect(try sentences([]) == ["0 lectures would be removed (0 B). 4.88 KiB would be free."])
        #expect(try sentences([a], free: nil) == ["1 lecture would be removed (0.97 KiB)."])
        #expect(
            try sentences([a, d])
                == [
                    "1 lecture would be removed (0.97 KiB), 1 kept although a rule takes them. "
                        + "5.85 KiB would be free."
                ])
        let one = try sentences([a, b])
        #expect(one.count == 2 && one[1].hasPrefix("1 of them is still in a course list: "), "\(one)")
        #expect(one[1].hasSuffix(" downloads it again."))
        let two = try sentences([b, c, d])
        #expect(two.count == 2 && two[1].hasPrefix("2 of them are still in a course list: "), "\(two)")
        #expect(two[1].hasSuffix(" downloads them again."))
    }

    @Test func `what was removed is said of now, and no list is mentioned any more`() throws {
        let plan = try Self.plan([try Self.lecture("b") { $0.isListed = true }], "keep 9d after download")
        let totals = PruneTotals(plan: plan, lectures: 3, bytes: 3000, freeBefore: 2000)
        #expect(totals.sentences == ["3 lectures removed (2.92 KiB). 4.88 KiB are free."])
        #expect(totals.freeAfter == 5000 && totals.listed == 0 && !totals.isDryRun)
        let dry = PruneTotals(plan: plan, lectures: 1, bytes: 1000, freeBefore: 5000, isDryRun: true)
        #expect(dry.freeAfter == 6000 && dry.listed == 1)
    }

    @Test func `each obstacle has a sentence of its own`() {
        let sentences = LectureUse.Obstacle.allCases.map(PruneTotals.sentence)
        #expect(Set(sentences).count == LectureUse.Obstacle.allCases.count)
        #expect(sentences.allSatisfy { $0.hasPrefix("it is ") || $0.hasPrefix("the ") || $0.hasPrefix("a ") })
        #expect(PruneTotals.sentence(.pinned) == "it is pinned")
    }

    @Test func `lines name the rule as it was written, and only what is known`() throws {
        let lectures = [
            try Self.lecture("bare"),
            try Self.lecture("full") {
                ($0.lastPlayed, $0.resumePoint) = (Self.now + .seconds(-12 * 86_400), .milliseconds(65_500))
                $0.isListed = true
            },
            try Self.lecture("playing") { $0.isPlaying = true }, try Self.lecture("open") { $0.hasOpenPlay = true },
            try Self.lecture("busy") { $0.isSettled = false }, try Self.lecture("pinned") { $0.pinned = Self.now },
        ]
        let plan = try Self.plan(lectures, "KEEP 9d  after download", "keep 10d after play")
        let removals = plan.removals.map(JSONLine.plannedRemoval)
        try #require(removals.count == 2)
        for text in ["played_ms", "resume_s", "listed"] { #expect(!removals[0].contains(text), "\(text)") }
        #expect(removals[0].contains(#""rule":"KEEP 9d  after download","reason":"downloaded 50 days ago""#))
        #expect(removals[1].contains(#""rule":"keep 10d after play","reason":"last played 12 days ago""#))
        #expect(removals[1].contains(#""resume_s":65.5"#) && removals[1].contains(#""listed":true"#))
        #expect(removals[1].contains(#""played_ms":\#(88 * 86_400_000)"#), "\(removals[1])")
        let kept = plan.kept.map(JSONLine.kept)
        #expect(plan.kept.map(\.obstacle) == [.playing, .unreported, .incomplete, .pinned])
        for (line, one) in zip(kept, plan.kept) {
            #expect(line.contains(#""reason":"\#(one.obstacle.rawValue)""#), "\(line)")
            #expect(try JSONSchema(named: "event-kept").faults(in: Data(line.utf8)) == [])
        }
        let short = try Self.plan([lectures[0]], "never below 9000")
        let line = JSONLine.pruned(PruneTotals(plan: short, lectures: 1, bytes: 1000, freeBefore: 5000, isDryRun: true))
        #expect(
            line.contains(
                #""dry_run":true,"lectures":1,"bytes":1000,"kept":0,"free_bytes":5000,"free_after_bytes":6000,"#
                    + #""missing_bytes":3000"#), "\(line)")
    }
}

/// What `plan` answers.
@Suite struct PlanTextTests {
    static let now = Timestamp(milliseconds: 1_768_176_000_000)

    static func lecture(_ key: String, left: Int64?, origin: String = "http://a") throws -> PlannedLecture {
        var lecture = PlannedLecture(key: try ContentKey(key), title: key)
        (lecture.bytesLeft, lecture.total, lecture.origin) = (left, left, origin)
        lecture.isComplete = left == 0
        return lecture
    }

    /// The answer at 100 bytes a second.
    static func readiness(
        _ lectures: [PlannedLecture], by seconds: Double? = nil, speed: Double? = 100,
        _ change: (inout ReadinessLimits) -> Void = { _ in }
    ) -> Readiness {
        let window = PaceWindow(start: now, end: now + .seconds(400 * 86_400), bytesPerSecond: nil)
        var limits = ReadinessLimits(windows: [window])
        change(&limits)
        return Readiness(
            lectures, speeds: ForecastSpeeds(others: speed), limits: limits, by: seconds.map { now + .seconds($0) },
            now: now)
    }

    private func lines(
        _ answer: Readiness, _ measured: [MeasuredSpeed] = [], typed: Int64? = nil, isRunning: Bool = true
    ) -> [String] {
        PlanAnswer(answer, measured: measured, typed: typed, isRunning: isRunning).lines { "\($0) bytes" }
    }

    static let leads: [(by: Double, length: String)] = [
        (1000, "less than a minute"), (1059, "less than a minute"), (1060, "1 min"), (4599, "59 min"),
        (4600, "1 h 0 min"), (87_400, "24 h 0 min"), (173_799, "47 h 59 min"), (173_800, "2 days"),
        (865_000, "10 days"),
    ]

    @Test(arguments: leads)
    func `how long before the time it is ready is said in the largest unit`(by: Double, length: String) throws {
        let answer = Self.readiness([try Self.lecture("k", left: 100_000)], by: by)
        let end = PlanAnswer.date(Self.now + .seconds(1000))
        let time = PlanAnswer.date(Self.now + .seconds(by))
        #expect(answer.isReady == true)
        #expect(lines(answer)[0] == "Ready \(end), \(length) before \(time).")
    }

    @Test func `each answer begins with its own sentence`() throws {
        let (done, open) = (try Self.lecture("done", left: 0), try Self.lecture("open", left: 100_000))
        let (end, late) = (PlanAnswer.date(Self.now + .seconds(1000)), PlanAnswer.date(Self.now + .seconds(500)))
        let rows: [(answer: Readiness, sentence: String)] = [
            (Self.readiness([]), "There is nothing to download."),
            (Self.readiness([], by: 500), "There is nothing to download."),
            (Self.readiness([done], by: 500), "Ready now, and by \(late)."),
            (Self.readiness([done, open]), "Ready \(end)."),
            (Self.readiness([open], speed: nil), "When they will be ready is not known."),
            (Self.readiness([open], by: 500, speed: nil), "Whether they will be ready by \(late) is not known."),
            (Self.readiness([done, open], by: 500), "Not ready by \(late): 1 of 2 lectures, done \(end)."),
            (Self.readiness([open], by: 500), "Not ready by \(late): 0 of 1 lecture, done \(end)."),
            (Self.readiness([open]) { $0.quota = 7 }, "Ready \(end), but for what is in the way."),
            (Self.readiness([open]) { $0.windows = [] }, "When they will be ready is not known."),
            (Self.readiness([open], by: 500) { $0.windows = [] }, "Not ready by \(late): 0 of 1 lecture."),
        ]
        for (answer, sentence) in rows { #expect(lines(answer).first == sentence) }
        #expect(lines(Self.readiness([done, open]))[1] == "1 of 2 lectures complete, 100000 bytes left.")
        let quota = lines(Self.readiness([open]) { $0.quota = 7 })
        #expect(quota.count == 3 && quota[2].hasPrefix("In the way: The quota leaves 7 B of 97.6 KiB. Raise --quota"))
    }

    @Test func `what the speed rests on is named`() throws {
        let open = try Self.lecture("k", left: 100_000)
        let answer = Self.readiness([open])
        func measured(_ origin: String, _ bytes: Int64, bound: Int64? = nil) -> MeasuredSpeed {
            MeasuredSpeed(origin: origin, bytes: bytes, busy: .seconds(1), bound: bound)
        }
        let rows: [(measured: [MeasuredSpeed], typed: Int64?, source: PlanAnswer.Source, speed: Double?, end: String)] =
            [
                ([], nil, .none, nil, "left."), ([], 2048, .option, 2048, "left, at 2.00 KiB/s (--speed)."),
                ([measured("http://a", 512)], nil, .measured, 512, "left, at 512 B/s as measured."),
                ([measured("http://a", 512)], 7, .option, 7, "left, at 7 B/s (--speed)."),
                // Other servers count only where the needed one was not measured.
                ([measured("http://a", 512), measured("http://b", 1)], nil, .measured, 512, "at 512 B/s as measured."),
                (
                    [measured("http://c", 50), measured("http://b", 20)], nil, .measured, 20,
                    "left, at 20 B/s from the slowest of 2 servers."
                ),
                ([measured("http://a", 512, bound: 9)], nil, .bounded, 512, "left, at 512 B/s as measured."),
            ]
        for (measured, typed, source, speed, end) in rows {
            let plan = PlanAnswer(answer, measured: measured, typed: typed, isRunning: true)
            #expect(plan.source == source && plan.speed == speed, "\(measured)")
            let lines = plan.lines { "\($0) bytes" }
            #expect(lines[1].hasSuffix(end), "\(lines[1])")
            #expect(plan.notes.contains { $0.contains("while a limit applied") } == (source == .bounded))
            let line = JSONLine.readiness(plan)
            #expect(
                line.contains(#""speed_source":"\#(source.rawValue)""#) && line.contains("speed_bps") == (speed != nil))
            #expect(try JSONSchema(named: "record-readiness").faults(in: Data(line.utf8)) == [])
        }
    }

    @Test func `estimates and a store without a download are noted`() throws {
        let (sized, done) = (try Self.lecture("a", left: 500), try Self.lecture("d", left: 0))
        let (one, two) = (try Self.lecture("b", left: nil), try Self.lecture("c", left: nil))
        func notes(_ lectures: [PlannedLecture], isRunning: Bool = true) -> [String] {
            PlanAnswer(Self.readiness(lectures), measured: [], typed: nil, isRunning: isRunning).notes
        }
        #expect(
            notes([sized]).isEmpty && notes([done], isRunning: false).isEmpty && notes([], isRunning: false).isEmpty)
        #expect(notes([sized, one]) == ["The size of 1 lecture is not known: the median of the others is taken."])
        #expect(
            notes([sized, one, two]) == ["The sizes of 2 lectures are not known: the median of the others is taken."])
        #expect(
            notes([sized, done], isRunning: false) == ["No process is downloading: run 'lecturectl precache' now."])
        // Of two servers neither, or one, or both were measured.
        let other = try Self.lecture("o", left: 500, origin: "http://o")
        let known = MeasuredSpeed(origin: sized.origin, bytes: 512, busy: .seconds(1))
        let far = MeasuredSpeed(origin: "http://far", bytes: 512, busy: .seconds(1))
        for (measured, note) in [
            ([], nil), ([known], "1 server was not measured yet: the mean of the others is taken."),
            ([far], "2 servers were not measured yet: the mean of the others is taken."),
            ([known, MeasuredSpeed(origin: "http://o", bytes: 512, busy: .seconds(1))], nil),
        ] as [([MeasuredSpeed], String?)] {
            let answer = PlanAnswer(Self.readiness([sized, other]), measured: measured, typed: nil, isRunning: true)
            #expect(answer.notes == [note].compactMap(\.self), "\(measured)")
        }
        #expect(lines(Self.readiness([sized, one]))[1] == "0 of 2 lectures complete, 1000 bytes left.")
    }

    @Test func `the line has the obstacles in order, and no time that is not known`() throws {
        var paused = try Self.lecture("p", left: 10)
        paused.hindrance = .init(.paused, "It was \"paused\".", remedy: "Resume it.")
        let answer = Self.readiness([try Self.lecture("k", left: 100_000), paused], by: 500) { $0.space = 3 }
        #expect(answer.obstacles.map(\.kind) == [.time, .space, .paused])
        let line = JSONLine.readiness(PlanAnswer(answer, measured: [], typed: 100, isRunning: true))
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let obstacles = object?["obstacles"] as? [[String: String]] ?? []
        #expect(obstacles.compactMap { $0["kind"] } == ["time", "space", "paused"])
        #expect(obstacles.map { $0["key"] } == [nil, nil, "p"] && obstacles.last?["remedy"] == "Resume it.")
        #expect(object?["ready"] as? Bool == false && object?["ready_lectures"] as? Int == 0)
        #expect(object?["ready_by_ms"] as? Int64 == (Self.now + .seconds(500)).milliseconds)
        #expect(object?["end_ms"] as? Int64 == (Self.now + .seconds(1000)).milliseconds)
        let text = lines(answer).last
        #expect(text == "In the way: p: It was \"paused\". Resume it.")
        let unknown = JSONLine.readiness(
            PlanAnswer(Self.readiness([paused], speed: nil), measured: [], typed: nil, isRunning: true))
        for name in ["ready_by_ms", "speed_bps"] { #expect(!unknown.contains(name), "\(name)") }
    }

    @Test(arguments: 0..<7) func `a date begins with its day of the week`(offset: Int) {
        // Noon of Monday, 12 January 2026, in the machine's zone.
        let utc = Timestamp(milliseconds: 1_768_219_200_000 + Int64(offset) * 86_400_000)
        let noon = utc + .seconds(-SystemTime.secondsEastOfUTC(utc))
        let day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][offset]
        #expect(PlanAnswer.date(noon) == "\(day) 2026-01-\(12 + offset) 12:00")
    }
}

/// Findings of `doctor` as lines.
@Suite struct DoctorTextTests {
    private static let plain = Style(choice: "never", environment: [:], isTerminal: true)
    private static let colours = Style(choice: "always", environment: [:], isTerminal: false)

    private func lines(_ findings: Finding..., style: Style = plain) -> [String] {
        DoctorText.lines(findings, style: style).map(\.text)
    }

    @Test func `grade, subject and message are columns, and what to do is below the message`() {
        let found = lines(
            Finding(.store, .ok, "It is fine."), Finding(.deviceKey, .warning, "It is open.", remedy: "Close it."),
            Finding(.configuration, .note, name: "/c.json", "It is empty."), Finding(.server, .failed, "No."))
        #expect(
            found == [
                "ok       store          It is fine.", "warning  device key     It is open.",
                "                        Close it.", "note     configuration  /c.json: It is empty.",
                "failed   server         No.",
            ])
        #expect(DoctorText.lines([], style: Self.plain).isEmpty)
    }

    @Test func `a message that begins with the name does not get it twice`() {
        let name = "/etc/c.json"
        let rows = [
            ("\(name):3: wrong.", "\(name):3: wrong."), ("In \(name): wrong.", "\(name): In \(name): wrong."),
            ("wrong.", "\(name): wrong."), ("", "\(name): "),
        ]
        for (message, text) in rows {
            #expect(lines(Finding(.disk, .ok, name: name, message)) == ["ok       disk           \(text)"])
        }
    }

    @Test(arguments: [(Finding.Grade.ok, "32"), (.note, "32"), (.warning, "33"), (.failed, "31")])
    func `only the grade is coloured, in its own colour`(grade: Finding.Grade, colour: String) {
        let finding = Finding(.clock, grade, "Late.", remedy: "Wait.")
        let found = lines(finding, style: Self.colours)
        let word = TerminalText.padded(grade.rawValue, to: 7)
        #expect(found.first == "\u{1B}[\(colour)m\(word)\u{1B}[0m  clock          Late.")
        #expect(found.last == "                        Wait.")
        #expect(lines(finding).first == "\(word)  clock          Late.")
    }

    @Test(arguments: Finding.Subject.allCases)
    func `every subject fits its column and its line matches the schema`(subject: Finding.Subject) throws {
        var finding = Finding(subject, LectureError(.storeBusy), name: "n")
        let line = lines(finding)[0]
        #expect(line.hasPrefix("failed   \(subject.rawValue.replacing("_", with: " "))") && !line.contains("_"))
        #expect(line.dropFirst(22).hasPrefix("  n: \(LectureError(.storeBusy).message)"), "\(line)")
        for remedy in ["", "Do it."] {
            (finding.remedy, finding.name) = (remedy, remedy)
            let json = JSONLine.finding(finding)
            #expect(try JSONSchema(named: "record-finding").faults(in: Data(json.utf8)) == [], "\(json)")
            #expect(json.contains("\"remedy\"") == !remedy.isEmpty && json.contains("\"name\"") == !remedy.isEmpty)
            #expect(json.contains(#""error":"store_busy""#))
        }
    }

    @Test func `no finding can control the terminal or begin another line`() {
        let wild = "a\u{1B}[2J\nfailed   x"
        for style in [Self.plain, Self.colours] {
            let found = lines(Finding(.server, .ok, name: wild, wild, remedy: wild), style: style)
            #expect(found.count == 2)
            let rest = found.map { $0.replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "") }
            #expect(rest.allSatisfy { line in !line.unicodeScalars.contains { $0.value < 0x20 } }, "\(rest)")
        }
    }
}
