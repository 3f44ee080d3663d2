import LectureCommand
import LectureModel
import LectureRecords

/// Every kind of line about sending reports, with all members and with few.
enum ReportLines {
    static func all() -> [(schema: String, line: String)] {
        var result = ReportSendResult()
        (result.delivered, result.refused, result.superseded, result.left, result.requests) = (1, 2, 3, 4, 5)
        let waits = ReportObstacle(
            url: "https://u:p@lms.example/x?secret", error: LectureError(.reportTargetWaits, detail: "h"),
            again: Timestamp(milliseconds: 7))
        let missing = ReportObstacle(url: "", error: LectureError(.reportTargetMissing), again: nil)
        return [
            ("event-sending", JSONLine.sending(result)),
            ("event-refused", JSONLine.refused("r1", .tooLarge, LectureError(.reportRefused, detail: "r1"))),
            ("event-obstacle", JSONLine.obstacle(waits)), ("event-obstacle", JSONLine.obstacle(missing)),
            ("event-summary-lms", JSONLine.sendSummary(result, elapsed: .milliseconds(1500))),
            ("event-revived", JSONLine.revived(3)),
        ]
    }
}
