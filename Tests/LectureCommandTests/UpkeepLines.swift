import LectureCommand
import LectureKit
import LectureModel
import LectureRecords
import LectureUpkeep

/// The lines of `prune` and `plan`, with all members and with few.
enum UpkeepLines {
    static func all() throws -> [(schema: String, line: String)] {
        var use = LectureUse()
        var lectures: [RetainedLecture] = []
        for key in ["bare", "full", "pinned"] {
            if key == "full" {
                (use.lastPlayed, use.resumePoint) = (Timestamp(milliseconds: 5), .seconds(65))
                use.isListed = true
            }
            if key == "pinned" { use.pinned = Timestamp(milliseconds: 7) }
            var lecture = RetainedLecture(
                key: try ContentKey(key), bytes: 9, completed: Timestamp(milliseconds: 3), use: use)
            lecture.url = "https://u:p@h.example/a.mp4?token=1"
            lectures.append(lecture)
        }
        let rules = try RetentionRule.rules(["keep 1d after download", "never below 1G"])
        let now = Timestamp(milliseconds: 1_000_000_000)
        let plan = RetentionPlan(rules: rules, lectures: lectures, free: 100, now: now)
        let vague = RetentionPlan(rules: rules, lectures: [], free: nil, now: now)
        let content = try JSONLineTests.content()
        let window = PaceWindow(start: now, end: now + .seconds(1000), bytesPerSecond: nil)
        var lecture = PlannedLecture(key: try ContentKey("k"), title: "t")
        (lecture.bytesLeft, lecture.total) = (100, 100)
        var failed = lecture
        failed.hindrance = .init(.failed, "It failed.", remedy: "")
        let limits = ReadinessLimits(windows: [window])
        let measured = [MeasuredSpeed(origin: "", bytes: 5, busy: .seconds(1), bound: 4)]
        let ready = Readiness(
            [lecture, failed], speeds: ForecastSpeeds(measured), limits: limits, by: now + .seconds(900), now: now)
        let unknown = Readiness([lecture], speeds: ForecastSpeeds(), limits: limits, by: nil, now: now)
        return plan.removals.map { ("event-planned", JSONLine.plannedRemoval($0)) }
            + plan.kept.map { ("event-kept", JSONLine.kept($0)) } + [
                (
                    "record-readiness",
                    JSONLine.readiness(PlanAnswer(ready, measured: measured, typed: nil, isRunning: false))
                ),
                (
                    "record-readiness",
                    JSONLine.readiness(PlanAnswer(unknown, measured: [], typed: nil, isRunning: true))
                ), ("event-readiness", JSONLine.slipped(isInTime: false, by: now, end: nil)),
                ("event-readiness", JSONLine.slipped(isInTime: true, by: now, end: now)),
                ("record-content", JSONLine.content(content, pinned: now)),
                (
                    "event-pruned",
                    JSONLine.pruned(PruneTotals(plan: plan, lectures: 2, bytes: 18, freeBefore: 100, isDryRun: true))
                ), ("event-pruned", JSONLine.pruned(PruneTotals(plan: vague, lectures: 0, bytes: 0, freeBefore: nil))),
            ]
    }
}
