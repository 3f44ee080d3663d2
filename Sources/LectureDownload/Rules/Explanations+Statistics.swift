import LectureModel

/// What the codes of learning reports mean.
extension Explanations {
    static let statisticsTexts: [Row] = [
        (.reportConflict, "Another report already has this id."),
        (.reportInvalid, "A member is missing, has the wrong type, or is too long."),
        (.reportsUnderWay, "They were sent, and no response is known."),
        (.reportTargetMissing, "Neither the report, its lecture nor the configuration names an LMS."),
        (.reportTargetRefuses, "The LMS answered 401, 403 or 407."),
        (.reportRefused, "The LMS refused it when it was sent alone."),
        (
            .reportAnswerUnexpected,
            "The response was a web page, a redirect to another host or other text, not an acknowledgement."
        ),
        (.reportTargetWaits, "The LMS is busy or failing, or asked to wait."),
        (.reportLine, "The line is damaged, or another program wrote it."),
        (.exportIncomplete, "Its last line is missing or does not match the lines before it."),
        (.learnerLeft, "A licence, a description or a copy of the store that cannot be reached names the learner."),
    ]
}
