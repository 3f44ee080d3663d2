import LectureModel
package import LectureUpkeep

extension JSONLine {
    /// A lecture that rules would remove.
    ///
    /// - Parameter removal: the lecture, the rule and the reason.
    /// - Returns: the line.
    package static func plannedRemoval(_ removal: RetentionPlan.Removal) -> String {
        line { writer in
            let lecture = removal.lecture
            writer.member("event", "planned")
            writer.member("key", lecture.key.text)
            writer.member("title", lecture.title)
            writer.member("url", URLText.withoutSecrets(lecture.url))
            writer.member("plan", "gone")
            writer.member("bytes", lecture.bytes)
            writer.member("rule", removal.rule.text)
            writer.member("reason", removal.reason)
            writer.member("played_ms", lecture.use.lastPlayed?.milliseconds)
            if lecture.use.resumePoint > .zero {
                writer.member("resume_s", Double(lecture.use.resumePoint.milliseconds) / 1000)
            }
            if lecture.use.isListed { writer.member("listed", true) }
        }
    }

    /// A lecture that a rule takes, and that stays.
    ///
    /// - Parameter kept: the lecture, the rule and why it stays.
    /// - Returns: the line.
    package static func kept(_ kept: RetentionPlan.Kept) -> String {
        line { writer in
            writer.member("event", "kept")
            writer.member("key", kept.lecture.key.text)
            writer.member("title", kept.lecture.title)
            writer.member("bytes", kept.lecture.bytes)
            writer.member("rule", kept.rule.text)
            writer.member("reason", kept.obstacle.rawValue)
        }
    }

    /// What rules have removed, or would remove.
    ///
    /// - Parameter totals: the totals.
    /// - Returns: the line.
    package static func pruned(_ totals: PruneTotals) -> String {
        line { writer in
            writer.member("event", "pruned")
            writer.member("dry_run", totals.isDryRun)
            writer.member("lectures", totals.lectures)
            writer.member("bytes", totals.bytes)
            writer.member("kept", totals.plan.kept.count)
            writer.member("free_bytes", totals.freeBefore)
            writer.member("free_after_bytes", totals.freeAfter)
            writer.member("missing_bytes", totals.plan.missing)
        }
    }
}
