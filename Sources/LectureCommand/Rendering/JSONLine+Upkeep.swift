package import LectureModel
package import LectureRecords
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

    /// Whether lectures will be there in time.
    ///
    /// - Parameter plan: the answer.
    /// - Returns: the line.
    package static func readiness(_ plan: PlanAnswer) -> String {
        line { writer in
            let answer = plan.answer
            writer.member("record", "readiness")
            writer.member("ready", answer.isReady)
            writer.member("ready_by_ms", answer.time?.milliseconds)
            writer.member("end_ms", answer.end?.milliseconds)
            writer.member("lectures", answer.lectures.count)
            writer.member("complete", answer.complete)
            writer.member("ready_lectures", answer.ready)
            writer.member("bytes_left", answer.bytesLeft)
            writer.member("estimated_sizes", answer.estimated)
            writer.member("speed_source", plan.source.rawValue)
            writer.member("speed_bps", plan.speed.map { Int64($0) })
            writer.array("obstacles") { writer in
                for obstacle in answer.obstacles {
                    writer.object { writer in
                        writer.member("kind", obstacle.kind.rawValue)
                        writer.member("key", obstacle.key?.text)
                        writer.member("message", obstacle.message)
                        writer.member("remedy", obstacle.remedy)
                    }
                }
            }
            writer.array("notes") { writer in for note in plan.notes { writer.element(note) } }
        }
    }

    /// A running download will not be done in time, or will again.
    ///
    /// - Parameters:
    ///   - isInTime: whether it will.
    ///   - time: by when it should be.
    ///   - end: when it will be; nil for never.
    /// - Returns: the line.
    package static func slipped(isInTime: Bool, by time: Timestamp, end: Timestamp?) -> String {
        line { writer in
            writer.member("event", "readiness")
            writer.member("ready", isInTime)
            if !isInTime {
                writer.member("code", LectureError.Code.notInTime.number)
                writer.member("name", LectureError.Code.notInTime.name)
            }
            writer.member("ready_by_ms", time.milliseconds)
            writer.member("end_ms", end?.milliseconds)
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
