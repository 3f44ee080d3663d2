// The codes of learning reports. Our own numbers; frozen like all others.

extension LectureError.Code {
    /// A report's id is known with another payload.
    public static let reportConflict = Self(
        -20140, "report_conflict", "a report with this id is already stored with different values",
        "Give each report an id of its own; the stored one was not changed.",
        reason: "Another report already has this id.")
    /// A report cannot be read.
    public static let reportInvalid = Self(
        -20141, "report_invalid", "the report cannot be stored",
        "Correct the member that is named; nothing was stored.",
        reason: "A member is missing, has the wrong type, or is too long.")
    /// A learner cannot be erased yet.
    public static let reportsUnderWay = Self(
        -20142, "reports_under_way",
        "some of this learner's reports were sent but never acknowledged; nothing was erased",
        "Run 'lecturectl lms send' first, or add --force: then the other reports of those requests are sent again.",
        reason: "They were sent, and no response is known.")
    /// Reports have no target.
    public static let reportTargetMissing = Self(
        -20143, "report_target_missing", "no LMS is configured for these reports",
        "Give --target URL, or set lms.url in the configuration.",
        reason: "Neither the report, its lecture nor the configuration names an LMS.")
    /// A target wants credentials, or refuses this sender.
    public static let reportTargetRefuses = Self(
        -20144, "report_target_refuses", "the LMS refuses this sender; the reports are kept",
        "Correct its credentials in the configuration (lms.targets), then run 'lecturectl lms send' again.",
        reason: "The LMS answered 401, 403 or 407.")
    /// A report was refused for good.
    public static let reportRefused = Self(
        -20145, "report_refused", "the LMS refused a report; it is kept as a dead letter",
        "'lecturectl lms list --state dead' says why; 'lecturectl lms retry' sends it again.",
        reason: "The LMS refused it when it was sent alone.")
    /// An answer from something other than the LMS: a captive portal, a redirect to elsewhere, other text.
    public static let reportAnswerUnexpected = Self(
        -20146, "report_answer_unexpected", "the answer did not come from the LMS; the reports are kept",
        "A sign-in page of the network or a wrong address: open the URL in a browser.",
        reason: "The response was a web page, a redirect to another host or other text, not an acknowledgement.")
    /// A target is busy or fails.
    public static let reportTargetWaits = Self(
        -20147, "report_target_waits", "the LMS cannot take the reports now; they are kept",
        "Run 'lecturectl lms send' again later; 'lecturectl lms list --summary' says when it may be asked.",
        reason: "The LMS is busy or failing, or asked to wait.")
    /// A line of an export cannot be read.
    public static let reportLine = Self(
        -20148, "report_line", "this line of the export cannot be read; the other lines are still imported",
        "Correct the line and import the file again: stored reports are skipped.",
        reason: "The line is damaged, or another program wrote it.")
    /// An export ends before its summary line, or does not match it.
    public static let exportIncomplete = Self(
        -20149, "export_incomplete", "the export is truncated or was changed; its readable reports were stored",
        "Export it again from its source.",
        reason: "Its last line is missing or does not match the lines before it.")
    /// Traces of a learner remain.
    public static let learnerLeft = Self(
        -20150, "learner_left", "the learner's reports are erased, but other places still name the learner",
        "Each place is named: remove it, then run the command again.",
        reason: "A licence, a description or a copy of the store that cannot be reached names the learner.")
}

extension LectureError.Code {
    /// The codes of this file, in order.
    static let statistics: [Self] = [
        .reportConflict, .reportInvalid, .reportsUnderWay, .reportTargetMissing, .reportTargetRefuses, .reportRefused,
        .reportAnswerUnexpected, .reportTargetWaits, .reportLine, .exportIncomplete, .learnerLeft,
    ]
}
