import LectureCommand
import LectureKit
import LectureModel
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
        return plan.removals.map { ("event-planned", JSONLine.plannedRemoval($0)) }
            + plan.kept.map { ("event-kept", JSONLine.kept($0)) } + [
                ("record-content", JSONLine.content(content, pinned: now)),
                (
                    "event-pruned",
                    JSONLine.pruned(PruneTotals(plan: plan, lectures: 2, bytes: 18, freeBefore: 100, isDryRun: true))
                ), ("event-pruned", JSONLine.pruned(PruneTotals(plan: vague, lectures: 0, bytes: 0, freeBefore: nil))),
            ]
    }
}
