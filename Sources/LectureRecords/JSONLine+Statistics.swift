import LectureFormats
package import LectureKit
package import LectureModel

/// The lines about learning reports. See ``JSONLine``.
extension JSONLine {
    /// A report is durably stored.
    ///
    /// - Parameter row: the report's id and target.
    /// - Returns: the line.
    package static func stored(_ row: StoredReportID) -> String {
        line { writer in
            writer.member("event", "lms")
            writer.member("id", row.id)
            writer.member("is_new", row.isNew)
            writer.member("seq", row.sequence)
            target(row.target, &writer)
        }
    }

    /// One report.
    ///
    /// - Parameter report: its current state.
    /// - Returns: the line.
    package static func report(_ report: ReportStatus) -> String {
        line { writer in
            writer.member("record", "lms")
            writer.member("id", report.id)
            writer.member("state", report.state.name)
            writer.member("key", report.content.isEmpty ? nil : report.content)
            writer.member("course", report.course)
            writer.member("user", report.user)
            writer.member("session", report.session)
            writer.member("seq", report.sequence)
            writer.member("time_ms", report.time.milliseconds)
            if report.isCorrected { writer.member("corrected", true) }
            writer.member("changed_ms", report.changed.milliseconds)
            writer.member("attempts", report.attempts)
            writer.member("reason", report.reason?.name)
            writer.member("note", report.note)
            target(report.target, &writer)
            answer(report.answer, &writer)
        }
    }

    /// Where all reports are.
    ///
    /// - Parameter summary: the counts and the targets.
    /// - Returns: the line.
    package static func reportSummary(_ summary: ReportSummary) -> String {
        line { writer in
            writer.member("record", "lms_summary")
            writer.member("created", summary.created)
            for state in ReportState.allCases { writer.member(state.name, summary.counts[state] ?? 0) }
            writer.member("pruned", summary.pruned)
            writer.member("erased", summary.erased)
            writer.member("conserved", summary.isConserved)
            writer.member("without_target", summary.withoutTarget)
            writer.array("targets") { writer in
                for status in summary.targets {
                    writer.object { writer in
                        target(status.target, &writer)
                        writer.member("open", status.open)
                        writer.member("failures", status.failures)
                        writer.member("wait_until_ms", status.waitsUntil?.milliseconds)
                        writer.member("suspension", status.suspension?.name)
                        answer(status.answer, &writer)
                    }
                }
            }
        }
    }

    /// The progress of a sending.
    ///
    /// - Parameter result: the counts since it started.
    /// - Returns: the line.
    package static func sending(_ result: ReportSendResult) -> String {
        line { writer in
            writer.member("event", "sending")
            numbers(result, &writer)
        }
    }

    /// A report became a dead letter.
    ///
    /// - Parameters:
    ///   - id: the report's id.
    ///   - reason: the reason.
    ///   - error: the error, with the answer.
    /// - Returns: the line.
    package static func refused(_ id: String, _ reason: DeadReason, _ error: LectureError) -> String {
        line { writer in
            writer.member("event", "refused")
            writer.member("id", id)
            writer.member("reason", reason.name)
            problem(error, &writer)
        }
    }

    /// Why reports for a target are left.
    ///
    /// - Parameter obstacle: the target, and the error.
    /// - Returns: the line.
    package static func obstacle(_ obstacle: ReportObstacle) -> String {
        line { writer in
            writer.member("event", "obstacle")
            writer.member("target", obstacle.url.isEmpty ? nil : URLText.withoutSecrets(obstacle.url))
            problem(obstacle.error, &writer)
            writer.member("next_attempt_ms", obstacle.again?.milliseconds)
        }
    }

    /// The last line of a sending.
    ///
    /// - Parameters:
    ///   - result: the result.
    ///   - elapsed: how long it took.
    /// - Returns: the line.
    package static func sendSummary(_ result: ReportSendResult, elapsed: Duration) -> String {
        line { writer in
            writer.member("event", "summary")
            numbers(result, &writer)
            writer.member("elapsed_s", Double(elapsed.milliseconds) / 1000)
        }
    }

    /// Dead letters wait again.
    ///
    /// - Parameter count: how many.
    /// - Returns: the line.
    package static func revived(_ count: Int) -> String {
        line { writer in
            writer.member("event", "revived")
            writer.member("count", count)
        }
    }

    private static func numbers(_ result: ReportSendResult, _ writer: inout JSONWriter) {
        writer.member("delivered", result.delivered)
        writer.member("dead", result.refused)
        writer.member("superseded", result.superseded)
        writer.member("open", result.left)
        writer.member("requests", result.requests)
    }

    private static func target(_ target: ReportTarget?, _ writer: inout JSONWriter) {
        guard let target else { return }
        writer.member("target", URLText.withoutSecrets(target.url))
        writer.member("format", target.format.rawValue)
    }

    private static func answer(_ answer: ReportAnswer?, _ writer: inout JSONWriter) {
        guard let answer else { return }
        writer.object("answer") { writer in
            writer.member("at_ms", answer.at.milliseconds)
            writer.member("status", answer.status)
            writer.member("text", answer.text)
        }
    }
}
